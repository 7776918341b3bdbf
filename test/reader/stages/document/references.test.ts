/** References in the text become links to what they name. */
import { assert, describe, it } from "vitest"

import { type Block, plain } from "../../../../src/reader/model/block.ts"
import { layoutPages } from "../../../../src/reader/pipeline.ts"
import { withReferences } from "../../../../src/reader/stages/document/references.ts"
import { NO_STATISTICS } from "../../../../src/reader/stages/profile/statistics.ts"
import { FACTS, FONT, FONTS, lines, page, prose, run } from "../page-builder.ts"

const heading = (words: string): Block => ({ kind: "heading", level: 2, spans: [plain(words)] })
const seam = { element: undefined, open: false, hyphenated: false, small: false }
const paragraph = (words: string): Block => ({
  kind: "paragraph",
  spans: [plain(words)],
  seam,
  lang: undefined
})
const table = (caption: string): Block => ({
  kind: "table",
  caption: [plain(caption)],
  rows: [],
  headRows: 0,
  seam
})
const formula = (label: string): Block => ({
  kind: "formula",
  text: "a = b",
  label,
  math: undefined,
  region: undefined
})
const ALL = [
  heading("2 Rivers"),
  heading("II. STONES"),
  heading("2.1. Cold water"),
  heading("Appendix B Words"),
  table("Table 3: Lengths"),
  formula("(4)")
]

/** The names that a text's links lead to. */
const namesIn = (words: string, blocks: ReadonlyArray<Block> = ALL): ReadonlyArray<string | undefined> =>
  withReferences([{ index: 0, blocks: [...blocks, paragraph(words)] }]).flatMap((one) =>
    one.blocks.flatMap((block) =>
      block.kind === "paragraph"
        ? block.spans.flatMap((span) =>
            span.kind === "link" && span.target.kind === "page" ? [span.target.name] : []
          )
        : []
    )
  )

describe("references", () => {
  it("name sections, tables and formulas by their numbers", () => {
    assert.deepStrictEqual(
      namesIn("As Section 2.1 and Sec. II say (see Table 3, Eq. (4) and appendix B of this paper)."),
      ["section 2.1", "section II", "table 3", "equation 4", "section B"]
    )
  })

  it("are none where two things have the number, or nothing has it", () => {
    assert.deepStrictEqual(namesIn("Section 2", [...ALL, heading("2 Rivers again")]), [])
    assert.deepStrictEqual(namesIn("Section 5, Figure 3 and section 2.1.4 and Table 31"), [])
  })

  it("are none to another document, in code, and in a caption", () => {
    for (const words of [
      "Section 2 of [12]",
      "Section 2 in the standard",
      "[12], Section 2",
      "RFC 822, Section 2"
    ])
      assert.deepStrictEqual(namesIn(words), [], words)
    assert.deepStrictEqual(namesIn("Table 3: Lengths"), [])
    const code = { ...paragraph(""), spans: [{ ...plain("Section 2"), code: true }] } as Block
    assert.strictEqual(
      JSON.stringify(withReferences([{ index: 0, blocks: [...ALL, code] }])).includes("link"),
      false
    )
  })

  it("keep every word, and lead to the place, on another page too", () => {
    const bold = { font: FONT.bold, size: 14 }
    const [from = "", to = ""] = layoutPages({
      facts: { ...FACTS, pageCount: 2 },
      fonts: FONTS,
      pages: [
        page(
          [run("1 Stones", 60, 60, bold), ...lines(`${prose(20)} See Section 2. ${prose(20)}`, 60, 90, 80)],
          0
        ),
        page([run("2 Rivers", 60, 60, bold), ...lines(prose(40, 2), 60, 90, 80)], 1)
      ],
      others: NO_STATISTICS
    }).map(({ html }) => html)
    assert.include(from, 'See <a href="#at-2-1">Section 2</a>. ')
    assert.match(to, /<h\d id="at-2-1">2 Rivers/)
  })

  it("are looked for in linear time", () => {
    const hostile = [
      "Section ".repeat(40_000),
      "2.".repeat(100_000),
      "]".repeat(200_000),
      "RFC 1, ".repeat(40_000)
    ]
    for (const words of hostile) assert.deepStrictEqual(namesIn(words), [])
  })
})
