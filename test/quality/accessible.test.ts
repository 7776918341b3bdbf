import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"

import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { coverageOf } from "../../src/domain/cascade/coverage.ts"
import { foreignPdfs } from "../support/files/pdf-files.ts"
import { linked, numbered, tagged, withForm, withImage } from "../support/files/pdf-samples.ts"
import { findings } from "../support/processes/axe.ts"
import { closePages, workersBrowser } from "../support/processes/browser.ts"
import { brokenWords } from "../support/processes/page-looks.ts"
import { convert } from "./convert.ts"
import { samples } from "./documents.ts"

/** Of others' documents, one in so many, and their first pages: all of them take minutes (docs/explanation/accessibility.md). */
const ONE_IN = 6
const PAGES = 3

const OWN = { linked, numbered: () => numbered(5), tagged, withForm, withImage }

let folder: string
let browser: Browser
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "postlane-accessible-"))
  browser = await workersBrowser()
})
afterAll(async () => {
  await closePages(browser)
  rmSync(folder, { recursive: true })
})

const write = (name: string, bytes: Uint8Array): string => {
  const path = join(folder, `${name}.pdf`)
  writeFileSync(path, bytes)
  return path
}

/** A made manual and a paper in two columns, as a browser prints them, with tags and without. */
const printed = async (): Promise<ReadonlyArray<string>> => {
  const page = await browser.newPage()
  const paths: Array<string> = []
  for (const { html, name } of samples(1)) {
    await page.setContent(html)
    for (const tags of [true, false])
      paths.push(write(`${name}-${tags}`, await page.pdf({ format: "A4", tagged: tags })))
  }
  await page.close()
  return paths
}

describe("documents that went through the layout tier and the assembly", () => {
  it("have their words and nothing that axe finds; none is wider than a small screen", async () => {
    const page = await browser.newPage({ viewport: { width: 320, height: 800 } })
    const made = [...Object.entries(OWN).map(([name, make]) => write(name, make())), ...(await printed())]
    const foreign = foreignPdfs("real").filter((_, at) => at % ONE_IN === 0)
    for (const path of [...made, ...foreign]) {
      const { html, pages } = await convert(path, made.includes(path) ? {} : { limit: PAGES })
      await page.setContent(html)
      const { violations } = await findings(page)
      const reflows = await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
      expect([basename(path), violations, reflows]).toEqual([basename(path), [], true])
      if (!made.includes(path)) continue
      // Others' documents have running lines, which are left out.
      const { missing, share } = coverageOf(pages.map(({ text }) => text).join(" "), html)
      expect(share, `${basename(path)} lacks ${missing.join(", ")}`).toBeGreaterThan(0.99)
    }
    await page.close()
  })

  it("keep the words of their tables whole: one that is too wide for the window scrolls in its own box", async () => {
    const text = "What the conversion of this document has come to, in words that go on over many lines. "
    const rows = (columns: number) =>
      ["Queued", "Completed", "Cancelled"].map(
        (word) => `<tr>${`<td>${word}</td>`.repeat(columns)}<td>${text.repeat(3)}</td></tr>`
      )
    const tables = [1, 6].map((columns) => `<h2>Of ${columns}</h2><table>${rows(columns).join("")}</table>`)
    const page = await browser.newPage()
    await page.setContent(
      `<html lang="en"><title>States</title><style>td{border:1px solid}</style><h1>States</h1>${tables.join(text)}`
    )
    const path = write("tables", await page.pdf({ format: "A4", tagged: true }))
    await page.setContent((await convert(path)).html)
    for (const width of [1280, 768, 390, 320]) {
      await page.setViewportSize({ width, height: 800 })
      const wide = await page.evaluate("document.documentElement.scrollWidth")
      expect([width, await brokenWords(page), wide]).toEqual([width, [], width])
    }
    expect(await page.locator("table").count()).toBe(2)
    expect(await page.locator(".wide > table").count()).toBe(1)
    await page.close()
  })
})
