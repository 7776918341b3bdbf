/** Lines that are code as a whole, within the sentences of a paragraph. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../src/reader/model/page-content.ts"
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

describe("the mark of a line that was too long", () => {
  it("is no word of another face", () => {
    for (const [words, mark] of [
      ["abc", "↩"],
      ["abc", "↵"]
    ] as const) {
      const cut = [run(words, 60, 412, { font: FONT.code }), run(mark, 90, 412, { font: FONT.italic })]
      const html = htmlBelowText([...cut, run("def ghi", 60, 424, { font: FONT.code })])
      assert.match(html, new RegExp(`<pre><code>${words} +${mark}\\ndef ghi</code></pre>`))
    }
    const text = [run("abc", 60, 412, { font: FONT.code }), run("or", 90, 412, { font: FONT.italic })]
    assert.include(htmlBelowText(text), "<p><code>abc")
  })
})

describe("comments in another face", () => {
  const code = { font: FONT.code }
  /** A line of pieces one behind the other: words in code, and others in the text's face. */
  const line = (y: number, ...pieces: ReadonlyArray<readonly [string, boolean]>): ReadonlyArray<TextRun> => {
    let x = 60
    return pieces.map(([words, isCode]) => {
      const piece = run(words, x, y, isCode ? code : {})
      x = piece.box.x1
      return piece
    })
  }
  const listingOf = (lines: ReadonlyArray<TextRun>): ReadonlyArray<string> =>
    Array.from(htmlBelowText(lines).matchAll(/<pre>(.*?)<\/pre>/gs), ([, inner = ""]) =>
      inner.replaceAll(/<[^>]+>/g, "").replaceAll(/ +/g, " ")
    )

  it("are lines of their listing, alone and behind code", () => {
    for (const sign of ["% ", "// ", "# ", "-- ", ";; "])
      assert.deepStrictEqual(
        listingOf([
          ...line(400, ["begin(river)", true]),
          ...line(412, [sign, true], ["河流与湖泊在山的旁边", false]),
          ...line(424, [`stone(5) ${sign}`, true], ["石头与水", false], ["x", true], ["与石头", false]),
          ...line(436, ["end(river)", true])
        ]).map((text) => text.split("\n").map((one) => one.replaceAll(" ", ""))),
        [
          [
            "begin(river)",
            `${sign.trim()}河流与湖泊在山的旁边`,
            `stone(5)${sign.trim()}石头与水x与石头`,
            "end(river)"
          ]
        ]
      )
  })

  it("begin with a sign alone, which no other words stand before", () => {
    for (const pieces of [
      [["河流与湖泊", false] as const, ["% ", true] as const, ["石头与水", false] as const],
      [["#define", true] as const, ["河流与湖泊石头与水", false] as const],
      [["50%", true] as const, ["河流与湖泊石头与水", false] as const]
    ])
      assert.deepStrictEqual(listingOf(line(400, ...pieces)), [])
  })
})
