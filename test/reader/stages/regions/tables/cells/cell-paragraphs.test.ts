/** The paragraphs of a cell: what stands apart, and new lines where the next word had room. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../../../src/reader/model/page-content.ts"
import { FONT, htmlBelowText, rule, run } from "../../../page-builder.ts"

const [LEFT, MIDDLE, RIGHT, TOP] = [60, 140, 300, 200]
/** Lines of the cell fit 30 letters, as far from the border behind as from that before. */
const AT = MIDDLE + 5

const frame = (bottom: number) => [
  ...[TOP, bottom, bottom + 20].map((y) => rule(LEFT, y - 0.2, RIGHT, y + 0.2)),
  ...[LEFT, MIDDLE, RIGHT].map((x) => rule(x - 0.2, TOP, x + 0.2, bottom + 20))
]

/** A grid of two rows; the second cell of the first holds these runs. */
const cellOf = (inside: ReadonlyArray<TextRun>, x = AT): string => {
  const bottom = 340
  const rest = [
    run("river", LEFT + 5, TOP + 14),
    run("lake", LEFT + 5, bottom + 14),
    run("few", x, bottom + 14)
  ]
  const html = htmlBelowText([...rest.slice(0, 1), ...inside, ...rest.slice(1)], frame(bottom))
  return /<t[dh][^>]*>.*?<\/t[dh]><t[dh][^>]*>(.*?)<\/t[dh]>/.exec(html)?.[1] ?? html
}
const lines = (...of: ReadonlyArray<string>): string =>
  cellOf(of.map((text, at) => run(text, AT, TOP + 14 + 12 * at)))

describe("a cell's paragraphs", () => {
  it("are one where lines are full, or a text goes on though a word had room", () => {
    assert.strictEqual(lines("flowing water of all kinds,", "rivers"), "flowing water of all kinds, rivers")
    assert.strictEqual(lines("it is one of the", "rivers"), "it is one of the rivers")
  })

  it("are several where the next word had room, and lines are short or closed", () => {
    assert.strictEqual(lines("still", "river", "pond"), "<p>still</p><p>river</p><p>pond</p>")
    assert.strictEqual(lines("it is one of these:", "rivers"), "<p>it is one of these:</p><p>rivers</p>")
  })

  it("are one where the word is longer than the room, be it set in several faces", () => {
    assert.strictEqual(lines("flowing water", "subterranean-river"), "flowing water subterranean-river")
    const word = [
      run("sub", AT, TOP + 26),
      run("terranean-river", AT + 15.5, TOP + 26, { font: FONT.italic })
    ]
    assert.strictEqual(
      cellOf([run("flowing water", AT, TOP + 14), ...word]),
      "flowing water sub<em>terranean-river</em>"
    )
  })

  it("are one behind a hyphen, printed or not, and where letters stand above one another", () => {
    assert.strictEqual(lines("half-", "still"), "half- still")
    const halves = (hyphenated: boolean) =>
      cellOf([run("ha", AT, TOP + 14, { hyphenated }), run("lf", AT, TOP + 26)])
    assert.strictEqual(halves(true), "half")
    assert.strictEqual(halves(false), "<p>ha</p><p>lf</p>")
    assert.notInclude(cellOf([run("still", AT, TOP + 14), run("pond", AT, TOP + 21)]), "<p>")
  })

  it("stand apart: further than the nearest lines, or than two lines ever do", () => {
    const full = [
      "flowing water of the kinds one",
      "sees in the land one lives in",
      "goes from here to there"
    ]
    const at = (...ys: ReadonlyArray<number>) =>
      cellOf(ys.map((y, index) => run(full[index] ?? "", AT, TOP + 14 + y)))
    assert.include(at(0, 12, 36), "lives in</p><p>goes")
    assert.notInclude(at(0, 12, 26), "<p>")
    assert.notInclude(at(0, 20), "<p>")
    assert.include(at(0, 24), "<p>sees")
    // Letters above others are nearer than lines.
    assert.notInclude(at(0, 6, 18), "<p>")
  })

  it("have less room where words begin far behind the border", () => {
    const far = AT + 15
    const words = ["flowing water in:", "river"].map((text, at) => run(text, far, TOP + 14 + 12 * at))
    assert.strictEqual(cellOf(words, far), "flowing water in: river")
    assert.strictEqual(cellOf(words), "<p>flowing water in:</p><p>river</p>")
  })

  it("have the room of their column beside a cell that reaches down", () => {
    const words = ["still", "pond", "river", "lake"].map((text, at) =>
      run(text, AT, 214 + 12 * at + (at > 1 ? 20 : 0))
    )
    const html = htmlBelowText(
      [run("waters", LEFT + 5, 214), ...words, run("Aa", LEFT + 5, 314), run("few", AT, 314)],
      [...frame(300), rule(MIDDLE, 239.8, RIGHT, 240.2)]
    )
    assert.include(html, "<td><p>river</p><p>lake</p></td>")
  })

  it("have room as far as the rules of the cell are, in a cell over columns, too", () => {
    const down = [
      ...[LEFT, RIGHT].map((x) => rule(x - 0.2, 180, x + 0.2, 260)),
      ...[180, 240].map((y) => rule(MIDDLE - 0.2, y, MIDDLE + 0.2, y + 20))
    ]
    const across = [180, TOP, 240, 260].map((y) => rule(LEFT, y - 0.2, RIGHT, y + 0.2))
    const row = (y: number) => [run("Aa", LEFT + 5, y), run("few", AT, y)]
    const html = (...words: ReadonlyArray<string>) =>
      htmlBelowText(
        [...row(194), ...words.map((text, at) => run(text, LEFT + 5, TOP + 14 + 12 * at)), ...row(254)],
        [...across, ...down]
      )
    assert.include(html("flowing water of:", "subterranean"), "<p>flowing water of:</p><p>")
    assert.include(html("still waters that one sees in all of", "lands"), "in all of lands")
  })

  it("are the rows of a table within it, which no rule shows", () => {
    const rows = [
      run("08:30", AT, TOP + 14),
      run("Departure", AT + 60, TOP + 14),
      run("12:00", AT, TOP + 28),
      run("Lunch", AT + 60, TOP + 28)
    ]
    assert.strictEqual(cellOf(rows), "<p>08:30 Departure</p><p>12:00 Lunch</p>")
  })
})
