import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { renderMail } from "../../../src/adapters/mail-templates/mail-templates.ts"
import { TEMPLATE_SAMPLES } from "../../../src/domain/mail/templates/samples.ts"
import type { MailTemplate } from "../../../src/domain/mail/templates/template.ts"
import { findings } from "../../support/processes/axe.ts"
import { closePages, workersBrowser } from "../../support/processes/browser.ts"

const samples = Object.values<MailTemplate>(TEMPLATE_SAMPLES)

let browser: Browser
let page: Page
beforeAll(async () => {
  browser = await workersBrowser()
  page = await browser.newPage({ viewport: { width: 375, height: 800 } })
})
afterAll(() => closePages(browser))

describe.each(["light", "dark"] as const)("axe in Chromium, %s", (colorScheme) => {
  it("finds nothing in any mail, and decides the contrast of each", async () => {
    await page.emulateMedia({ colorScheme })
    const find = async (html: string) => {
      await page.setContent(html)
      return findings(page)
    }
    for (const sample of samples) {
      const found = await find(renderMail(sample).html)
      expect([sample.kind, found.violations, found.undecided]).toEqual([sample.kind, [], []])
      expect(found.passes).toContain("color-contrast")
      const fits = await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
      expect([sample.kind, fits]).toEqual([sample.kind, true])
    }
    const ground = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    expect(ground).toBe(colorScheme === "dark" ? "rgb(15, 17, 21)" : "rgb(243, 244, 246)")
    // The check can fail: without its colours a mail is unreadable.
    const spoilt = renderMail(samples[0]!)
      .html.replaceAll("#1b1f24", "#dddddd")
      .replaceAll("#e8eaed", "#222222")
    expect((await find(spoilt)).violations.join()).toContain("color-contrast")
  })
})

/** The short words of a table's cells that stand on more than one line, as a page of this width has them. */
const BROKEN_WORDS = `[...document.querySelectorAll("th, td")].flatMap((cell) => {
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
  const broken = []
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
    for (const { 0: word, index } of node.data.matchAll(/[A-Za-z]{2,12}/g)) {
      const range = document.createRange()
      range.setStart(node, index)
      range.setEnd(node, index + word.length)
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) broken.push(word)
    }
  return broken
})`

it.each([360, 320])("no word of a table breaks within, at %i px", async (width) => {
  await page.setViewportSize({ width, height: 800 })
  for (const sample of samples) {
    await page.setContent(renderMail(sample).html)
    expect([sample.kind, await page.evaluate(BROKEN_WORDS)]).toEqual([sample.kind, []])
    expect([sample.kind, await page.evaluate("document.documentElement.scrollWidth <= innerWidth")]).toEqual([
      sample.kind,
      true
    ])
  }
})
