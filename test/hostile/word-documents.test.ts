import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import mammoth from "mammoth"

import { layer as layerInspector } from "../../src/adapters/document-inspection/inspector.ts"
import { layerDocx } from "../../src/adapters/docx/docx-converter.ts"
import { layer as layerAssembly } from "../../src/adapters/html/html-assembly.ts"
import { layerPdf } from "../../src/adapters/pdf/pdf.ts"
import * as ReaderProcess from "../../src/adapters/reader-process/reader-process.ts"
import { docxHtml } from "../../src/application/conversion/work/word-document.ts"
import { DocumentInspector, DocxConverter } from "../../src/ports/conversion/documents.ts"
import { HtmlAssembly } from "../../src/ports/conversion/html-assembly.ts"
import { temporaryPdf } from "../support/files/pdf-files.ts"
import { paragraph, wordOf, wordParts, words } from "../support/files/word-files.ts"
import { twoFacedZip, zipOf } from "../support/files/zip-files.ts"
import { MAX_STALL_MS, stallOf } from "./stalls.ts"

const inspected = (bytes: Uint8Array) =>
  Effect.scoped(
    Effect.gen(function* () {
      const inspector = yield* DocumentInspector
      return yield* Effect.result(inspector.inspect(yield* temporaryPdf(bytes)))
    })
  )

/** What comes of a document, as it would be charged. */
const converted = (bytes: Uint8Array) => Effect.scoped(Effect.flatMap(temporaryPdf(bytes), docxHtml))

/** The whole way of a document: inspected, converted, put together. Whatever comes of it. */
const wholeWay = (bytes: Uint8Array) =>
  Effect.gen(function* () {
    yield* inspected(bytes)
    const { assemble } = yield* HtmlAssembly
    const { html, title } = yield* converted(bytes)
    const pages = Stream.make({ index: 0, label: "1", html })
    yield* Stream.runDrain(assemble({ facts: { lang: undefined, title }, name: "a.docx", pages }))
  }).pipe(Effect.ignore)

/** The longest stall of this process meanwhile. */
const stall = (bytes: Uint8Array) =>
  Effect.gen(function* () {
    const context = yield* Effect.context<Effect.Services<ReturnType<typeof wholeWay>>>()
    return yield* Effect.promise(() => stallOf(() => Effect.runPromiseWith(context)(wholeWay(bytes))))
  })

/** Ends of a document's list of relations that look like the beginning of one. */
const relations = (tail: string) =>
  zipOf(wordParts().map((part) => (part.name === "_rels/.rels" ? { ...part, data: tail } : part)))

const HOSTILE: ReadonlyArray<readonly [string, () => Uint8Array]> = [
  ["attributes without an end", () => relations(`<Relationship ${"a".repeat(1_000_000)}`)],
  ["names without a value", () => relations(`<Relationship ${"a:".repeat(500_000)}>`)],
  ["comments that are not closed", () => relations("<!--".repeat(250_000))],
  ["spaces without an end", () => relations(`<Relationship${" ".repeat(1_000_000)}`)],
  ["opened tags", () => wordOf({ body: "<w:p>".repeat(100_000) })],
  [
    "properties that begin again and again",
    () => wordOf({ more: [{ name: "docProps/app.xml", data: "<Pages>".repeat(140_000) }] })
  ]
]

/** Text that packs badly, as real text does: what packs too well is refused for that. */
const noise = (at: number): string => Math.imul(at + 1, 0x9e3779b1).toString(36)
const noiseOf = (count: number): string => Array.from({ length: count }, (_, at) => noise(at)).join(" ")

const LARGE: ReadonlyArray<readonly [string, () => Uint8Array]> = [
  ["five million characters of text", () => wordOf({ body: paragraph(noiseOf(10_000)).repeat(60) })],
  [
    "very many paragraphs",
    () => wordOf({ body: Array.from({ length: 60_000 }, (_, at) => paragraph(noise(at))).join("") })
  ],
  ["more than can be put together", () => wordOf({ body: paragraph(noiseOf(10_000)).repeat(100) })]
]

const suite = Layer.provideMerge(
  layerInspector,
  Layer.mergeAll(layerPdf({ threads: 1 }), Layer.provide(layerDocx(), ReaderProcess.layer), layerAssembly)
)

layer(suite)("hostile Word documents", (it) => {
  it.effect.each(LARGE)("H1: a document of %s is converted beside the event loop, or refused", ([, bytes]) =>
    Effect.gen(function* () {
      assert.isBelow(yield* stall(bytes()), MAX_STALL_MS)
    })
  )

  it.effect.each(HOSTILE)("H1: %s do not hold the others up", ([, bytes]) =>
    Effect.gen(function* () {
      assert.isBelow(yield* stall(bytes()), MAX_STALL_MS)
    })
  )

  it.effect("H4: of an archive with two directories one is inspected, and the same one converted", () =>
    Effect.gen(function* () {
      const bytes = twoFacedZip(
        wordParts({ body: paragraph("seen") }),
        wordParts({ body: paragraph("hidden") })
      )
      // The trick works: another reader finds the other document.
      const other = yield* Effect.promise(() => mammoth.extractRawText({ buffer: bytes }))
      assert.include(other.value, "hidden")
      const { html } = yield* converted(bytes)
      assert.include(html, "seen")
      assert.notInclude(html, "hidden")
    })
  )

  it.effect("H4: the limits hold for whatever is converted, not only for what was inspected", () =>
    Effect.gen(function* () {
      const bomb = wordParts({ body: paragraph(words(10)).repeat(1_000_000) })
      for (const bytes of [zipOf(bomb), twoFacedZip(wordParts(), bomb)]) {
        const converter = yield* DocxConverter
        const ended = yield* Effect.scoped(
          Effect.flatMap(temporaryPdf(bytes), (path) => Effect.result(converter.convert(path)))
        )
        assert.notInclude(JSON.stringify(ended), "word9 ")
      }
    })
  )

  it.effect("a document is charged by the words that come out of it, not by what else it holds", () =>
    Effect.gen(function* () {
      const text = words(9000)
      const decoy = { name: "word/decoy.xml", data: "<w:document><w:body/></w:document>" }
      const parts = wordParts({ body: paragraph(text) })
      const relation = (target: string, type: string) =>
        `<Relationship Id="${target}" Type="${type}/officeDocument" Target="${target}"/>`
      const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
      const withDecoy = parts.map((part) =>
        part.name === "_rels/.rels"
          ? {
              ...part,
              data: `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relation(
                "word/decoy.xml",
                "urn:x"
              )}${relation("word/document.xml", OFFICE)}</Relationships>`
            }
          : part
      )
      const joined = wordOf({ body: paragraph(text.replaceAll(" ", "&#32;")) })
      for (const bytes of [zipOf(parts), zipOf([...withDecoy, decoy]), joined]) {
        assert.strictEqual((yield* converted(bytes)).pages, 23)
      }
    })
  )
})
