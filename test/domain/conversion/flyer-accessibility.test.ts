import { Effect, ManagedRuntime, Stream } from "effect"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { layerPdf } from "../../../src/adapters/pdf/pdf.ts"
import { Pdf } from "../../../src/ports/conversion/pdf.ts"
import { flyerPage, unreadablePage, FLYER_END, flyerStart } from "../../../src/reader/flyer/flyer-page.ts"
import { wordsFor } from "../../../src/reader/html/words.ts"
import { temporaryPdf } from "../../support/files/pdf-files.ts"
import { linked, tagged, withForm, withImage } from "../../support/files/pdf-samples.ts"
import { findings } from "../../support/processes/axe.ts"
import { closePages, workersBrowser } from "../../support/processes/browser.ts"

const words = wordsFor("en")

const pdf = ManagedRuntime.make(layerPdf({ threads: 1 }))
afterAll(() => pdf.dispose())

/** A document as a flyer, with or without its pages' pictures. */
const flyerOf = (bytes: Uint8Array, drawn: boolean) =>
  Effect.gen(function* () {
    const { open } = yield* Pdf
    const document = yield* open(yield* temporaryPdf(bytes))
    const { pageCount } = document.facts
    const pages = yield* Stream.runCollect(document.pages({ first: 0, end: pageCount }))
    const sections = yield* Effect.forEach(pages, (content) =>
      Effect.map(document.render(content.index, 96), (picture) => {
        const source = `data:image/png;base64,${Buffer.from(picture.bytes).toString("base64")}`
        return flyerPage({ content, picture: drawn ? source : undefined }, words, pageCount)
      })
    )
    return flyerStart("a.pdf", "en", words) + sections.join("") + unreadablePage(pageCount, words) + FLYER_END
  }).pipe(Effect.scoped, pdf.runPromise)

let browser: Browser
let page: Page
beforeAll(async () => {
  browser = await workersBrowser()
  page = await browser.newPage({ viewport: { width: 375, height: 800 } })
})
afterAll(() => closePages(browser))

const find = async (html: string) => {
  await page.setContent(html)
  return findings(page)
}

describe("flyers in Chromium", () => {
  const samples = { linked, tagged, withForm, withImage }
  it("axe finds nothing, drawn or not; nothing is wider than a small screen", async () => {
    for (const [name, make] of Object.entries(samples))
      for (const drawn of [true, false]) {
        const html = await flyerOf(make(), drawn)
        const { passes, violations } = await find(html)
        expect([name, drawn, violations]).toEqual([name, drawn, []])
        expect(passes).toContain("region")
        expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true)
      }
    // The check can fail.
    const spoilt = (await flyerOf(linked(), true))
      .replace("<h1>", "<h4>")
      .replace("</h1>", "</h4>")
      .replace('alt=""', "")
    expect((await find(spoilt)).violations.join()).toContain("image-alt")
  })

  it("each line lies over its place in the picture", async () => {
    await page.setContent(await flyerOf(linked(), true))
    const boxes: { readonly right: number } = await page.evaluate(`(() => {
      const page = document.querySelector(".page").getBoundingClientRect()
      const line = document.querySelector(".page span").getBoundingClientRect()
      return { left: (line.left - page.left) / page.width, right: (line.right - page.left) / page.width,
        middle: ((line.top + line.bottom) / 2 - page.top) / page.height, shape: page.width / page.height,
        ink: getComputedStyle(document.querySelector(".page span")).color }
    })()`)
    // "See page two, or the web." at 72, 700 from the bottom, 12 points: 139 points long in Helvetica. A browser without a
    // face of its widths sets it by a sixth longer or shorter.
    expect(boxes).toMatchObject({
      left: expect.closeTo(72 / 612, 2),
      middle: expect.closeTo((792 - 704) / 792, 2),
      shape: expect.closeTo(612 / 792, 2),
      // Seen once: in the picture.
      ink: "rgba(0, 0, 0, 0)"
    })
    expect(Math.abs(boxes.right - (72 + 139) / 612)).toBeLessThan(139 / 6 / 612)
  })
})
