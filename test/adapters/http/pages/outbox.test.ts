import { Effect } from "effect"
import type { Browser, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, expect, it } from "vitest"

import { box } from "../../../support/files/mail-message.ts"
import { closePages, workersBrowser } from "../../../support/processes/browser.ts"
import { expectAccessible, hears, listen, openPage, tabTo } from "./browse.ts"
import { openOutbox } from "./outbox-world.ts"

/** Each attack, where it took effect, would load from evil.test, open a dialog, or leave the page. */
const HOSTILE = `<html lang="en" onload="alert(1)"><head><title>Order</title><base href="https://evil.test/"><meta http-equiv="refresh" content="0;url=https://evil.test/">
<style>@import "https://evil.test/a.css"; @font-face { font-family: x; src: url(https://evil.test/f.woff) } p { font-family: x }</style></head>
<body><script>alert(1); top.location = "https://evil.test/"</script><h1>Thank you</h1><p>Order 17</p>
<img src="https://evil.test/pixel.png" alt="pixel"><img src="x" onerror="alert(1)" alt="broken">
<p style="color:#ccc;background:#fff">Too pale</p><a href="https://shop.test/order">See your order</a> <a href="javascript:alert(1)">Run</a>
<svg onload="alert(1)"><script>alert(1)</script></svg><form action="https://evil.test/"><label>Name <input name="a" autofocus></label><button>Send</button></form>
<iframe src="https://evil.test/"></iframe></body></html>`

type World = Awaited<ReturnType<typeof openOutbox>>
let world: World
let browser: Browser
beforeAll(async () => {
  world = await openOutbox()
  browser = await workersBrowser()
})
afterEach(() => closePages(browser))
afterAll(async () => {
  await closePages(browser)
  await world.stop()
})

const session = async () => {
  const { complaints, page } = await openPage(browser, world.server.url)
  const go = (path: string) => page.goto(world.server.url + path)
  return { page, go, complaints, close: () => page.context().close() }
}

const sendHostile = () =>
  world.send({
    to: [box("ann@example.test", "Ann"), box("bob@example.test")],
    subject: `Order <img src=x onerror=alert(1)> ${"unbroken".repeat(30)}`,
    html: HOSTILE,
    text: "Order 17",
    attachments: [
      {
        filename: `${"long".repeat(30)}.csv`,
        content: btoa("a,b"),
        contentType: "text/csv",
        contentId: undefined
      }
    ]
  })

const subjects = (page: Page) => page.locator(".mails .subject a")

it("by keyboard: mails arrive in the list, are found, read, and deleted after a question", async () => {
  const { close, complaints, go, page } = await session()
  await go("/dev")
  await expectAccessible(page, "empty outbox")
  await page.getByText("No mails yet").waitFor()
  await listen(page)
  await world.send({ to: [box("bob@example.test")], subject: "First", text: "the code is 4711" })
  await hears(page, "1 new mail")
  await world.send({ to: [box("bounced@resend.dev")], subject: "Second" })
  await hears(page, "1 new mail")
  expect(await subjects(page).allTextContents()).toEqual(["Unread: Second", "Unread: First"])
  await page.getByText("Bounced", { exact: true }).waitFor()

  // What arrives does not take the focus away.
  await tabTo(page, "Unread: First")
  await world.send({ to: [box("ann@example.test")], subject: "Third" })
  await hears(page, "1 new mail")
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Unread: First")
  await expectAccessible(page, "outbox")

  await page.keyboard.press("Enter")
  await page.getByRole("heading", { name: "First" }).waitFor()
  await page.goBack()
  await page.reload()
  expect(await subjects(page).allTextContents()).toEqual(["Unread: Third", "Unread: Second", "First"])

  await page.getByLabel("Search subject").fill("CODE 4711")
  await page.keyboard.press("Enter")
  await page.waitForURL(/q=CODE/)
  expect(await subjects(page).allTextContents()).toEqual(["First"])
  await expectAccessible(page, "search")
  await page.getByRole("link", { name: "bob@example.test" }).click()
  await page.getByText("From or to bob@example.test").waitFor()
  expect(await subjects(page).allTextContents()).toEqual(["First"])
  expect(await page.getByRole("button", { name: "Delete all" }).isVisible()).toBe(false)
  await page.getByRole("link", { name: "Clear" }).click()

  await page.getByRole("button", { name: "Delete all" }).press("Enter")
  await page.getByRole("heading", { name: "Delete all mails?" }).waitFor()
  await expectAccessible(page, "question")
  await page.keyboard.press("Escape")
  expect(await subjects(page).count()).toBe(3)
  await listen(page)
  await page.getByRole("button", { name: "Delete all" }).press("Enter")
  await page.getByRole("dialog").getByRole("button", { name: "Delete all" }).press("Enter")
  await hears(page, "All mails were deleted")
  await page.getByText("No mails yet").waitFor()
  expect(await Effect.runPromise(world.outbox.list())).toEqual([])
  expect(complaints).toEqual([])
  await close()
})

it("a hostile mail is shown and does nothing; each way to look at it is accessible", async () => {
  const id = await sendHostile()
  const { close, complaints, go, page } = await session()
  // What the policy refuses is reported as a request, too, and never comes here.
  const reached: Array<string> = []
  await page.route(/^https:/, (route) => {
    reached.push(route.request().url())
    return route.abort()
  })
  /** What a page did but for what its frame was refused. */
  const done = () =>
    complaints.filter((one) => !/^loads https:|Blocked form|Content Security Policy/.test(one))
  await go(`/dev/messages/${id}`)
  const mail = page.frameLocator("iframe")
  await mail.getByText("Order 17").waitFor()
  await mail.getByRole("button", { name: "Send" }).click()
  expect(await page.evaluate("document.querySelector('iframe').contentDocument === null")).toBe(true)
  expect(page.url()).toBe(`${world.server.url}/dev/messages/${id}`)
  const frame = page.frames().find((one) => one.parentFrame() !== null)!
  expect(frame.url()).toBe(`${world.server.url}/dev/messages/${id}/html`)
  expect([reached, done()]).toEqual([[], []])
  await expectAccessible(page, "HTML")

  await page.getByRole("link", { name: "Phone" }).press("Enter")
  await page.locator("iframe.phone").waitFor()
  expect((await page.locator("iframe").boundingBox())!.width).toBeLessThanOrEqual(375)
  await page.getByRole("link", { name: "Show pictures" }).press("Enter")
  await page.getByRole("link", { name: "Block them" }).waitFor()
  await expect.poll(() => reached).toEqual(["https://evil.test/pixel.png"])

  for (const name of ["Text", "Headers", "Source", "Attachments (1)", "Links (2)", "Checks"]) {
    await page.locator(".tabs").getByRole("link", { name, exact: true }).press("Enter")
    await page.locator(`.tabs a[aria-current]`, { hasText: name }).waitFor()
    await expectAccessible(page, name)
  }
  await page.getByRole("button", { name: "Check accessibility" }).press("Enter")
  await page.locator("#checked", { hasText: /^axe finds \d+ problem/ }).waitFor()
  await page.getByText("Elements must meet minimum color contrast ratio thresholds – serious").waitFor()
  expect(await page.locator("#checked").innerText()).toContain("Too pale")
  expect(await page.locator("iframe").count()).toBe(0)
  await expectAccessible(page, "checked")
  expect([reached, done()]).toEqual([["https://evil.test/pixel.png"], []])
  await close()
})

it("events are tried for all recipients and for one, and the mail is deleted", async () => {
  const id = await sendHostile()
  world.events.length = 0
  const { close, complaints, go, page } = await session()
  await go(`/dev/messages/${id}?view=text`)
  await listen(page)
  await page.getByRole("button", { name: "Delayed" }).press("Enter")
  await hears(page, "Reported: Delayed. The log says so.")
  await page.getByLabel("For").selectOption("bob@example.test")
  await page.getByRole("button", { name: "Reported as spam" }).press("Enter")
  await hears(page, "The address is suppressed")
  expect(await page.locator("#marks").innerText()).toBe("Delayed Reported as spam")
  expect(world.events.map(({ recipients, type }) => [type, recipients])).toEqual([
    ["delivery_delayed", ["ann@example.test", "bob@example.test"]],
    ["complained", ["bob@example.test"]]
  ])
  await expectAccessible(page, "events")

  await page.getByRole("button", { name: "Delete" }).press("Enter")
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).press("Enter")
  await page.waitForURL(`${world.server.url}/dev`)
  expect(await Effect.runPromise(world.outbox.entry(id))).toBeUndefined()
  expect(complaints).toEqual([])

  await go(`/dev/messages/${id}`)
  await page.getByRole("link", { name: "Go to the outbox" }).press("Enter")
  await page.getByRole("link", { name: "Mails that Postlane writes itself" }).press("Enter")
  await page.getByRole("heading", { name: "Mails that Postlane writes itself" }).waitFor()
  await expectAccessible(page, "Postlane's mails")
  await page.goBack()
  await page.goBack()
  await page.getByText("The address may be mistyped").waitFor()
  await expectAccessible(page, "not found")
  await close()
})

it("a page that outlives its server shows what came meanwhile", async () => {
  const { close, go, page } = await session()
  await go("/dev")
  await listen(page)
  await world.restart(() => world.send({ subject: "While it was away" }))
  await hears(page, "1 new mail")
  expect(await subjects(page).first().textContent()).toBe("Unread: While it was away")
  await close()
})

it("is read without scripts", async () => {
  const id = await sendHostile()
  const context = await browser.newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  await page.goto(`${world.server.url}/dev`)
  await subjects(page).first().click()
  await page.frameLocator("iframe").getByText("Order 17").waitFor()
  await page.locator(".tabs").getByRole("link", { name: "Text", exact: true }).click()
  await page.locator("pre", { hasText: "Order 17" }).waitFor()
  await page.locator(".tabs").getByRole("link", { name: "Attachments (1)" }).click()
  await page.getByRole("link", { name: /^Open/ }).click()
  await page.getByText("a,b").waitFor()
  expect(page.url()).toBe(`${world.server.url}/dev/messages/${id}/files/0`)
  await context.close()
})

it("the list stays beside an open mail, with its search, and is kept as the outbox is", async () => {
  await world.restart(() => Effect.runPromise(world.outbox.clear("~")))
  await world.send({
    to: [box("zoe@example.test")],
    subject: "Invoice 1",
    text: "Please pay within a week",
    tags: { kind: "invoice" },
    attachments: [{ filename: "a.csv", content: btoa("a,b"), contentType: "text/csv", contentId: undefined }]
  })
  await world.send({ to: [box("yan@example.test")], subject: "Invoice 2", text: "Thank you" })
  await world.send({ to: [box("yan@example.test")], subject: "News", text: "Nothing to pay" })
  const { close, complaints, go, page } = await session()
  await go("/dev?q=subject:invoice")
  await page.getByText("Please pay within a week").waitFor()
  await page.getByText("1 attachment").waitFor({ state: "attached" })
  expect(await page.getByRole("link", { name: "kind: invoice" }).count()).toBe(1)
  expect(await page.locator(".size").allInnerTexts()).toEqual([
    expect.stringMatching(/\d (?:bytes|KB)/),
    expect.stringMatching(/\d (?:bytes|KB)/)
  ])
  await expectAccessible(page, "found by an operator")
  await tabTo(page, "Unread: Invoice 1")
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { name: "Invoice 1" }).waitFor()
  const beside = page.getByRole("region", { name: "Mails" })
  expect(await beside.locator(".subject a").allTextContents()).toEqual(["Unread: Invoice 2", "Invoice 1"])
  expect(await beside.locator("[aria-current]").textContent()).toBe("Invoice 1")
  await expectAccessible(page, "a mail beside its list")

  await listen(page)
  await world.send({ to: [box("yan@example.test")], subject: "Invoice 3" })
  await hears(page, "1 new mail")
  expect(await beside.locator(".subject a").allTextContents()).toEqual([
    "Unread: Invoice 3",
    "Unread: Invoice 2",
    "Invoice 1"
  ])
  expect(await beside.locator("[aria-current]").textContent()).toBe("Invoice 1")
  await page.getByRole("link", { name: "Newer mail" }).press("Enter")
  await page.getByRole("heading", { name: "Invoice 2" }).waitFor()
  expect(await page.getByRole("link", { name: "Older mail" }).count()).toBe(1)
  await page.getByRole("link", { name: "Back to the list" }).press("Enter")
  await page.getByRole("link", { name: "Remove subject:invoice" }).press("Enter")
  await page.waitForURL(`${world.server.url}/dev`)

  await page.getByLabel("Search subject").fill("before:soon to:yan has:attachment")
  await page.keyboard.press("Enter")
  await page.getByText("No mail is like that.").waitFor()
  await page.getByText("Left out of the search: “before:soon” is no day such as before:2026-12-31.").waitFor()
  await expectAccessible(page, "a search that is not understood")
  await page.getByRole("link", { name: "Admin" }).waitFor()
  expect(await page.getByRole("link", { name: "Outbox", exact: true }).getAttribute("aria-current")).toBe(
    "page"
  )
  expect(complaints).toEqual([])
  await close()
})

it("links are tried where that is asked for, and each says what came of it", async () => {
  const id = await world.send({
    subject: "Links",
    html: `<p><a href="https://shop.test/a">A</a> <a href="https://shop.test/b">B</a> <a href="http://127.0.0.1:1/">C</a> <a href="mailto:a@x.test">D</a></p>`
  })
  world.tries.push(
    { outcome: "answered", status: 200, leadsTo: "https://shop.test/home" },
    { outcome: "answered", status: 404, leadsTo: undefined },
    { outcome: "skipped", why: "127.0.0.1 is at <b>" }
  )
  const { close, complaints, go, page } = await session()
  await go(`/dev/messages/${id}?view=links`)
  await listen(page)
  await page.getByRole("button", { name: "Try the links" }).press("Enter")
  await hears(page, "1 link is broken, 1 not tried")
  expect(await page.locator("[data-try]").allInnerTexts()).toEqual([
    "200 leads to https://shop.test/home",
    "404",
    "Not tried 127.0.0.1 is at <b>"
  ])
  await expectAccessible(page, "tried links")
  expect(complaints).toEqual([])
  await close()
})

it("a program gets the mail, a person its page", async () => {
  const id = await sendHostile()
  const at = `${world.server.url}/dev/outbox/${id}`
  const program = await fetch(at)
  expect(program.headers.get("content-type")).toBe("message/rfc822")
  const { close, go, page } = await session()
  await go(`/dev/outbox/${id}`)
  expect(page.url()).toBe(`${world.server.url}/dev/messages/${id}`)
  const asked = await fetch(`${at}?download=yes`, { headers: { accept: "text/html" } })
  expect(asked.headers.get("content-disposition")).toContain(".eml")
  await close()
})
