/** What a document's bookmarks say of its headings. */
import { assert, describe, it } from "vitest"

import { layoutPages } from "../../../../../src/domain/conversion/layout/layout-pages.ts"
import { NO_STATISTICS } from "../../../../../src/domain/conversion/layout/statistics.ts"
import type { OutlineEntry, TextRun } from "../../../../../src/domain/conversion/page-content.ts"
import { FACTS, FONT, FONTS, lines, page, prose, run } from "../page-builder.ts"

const bold = { font: FONT.bold }
const text = (y: number, seed: number): ReadonlyArray<TextRun> => lines(prose(40, seed), 60, y, 90)
const entry = (title: string, level: number): OutlineEntry => ({ title, level, page: 0 })

const headings = (runs: ReadonlyArray<TextRun>, outline: ReadonlyArray<OutlineEntry>) =>
  layoutPages({ facts: { ...FACTS, outline }, fonts: FONTS, pages: [page(runs)], others: NO_STATISTICS })
    .flatMap(({ html }) => [...html.matchAll(/<h(\d)>(.*?)<\/h\d>/g)])
    .map(([, level, words = ""]) => `${level} ${words.replaceAll(/<[^>]+>/g, "")}`)

const RUNS = [
  run("Rivers", 60, 60, { ...bold, size: 18 }),
  ...text(90, 1),
  run("Cold water", 60, 170, bold),
  ...text(195, 2),
  run("Example", 60, 275, bold),
  ...text(300, 3),
  run("References", 60, 380, bold),
  ...text(405, 4)
]

describe("bookmarks", () => {
  it("that name sections say which bold lines of the text's size are headings, and their levels", () => {
    const outline = [entry("Rivers", 1), entry("Cold water", 3)]
    assert.deepStrictEqual(headings(RUNS, outline), ["2 Rivers", "4 Cold water", "3 References"])
  })

  it("say nothing of other bold lines where they name chapters alone, or what is not printed", () => {
    const all = ["Rivers", "Cold water", "Example", "References"]
    const words = (outline: ReadonlyArray<OutlineEntry>) => headings(RUNS, outline).map((one) => one.slice(2))
    assert.deepStrictEqual(words([entry("Rivers", 1)]), all)
    assert.deepStrictEqual(words([entry("Slide 1", 1), entry("Slide 2", 2), entry("Slide 3", 2)]), all)
  })
})

describe("a heading of two lines", () => {
  const two = (first: string, second: string, x: number) =>
    headings(
      [run(first, 60, 60, { ...bold, size: 12 }), run(second, x, 74, { ...bold, size: 12 }), ...text(110, 1)],
      []
    )

  it("is one, whether its second line is indented below its words or ended early", () => {
    assert.deepStrictEqual(two("Appendix B Differences from", "the river", 118), [
      "1 Appendix B Differences from the river"
    ])
    assert.deepStrictEqual(two("4.4 Rivers,", "and stones of them", 60), ["1 4.4 Rivers, and stones of them"])
  })

  it("is two where the second has a number of its own", () => {
    assert.strictEqual(two("4 Rivers of the whole land", "4.1 Stones", 70).length, 2)
  })
})
