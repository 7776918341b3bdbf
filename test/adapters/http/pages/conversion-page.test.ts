import type { Browser, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, expect, it } from "vitest"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { numbered } from "../../../support/files/pdf-samples.ts"
import { findings } from "../../../support/processes/axe.ts"
import { closePages, workersBrowser } from "../../../support/processes/browser.ts"
import { type FilesWorld, startFiles } from "../routes/conversion/files-world.ts"
import {
  expectAccessible,
  expectFocus,
  hears,
  isWarned,
  listen,
  openMore,
  openPage,
  tabTo
} from "./browse.ts"

/** One page has no heading of its own, which best practice asks of whole documents. */
const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

let world: FilesWorld
let browser: Browser
beforeAll(async () => {
  const [files, opened] = await Promise.all([startFiles(), workersBrowser()])
  world = files
  browser = opened
})
afterEach(() => closePages(browser))
afterAll(async () => {
  await closePages(browser)
  await world.stop()
})

const SHARE = { email: "ann@x.test", expiresAt: "2026-11-27T12:00:00.000Z" }

/** Opens a page as a new customer, who has these files; each is converted. */
const signIn = async (names: ReadonlyArray<string>, pages = 3) => {
  const customer = await world.customer()
  const ids: Array<string> = []
  for (const name of names) {
    const uploaded = await world.upload(customer, numbered(pages), name)
    ids.push(uploaded.json.file.id)
    await world.ask("POST", `/api/v1/files/${ids.at(-1)!}/convert`, customer)
  }
  await world.work()
  const opened = await openPage(browser, world.server.url)
  const { hostname } = new URL(world.server.url)
  await opened.page
    .context()
    .addCookies([{ name: "postlane_session", value: customer, domain: hostname, path: "/" }])
  return { ...opened, customer, ids }
}

/** That the picture of the page is drawn. */
const isDrawn = (page: Page) =>
  expect.poll(() => page.evaluate("picture.complete && picture.naturalWidth > 0")).toBe(true)

it("a conversion's page shows original and result side by side, by keyboard, and one below the other at 320 px", async () => {
  const { complaints, customer, ids, page } = await signIn([`<b>"Report'.pdf`])
  await page.goto(`${world.server.url}/dashboard`)
  await page.getByText("Converted", { exact: true }).waitFor()
  await openMore(page, `<b>"Report'.pdf`)
  await tabTo(page, `Compare <b>"Report'.pdf with its result, page by page`)
  await page.keyboard.press("Enter")
  await page.waitForURL(`**/dashboard/files/${ids[0]}#compare`)
  await page.getByRole("heading", { name: "Page 1 of 3" }).waitFor()
  await listen(page)
  expect(await page.textContent("h1")).toBe(`<b>"Report'.pdf`)
  await isDrawn(page)
  await page.frameLocator("#result").getByText("1", { exact: false }).first().waitFor()
  expect(await page.textContent("#looks-title")).toBe("No problems found.")
  expect(await page.textContent("#facts")).toContain("How it was madein the standard way")
  const events = (await page.locator("#events p").allTextContents()).map((text) =>
    text.replace(/way.*/, "way")
  )
  expect(events[0]).toBe("Uploaded.")
  expect(events.slice(1).toSorted()).toEqual([
    "3 credits charged.",
    "Converted.",
    "Result made in the standard way"
  ])
  const report = page.getByRole("region", { name: "Accessibility of the result" })
  await report.waitFor()
  expect(await report.textContent()).toContain(`Its title is the file’s name, “<b>"Report'”`)
  // axe does not reach into a sandboxed frame; its document is looked at below.
  await expectAccessible(page, "a conversion", ["frame-tested"])

  await tabTo(page, "Next page")
  await page.keyboard.press("Enter")
  await hears(page, "Page 2 of 3.")
  await page.waitForURL("**?page=2")
  await expectFocus(page, "Next page")
  await page.goBack()
  await page.getByRole("heading", { name: "Page 1 of 3" }).waitFor()
  await page.keyboard.press("ArrowRight")
  await page.getByRole("heading", { name: "Page 2 of 3" }).waitFor()
  await page.keyboard.press("ArrowLeft")
  await page.getByRole("heading", { name: "Page 1 of 3" }).waitFor()
  await page.goBack()
  await page.getByRole("heading", { name: "Page 2 of 3" }).waitFor()
  await isDrawn(page)
  const side = async (name: string) => (await page.locator(name).boundingBox())!
  expect((await side("#side")).x).toBeLessThan((await side("#result")).x)
  await page.setViewportSize({ width: 320, height: 640 })
  expect((await side("#side")).y).toBeLessThan((await side("#result")).y)
  expect((await side("#side")).x).toBe((await side("#result")).x)
  await page.setViewportSize({ width: 1280, height: 900 })

  await openMore(page, `<b>"Report'.pdf`)
  await page.getByRole("button", { name: "Convert again" }).click()
  const dialog = page.getByRole("dialog", { name: `Convert <b>"Report'.pdf again?` })
  await expect.poll(() => dialog.textContent()).toContain("3 credits")
  await page.keyboard.press("Escape")

  const frame = await world.ask("GET", `/api/v1/files/${ids[0]}/pages/2/result`, customer)
  await page.goto("about:blank")
  await page.setContent(frame.text)
  expect(await findings(page, { rules: WCAG })).toMatchObject({ violations: [], undecided: [] })
  // axe asks the frame, which answers nobody.
  expect(complaints.filter((text) => !text.includes("'postMessage'"))).toEqual([])
  await page.context().close()
})

it("an owner reads what was charged and what is shared with whom, and stops a share, by keyboard", async () => {
  const { complaints, customer, ids, page } = await signIn(["Report.pdf"])
  const shared = await world.ask("POST", `/api/v1/files/${ids[0]}/share`, customer, {
    recipients: ["ann@x.test"]
  })
  expect(shared.status).toBe(200)
  await page.goto(`${world.server.url}/dashboard`)
  await page.getByRole("heading", { name: "Report.pdf" }).first().waitFor()
  await listen(page)
  await page.locator("#charges-book summary").focus()
  await page.keyboard.press("Enter")
  const charges = page.locator("#charges > li")
  await charges.first().waitFor()
  expect(await charges.allTextContents()).toEqual([
    expect.stringMatching(/^Conversion of Report\.pdf−3 credits\d/)
  ])
  await page.locator("#shares-summary").focus()
  await page.keyboard.press("Enter")
  const shares = page.locator("#shares > li")
  await shares.first().waitFor()
  expect(await shares.first().textContent()).toContain("ann@x.test")
  await expectAccessible(page, "charges and shares")
  await tabTo(page, "Stop sharing Report.pdf with ann@x.test")
  await page.keyboard.press("Enter")
  await hears(page, "ann@x.test cannot open the result of Report.pdf any more.")
  await expect.poll(() => page.locator("#no-shares").isVisible()).toBe(true)
  expect(await page.evaluate("document.activeElement.id")).toBe("shares-summary")
  expect(complaints).toEqual([])
  await page.context().close()
})

it("a page of somebody else's file says so, and shows nothing", async () => {
  const [mine, theirs] = [await signIn([]), await signIn(["a.pdf"])]
  await mine.page.goto(`${world.server.url}/dashboard/files/${theirs.ids[0]}`)
  await mine.page.getByText("There is no such file").first().waitFor()
  expect(await mine.page.locator("#document").isHidden()).toBe(true)
  await expectAccessible(mine.page, "no such conversion")
  expect(mine.complaints).toEqual([])
  await mine.page.context().close()
  await theirs.page.context().close()
})

it("a document has a page in every state: not converted, under way, cancelled, converted; and both sides scroll together", async () => {
  const { complaints, customer, ids, page } = await signIn(["Done.pdf"], 2)
  const id: string = (await world.upload(customer, numbered(3), "New.pdf")).json.file.id
  await page.goto(`${world.server.url}/dashboard/files/${id}`)
  await page.getByText("Ready to convert", { exact: true }).waitFor()
  await listen(page)
  expect(await page.locator("#problem").isHidden()).toBe(true)
  expect(await page.locator("#compare").isHidden()).toBe(true)
  expect(await page.textContent("#costs")).toContain("Standard3 credits")
  await expectAccessible(page, "a document that is not converted")
  await page.getByRole("button", { name: "Convert New.pdf" }).press("Enter")
  await page.getByText("Queued", { exact: true }).waitFor()
  await page.getByText("Conversion ordered: 3 credits set aside.").waitFor()
  await page.getByText("Waiting since").waitFor()
  await expectAccessible(page, "a document under way")
  await page.getByRole("button", { name: "Cancel the conversion of New.pdf" }).press("Enter")
  await page.getByRole("button", { name: "Cancel conversion" }).press("Enter")
  await page.getByText("The conversion was cancelled. Nothing was charged.").waitFor()
  await expectFocus(page, "Convert New.pdf")

  await page.goto(`${world.server.url}/dashboard/files/${ids[0]}`)
  await page.frameLocator("#result").locator("body").waitFor()
  await isDrawn(page)
  // Long sides, both, so that there is something to scroll.
  await page.evaluate(`{
    document.getElementById("picture").style.height = "3000px"
    document.getElementById("result").contentDocument.body.style.minHeight = "5000px"
    document.getElementById("side").scrollTop = 600
  }`)
  const inner = () =>
    page.evaluate<number>("document.getElementById('result').contentDocument.scrollingElement.scrollTop")
  await expect.poll(inner).toBeGreaterThan(500)
  await page.evaluate("document.getElementById('result').contentDocument.scrollingElement.scrollTop = 0")
  await expect.poll(() => page.evaluate<number>("document.getElementById('side').scrollTop")).toBe(0)
  expect(complaints).toEqual([])
  await page.context().close()
})

it("pages are shown before the last one is read, plainly unfinished, by keyboard, until the result takes their place", async () => {
  const { complaints, customer, page } = await signIn([])
  await world.work()
  const id: string = (await world.upload(customer, numbered(65), "Long.pdf")).json.file.id
  await world.ask("POST", `/api/v1/files/${id}/convert`, customer)
  await world.execute()
  await page.clock.install()
  await page.goto(`${world.server.url}/dashboard/files/${id}`)
  await page.getByText("Queued", { exact: true }).waitFor()
  const preview = page.getByRole("region", { name: "Preview" })
  const frame = page.frameLocator("#preview-page")
  expect(await preview.isHidden()).toBe(true)
  await listen(page)
  await world.workOnce()
  await preview.waitFor()
  await page.clock.runFor(1_000)
  await hears(page, "20 of 65 pages can be read so far.")
  await preview.getByText("Unfinished: 20 of 65 pages can be read so far.").waitFor()
  await frame.getByText("Page number 1", { exact: true }).waitFor()
  await frame.getByText("this document is still being converted").waitFor()
  await expectAccessible(page, "a conversion with a preview", ["frame-tested"])

  await tabTo(page, "Next page of the preview")
  await page.keyboard.press("Enter")
  await frame.getByText("Page number 2", { exact: true }).waitFor()
  await page.clock.runFor(1_000)
  await hears(page, "Preview of page 2 of 65.")
  await expectFocus(page, "Next page of the preview")
  await page.getByLabel("Page of the preview", { exact: true }).fill("33")
  await page.keyboard.press("Enter")
  await page.clock.runFor(1_000)
  await hears(page, "Page 33 cannot be read yet.")
  await frame.getByText("Page number 2", { exact: true }).waitFor()

  // The next pages leave the page that is read alone, and are said once in ten seconds.
  await page.clock.pauseAt(await page.evaluate<number>("Date.now() + 60_000"))
  await page.evaluate("heard.splice(0)")
  await world.workOnce()
  await preview.getByText("40 of 65 pages can be read so far.").waitFor()
  await page.clock.runFor(1_000)
  await hears(page, "40 of 65 pages can be read so far.")
  await world.workOnce()
  await preview.getByText("60 of 65 pages can be read so far.").waitFor()
  await page.clock.runFor(1_000)
  expect(await page.evaluate("heard")).toEqual([])
  await page.clock.runFor(10_000)
  await hears(page, "60 of 65 pages can be read so far.")
  await page.clock.resume()
  await frame.getByText("Page number 2", { exact: true }).waitFor()
  await page.keyboard.press("Control+a")
  await page.keyboard.type("33")
  await page.keyboard.press("Enter")
  await frame.getByText("Page number 33", { exact: true }).waitFor()

  await world.work()
  await page.getByRole("region", { name: "Compare" }).waitFor()
  expect(await preview.isHidden()).toBe(true)
  await expectFocus(page, "State")
  // axe and the test's clock are scripts: no frame here answers the one and lets in the other.
  const own = complaints.filter((text) => !/'postMessage'|^Blocked script execution in/.test(text))
  expect(own).toEqual([])
  await page.context().close()
})

it("many files are searched, filtered, converted for one price and deleted by one question each", async () => {
  const { complaints, customer, page } = await signIn(["Done.pdf"], 2)
  for (const name of ["Alpha.pdf", "Beta.pdf", "Alphabet.pdf"])
    await world.upload(customer, numbered(3), name)
  await page.goto(`${world.server.url}/dashboard`)
  await page.getByRole("heading", { name: "Alpha.pdf", exact: true }).waitFor()
  await listen(page)
  const shown = () => page.locator("#rows > li:visible h3").allTextContents()

  await page.getByLabel("Show", { exact: true }).selectOption("done")
  expect(await shown()).toEqual(["Done.pdf"])
  await page.getByLabel("Show", { exact: true }).selectOption("")
  await page.getByLabel("Search by name").fill("ALPHA")
  expect(await shown()).toEqual(["Alphabet.pdf", "Alpha.pdf"])
  await page.getByLabel("Select all shown").check()
  await expectAccessible(page, "files selected")
  await page.getByLabel("Mode of Alpha.pdf").selectOption("highFidelity")
  const convert = page.getByRole("button", { name: "Convert 2 files (6 pages, 6 credits)" })
  await convert.press("Enter")
  const question = page.getByRole("dialog", { name: "Convert 2 files?" })
  await question.getByText("1 file standard, 1 file in high fidelity.").waitFor()
  const ordered = page.waitForRequest("**/api/v1/bulk")
  await page.getByRole("button", { name: "Convert for 6 credits" }).click()
  const { items } = (await ordered).postDataJSON() as { readonly items: ReadonlyArray<object> }
  expect(items).toEqual([
    { fileId: expect.any(String), options: { highFidelity: false } },
    { fileId: expect.any(String), options: { highFidelity: true } }
  ])
  await hears(page, "The conversion of 2 files has begun.")
  await page.getByLabel("Search by name").fill("nothing like it")
  await page.getByText("No file matches.").waitFor()
  await page.getByLabel("Search by name").fill("")
  expect(await page.locator("#chosen").isHidden()).toBe(true)

  await page.getByLabel("Select Beta.pdf").check()
  await page.getByLabel("Select Done.pdf").check()
  const download = page.waitForEvent("download")
  await page.getByRole("link", { name: "Download 1 result" }).click()
  expect((await download).suggestedFilename()).toBe("results.zip")
  await page.getByRole("button", { name: "Delete 2 files" }).click()
  await page
    .getByRole("dialog", { name: "Delete 2 files?" })
    .getByRole("button", { name: "Delete 2 files" })
    .click()
  await hears(page, "2 files deleted.")
  expect((await shown()).sort()).toEqual(["Alpha.pdf", "Alphabet.pdf"])
  expect(complaints).toEqual([])
  await page.context().close()
})

it("with the server away the page says so where it is seen, and a failed upload is tried again", async () => {
  const { page } = await signIn([])
  await page.goto(`${world.server.url}/dashboard`)
  await page.getByText("No files yet").waitFor()
  await listen(page)
  await page.context().setOffline(true)
  await page.setInputFiles("#files", { name: "Late.pdf", mimeType: "application/pdf", buffer: numbered(1) })
  const again = page.getByRole("button", { name: "Try again to upload Late.pdf" })
  await again.waitFor()
  await isWarned(page, "The server cannot be reached")
  await page.context().setOffline(false)
  await again.press("Enter")
  await hears(page, "Late.pdf is uploaded and ready to convert.")
  await page.context().setOffline(true)
  // The page asks again when it is looked at again.
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
  const notice = page.locator("#list-problem", { hasText: "What is shown here may be old" })
  await notice.waitFor()
  await page.evaluate("scrollTo(0, document.body.scrollHeight)")
  expect((await notice.boundingBox())!.y).toBeGreaterThanOrEqual(0)
  await page.context().close()
})

it("a conversion that stands still says what it waits for, until it goes on", async () => {
  const { customer, page } = await signIn([])
  const id: string = (await world.upload(customer, numbered(3), "Slow.pdf")).json.file.id
  await world.ask("POST", `/api/v1/files/${id}/convert`, customer)
  const reach = (done: number) =>
    world.run(
      WriteSql.use(
        (sql) => sql`update files set done = ${done}, phase = 'Converting: 0/1 chunks' where id = ${id}::uuid`
      )
    )
  await reach(1)
  await page.clock.install()
  await page.goto(`${world.server.url}/dashboard`)
  await page.getByText("Converting: 1 of 3 pages").waitFor()
  const still = page.getByText("No page was finished for a while.")
  expect(await still.isHidden()).toBe(true)
  await world.run(
    WriteSql.use(
      (sql) =>
        sql`update convert_queue set created_at = now() - interval '10 minutes' where file_id = ${id}::uuid`
    )
  )
  await page.clock.fastForward(16_000)
  await still.waitFor()
  await page.getByText("Nothing converts at the moment: it has waited for 10 minutes").waitFor()
  const { seconds, ...waitsFor } = (await world.ask("GET", `/api/v1/files/${id}`, customer)).json.file
    .waitsFor
  expect(waitsFor).toEqual({ cause: "worker", others: expect.any(Number), within: null })
  expect(seconds).toBeGreaterThanOrEqual(600)
  await reach(2)
  await page.getByText("Converting: 2 of 3 pages").waitFor()
  expect(await still.isHidden()).toBe(true)
  await page.context().close()
})

it("whom a result is shared with is listed and stopped; a refusal names what was written, not a field's path", async () => {
  const { page } = await signIn(["a.pdf"], 1)
  await page.goto(`${world.server.url}/dashboard`)
  await openMore(page, "a.pdf")
  await page.getByRole("button", { name: "Share the result of a.pdf" }).click()
  await page.getByLabel("Recipients").fill("ann@x.test, nobody at all")
  await page.getByRole("button", { name: "Share", exact: true }).click()
  const problem = page.locator("#share-problem", { hasText: "A recipient (nobody at all)" })
  await problem.waitFor()
  expect(await problem.textContent()).not.toContain("recipients.")
  await listen(page)
  await page.getByLabel("Recipients").fill("ann@x.test, bob@x.test")
  await page.getByRole("button", { name: "Share", exact: true }).click()
  await hears(page, "Shared with 2 people.")
  await openMore(page, "a.pdf")
  await page.getByRole("button", { name: "Share the result of a.pdf" }).click()
  await page.getByRole("listitem").filter({ hasText: "ann@x.test, until" }).waitFor()
  await expectAccessible(page, "whom it is shared with")
  await page.getByRole("button", { name: "Stop sharing with bob@x.test" }).press("Enter")
  await hears(page, "bob@x.test cannot open the result any more.")
  await expectFocus(page, "#share-recipients")
  expect(await page.locator("#share-list li").count()).toBe(1)
  await page.getByRole("button", { name: "Stop all links" }).click()
  await hears(page, "No link to the result works any more.")
  await page.context().close()
})

it("an answer that comes late is not shown in another file's dialog, nor does it close that one", async () => {
  const { ids, page } = await signIn(["a.pdf", "b.pdf"], 1)
  const late = Promise.withResolvers<undefined>()
  for (const path of ["share", "shares"])
    await page.route(`**/api/v1/files/${ids[0]}/${path}`, async (route) => {
      await late.promise
      await route.fulfill({
        json: path === "share" ? { recipients: 1, unsentRecipients: [] } : { shares: [SHARE] }
      })
    })
  await page.goto(`${world.server.url}/dashboard`)
  await listen(page)
  await openMore(page, "a.pdf")
  await page.getByRole("button", { name: "Share the result of a.pdf" }).click()
  await page.getByLabel("Recipients").fill("ann@x.test")
  await page.getByRole("button", { name: "Share", exact: true }).click()
  await page.keyboard.press("Escape")
  await openMore(page, "b.pdf")
  await page.getByRole("button", { name: "Share the result of b.pdf" }).click()
  await page.getByLabel("Recipients").fill("bob@x.test")
  late.resolve(undefined)
  await hears(page, "Shared with 1 person.")
  expect(await page.getByLabel("Recipients").isVisible()).toBe(true)
  expect(await page.getByLabel("Recipients").inputValue()).toBe("bob@x.test")
  expect(await page.getByText("ann@x.test, until").count()).toBe(0)
  await page.context().close()
})

it("a page of a proxy in place of the list is a problem in words, not a list that loads for good", async () => {
  const { complaints, page } = await signIn([])
  await page.route("**/api/files", (route) =>
    route.fulfill({ contentType: "text/html", body: "<!doctype html><title>Log in</title>" })
  )
  await page.goto(`${world.server.url}/dashboard`)
  await page.locator("#list-problem", { hasText: "What was answered is not the server’s." }).waitFor()
  expect(await page.getByText("Loading your files…").isVisible()).toBe(false)
  expect(complaints).toEqual([])
  await page.context().close()
})
