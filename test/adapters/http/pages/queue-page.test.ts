import { Effect } from "effect"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest"

import { makeMailDatabase } from "../../../../src/adapters/memory/mail/mail-store.ts"
import { makeSendQueue } from "../../../../src/adapters/memory/mail/send-queue.ts"
import { fixedRate } from "../../../../src/domain/mail/rate.ts"
import { closePages, workersBrowser } from "../../../support/processes/browser.ts"
import { ADMIN_TOKEN, startServer, type TestServer } from "../harness.ts"
import { expectAccessible, expectFocus, listen, hears, openPage } from "./browse.ts"

const HOSTILE = `<img src=x onerror=alert(1)>"'&amp;`
const LONG = `${"unbroken".repeat(30)}@x.test`

let server: TestServer
let browser: Browser
let page: Page
let complaints: ReadonlyArray<string>
let { queue } = makeSendQueue(makeMailDatabase())

const entry = (change: object) => ({
  request: { to: "a@x.test", text: "t", category: "transactional", source: "api:test", ...change },
  payloadHash: "p"
})
const enqueue = (...changes: ReadonlyArray<object>) => Effect.runPromise(queue.enqueue(changes.map(entry)))

beforeAll(async () => {
  browser = await workersBrowser()
  const sendQueue = {
    overview: Effect.suspend(() => queue.overview),
    upcoming: (asked: Parameters<typeof queue.upcoming>[0]) => queue.upcoming(asked),
    pause: (asked: Parameters<typeof queue.pause>[0]) => queue.pause(asked),
    cancel: (...asked: Parameters<typeof queue.cancel>) => queue.cancel(...asked)
  }
  server = await startServer({
    sendQueue,
    paces: [
      { provider: "provider_a", rate: 2, least: 2, most: null },
      { provider: "provider_b", ...fixedRate(0) }
    ]
  })
})
afterAll(async () => {
  await closePages(browser)
  await server.stop()
})

beforeEach(async () => {
  ;({ queue } = makeSendQueue(makeMailDatabase()))
  await closePages(browser)
  ;({ complaints, page } = await openPage(browser, server.url))

  await page.goto(`${server.url}/sign-in?next=/admin/queue`)
  await page.getByLabel("Token").fill(ADMIN_TOKEN)
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { name: "Send queue" }).waitFor()
})

it("shows what waits, and is paused, resumed and emptied by keyboard", async () => {
  await page.getByText("Nothing waits.").waitFor()
  await expectAccessible(page, "an empty queue")
  await enqueue(
    { subject: `Receipt ${HOSTILE}`, to: ["a@x.test", LONG] },
    { subject: "Offer", category: "marketing", sendAt: new Date(Date.now() + 3_600_000).toISOString() }
  )
  // The page asks again by itself.
  await page.getByText("2 mails wait.").waitFor()
  await expectAccessible(page, "a queue with mails")

  await listen(page)
  await page.getByRole("button", { name: "Pause all" }).press("Enter")
  await hears(page, "The queue is paused.")
  await expectFocus(page, "Resume all")
  await page.getByText("by admin since").waitFor()
  await expectAccessible(page, "a paused queue")
  await page.keyboard.press("Enter")
  await hears(page, "The queue is resumed.")

  await page.getByRole("button", { name: "Pause marketing" }).press("Enter")
  await hears(page, "marketing is paused.")
  expect((await Effect.runPromise(queue.overview)).paused).toMatchObject([{ scope: "marketing" }])

  await page.getByRole("button", { name: "Cancel Offer" }).press("Enter")
  await page.getByRole("dialog", { name: "Cancel this mail?" }).waitFor()
  await expectAccessible(page, "the question before a cancel")
  await page.getByRole("button", { name: "Cancel the mail" }).press("Enter")
  await hears(page, "“Offer” is cancelled.")
  await page.getByText("1 mail waits.").waitFor()
  expect(complaints).toEqual([])
})

it("says what holds a provider back, and lists one category", async () => {
  await enqueue({ subject: "Receipt" }, { subject: "Offer", category: "marketing" })
  await Effect.runPromise(
    queue.heard({ provider: "provider_a", rate: 2, least: 2, most: null }, 1, {
      holdMs: 60_000,
      ratePerSecond: 5
    })
  )
  await page.getByText("it takes nothing before").waitFor()
  const pace = page.locator("#pace")
  await pace.getByRole("cell", { name: "5", exact: true }).waitFor()
  await pace.getByRole("cell", { name: "no limit" }).waitFor()
  await page.getByLabel("Category", { exact: true }).selectOption("marketing")
  await page.getByRole("button", { name: "Filter" }).press("Enter")
  await page.getByText("2 mails wait.").waitFor()
  expect(await page.locator("#table tbody th").allTextContents()).toEqual(["Offer"])
  await expectAccessible(page, "one category of a held queue")
  expect(complaints).toEqual([])
})
