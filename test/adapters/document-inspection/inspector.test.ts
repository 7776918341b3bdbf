import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"

import { layer as layerInspector } from "../../../src/adapters/document-inspection/inspector.ts"
import { layerDocx } from "../../../src/adapters/docx/docx-converter.ts"
import { layerPdf } from "../../../src/adapters/pdf/pdf.ts"
import * as ReaderProcess from "../../../src/adapters/reader-process/reader-process.ts"
import { DocumentInspector } from "../../../src/ports/conversion/documents.ts"
import { encryptPdf } from "../../support/files/pdf-encrypt.ts"
import { temporaryPdf } from "../../support/files/pdf-files.ts"
import { numbered, portfolioOf } from "../../support/files/pdf-samples.ts"
import { jpeg, pngOf } from "../../support/files/picture-files.ts"
import { tnefOf } from "../../support/files/tnef-files.ts"
import { compoundOf, paragraph, wordOf, wordParts, words } from "../../support/files/word-files.ts"
import { tarOf, zipOf } from "../../support/files/zip-files.ts"

/** Kind and pages, or what was found instead, or why it cannot be read. */
const inspected = (bytes: Uint8Array) =>
  Effect.scoped(
    Effect.gen(function* () {
      const path = yield* temporaryPdf(bytes)
      return yield* inspectPath(path)
    })
  )

const inspectPath = Effect.fnUntraced(function* (path: string) {
  const inspector = yield* DocumentInspector
  return yield* inspector.inspect(path).pipe(
    Effect.map(({ kind, pages }) => `${kind} ${pages}`),
    Effect.catchTags({
      UnsupportedDocument: ({ found }) => Effect.succeed(`unsupported: ${found}`),
      UnreadableDocument: ({ message }) => Effect.succeed(`unreadable: ${message}`)
    })
  )
})

const word = wordOf({ body: paragraph("One two three") })
const pdf = numbered(3)
const png = pngOf()

const TABLE: ReadonlyArray<readonly [string, () => Uint8Array, string | RegExp]> = [
  ["a PDF", () => pdf, "pdf 3"],
  ["a PDF behind other bytes", () => Buffer.concat([Buffer.alloc(900, "x"), pdf]), "pdf 3"],
  ["a PDF header too far in", () => Buffer.concat([Buffer.alloc(1025, "x"), pdf]), /^unsupported: a file/],
  ["a PDF with a Word document behind it", () => Buffer.concat([pdf, word]), "pdf 3"],
  [
    "a winmail.dat of Outlook's with PDFs in it",
    () => tnefOf(["a.pdf", pdf], ["b.pdf", pdf]),
    "unsupported: an Outlook file (winmail.dat)"
  ],
  ["an archive of Unix's with a PDF in it", () => tarOf("a.pdf", pdf), /^unsupported: a \.tar file/],
  ["a PDF cut off", () => pdf.subarray(0, 200), /^unreadable: .*damaged/],
  ["a Word document", () => word, "docx 1"],
  [
    "a Word document whose pages are noted",
    () => wordOf({ body: paragraph(words(900)), pages: 3 }),
    "docx 3"
  ],
  ["one that notes too few pages", () => wordOf({ body: paragraph(words(9000)), pages: 1 }), "docx 23"],
  ["one that notes too many", () => wordOf({ pages: 5000 }), "docx 1"],
  ["one that notes nonsense", () => wordOf({ pages: -4 }), "docx 1"],
  [
    "one with page breaks",
    () =>
      wordOf({ body: '<w:p><w:r><w:br w:type="page"/><w:t>x</w:t><w:lastRenderedPageBreak/></w:r></w:p>' }),
    "docx 3"
  ],
  ["one whose main part has another name", () => wordOf({ main: "word/document2.xml" }), "docx 1"],
  ["a Word document cut off", () => word.subarray(0, word.length - 30), /^unreadable: .*damaged/],
  ["only the beginning of one", () => word.subarray(0, 60), /^unreadable: .*damaged/],
  [
    "one whose text part is missing",
    () => zipOf(wordParts().filter(({ name }) => name !== "word/document.xml")),
    /^unreadable: .*no text part/
  ],
  [
    "one with a password of ZIP's own",
    () => zipOf(wordParts().map((part) => ({ ...part, encrypted: true }))),
    /^unreadable: .*password/
  ],
  [
    "one under a password",
    () => compoundOf(["Root Entry", "Version", "x", "y", "EncryptedPackage"]),
    /password/
  ],
  ["an old Word document", () => compoundOf(["Root Entry", "WordDocument"]), /^unsupported: .*\.doc\)/],
  [
    "another old Office file",
    () => compoundOf(["Root Entry", "Workbook"]),
    /^unsupported: an old Office file/
  ],
  [
    "macros by type",
    () => wordOf({ type: "application/vnd.ms-word.document.macroEnabled.main+xml" }),
    /^unsupported: .*\.docm/
  ],
  [
    "macros that hide",
    () => wordOf({ more: [{ name: "word/vbaProject.bin", data: "x" }] }),
    /^unsupported: .*\.docm/
  ],
  [
    "a workbook",
    () => wordOf({ type: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml" }),
    "unsupported: an Excel workbook"
  ],
  [
    "an OpenDocument text",
    () => zipOf([{ name: "mimetype", data: "application/vnd.oasis.opendocument.text" }]),
    /^unsupported: an OpenDocument text/
  ],
  ["an archive", () => zipOf([{ name: "a.txt", data: "a" }]), "unsupported: a ZIP archive"],
  ["a part twice", () => zipOf([...wordParts(), ...wordParts()]), /^unreadable: .*damaged/],
  [
    "too many parts",
    () => wordOf({ more: Array.from({ length: 2001 }, (_, at) => ({ name: `x${at}`, data: "" })) }),
    /^unreadable: .*unpacks/
  ],
  [
    "a bomb that says so",
    () => wordOf({ more: [{ name: "bomb", data: Buffer.alloc(60 * 1024 * 1024) }] }),
    /^unreadable: .*unpacks/
  ],
  [
    "a bomb that does not",
    () => wordOf({ more: [{ name: "bomb", data: Buffer.alloc(20 * 1024 * 1024), says: 1000 }] }),
    /^unreadable: .*damaged/
  ],
  [
    "parts that say to be terabytes",
    () => wordOf({ more: [{ name: "bomb", data: "x", says: 0xfffffffe }] }),
    /^unreadable: .*unpacks/
  ],
  [
    "a part that leaves its folder",
    () => wordOf({ more: [{ name: "../../x", data: "" }] }),
    /^unreadable: .*damaged/
  ],
  ["a PNG", () => png, "png 1"],
  ["a PNG with a PDF in it", () => pngOf(4, 2, [["tEXt", pdf]]), "png 1"],
  ["a PNG cut off", () => png.subarray(0, png.length - 14), /^unreadable: .*PNG/],
  ["a PNG without its end", () => png.subarray(0, png.length - 12), /^unreadable: .*PNG/],
  ["a PNG's header alone", () => png.subarray(0, 8), /^unreadable: .*PNG/],
  [
    "a PNG whose header was changed",
    () => Buffer.concat([png.subarray(0, 16), Buffer.from([9]), png.subarray(17)]),
    /^unreadable: .*PNG/
  ],
  ["a PNG without a width", () => pngOf(0, 5), /^unreadable: .*PNG/],
  ["a PNG of 120 megapixels", () => pngOf(12_000, 10_000), /^unreadable: .*100 megapixels/],
  ["a PNG of 21 MB", () => pngOf(4, 2, [["teSt", Buffer.alloc(21 * 1024 * 1024)]]), /^unreadable: .*20 MB/],
  ["a JPEG", jpeg, "jpeg 1"],
  ["a JPEG with more behind it", () => Buffer.concat([jpeg(), Buffer.alloc(70_000, 7)]), "jpeg 1"],
  ["a JPEG cut off", () => jpeg().subarray(0, jpeg().length - 8), /^unreadable: .*JPEG/],
  ["a JPEG's header alone", () => jpeg().subarray(0, 24), /^unreadable: .*JPEG/],
  ["a GIF", () => Buffer.from("GIF89a\x01\0\x01\0\0\0\0;", "latin1"), /^unsupported: a \.gif file/],
  ["HTML", () => Buffer.from("<!doctype html><p>%PDF"), /^unsupported: plain text, HTML/],
  ["nothing", () => Buffer.alloc(0), "unsupported: an empty file"],
  ["zeros", () => Buffer.alloc(5000), /^unsupported: a file of an unknown kind/]
]

layer(
  Layer.provide(layerInspector, [layerPdf({ threads: 1 }), Layer.provide(layerDocx(), ReaderProcess.layer)])
)("inspector", (it) => {
  for (const [name, make, expected] of TABLE)
    it.effect(name, () =>
      Effect.gen(function* () {
        const found = yield* inspected(make())
        if (typeof expected === "string") assert.strictEqual(found, expected)
        else assert.match(found, expected)
      })
    )

  it.effect("an encrypted PDF says so", () =>
    Effect.gen(function* () {
      const path = yield* temporaryPdf(pdf)
      const bytes = yield* Effect.promise(() => encryptPdf(path, "secret"))
      assert.match(yield* inspected(bytes), /^unreadable: .*password/)
    })
  )

  it.effect("DOC-16: a PDF's other content is named; a Word document's is not looked for", () =>
    Effect.gen(function* () {
      const inspector = yield* DocumentInspector
      const leftOutOf = Effect.fnUntraced(function* (bytes: Uint8Array) {
        return (yield* inspector.inspect(yield* temporaryPdf(bytes))).leftOut
      }, Effect.scoped)
      const nothing = { portfolio: false, files: [], fileCount: 0, remarks: 0 }
      assert.deepStrictEqual(yield* leftOutOf(pdf), nothing)
      const found = { portfolio: true, files: ["a.csv"], fileCount: 1, remarks: 1 }
      assert.deepStrictEqual(yield* leftOutOf(portfolioOf(["a.csv"])), found)
      assert.isUndefined(yield* leftOutOf(word))
    })
  )

  describe("whatever the bytes are, there is an answer", () => {
    const starts = [Buffer.alloc(0), png, jpeg(), word, compoundOf(["Root Entry", "EncryptedPackage"])]
    it.effect.prop(
      "bytes changed, cut and added",
      {
        start: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: starts.length - 1 })),
        noise: Schema.Array(Schema.Tuple([Schema.Natural, Schema.Int])),
        cut: Schema.Natural,
        tail: Schema.Uint8Array
      },
      ({ cut, noise, start, tail }) =>
        Effect.gen(function* () {
          const bytes = Buffer.concat([starts[start] ?? Buffer.alloc(0), tail])
          for (const [at, value] of noise) if (bytes.length > 0) bytes[at % bytes.length] = value & 255
          const whole = cut % 3 === 0 ? bytes.subarray(0, cut % (bytes.length + 1)) : bytes
          assert.match(yield* inspected(whole), /^(pdf|docx|png|jpeg) \d+$|^un(supported|readable): .{5,}/)
        }),
      { arbitrary: { runs: 300 } }
    )
  })
})
