import { Effect } from "effect"
import { assert, describe, it } from "vitest"

import { toHtml } from "../../../src/runtime/entries/reader.ts"
import { notPdf } from "../../support/files/pdf-hostile.ts"
import { numbered } from "../../support/files/pdf-samples.ts"
import { scannedPdf } from "../../support/files/scanned-pages.ts"
import { typedPicture } from "../../support/files/typed-picture.ts"
import { paragraph, wordOf } from "../../support/files/word-files.ts"

describe("postlane/reader", () => {
  it("makes one file of a PDF, which loads nothing", async () => {
    const result = await toHtml(numbered(30), { name: "report.pdf", pages: { first: 19, last: 40 } })
    assert.isTrue(result.ok, JSON.stringify(result))
    assert.deepInclude(result, { pages: 12, pagesWithoutText: [], unreadablePages: [], leftOut: [] })
    assert.include(result.html, "<title>report</title>")
    assert.include(result.html, "Page number 19")
    assert.notInclude(result.html, "Page number 18<")
    assert.notMatch(result.html, /\b(?:src|href)="(?!#|data:)/)
  })

  it("reads a Word document by its content, whatever it is called", async () => {
    const bytes = wordOf({ body: paragraph("Of rivers", "Heading1") + paragraph("They run to the sea.") })
    const result = await toHtml(bytes, { name: "rivers.pdf" })
    assert.isTrue(result.ok, JSON.stringify(result))
    assert.match(result.html, /<h1[^>]*>Of rivers<\/h1>/)
    assert.include(result.html, "They run to the sea.")
  })

  it("names the pages that have no text", async () => {
    const { picture } = await Effect.runPromise(typedPicture)
    const result = await toHtml(scannedPdf([picture, picture]), { ocr: "off" })
    assert.isTrue(result.ok, JSON.stringify(result))
    assert.deepInclude(result, { pages: 2, pagesWithoutText: [1, 2], recognisedPages: 0 })
  })

  it.each([
    [notPdf(), {}, /^The document is .*; PDF, DOCX, PNG and JPEG are converted/],
    [numbered(3), { name: "a.pdf", pages: { first: 3, last: 2 } }, /no pages 3 to 2/],
    [numbered(3), { name: "a.pdf", pages: { first: 4, last: 9 } }, /^a\.pdf: It has 3 pages only/],
    [wordOf(), { name: "a.docx", pages: { first: 1, last: 1 } }, /^a\.docx is a Word document/]
  ])("says why there is no result: %#", async (bytes, options, error) => {
    const result = await toHtml(bytes, options)
    assert.isFalse(result.ok)
    assert.match(result.error, error)
  })
})
