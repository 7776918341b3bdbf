import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { loadLibraries } from "../../../../../src/reader/sources/pdf/engine/libraries.ts"
import { OpenDocument } from "../../../../../src/reader/sources/pdf/pages/document.ts"
import { encryptPdf } from "../../../../support/files/pdf-encrypt.ts"
import { temporaryPdf } from "../../../../support/files/pdf-files.ts"
import { type DocumentSpec, line, pdfOf, type PdfWriter, ref } from "../../../../support/files/pdf-writer.ts"

const leftOutOf = (bytes: Uint8Array) =>
  Effect.gen(function* () {
    const path = yield* temporaryPdf(bytes)
    const document = new OpenDocument(yield* Effect.promise(loadLibraries), path)
    const found = document.leftOut()
    document.close()
    return found
  })

const NOTHING = { portfolio: false, files: [], fileCount: 0, remarks: 0 }

const fileOf = (writer: PdfWriter, name: string): string => {
  const bytes = writer.stream("words", { dictionary: "/Type /EmbeddedFile" })
  return ref(writer.object(`<< /Type /Filespec /F ${name} /UF ${name} /EF << /F ${ref(bytes)} >> >>`))
}

const annotation = (type: string, more: string): string =>
  `<< /Type /Annot /Subtype /${type} /Rect [72 400 90 420] ${more} >>`

const documentOf = (more: DocumentSpec["more"], entries = "") =>
  pdfOf({ pages: [{ content: line("Cover", 72, 700), entries }], ...(more === undefined ? {} : { more }) })

/** A tree with these nodes, the first of which is its root. */
const treeOf = (
  nodesOf: (ids: ReadonlyArray<number>, writer: PdfWriter) => ReadonlyArray<string>,
  count = 1
) =>
  documentOf((writer) => {
    const ids = Array.from({ length: count }, () => writer.reserve())
    for (const [at, node] of nodesOf(ids, writer).entries()) writer.object(`<< ${node} >>`, ids[at])
    return { catalog: `/Names << /EmbeddedFiles ${ref(ids[0] ?? 0)} >>` }
  })

describe("what a PDF holds that its pages do not show", () => {
  it.effect("nothing, where there is nothing", () =>
    Effect.map(leftOutOf(documentOf(undefined)), (found) => assert.deepStrictEqual(found, NOTHING))
  )

  it.effect("the document's files and those pinned to its pages, one in both once; a portfolio is one", () =>
    Effect.gen(function* () {
      const bytes = (entry: string) =>
        pdfOf({
          pages: [{ content: line("Cover", 72, 700) }, { content: "" }],
          more: (writer) => {
            const [boats, plan] = [
              fileOf(writer, "(boats.csv)"),
              fileOf(writer, "<FEFF00DC002E00700064006600>")
            ]
            const pinned = fileOf(writer, "(pinned.txt)")
            return {
              catalog: `/Names << /EmbeddedFiles << /Names [(a) ${boats} (b) ${plan}] >> >> ${entry}`,
              entries: [
                "",
                `/Annots [${annotation("FileAttachment", `/FS ${pinned}`)} ${annotation("FileAttachment", `/FS ${boats}`)}]`
              ]
            }
          }
        })
      const files = { files: ["boats.csv", "Ü.pdf", "pinned.txt"], fileCount: 3, remarks: 0 }
      assert.deepStrictEqual(yield* leftOutOf(bytes("")), { ...files, portfolio: false })
      const portfolio = bytes("/Collection << /Type /Collection /View /D >>")
      assert.deepStrictEqual(yield* leftOutOf(portfolio), { ...files, portfolio: true })
      // One that opens for everybody, though it is encrypted.
      const path = yield* temporaryPdf(portfolio)
      assert.deepStrictEqual(yield* leftOutOf(yield* Effect.promise(() => encryptPdf(path, ""))), {
        ...files,
        portfolio: true
      })
      assert.deepStrictEqual(yield* leftOutOf(documentOf(() => ({ catalog: "/Collection << >>" }))), NOTHING)
    })
  )

  it.effect("files that go with the document, where no tree names any", () =>
    Effect.gen(function* () {
      const bytes = documentOf((writer) => ({ catalog: `/AF [${fileOf(writer, "(factur-x.xml)")}]` }))
      assert.deepStrictEqual(yield* leftOutOf(bytes), { ...NOTHING, files: ["factur-x.xml"], fileCount: 1 })
    })
  )

  it.effect(
    "remarks, stamps and handwriting; not what is hidden, is converted, says nothing, or is about another remark",
    () =>
      Effect.gen(function* () {
        const annotations = [
          annotation("Text", "/Contents (A remark)"),
          annotation("Highlight", "/Contents (Is this true?)"),
          annotation("Stamp", "/Name /Approved"),
          annotation("Ink", ""),
          annotation("Text", "/Contents (Hidden) /F 2"),
          annotation("Stamp", "/F 32"),
          annotation("FreeText", "/Contents (Converted)"),
          annotation("Popup", "/Contents (Its window)"),
          annotation("Link", "/Contents (Somewhere)"),
          annotation("Highlight", ""),
          annotation("Text", "/Contents (Accepted by Ann) /StateModel (Review) /State (Accepted)")
        ]
        const bytes = documentOf(undefined, `/Annots [${annotations.join(" ")} null 7]`)
        assert.deepStrictEqual(yield* leftOutOf(bytes), { ...NOTHING, remarks: 4 })
      })
  )

  it.effect("names that are hostile, without end or too many are cut and counted", () =>
    Effect.gen(function* () {
      const many = documentOf((writer) => {
        const file = fileOf(writer, "(x.txt)")
        const long = fileOf(writer, `(${"y".repeat(100_000)}.pdf)`)
        const odd = fileOf(writer, "<FEFFD8000000202E003C0062003E002E0070006400660009>")
        const names = Array.from({ length: 10_000 }, (_, at) => `(${String(at + 10_000)}) ${file}`)
        return {
          catalog: `/Names << /EmbeddedFiles << /Names [(0) ${long} (1) ${odd} (2) 7 (3) << >> ${names.join(" ")}] >> >>`
        }
      })
      const { fileCount, files } = yield* leftOutOf(many)
      assert.strictEqual(fileCount, 10_004)
      assert.strictEqual(files[0]?.length, 200)
      assert.isTrue(files[0]?.endsWith(".pdf"))
      for (const name of files) {
        assert.isTrue(name.isWellFormed())
        assert.notMatch(name, /[\p{Cc}\u202e]/u)
      }
      assert.include(files, "x.txt")
    })
  )

  it.effect("trees of names that go round, or down without end, end", () =>
    Effect.gen(function* () {
      const round = treeOf((ids) => [`/Kids [${`${ref(ids[0] ?? 0)} `.repeat(50)}]`])
      assert.deepStrictEqual(yield* leftOutOf(round), NOTHING)
      const wide = treeOf(
        (ids) => ids.map((_, at) => `/Kids [${`${ref(ids[(at + 1) % ids.length] ?? 0)} `.repeat(20)}]`),
        40
      )
      assert.deepStrictEqual(yield* leftOutOf(wide), NOTHING)
      const deep = treeOf(
        (ids, writer) =>
          ids.map((_, at) =>
            at + 1 < ids.length
              ? `/Kids [${ref(ids[at + 1] ?? 0)}]`
              : `/Names [(a) ${fileOf(writer, "(deep)")}]`
          ),
        3_000
      )
      assert.isAtMost((yield* leftOutOf(deep)).fileCount, 1)
      for (const odd of ["7", "[]", "<< /Names 7 /Kids 9 >>", "<< /Kids [null 7 []] >>", "null"])
        assert.deepStrictEqual(
          yield* leftOutOf(documentOf(() => ({ catalog: `/Names << /EmbeddedFiles ${odd} >> /AF ${odd}` }))),
          NOTHING
        )
    })
  )
})
