import { assert, describe, it } from "vitest"

import { layoutPages, STAGES } from "../../src/reader/pipeline.ts"
import { HEADING_RULES } from "../../src/reader/stages/blocks/heading-rules.ts"
import { DETECTORS } from "../../src/reader/stages/page/detectors.ts"
import { BLOCK_STAGES } from "../../src/reader/stages/page/page.ts"
import { NO_STATISTICS } from "../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, lines, page, prose, run } from "./stages/page-builder.ts"

const pages = [
  page([
    run("Of rivers", 60, 50, { font: FONT.bold, size: 20 }),
    ...lines(prose(60), 60, 90, 90),
    run("Danube", 60, 200, { font: FONT.bold }),
    ...lines(prose(60, 7), 60, 224, 90)
  ])
]

describe("explanations", () => {
  it("name the stage, the rule and the evidence of each block, in the order of reading", () => {
    const [made] = layoutPages({
      facts: FACTS,
      fonts: FONTS,
      pages,
      others: NO_STATISTICS,
      options: { keepsRunningLines: false, explains: true }
    })
    const [title, text, ...rest] = made?.explained ?? []
    assert.deepInclude(title, { page: 1, kind: "heading", text: "Of rivers", rule: "heading:larger" })
    assert.deepInclude(title?.evidence, { size: 20, bodySize: 10, larger: true, bold: true })
    assert.deepInclude(text, { kind: "paragraph", stage: "blocks", rule: "paragraph" })
    assert.deepInclude(rest[0], { kind: "heading", text: "Danube", rule: "heading:bold" })
  })

  it("are made where they are asked for alone", () => {
    const [made] = layoutPages({ facts: FACTS, fonts: FONTS, pages, others: NO_STATISTICS })
    assert.notProperty(made, "explained")
  })

  it.each([
    ["stages", STAGES],
    ["detectors", DETECTORS],
    ["stages of a page's blocks", BLOCK_STAGES],
    ["rules for headings", HEADING_RULES]
  ])("can tell %s apart by their ids", (_, all: ReadonlyArray<{ readonly id: string }>) => {
    assert.strictEqual(new Set(all.map(({ id }) => id)).size, all.length)
  })
})
