import { writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { type DocxOptions, layerDocx } from "../../../src/adapters/docx/docx-converter.ts"
import * as ReaderProcess from "../../../src/adapters/reader-process/reader-process.ts"
import { DocxConverter } from "../../../src/ports/conversion/documents.ts"
import { type DocxPart, MAX_PART } from "../../../src/reader/model/word-document.ts"
import { temporaryPdf } from "../../support/files/pdf-files.ts"
import { pngOf } from "../../support/files/picture-files.ts"
import { paragraph, pictureOf, wordOf, words } from "../../support/files/word-files.ts"

const docx = (options?: DocxOptions) => Layer.provide(layerDocx(options), ReaderProcess.layer)

const converted = (bytes: Uint8Array) =>
  Effect.scoped(
    Effect.gen(function* () {
      const converter = yield* DocxConverter
      return yield* converter.convert(yield* temporaryPdf(bytes))
    })
  )

const joined = (parts: ReadonlyArray<DocxPart>): string => parts.map(({ html }) => html).join("")

const reasonOf = (bytes: Uint8Array) =>
  converted(bytes).pipe(
    Effect.as("converted"),
    Effect.catch((error) => Effect.succeed(error.reason))
  )

const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

layer(docx())("Word documents", (it) => {
  it.effect("a title that only its style tells, at the beginning", () =>
    Effect.gen(function* () {
      const title = (body: string) => Effect.map(converted(wordOf({ body })), (content) => content.title)
      const own = paragraph("Annual report", "Title")
      assert.strictEqual(
        yield* title(paragraph("") + own + paragraph("Members", "Heading1")),
        "Annual report"
      )
      assert.isUndefined(yield* title(paragraph("Members", "Heading1")))
      assert.isUndefined(yield* title(Array.from({ length: 9 }, () => paragraph("words")).join("") + own))
    })
  )

  it.effect("headings, text and title", () =>
    Effect.gen(function* () {
      const body = `${paragraph("Report", "Title")}${paragraph("First", "Heading1")}${paragraph("Some &lt;text&gt;")}`
      const { parts, pictures, title } = yield* converted(wordOf({ body }))
      assert.strictEqual(joined(parts), "<h1>Report</h1><h1>First</h1><p>Some &lt;text&gt;</p>")
      assert.strictEqual(title, "Report")
      const titled = (shown: string) =>
        Effect.map(converted(wordOf({ body: shown, title: "Tom &amp; Co" })), (content) => content.title)
      assert.strictEqual(yield* titled(paragraph("First", "Heading1")), "Tom & Co")
      // A template's title is not the document's; a style that is used for headings shows none.
      assert.strictEqual(yield* titled(body), "Report")
      assert.strictEqual(yield* titled(body + paragraph("Next", "Title")), "Tom & Co")
      assert.strictEqual(pictures.size, 0)
    })
  )

  it.effect("pictures come apart from the text, with what is said of them", () =>
    Effect.gen(function* () {
      const png = pngOf()
      const body = pictureOf("rId1", "A cat") + pictureOf("rId2", "") + pictureOf("rId1", "Again")
      const { parts, pictures } = yield* converted(
        wordOf({
          body,
          pictures: [
            ["a.png", png],
            ["b.emf", Buffer.from("x")]
          ]
        })
      )
      assert.deepStrictEqual(
        [...new Set(pictures.values())],
        [`data:image/png;base64,${png.toString("base64")}`]
      )
      const [first = "", second = ""] = [...pictures.keys()]
      assert.strictEqual(
        joined(parts).replace(first, "1").replace(second, "2"),
        '<p><img alt="A cat" src="1" /></p><p><img src="" alt="A picture in a format that browsers do not show" /></p>' +
          '<p><img alt="Again" src="2" /></p>'
      )
    })
  )

  it.effect("no file but the document is read", () =>
    Effect.gen(function* () {
      const outside = join(dirname(yield* temporaryPdf(pngOf())), "secret.png")
      writeFileSync(outside, pngOf())
      const relations = `<Relationship Id="out" Type="${OFFICE}/image" TargetMode="External" Target="file://${outside}"/>`
      const body = `${paragraph("Before")}${pictureOf("out", "x", "link")}${paragraph("After")}`
      const { parts, pictures } = yield* converted(wordOf({ body, relations }))
      assert.strictEqual(pictures.size, 0)
      assert.strictEqual(joined(parts), '<p>Before</p><p><img alt="x" src="" /></p><p>After</p>')
    }).pipe(Effect.scoped)
  )

  it.effect("a long document comes in parts of whole blocks, none of its words lost", () =>
    Effect.gen(function* () {
      const text = words(2000)
      const { parts } = yield* converted(wordOf({ body: paragraph(text).repeat(80) }))
      assert.isTrue(parts.length > 1 && parts.every(({ html }) => html.length <= MAX_PART))
      assert.strictEqual(joined(parts), `<p>${text}</p>`.repeat(80))
      assert.isTrue(parts.every(({ html }) => html.startsWith("<p>") && html.endsWith("</p>")))
    })
  )

  it.effect("one block that is too long is said to be, not cut", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* reasonOf(wordOf({ body: paragraph("x".repeat(MAX_PART)) })), "too-large")
    })
  )

  it.effect("what is no Word document is broken", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* reasonOf(Buffer.from("no")), "broken")
      assert.strictEqual(yield* reasonOf(wordOf().subarray(0, 500)), "broken")
      assert.strictEqual(yield* reasonOf(wordOf({ body: "<w:p>" })), "broken")
    })
  )

  it.effect(
    "its reader gets nothing of this program's environment, where secrets are, but where compiled code is",
    () =>
      Effect.gen(function* () {
        const before = process.env["NODE_OPTIONS"]
        // A process that inherits this does not even start.
        process.env["NODE_OPTIONS"] = "--no-such-option"
        const reason = yield* Effect.ensuring(
          reasonOf(wordOf()),
          Effect.sync(() => {
            if (before === undefined) delete process.env["NODE_OPTIONS"]
            else process.env["NODE_OPTIONS"] = before
          })
        )
        assert.strictEqual(reason, "converted")
      })
  )

  it.effect("nesting without end is an answer, and the next document is converted", () =>
    Effect.gen(function* () {
      const deep = "<w:sdt><w:sdtContent>".repeat(50_000) + "</w:sdtContent></w:sdt>".repeat(50_000)
      assert.oneOf(yield* reasonOf(wordOf({ body: deep })), ["broken", "crashed", "too-large", "converted"])
      assert.strictEqual(yield* reasonOf(wordOf()), "converted")
    })
  )
})

layer(docx({ heapMb: 64 }))("little memory", (it) => {
  it.effect("a document that needs more ends its process and nothing else", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* reasonOf(wordOf({ body: paragraph("many words").repeat(150_000) })),
        "too-large"
      )
      assert.strictEqual(yield* reasonOf(wordOf()), "converted")
    })
  )
})

layer(docx({ pictureBytes: 100 }))("little room for pictures", (it) => {
  it.effect("those over the limit are left out, and it is said", () =>
    Effect.gen(function* () {
      const png = pngOf(4, 2, [["teSt", Buffer.alloc(200, 1)]])
      const { parts, pictures } = yield* converted(
        wordOf({ body: pictureOf("rId1", ""), pictures: [["a.png", png]] })
      )
      assert.strictEqual(pictures.size, 0)
      assert.include(joined(parts), 'alt="A picture that was left out for its size"')
    })
  )
})

layer(docx({ cpuMs: 1 }))("little time", (it) => {
  it.effect("ends in a time-out", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* reasonOf(wordOf()), "timeout")
    })
  )
})
