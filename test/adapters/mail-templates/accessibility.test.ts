import { readFileSync } from "node:fs"
import { createRequire } from "node:module"

import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { renderMail } from "../../../src/adapters/mail-templates/mail-templates.ts"
import { TEMPLATE_SAMPLES } from "../../../src/domain/mail/templates/samples.ts"
import type { MailTemplate } from "../../../src/domain/mail/templates/template.ts"
import { openBrowser } from "../../support/processes/browser.ts"

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
// By tags: the rule of 2.2 for the size of targets is off otherwise.
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
const samples = Object.values<MailTemplate>(TEMPLATE_SAMPLES)

/** What axe finds wrong, and what it cannot decide. */
interface Findings {
  readonly violations: ReadonlyArray<string>
  readonly undecided: ReadonlyArray<string>
  readonly passes: ReadonlyArray<string>
}

const RUN = `axe.run(document, { runOnly: ${JSON.stringify(TAGS)} }).then(({ violations, incomplete, passes }) => {
  const listed = (all) => all.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" | "))
  return { violations: listed(violations), undecided: listed(incomplete), passes: passes.map(({ id }) => id) }
})`

let browser: Browser
let page: Page
beforeAll(async () => {
  browser = await openBrowser()
  page = await browser.newPage({ viewport: { width: 375, height: 800 } })
}, 120_000)
afterAll(() => browser.close())

describe.each(["light", "dark"] as const)("axe in Chromium, %s", (colorScheme) => {
  it("finds nothing in any mail, and decides the contrast of each", { timeout: 120_000 }, async () => {
    await page.emulateMedia({ colorScheme })
    const find = async (html: string): Promise<Findings> => {
      await page.setContent(html)
      await page.evaluate(axe)
      return page.evaluate(RUN)
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
