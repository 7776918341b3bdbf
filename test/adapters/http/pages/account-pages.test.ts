import { readFileSync } from "node:fs"
import { createRequire } from "node:module"

import type { Browser, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { openBrowser } from "../../../support/processes/browser.ts"
import { call, startServer, type TestServer } from "../harness.ts"

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
// By tags: the rule of 2.2 for the size of targets is off otherwise.
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

describe("the pages that replies lead to", () => {
  let server: TestServer
  let browser: Browser
  let page: Page
  beforeAll(async () => {
    server = await startServer()
    browser = await openBrowser()
    page = await browser.newPage({ viewport: { width: 320, height: 640 } })
  }, 120_000)
  afterAll(async () => {
    await browser.close()
    await server.stop()
  })

  it.each(["/register", "/credits"])(
    "%s says what to do, and axe finds nothing",
    async (path) => {
      const answer = await call(server, path)
      assert.strictEqual(answer.status, 200)
      assert.match(answer.headers["content-type"] ?? "", /^text\/html/)
      assert.match(String(answer.headers["content-security-policy"]), /^default-src 'none'/)
      assert.strictEqual((await call(server, path, { method: "POST" })).status, 405)
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme })
        await page.setContent(answer.text)
        await page.evaluate(axe)
        const found = await page.evaluate(
          `axe.run(document, { resultTypes: ["violations", "incomplete"], runOnly: ${JSON.stringify(TAGS)} }).then(({ violations, incomplete }) => [...violations, ...incomplete].map(({ id }) => id))`
        )
        assert.deepStrictEqual(found, [])
        assert.isTrue(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
      }
      assert.match((await page.textContent("main")) ?? "", /Ask the people who run it/)
    },
    60_000
  )
})
