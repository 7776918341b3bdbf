import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { NAMESPACES, paragraph, type WordSpec, wordOf } from "../../support/files/word-files.ts"
import { htmlOf, htmlOfBytes, p, text } from "./word-html.ts"

const written = (name: string, spec: WordSpec, html: string) =>
  it.effect(name, () => Effect.map(htmlOf(spec), (found) => assert.strictEqual(found, html)))

/** Lists by number from 1, each of one level with a format and a label. */
const lists = (
  ...levels: ReadonlyArray<
    readonly [format: string, label: string, font?: string | undefined, start?: number]
  >
): Pick<WordSpec, "more"> => {
  const definition = ([format, label, font, start = 1]: (typeof levels)[number], at: number) =>
    `<w:abstractNum w:abstractNumId="${at + 1}"><w:lvl w:ilvl="0"><w:start w:val="${start}"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${label}"/>` +
    `${font === undefined ? "" : `<w:rPr><w:rFonts w:ascii="${font}"/></w:rPr>`}</w:lvl></w:abstractNum>`
  const numbers = levels.map(
    (_, at) => `<w:num w:numId="${at + 1}"><w:abstractNumId w:val="${at + 1}"/></w:num>`
  )
  const data = `<w:numbering ${NAMESPACES}>${levels.map(definition).join("")}${numbers.join("")}</w:numbering>`
  return { more: [{ name: "word/numbering.xml", data }] }
}
const item = (list: number, words: string, more = "") =>
  p(
    words === "" ? "" : text(words),
    `${more}<w:numPr><w:ilvl w:val="0"/><w:numId w:val="${list}"/></w:numPr>`
  )
const cell = (inside: string, properties = "") =>
  `<w:tc>${properties === "" ? "" : `<w:tcPr>${properties}</w:tcPr>`}${inside}</w:tc>`
const row = (...cells: ReadonlyArray<string>) => `<w:tr>${cells.join("")}</w:tr>`
const head = (...cells: ReadonlyArray<string>) =>
  `<w:tr><w:trPr><w:tblHeader/></w:trPr>${cells.join("")}</w:tr>`

describe("lists of Word documents", () => {
  written(
    "that stand one behind the other are each its own",
    {
      ...lists(["upperRoman", "%1."], ["lowerLetter", "%1)"], ["decimal", "(%1)"]),
      body: item(1, "one") + item(1, "two") + item(2, "a") + item(2, "b") + item(3, "first")
    },
    '<ol type="I"><li>one</li><li>two</li></ol><ol type="a"><li>a</li><li>b</li></ol><ol><li>first</li></ol>'
  )
  written(
    "that count on, one behind the other, stay one",
    {
      ...lists(["decimal", "%1."], ["decimal", "%1.", undefined, 3]),
      body: item(1, "one") + item(1, "two") + item(2, "three")
    },
    "<ol><li>one</li><li>two</li><li>three</li></ol>"
  )
  written(
    "of boxes tell which task is done; other bullets tell nothing",
    {
      ...lists(
        ["bullet", "☐"],
        ["bullet", "\uf0fe", "Wingdings"],
        ["bullet", "\uf0fe", "Symbol"],
        ["bullet", "•"]
      ),
      body: item(1, "open") + item(2, "done") + item(3, "a sign") + item(4, "a dot")
    },
    "<ul><li>☐ open</li><li>☑ done</li><li>a sign</li><li>a dot</li></ul>"
  )
  written(
    "number empty cells; an empty paragraph with a number is still left out elsewhere",
    {
      ...lists(["decimal", "%1."]),
      body: `<w:tbl>${row(cell(item(1, "")), cell(paragraph("A")))}${row(cell(item(1, "")), cell(paragraph("B")))}</w:tbl>${item(1, "")}`
    },
    "<table><tr><td><p>1.</p></td><td><p>A</p></td></tr><tr><td><p>2.</p></td><td><p>B</p></td></tr></table><ol></ol>"
  )
})

describe("tables of Word documents", () => {
  const spans = (kind: string) => `<w:vMerge${kind === "" ? "" : ` w:val="${kind}"`}/>`
  written(
    "have a head of all rows that a cell of it covers",
    {
      body: `<w:tbl>${head(cell(paragraph("Name"), spans("restart")), cell(paragraph("Size")))}${row(cell(paragraph(""), spans("")), cell(paragraph("Width")))}${row(cell(paragraph("Box")), cell(paragraph("10")))}</w:tbl>`
    },
    '<table><thead><tr><th rowspan="2"><p>Name</p></th><th><p>Size</p></th></tr><tr><th><p>Width</p></th></tr></thead>' +
      "<tbody><tr><td><p>Box</p></td><td><p>10</p></td></tr></tbody></table>"
  )
  written(
    "keep a body where a cell of the head covers all of it",
    {
      body: `<w:tbl>${head(cell(paragraph("Name"), spans("restart")), cell(paragraph("Size")))}${row(cell(paragraph(""), spans("")), cell(paragraph("10")))}</w:tbl>`
    },
    '<table><thead><tr><th rowspan="2"><p>Name</p></th><th><p>Size</p></th></tr></thead><tbody><tr><td><p>10</p></td></tr></tbody></table>'
  )
})

describe("tables of Word documents that say their merged cells one by one", () => {
  const merge = (value = "") => `<w:hMerge${value === "" ? "" : ` w:val="${value}"`}/>`
  written(
    "have one cell of them, as wide as all; a cell that continues none is one",
    {
      body: `<w:tbl>${row(cell(paragraph("All"), merge("restart")), cell(paragraph(""), merge()), cell(paragraph(""), `<w:gridSpan w:val="2"/>${merge()}`))}${row(cell(paragraph("A"), merge()), cell(paragraph("B")), cell(paragraph("C"), '<w:gridSpan w:val="2"/>'))}</w:tbl>`
    },
    '<table><tr><td colspan="4"><p>All</p></td></tr><tr><td><p>A</p></td><td><p>B</p></td><td colspan="2"><p>C</p></td></tr></table>'
  )
  const caption = (words: string) => paragraph(words, "Caption")
  const styles = '<w:style w:type="paragraph" w:styleId="Caption"><w:name w:val="caption"/></w:style>'
  const table = (words: string) => `<w:tbl>${row(cell(paragraph(words)))}</w:tbl>`
  const named = (name: string, words: string) =>
    `<table><caption>${name}</caption><tr><td><p>${words}</p></td></tr></table>`
  written(
    "are named by the captions below them, where the document has these below",
    { styles, body: table("a") + caption("Table 1: A") + table("b") + caption("Table 2: B") },
    named("Table 1: A", "a") + named("Table 2: B", "b")
  )
  written(
    "are named by the captions above them, where the document has these above; a picture keeps its own",
    {
      styles,
      body: caption("Table 1: A") + table("a") + caption("Table 2: B") + table("b") + caption("Figure 1: C")
    },
    `${named("Table 1: A", "a")}${named("Table 2: B", "b")}<p>Figure 1: C</p>`
  )
})

describe("runs of Word documents", () => {
  const face = (font: string) => `<w:rFonts w:ascii="${font}" w:hAnsi="${font}"/>`
  written(
    "in a font of signs are signs, also where its letters are; in others they stay letters",
    {
      body: p(
        text("\u00fc\uf0fe", face("Wingdings")) +
          text(" paid a", face("Arial")) +
          text(" ab\uf0b3", face("Symbol")) +
          text("ü")
      )
    },
    "<p>✓🗹 paid a αβ≥ü</p>"
  )
  written(
    "that are struck twice are struck, those that are not stay",
    { body: p(text("100", "<w:dstrike/>") + text(" 80", '<w:dstrike w:val="0"/>')) },
    "<p><s>100</s> 80</p>"
  )
  const note = (id: number, mark: string) =>
    `<w:footnote w:id="${id}"><w:p><w:r>${mark}<w:t> words</w:t></w:r></w:p></w:footnote>`
  it.effect("keep the mark that the author gave a note; others are numbered", () =>
    Effect.gen(function* () {
      const html = yield* htmlOf({
        body: p(
          `${text("Net")}<w:r><w:footnoteReference w:customMarkFollows="1" w:id="1"/><w:t>*</w:t></w:r>${text("* of ")}` +
            `<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:footnoteReference w:id="2"/></w:r>`
        ),
        relations:
          '<Relationship Id="rId9" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes" Target="footnotes.xml"/>',
        more: [
          {
            name: "word/footnotes.xml",
            data: `<w:footnotes ${NAMESPACES}>${note(1, "<w:t>*</w:t>")}${note(2, "<w:footnoteRef/>")}</w:footnotes>`
          }
        ]
      })
      assert.match(
        html,
        /^<p>Net<sup><a role="doc-noteref" [^<>]*>\*<\/a><\/sup>\* of <sup><a role="doc-noteref" [^<>]*>\[2\]<\/a><\/sup><\/p>/
      )
    })
  )
})

describe("directions of Word documents", () => {
  const bidi = (value = "") => `<w:bidi${value === "" ? "" : ` w:val="${value}"`}/>`
  written(
    "are those of the paragraph, else of its style; a paragraph without words has none",
    {
      styles: `<w:style w:type="paragraph" w:styleId="Ar"><w:name w:val="Ar"/><w:pPr>${bidi()}</w:pPr></w:style>`,
      body:
        p(text("12:30 (ABC)"), bidi()) +
        paragraph("styled", "Ar") +
        p(text("left"), `<w:pStyle w:val="Ar"/>${bidi("0")}`) +
        p("", bidi()) +
        p(text("plain"))
    },
    '<p dir="rtl">12:30 (ABC)</p><p dir="rtl">styled</p><p>left</p><p>plain</p>'
  )
  written(
    "are also those of headings, items and tables, each by itself",
    {
      ...lists(["decimal", "%1."]),
      body:
        p(text("Head"), `<w:pStyle w:val="Heading1"/>${bidi()}`) +
        item(1, "item", bidi()) +
        `<w:tbl><w:tblPr><w:bidiVisual/></w:tblPr>${row(cell(paragraph("1")), cell(`<w:tbl>${row(cell(paragraph("in")))}</w:tbl>${paragraph("2")}`))}</w:tbl>`
    },
    '<h1 dir="rtl">Head</h1><ol><li dir="rtl">item</li></ol>' +
      '<table dir="rtl"><tr><td><p>1</p></td><td><table><tr><td><p>in</p></td></tr></table><p>2</p></td></tr></table>'
  )
})

describe("form fields of Word documents", () => {
  const char = (kind: string, data = "") =>
    `<w:r><w:fldChar w:fldCharType="${kind}">${data}</w:fldChar></w:r>`
  const field = (words: string) =>
    `${char("begin", "<w:ffData><w:textInput/></w:ffData>")}<w:r><w:instrText> FORMTEXT </w:instrText></w:r>${char("separate")}${text(words)}${char("end")}`
  written(
    "are shown while they are blank; what is filled in is text",
    { body: p(text("Name: ") + field("     ")) + p(text("Town: ") + field("Oslo")) },
    '<p>Name:      <input type="text" /></p><p>Town: Oslo</p>'
  )
})

describe("parts in other formats", () => {
  const chunk = (target: string, data: string): WordSpec => ({
    body: `${paragraph("Before")}<w:altChunk r:id="rId9"/>${paragraph("After")}`,
    relations: `<Relationship Id="rId9" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/aFChunk" Target="${target}"/>`,
    more: [{ name: `word/${target}`, data }]
  })
  written(
    "are read at their place where they are HTML, and nothing of them that is no content",
    chunk(
      "a.html",
      '<html><head><title>T</title></head><body onload="x()"><h1>Head</h1><script>alert(1)</script><ol start="3"><li>three</ol><p>open'
    ),
    '<p>Before</p><h1>Head</h1><ol start="3"><li>three</li></ol><p>open</p><p>After</p>'
  )
  written(
    "are read line by line where they are text",
    chunk("a.txt", "first <b>\r\n\r\nsecond"),
    "<p>Before</p><p>first &lt;b&gt;</p><p>second</p><p>After</p>"
  )
  it.effect("are named as left out where they are anything else, or not there", () =>
    Effect.gen(function* () {
      const mht = chunk("a.mht", "MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n<p>words</p>")
      for (const spec of [chunk("a.rtf", "{\\rtf1 words}"), mht, { ...chunk("a.html", "x"), more: [] }]) {
        const html = yield* htmlOf(spec)
        assert.match(html, /^<p>Before<\/p><p>\[.* left out here\.\]<\/p><p>After<\/p>$/)
      }
    })
  )
})

describe("archives that do not end as they should", () => {
  const zip = wordOf({ body: paragraph("whole") })
  const withComment = (named: number, there: number) => {
    const bytes = Buffer.concat([zip, Buffer.alloc(there, 0x20)])
    bytes.writeUInt16LE(named, zip.length - 2)
    return bytes
  }
  it.effect("are read where bytes are behind their end record, or its last one is missing", () =>
    Effect.gen(function* () {
      const bytes = [Buffer.concat([zip, Buffer.from("\r\n")]), zip.subarray(0, -1), zip.subarray(0, -2)]
      for (const one of bytes) assert.strictEqual(yield* htmlOfBytes(one), "<p>whole</p>")
    })
  )
  it.effect("are read where only the comment of their end record is missing", () =>
    Effect.gen(function* () {
      for (const [named, there] of [
        [1, 0],
        [65_535, 10]
      ] as const)
        assert.strictEqual(yield* htmlOfBytes(withComment(named, there)), "<p>whole</p>")
    })
  )
  it.effect("are damaged where more is missing", () =>
    Effect.gen(function* () {
      for (const bytes of [
        zip.subarray(0, -3),
        zip.subarray(0, zip.length / 2),
        withComment(1, 0).subarray(30)
      ]) {
        const answer = yield* Effect.exit(htmlOfBytes(bytes))
        assert.strictEqual(answer._tag, "Failure")
      }
    })
  )
})
