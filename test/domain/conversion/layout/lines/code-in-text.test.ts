/** Lines that are code as a whole, within the sentences of a paragraph. */
import { assert, describe, it } from "vitest"

import { FONT, htmlBelowText, run } from "../page-builder.ts"

/** A paragraph's lines at one place, each in its face, and so far below the one above. */
const paragraphOf = (
  ...rows: ReadonlyArray<readonly [text: string, font?: number, step?: number, x?: number]>
): string => {
  let y = 300
  return htmlBelowText(
    rows.map(([text, font = FONT.plain, step = 12, x = 60]) => run(text, x, (y += step), { font }))
  )
}

const FULL = `For the entries of rivers ${"and stones ".repeat(5)}and these`
const CODE = `@river, @stone, @letter, ${"@quiet, ".repeat(5)}@edge,`

describe("a line of nothing but code", () => {
  it("goes on with a sentence below a full line, and the sentence below it", () => {
    const html = paragraphOf([FULL], [CODE, FONT.code], ["there is a margin below."])
    assert.match(html, /and these <code>@river.*@edge, <\/code>there is a margin below\.<\/p>/)
    assert.match(paragraphOf([FULL], ["@river.", FONT.code]), /and these <code>@river\.<\/code><\/p>/)
  })

  it("is a listing below a short line or the end of a sentence, further below, or set in", () => {
    for (const html of [
      paragraphOf(["For the entries of rivers and stones and margins"], ["@river", FONT.code]),
      paragraphOf([`${FULL}:`], ["@river", FONT.code]),
      paragraphOf([FULL], ["@river", FONT.code, 20]),
      paragraphOf([FULL], ["@river", FONT.code, 12, 80])
    ])
      assert.include(html, "<pre><code>@river</code></pre>")
  })

  it("is a listing where more lines follow that are not full", () => {
    assert.include(paragraphOf([FULL], ["River {", FONT.code], ["} stone", FONT.code]), "<pre><code>River {")
  })
})
