/** Headings that stand in the first line of their paragraph. */
import { assert, describe, it } from "vitest"

import { layoutPages } from "../../../../../src/domain/conversion/layout/layout-pages.ts"
import { NO_STATISTICS } from "../../../../../src/domain/conversion/layout/statistics.ts"
import type { OutlineEntry, TextRun } from "../../../../../src/domain/conversion/page-content.ts"
import { FACTS, FONT, FONTS, lines, page, prose, run } from "../page-builder.ts"

/** A paragraph whose first words are set in a face of their own. */
const led = (words: string, font: number, y: number): ReadonlyArray<TextRun> => [
  run(words, 60, y, { font }),
  run("and river stones go on in the same line", 65 + words.length * 5, y),
  ...lines(prose(30, y), 60, y + 12, 80)
]
const PAGE = (words: string, font: number = FONT.bold) => [
  run("1 Rivers", 60, 60, { font: FONT.bold, size: 14 }),
  ...lines(prose(30), 60, 90, 80),
  ...led(words, font, 150)
]
const htmlOf = (runs: ReadonlyArray<TextRun>, outline: ReadonlyArray<OutlineEntry> = []): string =>
  layoutPages({ facts: { ...FACTS, outline }, fonts: FONTS, pages: [page(runs)], others: NO_STATISTICS })
    .map(({ html }) => html.replaceAll(/ data-(open|cut)=""/g, ""))
    .join("")

describe("a run-in heading", () => {
  it("has a section's number in parts, and ranks below what it is a part of", () => {
    assert.match(htmlOf(PAGE("1.1. Cold water.")), /<h2>1\.1\. Cold water\.<\/h2><p>and river stones go on/)
    assert.match(htmlOf(PAGE("1.1. Cold water. —", FONT.italic)), /<h2>.*?1\.1\. Cold water\. —/)
  })

  it("needs no number where the outline names it", () => {
    const outline = [{ title: "Cold water", level: 3, page: 0 }]
    assert.match(htmlOf(PAGE("Cold water."), outline), /<h4>Cold water\.<\/h4><p>and/)
    assert.notInclude(htmlOf(PAGE("Cold water.")), "<h4>")
  })

  it("is none in plain words, in a theorem, or where no sentence ends", () => {
    for (const [words, font] of [
      ["1.1. Cold water.", FONT.plain],
      ["1.1. Theorem.", FONT.bold],
      ["1.1 Cold water", FONT.bold],
      ["Note.", FONT.bold]
    ] as const)
      assert.lengthOf(htmlOf(PAGE(words, font)).match(/<h\d>/g) ?? [], 1, words)
  })

  it("needs no number where it is bold, apart from the text above and by a quad from its own text", () => {
    const spaced = (words: string, gap: number, indent = 0, y = 160, font: number = FONT.bold) => [
      run("1 Rivers", 60, 60, { font: FONT.bold, size: 14 }),
      ...lines(prose(30), 60, 90, 80),
      run(words, 60, y, { font }),
      run("and river stones go on in the same line", 60 + words.length * 5 + gap, y),
      ...lines(prose(30, y), 60 + indent, y + 12, 80)
    ]
    assert.match(htmlOf(spaced("Cold water", 10)), /<h3>Cold water<\/h3><p>and river stones/)
    for (const none of [
      spaced("Cold water", 3),
      spaced("Cold water", 10, 24),
      spaced("Cold water", 10, 0, 126),
      spaced("Cold water", 10, 0, 160, FONT.italic),
      spaced("Warning", 10),
      spaced("Note:", 10),
      spaced("Figure 5.", 10),
      spaced("cold water", 10)
    ])
      assert.lengthOf(htmlOf(none).match(/<h\d>/g) ?? [], 1)
  })
})
