import type { Browser, Page } from "playwright-core"
import { expect } from "vitest"

import { COLOUR_RULES, findings } from "../../../support/processes/axe.ts"
import { LONGEST_WAIT_MS } from "../../../support/time-limits.ts"

const BROAD = { width: 1280, height: 900 }
const NARROW = { width: 320, height: 640 }

/** axe finds nothing, light or dark, and at 320 px nothing has to be scrolled sideways. `off`: rules that cannot be asked. */
export const expectAccessible = async (
  page: Page,
  state: string,
  off: ReadonlyArray<string> = []
): Promise<void> => {
  // On a busy machine a page's words are there before its styles.
  await page.waitForLoadState("load")
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
    const { undecided, violations } = await findings(
      page,
      colorScheme === "light" ? { off } : { rules: COLOUR_RULES, off }
    )
    expect([state, colorScheme, violations, undecided]).toEqual([state, colorScheme, [], []])
  }
  await page.setViewportSize(NARROW)
  const width = await page.evaluate<number>("document.documentElement.scrollWidth")
  expect([state, width]).toEqual([state, NARROW.width])
  await page.setViewportSize(BROAD)
}

/** A page of a new session; `complaints` is what it should not have done: load from elsewhere, break its policy, fail. */
export const openPage = async (browser: Browser, url: string) => {
  const context = await browser.newContext({ viewport: BROAD, reducedMotion: "reduce" })
  const page = await context.newPage()
  page.setDefaultTimeout(LONGEST_WAIT_MS)
  const complaints: Array<string> = []
  page.on("request", (request) => {
    if (!request.url().startsWith(url)) complaints.push(`loads ${request.url()}`)
  })
  page.on("pageerror", ({ message }) => complaints.push(message))
  page.on("console", (message) => {
    // The browser logs a refusal of the API too; the pages show it.
    if (!message.text().startsWith("Failed to load resource")) complaints.push(message.text())
  })
  page.on("dialog", (dialog) => {
    complaints.push(`a script opened a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  return { page, complaints }
}

/** From now on keeps all that the page's live regions say: the next text may take a text's place before anybody looks. */
export const listen = (page: Page): Promise<void> =>
  page.evaluate(`{
    const heard = (window.heard = [])
    for (const region of document.querySelectorAll("#polite, #urgent"))
      new MutationObserver(() => {
        if (region.textContent !== "") heard.push({ region: region.id, text: region.textContent })
      }).observe(region, { childList: true })
  }`)

/** A live region says that, now or soon, after what was waited for before; `listen` first. */
const expectHeard = async (page: Page, region: string, text: string): Promise<void> => {
  await expect
    .poll(() => page.evaluate<ReadonlyArray<Record<string, string>>>("heard"))
    .toContainEqual({ region, text: expect.stringContaining(text) })
  const said = JSON.stringify(text)
  await page.evaluate(`heard.splice(0, heard.findIndex(({ text }) => text.includes(${said})) + 1)`)
}

/** The polite live region says that. */
export const hears = (page: Page, text: string): Promise<void> => expectHeard(page, "polite", text)

/** The urgent live region says that. */
export const isWarned = (page: Page, text: string): Promise<void> => expectHeard(page, "urgent", text)

/** What has the focus: by its label, its text or its id. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(`{
    const { activeElement: here, body } = document
    here === null || here === body ? "" : here.getAttribute("aria-label") ?? (here.textContent || "#" + here.id)
  }`)

/** That has the focus, now or soon. */
export const expectFocus = (page: Page, wanted: string): Promise<void> =>
  expect.poll(() => focused(page)).toBe(wanted)

/** Goes on with the Tab key until that has the focus. */
export const tabTo = async (page: Page, wanted: string): Promise<void> => {
  const passed: Array<string> = []
  for (let presses = 0; presses < 60; presses += 1) {
    const here = await focused(page)
    if (here === wanted) return
    passed.push(here)
    await page.keyboard.press("Tab")
  }
  throw new Error(`no Tab leads to ${wanted}, only to ${passed.join(", ")}`)
}

/** Opens what else can be done with a thing, by keyboard. */
export const openMore = async (page: Page, about: string): Promise<void> => {
  await page.locator("summary", { hasText: `More for ${about}` }).press("Enter")
}
