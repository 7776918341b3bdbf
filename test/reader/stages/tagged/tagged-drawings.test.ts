import { assert, describe, it } from "vitest"

import type { FormField, StructureElement, TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONTS, page, type Rest, rule, run, tag } from "../page-builder.ts"

const words = (text: string, x: number, y: number, mcid: number): TextRun => run(text, x, y, { mcid })

const TEXT = [words("It begins above.", 60, 60, 0), words("It goes on below.", 60, 300, 1)]
const LABELS = [words("Start", 105, 150, 2), words("Middle", 225, 190, 3), words("End", 385, 220, 4)]
const CAPTION = words("Figure 4: From start to end", 60, 262, 5)
/** Boxes and arrows, each marked content of its own. */
const PARTS = Array.from({ length: 8 }, (_, at) => ({
  ...rule(0, 0, 0, 0),
  box: { x0: 100 + 40 * at, y0: 120 + 8 * at, x1: 130 + 40 * at, y1: 180 + 8 * at },
  mcid: 10 + at
}))
const FIGURES = PARTS.map(({ mcid }) => tag("Figure", [mcid]))
const FIGURE = (caption: string): string =>
  `<figure><img data-region="98 118 412 238" alt="Start, Middle, End" width="419">${caption}</figure>`
const CAPTIONED = FIGURE("<figcaption>Figure 4: From start to end</figcaption>")

const htmlWith = (runs: ReadonlyArray<TextRun>, rest: Rest): string =>
  (
    layoutPages({
      facts: { ...FACTS, tagged: true },
      fonts: FONTS,
      pages: [page(runs, 0, rest)],
      others: NO_STATISTICS
    })[0]?.html ?? ""
  ).replaceAll(/ data-(open|cut|element)="\d*"/g, "")

const htmlOf = (runs: ReadonlyArray<TextRun>, ...structure: ReadonlyArray<StructureElement>): string =>
  htmlWith(runs, { drawings: PARTS, structure })

const labels = LABELS.map(({ mcid = 0 }) => tag("P", [mcid]))
const [above, below] = [tag("P", [0]), tag("P", [1])]

describe("a drawing whose parts and words are tagged singly", () => {
  it("is one figure with its words as labels, at its caption", () => {
    assert.strictEqual(
      htmlOf([...TEXT, ...LABELS, CAPTION], ...labels, ...FIGURES, above, tag("P", [5]), below),
      `<p>It begins above.</p>${CAPTIONED}<p>It goes on below.</p>`
    )
  })

  it("stands at its caption, wherever that is tagged", () => {
    assert.strictEqual(
      htmlOf([...TEXT, ...LABELS, CAPTION], ...labels, ...FIGURES, above, below, tag("P", [5])),
      `<p>It begins above.</p><p>It goes on below.</p>${CAPTIONED}`
    )
  })

  it("has a caption that is tagged as a heading, or as a list's only item", () => {
    for (const caption of [tag("H4", [5]), tag("L", [tag("LI", [tag("LBody", [5])])])])
      assert.strictEqual(
        htmlOf([...TEXT, ...LABELS, CAPTION], ...labels, ...FIGURES, above, caption, below),
        `<p>It begins above.</p>${CAPTIONED}<p>It goes on below.</p>`
      )
  })

  it("stands below the words above it where it has no caption, though its parts are tagged first", () => {
    const curved = PARTS.flatMap((part) => [part, { ...part, curved: true }])
    const structure = [...FIGURES, ...labels, above, below]
    assert.strictEqual(
      htmlWith([...TEXT, ...LABELS], { drawings: curved, structure }),
      `<p>It begins above.</p>${FIGURE("")}<p>It goes on below.</p>`
    )
  })

  it("is left as it is tagged where its author has described it, or where its words are more than labels", () => {
    const described = htmlOf(
      [...TEXT, ...LABELS, CAPTION],
      above,
      tag("Figure", [...PARTS.map(({ mcid }) => mcid), ...LABELS.flatMap(({ mcid }) => mcid ?? [])], {
        alt: "What the author says"
      }),
      tag("P", [5]),
      below
    )
    assert.match(described, /alt="What the author says"/)
    const table = tag("Table", [
      tag(
        "TR",
        LABELS.map(({ mcid = 0 }) => tag("TD", [mcid]))
      )
    ])
    const tabled = htmlOf(
      [...TEXT, ...LABELS, CAPTION],
      tag("Document", [above, table, ...FIGURES, tag("P", [5]), below])
    )
    assert.match(tabled, /<td>Middle<\/td>/)
    assert.notInclude(tabled, 'alt="Start, Middle, End"')
  })

  it("is left as it is tagged where its parts are one figure with a caption", () => {
    const parts = PARTS.map(({ mcid }) => mcid)
    assert.match(
      htmlOf(
        [...TEXT, ...LABELS, CAPTION],
        above,
        tag("Figure", [...parts, tag("Caption", [5])]),
        ...labels,
        below
      ),
      /<figure><img [^>]*><figcaption>Figure 4: From start to end<\/figcaption><\/figure><p>Start<\/p>/
    )
  })

  it("is left as it is tagged where a field stands in it", () => {
    const field: FormField = {
      box: { x0: 200, y0: 150, x1: 260, y1: 164 },
      kind: "text",
      name: "x",
      label: "Name",
      value: "",
      checked: false,
      options: []
    }
    const structure = [above, ...labels, ...FIGURES, tag("P", [5]), below]
    const html = htmlWith([...TEXT, ...LABELS, CAPTION], { drawings: PARTS, fields: [field], structure })
    assert.include(html, "<p>Middle</p>")
  })
})
