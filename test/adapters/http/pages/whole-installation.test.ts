/**
 * The pages of a whole installation in a browser: how many clicks each task takes that people come for, what a page weighs, and what it
 * says when the server is gone. A click is a press of the pointer or a choice in a list; what is typed is none.
 */
import type { Browser, Page, Request } from "playwright-core"
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest"

import { PAGE_PATHS } from "../../../../src/adapters/http/pages/paths.ts"
import { pathTo } from "../../../../src/domain/pages.ts"
import { fillInstallation, pagesOf } from "../../../support/every-page.ts"
import { closePages, workersBrowser } from "../../../support/processes/browser.ts"
import { type Child, makeFolder, runChild } from "../../../support/processes/child.ts"
import { brokenWords, cutTables, smallTargets, unreached } from "../../../support/processes/page-looks.ts"
import { expectAccessible, openPage } from "./browse.ts"

const [SECRET, ADMIN, OWNER] = ["clicks-secret", "clicks-admin-token-4711", "clicks-owner-token-4711"]
const ADDRESS = "cleo@example.com"
const BOUNCE = "The mailbox does not exist."

let folder: Awaited<ReturnType<typeof makeFolder>>
let child: Child
let url: string
let browser: Browser
let page: Page
let clicks = 0
let subjects: Awaited<ReturnType<typeof fillInstallation>>

beforeAll(async () => {
  folder = await makeFolder()
  child = runChild("src/runtime/entries/start.ts", [], {
    PORT: "0",
    SMTP_PORT: "0",
    SUBMISSION_PORT: "0",
    POSTLANE_ROLES: "api,leader,retry,send",
    POSTLANE_DATA_DIR: folder.path,
    PROXY_SHARED_SECRET: SECRET,
    ADMIN_TOKEN: ADMIN,
    OWNER_TOKEN: OWNER
  })
  url = await child.line((line) => /^ {2}API +(\S+)/.exec(line)?.[1])
  browser = await workersBrowser()
  subjects = await fillInstallation(url, { admin: ADMIN, owner: OWNER, secret: SECRET, bounces: ADDRESS })
})
afterAll(async () => {
  await closePages(browser)
  await child.destroy()
  await folder.remove()
})
beforeEach(async () => {
  ;({ page } = await openPage(browser, url))
  await page.exposeFunction("countClick", () => {
    clicks += 1
  })
  // As they bubble: a click that the driver takes back, since its element has moved meanwhile, was none.
  await page.addInitScript(`{
    addEventListener("click", ({ detail }) => { if (detail > 0) countClick() })
    addEventListener("change", ({ target }) => { if (target instanceof HTMLSelectElement) countClick() })
  }`)
})

const signIn = async (token: string, home: string, visitor = page) => {
  await visitor.goto(`${url}/sign-in`)
  await visitor.locator("#token").fill(token)
  await visitor.keyboard.press("Enter")
  await visitor.waitForURL(`${url}${home}`)
}

/** Times that a machine cannot read: HTML knows no smaller part of a second than a thousandth. */
const unreadableTimes = (visitor: Page) =>
  visitor.evaluate<ReadonlyArray<string>>(`[...document.querySelectorAll("time")]
    .map((one) => one.getAttribute("datetime") ?? "")
    .filter((text) => !/^\\d{4}-\\d\\d-\\d\\d(?:T\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,3})?)?Z)?$/.test(text))`)

/** How many clicks a task takes, from where it begins. */
const clicksOf = async (path: string, task: () => Promise<void>): Promise<number> => {
  if (new URL(page.url()).pathname !== path) await page.goto(`${url}${path}`)
  clicks = 0
  await task()
  return clicks
}

it("is everything well: none, since the sign-in ends on the answer", async () => {
  await signIn(ADMIN, "/admin")
  const taken = await clicksOf("/admin", () => page.getByText(/No alarm is firing/).waitFor())
  expect(taken).toBe(0)
  // With the process that reports itself.
  await page.reload()
  await page.getByText("The one process is well.").waitFor()
  await expectAccessible(page, "the overview of a whole installation")
})

it("why did this mail bounce: one, on its row", async () => {
  await signIn(ADMIN, "/admin")
  const taken = await clicksOf("/admin/email-log", async () => {
    await page.getByRole("link", { name: `Your receipt, ${ADDRESS}` }).click()
    await page.locator("main .card, main").getByText(BOUNCE).first().waitFor()
  })
  expect(taken).toBe(1)
})

it("what was sent to somebody in the last week: two, the search and the period", async () => {
  await signIn(ADMIN, "/admin")
  const taken = await clicksOf("/admin/email-log", async () => {
    await page.getByRole("searchbox").click()
    await page.keyboard.type(ADDRESS)
    await page.getByLabel("Period").selectOption({ label: "Last 7 days" })
    await page.waitForURL((at) => at.searchParams.has("since") && at.searchParams.get("search") === ADDRESS)
    await page.getByText("1 mail", { exact: false }).first().waitFor()
    await page.getByRole("link", { name: `Your receipt, ${ADDRESS}` }).waitFor()
  })
  expect(taken).toBe(2)
})

it("why does my document wait: one, on its name", async () => {
  await signIn(OWNER, "/dashboard")
  const taken = await clicksOf("/dashboard", async () => {
    await page.getByRole("link", { name: "Report.pdf", exact: true }).click()
    await page.getByText("Waiting since").waitFor()
  })
  expect(taken).toBe(1)
})

it("cancel a conversion and convert again: three, of which one is the answer to a question", async () => {
  await signIn(OWNER, "/dashboard")
  const taken = await clicksOf("/dashboard", async () => {
    await page.getByRole("button", { name: "Cancel the conversion of Report.pdf" }).click()
    await page.getByRole("button", { name: "Cancel conversion" }).click()
    await page.getByText("The conversion is cancelled. Nothing was charged.").first().waitFor()
    await page
      .getByRole("button", { name: /^Convert/ })
      .first()
      .click()
    await page.getByText("The conversion has begun.").first().waitFor()
  })
  expect(taken).toBe(3)
})

it("give credits: two", async () => {
  await signIn(ADMIN, "/admin")
  const taken = await clicksOf("/admin/customers", async () => {
    await page
      .getByRole("button", { name: /^Give credits/ })
      .first()
      .click()
    await page.keyboard.type("100")
    await page.keyboard.press("Tab")
    await page.keyboard.type("invoice-17")
    await page.getByRole("dialog").getByRole("button", { name: "Give" }).click()
    await page
      .getByText(/100 credits more/)
      .first()
      .waitFor()
  })
  expect(taken).toBe(2)
})

it("make a token: two, the field and the button", async () => {
  await signIn(ADMIN, "/admin")
  const taken = await clicksOf("/admin/tokens", async () => {
    await page.getByLabel("Name of the program").click()
    await page.keyboard.type("shop")
    await page.getByRole("button", { name: "Make a sender token" }).click()
    await page.locator("#made-token").waitFor()
  })
  expect(taken).toBe(2)
})

/** What a page may take over the wire before its data: markup, styles and scripts, compressed as they are served. */
const MOST_BYTES = 60 * 1024

it("no page weighs more than 60 KB before its data", async () => {
  await signIn(OWNER, "/dashboard")
  const weightOf = async (path: string) => {
    const sizes: Array<Promise<number>> = []
    const add = (request: Request) => {
      if (request.resourceType() !== "fetch" && request.resourceType() !== "eventsource")
        sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize))
    }
    // A browser that has been here before would take its scripts from its cache.
    const context = await browser.newContext({ storageState: await page.context().storageState() })
    const visitor = await context.newPage()
    visitor.on("requestfinished", add)
    await visitor.goto(`${url}${path}`, { waitUntil: "load" })
    const weight = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
    await context.close()
    return weight
  }
  const heavy: Array<readonly [string, number]> = []
  const look = async (pages: ReadonlyArray<readonly [string, string]>) => {
    for (const [, path] of pages) {
      const weight = await weightOf(path)
      expect([path, weight > 500]).toEqual([path, true])
      if (weight > MOST_BYTES) heavy.push([path, weight])
    }
  }
  await look(pagesOf("owner", subjects))
  await look(pagesOf("anybody", subjects))
  await signIn(ADMIN, "/admin")
  await look(pagesOf("admin", subjects))
  expect(heavy).toEqual([])
})

it("every route of a page is among those that are looked at", () => {
  const seen = (["anybody", "owner", "admin"] as const)
    .flatMap((who) => pagesOf(who, subjects))
    .map(([, path]) => path.split("?")[0] ?? "")
  const others = new Set(["/", "/admin/stream", "/favicon.ico"])
  const missing = PAGE_PATHS.filter((path) => !path.startsWith("/assets/") && !others.has(path)).filter(
    (path) => !seen.some((one) => new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`).test(one))
  )
  expect(missing).toEqual([])
})

it.each([
  ["anybody", undefined, ""],
  ["owner", OWNER, "/dashboard"],
  ["admin", ADMIN, "/admin"]
] as const)(
  "every page of %s: axe finds nothing, Tab leads everywhere, each target has 24 px, times are readable, no word breaks inside and no table is cut off",
  async (who, token, home) => {
    if (token !== undefined) await signIn(token, home)
    for (const [name, path] of pagesOf(who, subjects)) {
      await page.setViewportSize({ width: 1280, height: 900 })
      await page.goto(`${url}${path}`)
      await page.locator("#loading").waitFor({ state: "hidden" })
      expect([name, await unreached(page)]).toEqual([name, []])
      expect([name, await unreadableTimes(page)]).toEqual([name, []])
      await expectAccessible(page, name)
      for (const width of [768, 320]) {
        await page.setViewportSize({ width, height: 800 })
        expect([name, width, await smallTargets(page)]).toEqual([name, width, []])
        expect([name, width, await brokenWords(page)]).toEqual([name, width, []])
        expect([name, width, await cutTables(page)]).toEqual([name, width, []])
      }
    }
  }
)

it("the API's reference is no wider than its window, and keeps its policy", async () => {
  const { complaints, page: visitor } = await openPage(browser, url)
  await visitor.goto(`${url}/docs`)
  await visitor.locator(".parameter-item-trigger").first().waitFor({ state: "attached" })
  for (const width of [1280, 390, 320]) {
    await visitor.setViewportSize({ width, height: 800 })
    expect([width, await visitor.evaluate("document.scrollingElement.scrollWidth")]).toEqual([width, width])
  }
  // It says how long its own steps take, too.
  expect(complaints.filter((one) => /^loads|Content Security Policy/.test(one))).toEqual([])
})

it("the server gone is said in the same words on every page that reads by itself", async () => {
  const opened: Array<readonly [string, Page]> = []
  const open = async (from: Page, paths: ReadonlyArray<string>) => {
    for (const path of paths) {
      const tab = await from.context().newPage()
      await tab.goto(`${url}${path}`)
      await tab.locator("#loading").waitFor({ state: "hidden" })
      opened.push([path, tab])
    }
  }
  await signIn(OWNER, "/dashboard")
  const document = await page.getByRole("link", { name: "Report.pdf", exact: true }).getAttribute("href")
  await open(page, [pathTo.dashboard, document ?? ""])
  const { page: desk } = await openPage(browser, url)
  await signIn(ADMIN, "/admin", desk)
  const queue = pathTo.adminScreen("queue")
  await open(desk, [pathTo.admin, pathTo.adminScreen("email-log"), queue, pathTo.outbox])
  await child.destroy()
  const said = "The server cannot be reached. What is shown here may be old; it is asked for again by itself."
  for (const [path, tab] of opened) {
    await tab.bringToFront()
    await tab.locator(".problem", { hasText: said }).waitFor()
    expect([path, await tab.locator(".problem:visible").count()]).toEqual([path, 1])
  }
})
