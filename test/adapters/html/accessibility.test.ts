import { Effect, ManagedRuntime, Stream } from "effect"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { layer } from "../../../src/adapters/html/html-assembly.ts"
import { HtmlAssembly } from "../../../src/ports/conversion/html-assembly.ts"
import { pngOf } from "../../support/files/picture-files.ts"
import { findings, LOOKS } from "../../support/processes/axe.ts"
import { closePages, workersBrowser } from "../../support/processes/browser.ts"

const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
/** One that is stored once. */
const DOT = `data:image/png;base64,${pngOf(40, 20, [["teXt", Buffer.alloc(900)]]).toString("base64")}`
const chapters = (count: number) =>
  Array.from(
    { length: count },
    (_, at) => `<h1>Chapter ${at + 1}</h1><p>Words of it.</p><h3>A skipped level</h3><p>More words.</p>`
  )

const DOCUMENTS: Readonly<Record<string, { readonly pages: ReadonlyArray<string>; readonly lang?: string }>> =
  {
    "an empty page": { pages: [""] },
    "running text": {
      pages: ['<p data-open="">Some words that</p>', "<p>go on <em>here</em> and <strong>there</strong>.</p>"]
    },
    "a long document with contents": { pages: chapters(6) },
    "lists in lists": {
      pages: [
        '<ul><li>a<ol start="3" type="a"><li>b</li></ol></li></ul>',
        "<dl><dt>Term</dt><dd>Meaning</dd></dl>"
      ]
    },
    "a wide table": {
      pages: [
        `<table><caption>Wide</caption><thead><tr>${"<th scope=col>Column name</th>".repeat(9)}</tr></thead><tbody><tr><th scope="row">Row</th>${"<td>12345.678</td>".repeat(8)}</tr></tbody></table>`,
        "<table><tbody><tr><td>1</td><td>2</td></tr></tbody></table>"
      ]
    },
    "few columns with long words": {
      pages: [
        `<table><tbody>${`<tr><td>${"of a type,".repeat(4)}</td><td>${"OneType,OtherType,".repeat(12)}</td></tr>`.repeat(2)}</tbody></table>`
      ]
    },
    "fields in a table": {
      pages: [
        `<table><tbody><tr>${'<td>Name <input type="text" aria-label="Name" disabled></td>'.repeat(3)}</tr></tbody></table>`
      ]
    },
    "notes, one without a reference": {
      pages: [
        '<p>Claim<a role="doc-noteref" href="#fn-1"><sup>1</sup></a></p><div role="doc-footnote" id="fn-1"><p>Note</p></div><p role="doc-footnote" id="fn-2">Lost</p>'
      ]
    },
    "a row of links that is broken in the middle of one": {
      pages: [
        `<p>${["Advertising Programs", "Business Solutions", "About us", "A", "B"].map((words) => `<a href="https://example.org/">${words}</a>`).join(" ")}</p>`
      ]
    },
    "a contents page that the document brings along": {
      pages: [
        '<nav><h2>Contents</h2><ul><li><a href="#page-2">1 One … 2</a></li><li><a href="#page-2">1.1 Two … 2</a></li></ul></nav>',
        "<h2>1 One</h2><p>Words</p>"
      ]
    },
    "figures with and without words": {
      pages: [
        `<figure><img src="${PIXEL}" alt="A river"><figcaption>Figure 1</figcaption></figure><figure><img src="${PIXEL}"></figure>`
      ]
    },
    "a picture that is stored once": {
      pages: [
        `<p>A</p><figure><img src="${DOT}" alt="A river"><figcaption>Figure 1</figcaption></figure><p>B <img src="${DOT}"></p>`,
        `<table><tbody><tr><td><img src="${DOT}"></td><td>C</td></tr></tbody></table>`
      ]
    },
    "recognised pages: one well, one not well, one not at all": {
      pages: [
        `<p>Words</p><details data-scan="good"><img src="${PIXEL}"></details>`,
        `<details data-scan="poor"><img src="${PIXEL}"></details><p>Wrods</p>`,
        `<details data-scan="nothing"><img src="${PIXEL}"></details>`
      ]
    },
    "a form": {
      pages: [
        '<p><label>Name <input type="text" value="Ada"></label></p><p><label><input type="checkbox" checked> Yes</label></p><p><label>Land <select><option>A</option></select></label></p><p><input type="text"><textarea>x</textarea></p><p><button type="button">Send</button></p>'
      ]
    },
    "a form with questions, and fields in cells": {
      pages: [
        '<fieldset><legend>How do you pay?</legend><p><label><input type="radio"> Cash</label></p><p><label><input type="radio" checked> Card</label></p></fieldset><table><thead><tr><th scope="col">Item</th><th scope="col">Number</th></tr></thead><tbody><tr><td>Paper</td><td><p><input type="text" aria-label="Paper, Number" required maxlength="8"></p></td></tr></tbody></table><p><select multiple aria-label="Lands"><option selected>A</option><option>B</option></select></p><p><textarea readonly aria-label="Notes">x</textarea></p>'
      ]
    },
    "a formula that is wider than a small screen": {
      pages: [`<p><math display="block"><mrow>${"<mi>x</mi><mo>+</mo>".repeat(60)}</mrow></math></p>`]
    },
    "formulas and code": {
      pages: [
        '<math display="block"><mfrac><mi>a</mi><mn>2</mn></mfrac></math><pre><code>a very long line of code that goes on and on and on and on and on and on</code></pre>'
      ]
    },
    "parts in other languages": {
      pages: ['<p>Words</p><p lang="fr">Des mots</p><p lang="not a language">More</p>']
    },
    "another language throughout": { pages: ["<h1>Titel</h1><p>Wörter</p>"], lang: "de" },
    "a language that the converter does not speak": { pages: ["<h1>タイトル</h1><p>言葉</p>"], lang: "ja" },
    "right to left": { pages: ["<h1>عنوان</h1><p>نص</p>"], lang: "ar" },
    "a careless model's page": {
      pages: [
        '<main><header><h1>A</h1></header><li>x</li><dd>y</dd><th>z</th><h5>B</h5><a href="#nowhere">n</a><table><tr><td>x</td></tr></table><section>w</section></main>'
      ]
    }
  }

let browser: Browser
let page: Page
beforeAll(async () => {
  browser = await workersBrowser()
  page = await browser.newPage()
})
afterAll(() => closePages(browser))

const assembly = ManagedRuntime.make(layer)
afterAll(() => assembly.dispose())

const assemble = ({
  lang = "en",
  pages
}: {
  readonly pages: ReadonlyArray<string>
  readonly lang?: string
}): Promise<string> =>
  HtmlAssembly.use(({ assemble: put }) =>
    Stream.runCollect(
      put({
        facts: { lang, title: undefined },
        name: "A document",
        pages: Stream.fromIterable(pages.map((html, index) => ({ index, label: String(index + 1), html })))
      })
    )
  ).pipe(
    Effect.map((parts) => parts.join("")),
    assembly.runPromise
  )

describe("axe in Chromium", () => {
  it("finds nothing in any document, light or dark, and each reflows at 320 px", async () => {
    const loaded: Array<string> = []
    page.on("request", (request) => {
      if (!request.url().startsWith("data:") && !request.url().startsWith("about:"))
        loaded.push(request.url())
    })
    for (const [name, document] of Object.entries(DOCUMENTS)) {
      await page.setContent(await assemble(document))
      for (const [colorScheme, viewport] of LOOKS) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize(viewport)
        const found = await findings(page)
        // What axe cannot see is a single sign's contrast, and text that a frame scrolls away.
        const undecided = found.undecided.filter((one) => !one.startsWith("color-contrast"))
        expect([name, colorScheme, found.violations, undecided]).toEqual([name, colorScheme, [], []])
        const reflows = await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        expect([name, viewport.width, reflows]).toEqual([name, viewport.width, true])
      }
    }
    expect(loaded).toEqual([])
    // The check can fail.
    await page.setContent(
      (await assemble({ pages: ["<p>Words</p>"] }))
        .replaceAll("#1b1f24", "#dddddd")
        .replace('<html lang="en"', "<html")
    )
    await page.emulateMedia({ colorScheme: "light" })
    const spoilt = await findings(page)
    expect(spoilt.violations.join()).toMatch(/color-contrast[\s\S]*html-has-lang/)
  })

  it("shows a picture that is stored once as large at each place as it is", async () => {
    const shown = `<p>A</p><p><img src="${DOT}" alt="A river"></p><p>B</p>`
    await page.setContent(await assemble({ pages: [shown, shown] }))
    for (const media of ["screen", "print"] as const) {
      await page.emulateMedia({ media })
      const boxes = await page.evaluate(
        `[...document.querySelectorAll("use, .store")].map((one) => {
          const { height, width } = one.getBoundingClientRect()
          return [width, height, getComputedStyle(one).position]
        })`
      )
      expect([media, boxes]).toEqual([
        media,
        [
          [40, 20, "static"],
          [0, 0, "absolute"],
          [40, 20, "static"]
        ]
      ])
    }
    await page.emulateMedia({ media: "screen" })
  })

  it("prints black on white, without what only a screen needs", async () => {
    const links = '<p>See <a href="https://example.org/">the site</a>.</p>'
    await page.setContent(await assemble({ pages: [...chapters(6), links] }))
    await page.emulateMedia({ media: "print", colorScheme: "dark" })
    const printed = await page.evaluate(`(() => {
      const style = (of, pseudo) => getComputedStyle(document.querySelector(of), pseudo)
      return {
        skip: style(".skip").display,
        contents: style("nav").display,
        ink: style("main p").color,
        ground: style("html").backgroundColor,
        address: style("main p a[href^=http]", "::after").content
      }
    })()`)
    await page.emulateMedia({ media: "screen", colorScheme: "light" })
    expect(printed).toEqual({
      skip: "none",
      contents: "none",
      ink: "rgb(0, 0, 0)",
      ground: "rgb(255, 255, 255)",
      address: '" (https://example.org/)"'
    })
  })
})
