import { Effect, Layer, ManagedRuntime, Result } from "effect"
import * as fc from "fast-check"

import { layerDocx } from "../../../src/adapters/docx/docx-converter.ts"
import * as ReaderProcess from "../../../src/adapters/reader-process/reader-process.ts"
import { DocxConverter } from "../../../src/ports/conversion/documents.ts"
import { temporaryPdf } from "../../support/files/pdf-files.ts"
import { NAMESPACES, paragraph, pictureOf, wordOf } from "../../support/files/word-files.ts"
import { Broken, hold, type Target } from "../target.ts"

const TABLE = `<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>${paragraph("a")}</w:tc></w:tr><w:tr><w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr>${paragraph("b")}</w:tc><w:tc>${paragraph("c")}</w:tc></w:tr></w:tbl>`
const LIST =
  '<w:p><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>i</w:t></w:r></w:p>'
const LINK = '<w:p><w:hyperlink r:id="rId1" w:anchor="a"><w:r><w:t>l</w:t></w:r></w:hyperlink></w:p>'
const FIELD =
  '<w:p><w:r><w:fldChar w:fldCharType="begin"/><w:instrText>HYPERLINK "javascript:x"</w:instrText><w:fldChar w:fldCharType="separate"/><w:t>f</w:t><w:fldChar w:fldCharType="end"/></w:r></w:p>'
const FORMULA =
  '<w:p><m:oMathPara><m:oMath><m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub><m:r><m:t>i</m:t></m:r></m:sub><m:sup/><m:e><m:f><m:num><m:r><m:t>a&amp;1</m:t></m:r></m:num><m:den><m:rad><m:deg/><m:e/></m:rad></m:den></m:f></m:e></m:nary></m:oMath></m:oMathPara></w:p>'
const BOX =
  "<w:p><w:r><mc:AlternateContent><mc:Choice><w:drawing><wps:txbx><w:txbxContent><w:p/></w:txbxContent></wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:oval><w:txbxContent><w:p/></w:txbxContent></v:oval></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"
const CODE =
  '<w:p><w:r><w:rPr><w:vanish/><w:rFonts w:ascii="Courier"/></w:rPr><w:t>x</w:t><w:cr/></w:r></w:p>'
const NUMBERS = `<w:numbering ${NAMESPACES}><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1."/></w:lvl><w:lvl w:ilvl="1"><w:isLgl/><w:lvlText w:val="%1.%2"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num></w:numbering>`
const BLOCKS = [
  paragraph("Title", "Title"),
  paragraph("one two", "Heading1"),
  paragraph("&#32;&amp;&lt;"),
  TABLE,
  LIST,
  LINK,
  FIELD,
  FORMULA,
  BOX,
  CODE,
  LIST.replace('"1"', '"0"'),
  '<w:p><w:pPr><w:pStyle w:val="TOC1"/><w:outlineLvl w:val="1"/></w:pPr><w:fldSimple/><w:ruby><w:rt/></w:ruby></w:p>',
  pictureOf("rId1", "alt"),
  "<w:p>",
  "</w:p>",
  "<w:br/>",
  "<mc:AlternateContent><mc:Choice><w:p/></mc:Choice></mc:AlternateContent>",
  "<w:sdt><w:sdtContent><w:p/></w:sdtContent></w:sdt>",
  "<![CDATA[x]]>",
  "<!DOCTYPE a [<!ENTITY b 'c'>]>",
  "&b;"
]

/** A file, or what its body holds: changed bytes of an archive hardly ever get past its checks. */
const fileOf = (input: Buffer): Buffer =>
  input.subarray(0, 2).toString("latin1") === "PK"
    ? input
    : wordOf({
        body: input.toString("utf8"),
        title: "t",
        more: [{ name: "word/numbering.xml", data: NUMBERS }]
      })

export const docx: Target = {
  name: "docx",
  about: "Word documents, inspected and converted by their reader",
  limitMs: 60_000,
  memoryMb: 1_024,
  guided: false,
  seeds: () => [
    wordOf(),
    wordOf({ body: BLOCKS.slice(0, 13).join(""), title: "t", pages: 3 }),
    ...BLOCKS.map((block) => Buffer.from(block)),
    Buffer.from(BLOCKS.slice(0, 13).join(""))
  ],
  made: fc.array(fc.constantFrom(...BLOCKS), { maxLength: 20 }).map((blocks) => Buffer.from(blocks.join(""))),
  words: [
    ...BLOCKS,
    "<",
    ">",
    "&",
    ";",
    '"',
    "w:",
    'xmlns:w="x"',
    "<w:tbl>",
    "</w:tc>",
    "PK\u0001\u0002",
    "PK\u0005\u0006",
    "\0",
    "\xff\xff\xff\xff"
  ],
  open: async () => {
    const runtime = ManagedRuntime.make(Layer.provide(layerDocx(), ReaderProcess.layer))
    const both = (path: string) =>
      Effect.gen(function* () {
        const { convert, inspect } = yield* DocxConverter
        return {
          inspected: yield* Effect.result(inspect(path)),
          converted: yield* Effect.result(convert(path))
        }
      })
    return {
      answer: async (input) => {
        const { converted, inspected } = await runtime.runPromise(
          Effect.scoped(Effect.flatMap(temporaryPdf(fileOf(input)), both))
        )
        const looked = Result.isSuccess(inspected) ? "inspected" : inspected.failure._tag
        if (Result.isFailure(converted)) {
          const { reason } = converted.failure
          if (reason === "crashed" || reason === "timeout") throw new Broken(`H1: its reader: ${reason}`)
          return `${looked}, ${reason}`
        }
        const { pages, parts } = converted.success
        hold(Number.isSafeInteger(pages) && pages >= 1, `F: ${pages} pages`)
        const tags = new Set(parts.flatMap(({ html }) => html.match(/<[a-z]+[0-9]?/g) ?? []))
        return `${looked}, converted: ${[...tags].sort().join(" ")}`
      },
      close: () => runtime.dispose()
    }
  }
}
