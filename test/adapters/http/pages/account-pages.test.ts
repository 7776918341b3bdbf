import type { Browser, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { findings } from "../../../support/processes/axe.ts"
import { closePages, workersBrowser } from "../../../support/processes/browser.ts"
import { call, startServer, type TestServer } from "../harness.ts"

describe("the pages that replies lead to", () => {
  let server: TestServer
  let browser: Browser
  let page: Page
  beforeAll(async () => {
    server = await startServer()
    browser = await workersBrowser()
    page = await browser.newPage({ viewport: { width: 320, height: 640 } })
  })
  afterAll(async () => {
    await closePages(browser)
    await server.stop()
  })

  it.each(["/register", "/credits"])("%s says what to do, and axe finds nothing", async (path) => {
    const answer = await call(server, path)
    assert.strictEqual(answer.status, 200)
    assert.match(answer.headers["content-type"] ?? "", /^text\/html/)
    assert.match(String(answer.headers["content-security-policy"]), /^default-src 'none'/)
    assert.strictEqual((await call(server, path, { method: "POST" })).status, 405)
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme })
      await page.setContent(answer.text)
      const { undecided, violations } = await findings(page)
      assert.deepStrictEqual([...violations, ...undecided], [])
      assert.isTrue(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
    }
    assert.match((await page.textContent("main")) ?? "", /Ask the people who run it/)
  })
})
