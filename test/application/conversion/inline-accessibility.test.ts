import { Effect, Layer, Stream } from "effect"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, it } from "vitest"

import { layerDocx } from "../../../src/adapters/docx/docx-converter.ts"
import { layer as layerAssembly } from "../../../src/adapters/html/html-assembly.ts"
import * as ReaderProcess from "../../../src/adapters/reader-process/reader-process.ts"
import { pictureOnly, readPicture } from "../../../src/application/cascade/whole-chunk.ts"
import { docxHtml } from "../../../src/application/conversion/work/word-document.ts"
import { HtmlAssembly } from "../../../src/ports/conversion/html-assembly.ts"
import { temporaryPdf } from "../../support/files/pdf-files.ts"
import { jpeg, pngOf } from "../../support/files/picture-files.ts"
import { paragraph, pictureOf, wordOf } from "../../support/files/word-files.ts"
import { findings } from "../../support/processes/axe.ts"
import { closePages, workersBrowser } from "../../support/processes/browser.ts"

const layerHtml = layerAssembly

const cell = (text: string) => `<w:tc>${paragraph(text)}</w:tc>`
const TABLE =
  `<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr>${cell("Fruit")}${cell("Price")}</w:tr>` +
  `<w:tr>${cell("Apple")}${cell("1")}</w:tr></w:tbl>`
const BODY =
  paragraph("The Report", "Title") +
  paragraph("Part one", "Heading1") +
  paragraph("Detail", "Heading2") +
  TABLE +
  pictureOf("rId1", "") +
  paragraph("Part two", "Heading1") +
  paragraph("The end of it, in words that say which language this is written in.")

const assembled = (html: string) =>
  Effect.gen(function* () {
    const { assemble } = yield* HtmlAssembly
    const pages = Stream.succeed({ index: 0, label: "1", html })
    return yield* Stream.mkString(
      assemble({ facts: { lang: undefined, title: undefined }, name: "a.docx", pages })
    )
  })

const wordHtml = Effect.gen(function* () {
  const path = yield* temporaryPdf(wordOf({ body: BODY, pictures: [["a.png", pngOf()]] }))
  return (yield* docxHtml(path)).html
}).pipe(Effect.scoped, Effect.provide(Layer.provide(layerDocx(), ReaderProcess.layer)))

const source = `data:image/jpeg;base64,${jpeg().toString("base64")}`

let browser: Browser
beforeAll(async () => {
  browser = await workersBrowser()
})
afterAll(() => closePages(browser))

it("axe finds nothing in results of the inline path", async () => {
  const page = await browser.newPage({ viewport: { width: 375, height: 800 } })
  const results: Record<string, string> = await Effect.gen(function* () {
    return {
      word: yield* Effect.flatMap(wordHtml, assembled),
      picture: yield* assembled(pictureOnly("a.jpg", source, "not-asked")),
      read: yield* assembled(readPicture("a.jpg", source, "<h2>Menu</h2><p>Soup</p>"))
    }
  }).pipe(Effect.provide(layerHtml), Effect.runPromise)
  for (const [name, html] of Object.entries(results)) {
    await page.setContent(html)
    const { violations } = await findings(page)
    expect([name, violations]).toEqual([name, []])
  }
  expect(results["word"]).toMatch(/<th[^>]*>[\s\S]*Fruit/)
  expect(results["word"]).toContain('alt="Picture without a description"')
})
