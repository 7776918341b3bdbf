/** Paragraphs that a link or another inline element parts: their place on the page tells whether they are one. */
import { assert, describe, it } from "vitest"

import type { StructureElement, TextRun } from "../../../../src/reader/model/page-content.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONTS, page, run, tag } from "../page-builder.ts"

const made = (runs: ReadonlyArray<TextRun>, ...structure: ReadonlyArray<StructureElement>): string =>
  (
    layoutPages({
      facts: { ...FACTS, tagged: true },
      fonts: FONTS,
      pages: [page(runs, 0, { structure })],
      others: NO_STATISTICS
    })[0]?.html ?? ""
  ).replaceAll(/ data-(open|cut|element)="\d*"/g, "")

/** Runs side by side on one line, this far apart, and one below them. */
const beside = (gap: number, texts: ReadonlyArray<string>): ReadonlyArray<TextRun> => {
  const runs: Array<TextRun> = []
  let x = 60
  for (const [mcid, text] of texts.entries()) {
    const next = run(text, x, 100, { mcid })
    runs.push(next)
    x = next.box.x1 + gap
  }
  return [...runs, run("and its last line.", 60, 114, { mcid: texts.length })]
}

describe("inline elements between paragraphs", () => {
  const words = ["Write to", "the office", "by May"]
  const parts = [tag("P", [0]), tag("Link", [1]), tag("P", [2, 3])]

  it("make one of those that go on behind one another", () => {
    assert.strictEqual(
      made(beside(3, words), tag("Document", parts)),
      "<p>Write to the office by May and its last line.</p>"
    )
  })

  it("leave those apart that stand in columns", () => {
    const html = made(beside(60, words), tag("Document", parts))
    assert.strictEqual(html.match(/<p>/g)?.length, 3)
  })

  it("leave those apart that have lines of their own, or no link between them", () => {
    const lines = words.map((text, mcid) => run(text, 60, 100 + 14 * mcid, { mcid }))
    assert.strictEqual(
      made(lines, tag("Document", [tag("P", [0]), tag("Link", [1]), tag("P", [2])])),
      "<p>Write to</p><p>the office</p><p>by May</p>"
    )
    const paragraphs = [tag("P", [0]), tag("P", [1]), tag("P", [2, 3])]
    assert.strictEqual(made(beside(3, words), tag("Document", paragraphs)).match(/<p>/g)?.length, 3)
  })

  /** An item and a cell as browsers tag them: each stretch of words is an element that says nothing. */
  const plain = (ids: ReadonlyArray<number>) => ids.map((mcid) => tag("NonStruct", [mcid]))

  it("nor do elements that say nothing part the words of an item or a cell that go on in one another", () => {
    const runs = beside(3, ["Open the valve", "V1", "of the pump"])
    const item = tag("L", [tag("LI", plain([0, 1, 2]))])
    assert.include(
      made(runs, tag("Document", [item, tag("P", [3])])),
      "<li>Open the valve V1 of the pump</li>"
    )
    const table = tag("Table", [tag("TR", [tag("TD", plain([0, 1, 2])), tag("TD", plain([3]))])])
    assert.include(made(runs, tag("Document", [table])), "Open the valve V1 of the pump</td>")
    const full = `Open the valve ${"of the pump ".repeat(3)}and`
    const broken = [run(full, 60, 100, { mcid: 0 }), run("wait.", 60, 112, { mcid: 1 })]
    assert.include(made(broken, tag("Document", [tag("L", [tag("LI", plain([0, 1]))])])), "and wait.</li>")
  })

  it("but leave those apart that are labels and values, or end a sentence", () => {
    const parted = (first: string) =>
      made(
        [run(first, 60, 100, { mcid: 0 }), run("Brandt", 60, 112, { mcid: 1 })],
        tag("Document", [tag("L", [tag("LI", plain([0, 1]))])])
      )
    assert.notInclude(parted("Family name"), "name Brandt")
    assert.notInclude(parted("The valve of the pump turns to the left."), "left. Brandt")
    assert.notInclude(
      made(beside(60, ["Open", "the valve"]), tag("Document", plain([0, 1, 2]))),
      "Open the valve"
    )
  })
})
