/** Names and addresses beside one another above two columns. */
import { assert, describe, it } from "vitest"

import type { TextRun } from "../../../../src/reader/model/page-content.ts"
import { FONT, htmlOf, lines, prose, run } from "../page-builder.ts"

const title = run("On the counting of boats in the north", 120, 60, { size: 18, font: FONT.bold })

/** Lines in the middle of a column. */
const author = (middle: number, ...texts: ReadonlyArray<string>): ReadonlyArray<TextRun> =>
  texts.map((text, at) => run(text, middle - 2.5 * text.length, 90 + 12 * at))

const left = [run("Abstract", 60, 170, { font: FONT.bold }), ...lines(prose(150), 60, 184, 44)]
const right = lines(prose(150, 2), 310, 170, 44)
const ANNA = ["Anna Lindgren", "Institute of the North", "anna@example.org"]
const BORIS = ["Boris Petrov", "School of Harbours", "boris@example.org"]

const textOf = (runs: ReadonlyArray<TextRun>): string =>
  htmlOf(runs)
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim()

describe("authors above two columns", () => {
  for (const [way, authors] of [
    ["drawn one after the other", [...author(170, ...ANNA), ...author(420, ...BORIS)]],
    [
      "drawn line by line",
      author(170, ...ANNA).flatMap((one, at) => [one, ...author(420, ...BORIS).slice(at, at + 1)])
    ]
  ] as const)
    it(`are read each by itself, before both columns: ${way}`, () => {
      const text = textOf([title, ...authors, ...left, ...right])
      const begin = `On the counting of boats in the north ${ANNA.join(" ")} ${BORIS.join(" ")} Abstract `
      assert.strictEqual(text.slice(0, begin.length), begin)
    })

  it("are paragraphs, and no headings", () => {
    const html = htmlOf([title, ...author(170, ...ANNA), ...author(420, ...BORIS), ...left, ...right])
    assert.notMatch(html, /<h\d[^>]*>(?:Anna|Boris)/)
    assert.notInclude(html, "<table")
  })
})

describe("what stands above the lines of its own column", () => {
  it("is read with them: headings at one height, at the edges of their columns", () => {
    const heads = [
      run("Of rivers", 60, 140, { font: FONT.bold, size: 12 }),
      run("Of lakes", 310, 140, { font: FONT.bold, size: 12 })
    ]
    const text = textOf([
      ...heads.slice(0, 1),
      ...lines(prose(150), 60, 170, 44),
      ...heads.slice(1),
      ...lines(prose(150, 2), 310, 170, 44)
    ])
    assert.match(text, /^Of rivers .* Of lakes /)
    assert.isAbove(text.indexOf("Of lakes"), 400)
  })

  it("is read with them where it is prose, with white below it on both sides", () => {
    const text = textOf([
      ...lines(prose(40), 60, 100, 44),
      ...lines(prose(150), 60, 220, 44),
      ...lines(`Lakes ${prose(40, 2)}`, 310, 100, 44),
      ...lines(prose(150, 3), 310, 220, 44)
    ])
    assert.isAbove(text.indexOf("Lakes"), 700)
  })
})
