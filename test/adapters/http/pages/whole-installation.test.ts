/**
 * The pages of a whole installation in a browser: how many clicks each task takes that people come for, what a page weighs, and what it
 * says when the server is gone. A click is a press of the pointer or a choice in a list; what is typed is none.
 */
import type { Browser, Page, Request } from "playwright-core"
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest"

import { SCREEN_NAMES, pathTo } from "../../../../src/domain/pages.ts"
import { numbered } from "../../../support/files/pdf-samples.ts"
import { closePages, workersBrowser } from "../../../support/processes/browser.ts"
import { type Child, makeFolder, runChild } from "../../../support/processes/child.ts"
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

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-proxy-secret": SECRET, ...headers },
    body: JSON.stringify(body)
  })

/** A mail that bounced, among others, and a document that nobody works on: this installation has no worker. */
const fill = async () => {
  for (const to of ["ann@example.com", ADDRESS, "ben@example.com"])
    await post("/internal/send-email", {
      to,
      subject: `Your receipt, ${to}`,
      text: "Thank you.",
      category: "transactional",
      source: "api:shop"
    })
  const { messages } = (await (
    await fetch(`${url}/dev/outbox`, { headers: { accept: "application/json" } })
  ).json()) as {
    readonly messages: ReadonlyArray<{ readonly id: string; readonly to: ReadonlyArray<string> }>
  }
  const bounced = messages.find(({ to }) => to.includes(ADDRESS))
  await post(`/dev/outbox/${bounced?.id}/events`, { type: "bounced" })
  const form = new FormData()
  form.set("file", new Blob([new Uint8Array(numbered(2))]), "Report.pdf")
  const owner = { authorization: `Bearer ${OWNER}` }
  const uploaded = await fetch(`${url}/api/v1/files`, { method: "POST", headers: owner, body: form })
  const { file } = (await uploaded.json()) as { readonly file: { readonly id: string } }
  await post(`/api/v1/files/${file.id}/convert`, {}, owner)
}

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
  await fill()
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
  await page.addInitScript(`{
    addEventListener("click", ({ detail }) => { if (detail > 0) countClick() }, true)
    addEventListener("change", ({ target }) => { if (target instanceof HTMLSelectElement) countClick() }, true)
  }`)
})

const signIn = async (token: string, home: string, visitor = page) => {
  await visitor.goto(`${url}/sign-in`)
  await visitor.locator("#token").fill(token)
  await visitor.keyboard.press("Enter")
  await visitor.waitForURL(`${url}${home}`)
}

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
  const document = await page.getByRole("link", { name: "Report.pdf", exact: true }).getAttribute("href")
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
  const look = async (paths: ReadonlyArray<string>) => {
    for (const path of paths) {
      const weight = await weightOf(path)
      expect([path, weight > 1000]).toEqual([path, true])
      if (weight > MOST_BYTES) heavy.push([path, weight])
    }
  }
  await look([pathTo.dashboard, document ?? "", pathTo.register, pathTo.credits, pathTo.signIn()])
  await look([pathTo.outbox, "/dev/kitchen-sink", "/dev/templates", "/nothing-here"])
  await signIn(ADMIN, "/admin")
  const log = await page.request.get(`${url}/api/admin/email-log?limit=1`)
  const { rows } = (await log.json()) as { readonly rows: ReadonlyArray<{ readonly id: string }> }
  await look([pathTo.admin, `${pathTo.adminScreen("email-log")}/${rows[0]?.id}`])
  await look(SCREEN_NAMES.map((name) => pathTo.adminScreen(name)))
  expect(heavy).toEqual([])
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
