import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, it } from "vitest"

import { closePages, workersBrowser } from "../../../support/processes/browser.ts"
import { brokenWords, smallTargets } from "../../../support/processes/page-looks.ts"
import { expectAccessible, openPage } from "./browse.ts"
import { openOutbox } from "./outbox-world.ts"

let world: Awaited<ReturnType<typeof openOutbox>>
let browser: Browser
beforeAll(async () => {
  world = await openOutbox()
  browser = await workersBrowser()
})
afterAll(async () => {
  await closePages(browser)
  await world.stop()
})

it("each component in each state is accessible, and has room at every width", async () => {
  const { complaints, page } = await openPage(browser, world.server.url)
  await page.goto(`${world.server.url}/dev/kitchen-sink`)
  await expectAccessible(page, "components")
  for (const width of [1440, 768, 390, 320]) {
    await page.setViewportSize({ width, height: 800 })
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(width)
    expect(await smallTargets(page)).toEqual([])
    expect(await brokenWords(page)).toEqual([])
  }
  expect(complaints).toEqual([])
  await page.context().close()
})

it("the links of the frame are behind one button on a phone, and open by keyboard without a script", async () => {
  const { page } = await openPage(browser, world.server.url)
  await page.setViewportSize({ width: 390, height: 800 })
  // A page with nothing that the open menu could lie upon.
  await page.goto(`${world.server.url}/dev?q=nobody`)
  const link = page.getByRole("link", { name: "API reference" })
  expect(await link.isVisible()).toBe(false)
  await page.getByRole("button", { name: "Menu" }).press("Enter")
  await link.waitFor()
  await page.keyboard.press("Escape")
  expect(await link.isVisible()).toBe(false)
  await page.getByRole("button", { name: "Menu" }).press("Enter")
  // It ends at the width of a desk.
  await expectAccessible(page, "the open menu")
  expect(await page.getByRole("button", { name: "Menu" }).isVisible()).toBe(false)
  await link.waitFor()
  await page.context().close()
})
