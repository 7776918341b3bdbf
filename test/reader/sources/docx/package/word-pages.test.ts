import { assert, it } from "@effect/vitest"
import { Schema } from "effect"

import { MAX_WORD_PAGES, wordPages } from "../../../../../src/reader/sources/docx/package/word-pages.ts"

const count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000_000 }))

it("takes what is noted where it can be true", () => {
  const length = { words: 4000, paragraphs: 60, breaks: 0 }
  assert.strictEqual(wordPages({ ...length, stated: 9 }), 9)
  assert.strictEqual(wordPages({ ...length, stated: 1 }), 10)
  assert.strictEqual(wordPages({ ...length, stated: 900 }), 10)
  assert.strictEqual(wordPages({ ...length, stated: undefined, breaks: 14 }), 15)
})

it.prop(
  "is a whole number from 1 to 10,000, and never fewer than the words need",
  { stated: Schema.UndefinedOr(Schema.Number), words: count, paragraphs: count, breaks: count },
  (length) => {
    const pages = wordPages(length)
    assert.isTrue(Number.isInteger(pages) && pages >= 1 && pages <= MAX_WORD_PAGES)
    assert.isTrue(pages >= Math.min(MAX_WORD_PAGES, length.words / 1200))
  },
  { arbitrary: { runs: 500 } }
)
