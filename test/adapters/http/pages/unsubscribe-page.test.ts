import type { Browser, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { unsubscribePage } from "../../../../src/adapters/http/pages/link-pages.ts"
import type { Standing } from "../../../../src/application/outreach/unsubscribe.ts"
import { findings } from "../../../support/processes/axe.ts"
import { closePages, workersBrowser } from "../../../support/processes/browser.ts"

const email = `${"long.name".repeat(7)}@shop.test`
const standing = (list: string | undefined, all: boolean, lists: ReadonlyArray<string>): Standing => ({
  subject: { email, list },
  list,
  left: { all, lists }
})

describe("the page of an unsubscribe link", () => {
  let browser: Browser
  let page: Page
  beforeAll(async () => {
    browser = await workersBrowser()
    page = await browser.newPage({ viewport: { width: 320, height: 640 } })
  })
  afterAll(() => closePages(browser))

  it.each([
    [standing("weekly", false, []), ["", "?choice=leave-all"]],
    [standing("weekly", false, ["weekly"]), ["?choice=return", "?choice=leave-all"]],
    [standing("weekly", true, []), ["", "?choice=return-to-all"]],
    [standing(undefined, false, ["weekly"]), [""]],
    [standing(undefined, true, []), ["?choice=return-to-all"]]
  ] as const)(
    "says what comes, offers what can be changed, and axe finds nothing: %#",
    async (one, choices) => {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme })
        await page.setContent(unsubscribePage(one).toString())
        const { undecided, violations } = await findings(page)
        assert.deepStrictEqual([...violations, ...undecided], [])
        assert.isTrue(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
      }
      const actions = await page.evaluate<ReadonlyArray<string>>(
        "[...document.forms].map((form) => form.getAttribute('action') ?? '')"
      )
      assert.deepStrictEqual(actions, choices)
      assert.include(await page.textContent("main"), email)
    }
  )
})
