import fc from "fast-check"
import { parseFragment, serialize } from "parse5"
import { assert, describe, it } from "vitest"

import { parseShallow } from "../../../src/reader/html/shallow.ts"

const data = (letter: string): string => `data:image/png;base64,${letter.repeat(300)}==`

/** What a page may hold around its pictures, and what looks like one. */
const PARTS = [
  `<img src="${data("A")}" alt="one">`,
  `<img alt='x' src="${data("B")}"/>`,
  `<img src="${data("A")}" src="${data("B")}">`,
  `<p title="${data("C")}">Words</p>`,
  `<!-- <img src="${data("D")}"> -->`,
  `<p>="${data("E")}"</p>`,
  `<textarea><img src="${data("F")}"></textarea>`,
  `<template><img src="${data("G")}"></template>`,
  `<a title='="${data("H")}"'>Link</a>`,
  `<img src="data:image/png;base64,${"I".repeat(300)}&amp;">`,
  '<img src="data:image/png;base64,AAAA">',
  "<p>Words",
  "</div>"
] as const

describe("a fragment with pictures", () => {
  it("is read as parse5 reads it, wherever something looks like a picture", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...PARTS), { maxLength: 6 }), (parts) => {
        const html = parts.join("")
        assert.strictEqual(serialize(parseShallow(html)), serialize(parseFragment(html)))
      }),
      { numRuns: 1_000 }
    )
  })

  it("keeps megabytes of them, and what only begins like one", () => {
    const picture = `data:image/jpeg;base64,${"/9j4".repeat(500_000)}`
    const html = `<img src="${picture}"><img src="${picture.slice(0, -1)} ">`
    assert.strictEqual(serialize(parseShallow(html)), html)
    const starts = '="data:image/png;base64,'.repeat(100_000)
    assert.strictEqual(serialize(parseShallow(starts)), starts)
  })
})
