/** Headings that stand in the first line of their paragraph. */
import { assert, describe, it } from "vitest"

import type { OutlineEntry, TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
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

  /** A paragraph that such words open, so far below the text above it. */
  const opened = (words: string, font: number, above: number, indent = 0): ReadonlyArray<TextRun> => [
    run("1 Rivers", 60, 60, { font: FONT.bold, size: 14 }),
    ...lines(prose(30), 60, 90, 80),
    run(words, 60 + indent, 114 + above, { font }),
    run(
      "and river stones go on in the same line up to where the others end",
      65 + indent + words.length * 5,
      114 + above
    ),
    ...lines(prose(30, 2), 60, 126 + above, 80)
  ]

  it("may be italic, with white above and a full stop behind", () => {
    assert.match(
      htmlOf(opened("Cold water.", FONT.italic, 20)),
      /<h3><em>Cold water\.<\/em><\/h3><p>and river stones/
    )
    for (const none of [
      opened("Cold water.", FONT.italic, 12),
      opened("Cold water", FONT.italic, 20),
      opened("cold water.", FONT.italic, 20),
      opened("Cold water.", FONT.italic, 20, 12),
      opened("Proof.", FONT.italic, 20),
      opened("Case 2.", FONT.italic, 20),
      opened("Note.", FONT.italic, 20),
      opened("Cold water.", FONT.plain, 20)
    ])
      assert.lengthOf(htmlOf(none).match(/<h\d>/g) ?? [], 1)
  })

  it("may be bold in an indented first line, with a full stop behind", () => {
    assert.match(
      htmlOf(opened("Cold water.", FONT.bold, 12, 12)),
      /<h3>Cold water\.<\/h3><p>and river stones/
    )
    for (const none of [
      opened("Cold water.", FONT.bold, 12),
      opened("Cold water", FONT.bold, 12, 12),
      opened("Theorem 2.", FONT.bold, 12, 12),
      opened("Warning.", FONT.bold, 12, 12)
    ])
      assert.lengthOf(htmlOf(none).match(/<h\d>/g) ?? [], 1)
  })

  it("may have a figure below sections in Roman figures and those with letters, unlike a list's items", () => {
    const bold = { font: FONT.bold }
    const paper = (words: string, indent: number) => [
      run("I. RIVERS", 60, 60, bold),
      ...lines(prose(30), 60, 84, 80),
      run("A. Stones", 60, 140, bold),
      ...lines(prose(30, 2), 60, 164, 80),
      run("II. LETTERS", 60, 220, bold),
      ...lines(prose(30, 3), 60, 244, 80),
      run("B. Margins", 60, 300, bold),
      ...lines(prose(30, 4), 60, 324, 80),
      run("1) ", 60 + indent, 372),
      run(words, 75 + indent, 372, { font: FONT.italic }),
      run(
        "and river stones go on in the same line up to where others end",
        80 + indent + words.length * 5,
        372
      ),
      ...lines(prose(30, 5), 60, 384, 80)
    ]
    assert.match(htmlOf(paper("Cold water:", 12)), /<h3>1\) <em>Cold water:<\/em><\/h3><p>and river stones/)
    assert.notMatch(htmlOf(paper("Cold water:", 0)), /<h\d>1\)/)
    assert.notMatch(htmlOf(paper("Cold water", 12)), /<h\d>1\)/)
  })
})
