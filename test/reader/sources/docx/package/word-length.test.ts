import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"

import { wordLength } from "../../../../../src/reader/sources/docx/package/word-length.ts"
import { countWords } from "../../../../../src/reader/sources/docx/package/word-pages.ts"

const counted = (body: string, cuts: ReadonlyArray<number> = []) =>
  Effect.promise(() => {
    const bytes = Buffer.from(`<w:body>${body}</w:body>`)
    const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
    return wordLength(at.slice(1).map((end, n) => bytes.subarray(at[n], end)))
  })

const SAMPLE =
  '<w:p><w:r><w:t xml:space="preserve">One tw</w:t></w:r><w:r><w:t>o thrée</w:t></w:r></w:p>' +
  "<w:p><w:r><w:instrText>PAGE NUMBER</w:instrText><w:t/>four<w:t>five</w:t><w:tab/><w:t>six</w:t></w:r></w:p>" +
  '<w:p><w:r><w:lastRenderedPageBreak/><w:t>東京都庁</w:t><w:br w:type="page"/><w:br/></w:r></w:p>'

it.effect("counts words over runs, and letters of scripts without spaces by halves", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* counted(SAMPLE), { words: 7, paragraphs: 3, breaks: 2 })
  })
)

it.effect.prop(
  "counts the same however the bytes come",
  { cuts: Schema.Array(Schema.Natural) },
  ({ cuts }) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* counted(SAMPLE, cuts), yield* counted(SAMPLE))
    }),
  { arbitrary: { runs: 300 } }
)

it.effect("entities and CDATA are the text that they mean", () =>
  Effect.gen(function* () {
    const { words } = yield* counted("<w:p><w:t>one&#32;two&#x20;three<![CDATA[ four five]]></w:t></w:p>")
    assert.strictEqual(words, 5)
  })
)

it("words that are joined by what is no space still count", () => {
  for (const joint of ["\u200b", "\u2800", ".", "\u00a0"])
    assert.isAtLeast(countWords(Array.from({ length: 3000 }, () => "syllable").join(joint)), 800)
})
