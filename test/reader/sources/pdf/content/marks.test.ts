/** What marked content says of its words, and a document of its tags. */
import { Effect } from "effect"
import { assert, describe, it } from "vitest"

import { layoutPages } from "../../../../../src/reader/pipeline.ts"
import { NO_STATISTICS } from "../../../../../src/reader/stages/profile/statistics.ts"
import { extractBytes } from "../../../../support/files/pdf-files.ts"
import { pdfOf, ref } from "../../../../support/files/pdf-writer.ts"

interface Tagged {
  readonly info?: string
  /** What stands around the lines of the page. */
  readonly around?: string
  /** The lines, in the order of their tags. */
  readonly order: ReadonlyArray<number>
}

const TEXT = [
  "The boats of the harbour are counted",
  "once a year by the master of it, who",
  "writes the number at the gate, where",
  "all people of the place can read it."
]

const shown = (text: string, at: number): string =>
  `BT /F1 12 Tf 1 0 0 1 60 ${700 - 14 * at} Tm (${text}) Tj ET\n`

const tagged = ({ around, info = "/Marked true", order }: Tagged): Buffer => {
  const lines = TEXT.map((text, at) => `/P <</MCID ${at}>> BDC ${shown(text, at)} EMC\n`).join("")
  return pdfOf({
    pages: [
      {
        content: around === undefined ? lines : `${around} BDC\n${lines}EMC\n`,
        entries: "/StructParents 0"
      }
    ],
    more: (writer, [page = 0]) => {
      const root = writer.reserve()
      const elements = order.map((mcid) =>
        writer.object(`<< /Type /StructElem /S /P /P ${ref(root)} /Pg ${ref(page)} /K ${mcid} >>`)
      )
      const parents = elements.toSorted(
        (a, b) => (order[elements.indexOf(a)] ?? 0) - (order[elements.indexOf(b)] ?? 0)
      )
      writer.object(
        `<< /Type /StructTreeRoot /K [${elements.map(ref).join(" ")}] /ParentTree << /Nums [0 [${parents.map(ref).join(" ")}]] >> >>`,
        root
      )
      return { catalog: `/MarkInfo << ${info} >> /StructTreeRoot ${ref(root)}` }
    }
  })
}

const htmlOf = async (bytes: Buffer): Promise<string> => {
  const { facts, pages } = await Effect.runPromise(extractBytes(bytes))
  return layoutPages({ facts, fonts: facts.fonts, pages, others: NO_STATISTICS })
    .map(({ html }) => html)
    .join("")
}
const wordsOf = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim()

const AS_SHOWN = TEXT.join(" ")
const MIXED = [2, 0, 3, 1]
const AS_TAGGED = MIXED.map((at) => TEXT[at]).join(" ")

describe("tags that are in doubt by their own account", () => {
  it("give way to the look of a page with content whose order is suspect", async () => {
    const around = "/TagSuspect <</TagSuspect /Ordering>>"
    assert.strictEqual(wordsOf(await htmlOf(tagged({ around, order: MIXED }))), AS_SHOWN)
  })

  it("give way to it in a document that has suspects, where they go up a column", async () => {
    const info = "/Marked true /Suspects true"
    assert.strictEqual(wordsOf(await htmlOf(tagged({ info, order: MIXED }))), AS_SHOWN)
    // Four paragraphs that are tagged are no one paragraph by their looks.
    const inOrder = await htmlOf(tagged({ info, order: [0, 1, 2, 3] }))
    assert.strictEqual(inOrder.match(/<p[ >]/g)?.length, 4)
  })

  it("are followed in any other document", async () => {
    for (const info of ["/Marked true", "/Marked true /Suspects false"])
      assert.strictEqual(wordsOf(await htmlOf(tagged({ info, order: MIXED }))), AS_TAGGED)
    const around = "/Artless <</TagSuspect /Ordering>>"
    assert.strictEqual(wordsOf(await htmlOf(tagged({ around, order: MIXED }))), AS_TAGGED)
  })
})

describe("words that are short for others", () => {
  const page = (properties: string): Buffer =>
    pdfOf({
      pages: [
        {
          content:
            "BT /F1 12 Tf 1 0 0 1 60 700 Tm (The boats of the ) Tj ET\n" +
            `/Span ${properties} BDC BT /F1 12 Tf 1 0 0 1 152 700 Tm (TKF) Tj ET EMC\n` +
            "BT /F1 12 Tf 1 0 0 1 180 700 Tm (are counted.) Tj ET\n"
        }
      ]
    })

  it("are an abbreviation with what they stand for, in any encoding", async () => {
    const expanded = '<abbr title="Tool Kit Foundation">TKF'
    assert.include(await htmlOf(page("<</E (Tool Kit Foundation)>>")), expanded)
    const wide = Buffer.from("\ufeffTool Kit Foundation", "utf16le").swap16().toString("hex")
    assert.include(await htmlOf(page(`<</E <${wide}>>>`)), expanded)
    assert.include(await htmlOf(page('<</E (A \\("<b>"\\))>>')), 'title="A (&quot;')
  })

  it("are words where that is empty, or longer than any name", async () => {
    for (const properties of ["<</E ()>>", "<</E 7>>", `<</E (${"long ".repeat(60)})>>`, "<</Lang (de)>>"])
      assert.notInclude(await htmlOf(page(properties)), "<abbr")
  })
})
