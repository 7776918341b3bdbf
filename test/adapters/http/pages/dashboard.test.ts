import { Duration, Effect, Layer } from "effect"
import type { Browser, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, expect, it } from "vitest"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { ConvertByEmail } from "../../../../src/application/inbound/convert-by-email.ts"
import { ConversionStore } from "../../../../src/ports/conversion/conversion-store.ts"
import { type IncomingMailRow, IncomingMails } from "../../../../src/ports/inbound/incoming-mails.ts"
import { ReplyChannel } from "../../../../src/ports/inbound/mails.ts"
import { MailObjects } from "../../../../src/ports/object-store.ts"
import { anyId } from "../../../support/any-id.ts"
import { numbered } from "../../../support/files/pdf-samples.ts"
import { findings } from "../../../support/processes/axe.ts"
import { closePages, workersBrowser } from "../../../support/processes/browser.ts"
import { sent } from "../harness.ts"
import { type FilesWorld, startFiles } from "../routes/conversion/files-world.ts"
import {
  expectAccessible,
  expectFocus,
  focused,
  hears,
  isWarned,
  listen,
  openMore,
  openPage,
  tabTo
} from "./browse.ts"

const HOSTILE = `<img src=x onerror=alert(1)>"'&amp;.pdf`

/** Mails to the convert address, by their customer. */
const mailed = new Map<string, ReadonlyArray<IncomingMailRow>>()
const mailing = {
  incomingMails: Layer.mock(IncomingMails, {
    ofCustomer: (customerId) => Effect.sync(() => mailed.get(customerId) ?? [])
  }),
  convertByEmail: Layer.mergeAll(
    Layer.mock(ConvertByEmail, {
      keptResults: (customerId) =>
        Effect.sync(() =>
          (mailed.get(customerId) ?? [])
            .filter(({ outcome }) => outcome === "success")
            .map(({ id }) => ({
              id: anyId(id),
              name: "a.pdf",
              pages: 2,
              unreadablePages: [],
              hasText: true,
              creditsCharged: 2,
              convertedAt: "2026-11-20T10:11:12.000Z",
              reply: "failed" as const,
              expiresAt: Date.parse("2026-11-27T10:11:12.000Z"),
              url: "https://p.test/convert-email/results/good"
            }))
        )
    }),
    Layer.mock(MailObjects, {}),
    Layer.mock(ReplyChannel, { name: "library", maxAttachmentBytes: 0, sendsWithin: Duration.seconds(1) })
  )
}

let world: FilesWorld
let browser: Browser
beforeAll(async () => {
  const [files, opened] = await Promise.all([startFiles(1, undefined, mailing), workersBrowser()])
  world = files
  browser = opened
})
afterEach(() => closePages(browser))
afterAll(async () => {
  await closePages(browser)
  await world.stop()
})

/** Signs a new customer in, by keyboard. */
const signIn = async (credits?: number) => {
  const customer = await world.customer(credits)
  const opened = await openPage(browser, world.server.url)
  await opened.page.goto(`${world.server.url}/`)
  await tabTo(opened.page, "#token")
  await opened.page.keyboard.type(customer)
  await opened.page.keyboard.press("Enter")
  await opened.page.waitForURL("**/dashboard")
  await opened.page.getByText("No files yet").waitFor()
  await listen(opened.page)
  return { ...opened, customer }
}

/** Chooses a file by keyboard. */
const upload = async (page: Page, name: string, pages = 2) => {
  const chooser = page.waitForEvent("filechooser")
  await page.locator("#files").focus()
  await page.keyboard.press("Enter")
  await (await chooser).setFiles({ name, mimeType: "application/pdf", buffer: numbered(pages) })
  await page.getByRole("heading", { name, exact: true }).waitFor()
}

it("what an owner mailed to the convert address stands below their documents, with the results that no mail brought", async () => {
  const { complaints, customer, page } = await signIn()
  expect(await page.locator("#mailed").isHidden()).toBe(true)
  const at = "2026-11-20T10:11:12.000000Z"
  const mail: IncomingMailRow = {
    id: "0199a000-0000-7000-8000-000000000001",
    createdAt: at,
    sender: "ann@x.test",
    envelopeFrom: "ann@x.test",
    subject: HOSTILE,
    rawBytes: 1,
    step: "ended",
    outcome: "success",
    reason: null,
    customerId: customer,
    filename: HOSTILE,
    fileBytes: 1,
    pages: 2,
    creditsCharged: 2,
    attempts: 1,
    failingPart: null,
    failingSince: null,
    notBefore: at,
    endedAt: at,
    replies: []
  }
  mailed.set(customer, [
    mail,
    {
      ...mail,
      id: "0199a000-0000-7000-8000-000000000002",
      outcome: "no_attachment",
      filename: null,
      subject: "Hello"
    },
    {
      ...mail,
      id: "0199a000-0000-7000-8000-000000000003",
      outcome: null,
      step: "converting",
      filename: "b.pdf"
    }
  ])
  await page.reload()
  await page.getByRole("heading", { name: "Documents that you mailed" }).waitFor()
  const rows = page.locator("#mails > li")
  expect(await rows.count()).toBe(3)
  expect(await rows.nth(0).innerText()).toContain("2 pages, 2 credits")
  expect(await rows.nth(1).innerText()).toContain("It had no attachment")
  expect(await rows.nth(2).innerText()).toContain("Being converted")
  expect(await page.locator("main img").count()).toBe(0)
  await tabTo(page, `Open result of ${HOSTILE}`)
  expect(await page.getByRole("link", { name: `Open result of ${HOSTILE}` }).getAttribute("href")).toBe(
    "https://p.test/convert-email/results/good"
  )
  await expectAccessible(page, "mailed documents")
  await page.setViewportSize({ width: 320, height: 640 })
  await expectAccessible(page, "mailed documents at 320 px")
  expect(complaints).toEqual([])
})

it("HTTP-16: a press whose answer was lost is pressed again under its key, and the conversion is begun once", async () => {
  const { customer, page } = await signIn(10)
  await upload(page, "Lost.pdf")
  const keys: Array<string | undefined> = []
  await page.route("**/convert", async (route) => {
    keys.push(route.request().headers()["idempotency-key"])
    const response = await route.fetch()
    await (keys.length === 1 ? route.abort() : route.fulfill({ response }))
  })
  const convert = page.getByRole("button", { name: "Convert Lost.pdf" })
  await convert.click()
  await page.getByText("The server cannot be reached").first().waitFor()
  await world.run(
    ConversionStore.use((store) => Effect.flatMap(store.nextQueued, (queued) => store.cancel(queued!.jobId)))
  )
  await convert.click()
  await page.getByText("The conversion has begun.").first().waitFor()
  expect(keys).toEqual([expect.stringMatching(/^[\da-f]{32}$/), keys[0]])
  const held = await world.run(
    WriteSql.use((sql) => sql`select from funds_holds where customer_id = ${customer}::uuid`)
  )
  expect(held).toHaveLength(1)
  await page.close()
})

it("by keyboard alone: upload, convert, cancel with the focus on Convert, convert, open the result", async () => {
  const { complaints, page } = await signIn()
  await expectAccessible(page, "no files")
  await upload(page, "Report.pdf")
  await hears(page, "Report.pdf is uploaded and ready to convert.")
  await expectAccessible(page, "a file to convert")

  await tabTo(page, "Convert Report.pdf")
  await page.keyboard.press("Enter")
  await page.getByText("Queued", { exact: true }).waitFor()
  await hears(page, "The conversion has begun.")
  await world.execute()
  await expectAccessible(page, "a conversion under way")

  await tabTo(page, "Cancel the conversion of Report.pdf")
  await page.keyboard.press("Enter")
  const dialog = page.getByRole("dialog", { name: "Cancel the conversion of Report.pdf?" })
  await dialog.waitFor()
  expect(await focused(page)).toBe("Keep converting")
  await expectAccessible(page, "the question")
  await page.keyboard.press("Escape")
  await dialog.waitFor({ state: "hidden" })
  expect(await focused(page)).toBe("Cancel the conversion of Report.pdf")
  await page.getByText("Queued", { exact: true }).waitFor()

  await page.keyboard.press("Enter")
  await tabTo(page, "Cancel conversion")
  await page.keyboard.press("Enter")
  await page.getByText("Cancelled", { exact: true }).waitFor()
  await page.getByText("Nothing was charged.", { exact: true }).waitFor()
  await expectFocus(page, "Convert Report.pdf")
  await hears(page, "The conversion is cancelled. Nothing was charged.")

  await page.keyboard.press("Enter")
  await page.getByText("Queued", { exact: true }).waitFor()
  await world.work()
  await page.getByText("Converted", { exact: true }).waitFor()
  await hears(page, "Report.pdf is converted.")
  await expectAccessible(page, "a result")
  await expectFocus(page, "Open result of Report.pdf")
  await page.keyboard.press("Enter")
  await page.waitForURL("**/result")
  expect(await page.locator("body").innerText()).toContain("Page")
  await page.goBack()
  await page.getByText("Converted", { exact: true }).waitFor()
  expect(complaints).toEqual([])
})

it("what is left on the account: credits less the holds of running work, after each action and each end; free pages", async () => {
  const { complaints, customer, page } = await signIn(97_412)
  const shown = (text: string) => page.locator("#funds", { hasText: text }).waitFor()
  await shown("97,412 credits · Get more")
  expect(await page.getByRole("link", { name: "Get more", exact: true }).getAttribute("href")).toBe(
    "/credits"
  )
  await upload(page, "Funds.pdf")
  await page.getByRole("button", { name: "Convert Funds.pdf" }).press("Enter")
  await shown("97,410 credits, 2 set aside for work under way")
  await expectAccessible(page, "credits set aside")
  await page.getByRole("button", { name: "Cancel the conversion of Funds.pdf" }).press("Enter")
  await page.getByRole("button", { name: "Cancel conversion" }).press("Enter")
  await shown("97,412 credits · Get more")
  await page.getByRole("button", { name: "Convert Funds.pdf" }).press("Enter")
  await shown("2 set aside")
  await world.work()
  await shown("97,410 credits · Get more")

  await world.run(
    WriteSql.use(
      (sql) =>
        sql`update customers set plan_type = 'free', lifetime_free_pages_used = 3 where id = ${customer}::uuid`
    )
  )
  await page.reload()
  await shown("7 of 10 free pages left · Get more")
  await expectAccessible(page, "free pages")

  await page.route("**/api/v1/account", (route) =>
    route.fulfill({ status: 503, contentType: "application/problem+json", body: "{}" })
  )
  await page.reload()
  await page.getByText("Converted", { exact: true }).waitFor()
  expect(await page.locator("#funds").isVisible()).toBe(false)
  expect(complaints).toEqual([])
})

it("a parked conversion waits for the batch, and is processed now; a failed one says why; what was deleted is gone", async () => {
  const { complaints, customer, page } = await signIn()
  await upload(page, "Parked.pdf")
  await page.getByLabel("Mode of Parked.pdf").selectOption("highFidelity")
  await page.getByRole("button", { name: "Convert Parked.pdf" }).click()
  await page.getByText("Queued", { exact: true }).waitFor()
  await world.execute({ on: true, minPages: 1, minRecords: 1 })
  await page.getByText("Waiting for batch", { exact: true }).waitFor()
  await hears(page, "Parked.pdf waits for the batch.")
  await expectAccessible(page, "waiting for the batch")
  await tabTo(page, "Process now Parked.pdf")
  await page.keyboard.press("Enter")
  await page.getByText("Queued", { exact: true }).waitFor()
  await expectFocus(page, "Cancel the conversion of Parked.pdf")
  const { json } = await world.ask("GET", "/api/files", customer)
  expect(json.files).toMatchObject([{ status: "chunked_processing", batchWaiting: false }])
  await world.run(
    WriteSql.use(
      (sql) =>
        sql`update files set status = 'failed', error = '<b>No page</b> can be read' where id = ${json.files[0].id}::uuid`
    )
  )
  await page.getByText("<b>No page</b> can be read", { exact: true }).waitFor()
  await expectFocus(page, "Convert Parked.pdf")

  await upload(page, "Other.pdf")
  await openMore(page, "Other.pdf")
  await page.getByRole("button", { name: "Delete Other.pdf" }).press("Enter")
  await page
    .getByRole("dialog", { name: "Delete Other.pdf?" })
    .getByRole("button", { name: "Delete" })
    .press("Enter")
  await page.getByRole("heading", { name: "Other.pdf" }).waitFor({ state: "detached" })
  await expectFocus(page, "Parked.pdf")
  expect(complaints).toEqual([])
})

it("a layout is kept, opened, and given up once for flowing text, free of charge", async () => {
  const { complaints, page } = await signIn()
  await upload(page, "Flyer.pdf")
  await page.getByLabel("Mode of Flyer.pdf").selectOption("layout")
  await page.getByRole("button", { name: "Convert Flyer.pdf" }).press("Enter")
  await page.getByText("The result that keeps the layout is being made…").waitFor()
  await world.run(
    WriteSql.use(
      (sql) => sql`update flyer_jobs set status = 'completed', result_key = 'none' where status = 'pending'`
    )
  )
  await hears(page, "The result of Flyer.pdf that keeps the layout is ready.")
  const link = page.getByRole("link", { name: "Open layout-true result of Flyer.pdf" })
  expect(await link.getAttribute("href")).toMatch(/^\/api\/v1\/flyer-jobs\/[\da-f-]{36}\/result$/)
  await page.getByText("Layout kept", { exact: true }).waitFor()
  await openMore(page, "Flyer.pdf")
  await expectAccessible(page, "a result that keeps the layout, and what else can be done")
  await page.getByRole("button", { name: "Reflow instead (Flyer.pdf)" }).press("Enter")
  await page.getByText("Queued", { exact: true }).waitFor()
  await page.reload()
  await page.getByText("Queued", { exact: true }).waitFor()
  await openMore(page, "Flyer.pdf")
  await link.waitFor()
  expect(await page.getByRole("button", { name: "Reflow instead" }).count()).toBe(0)
  expect(complaints).toEqual([])
})

it("R1: converting again is asked for by its price; the earlier result is offered meanwhile, and after a cancel", async () => {
  const { complaints, customer, page } = await signIn()
  await upload(page, "Paid.pdf")
  await page.getByRole("button", { name: "Convert Paid.pdf" }).press("Enter")
  await page.getByText("Queued", { exact: true }).waitFor()
  await world.work()
  const again = page.getByRole("button", { name: "Convert again Paid.pdf" })
  const open = page.getByRole("link", { name: "Open result of Paid.pdf" })
  const question = page.getByRole("dialog", { name: "Convert Paid.pdf again?" })
  await openMore(page, "Paid.pdf")
  await again.press("Enter")
  await question
    .getByText(
      "It costs 2 credits again, charged when the new result is there. The result that you have stays until then, and is replaced by the new one."
    )
    .waitFor()
  expect(await focused(page)).toBe("Keep what is there")
  await expectAccessible(page, "the price of converting again")
  await page.keyboard.press("Escape")
  const files = async () => (await world.ask("GET", "/api/files", customer)).json.files
  expect(await files()).toMatchObject([{ status: "completed", price: 2, hasResult: true }])

  expect(await focused(page)).toBe("…More for Paid.pdf")
  await openMore(page, "Paid.pdf")
  await again.press("Enter")
  await question.getByRole("button", { name: "Convert for 2 credits" }).press("Enter")
  await page.getByText("Queued", { exact: true }).waitFor()
  await openMore(page, "Paid.pdf")
  await open.waitFor()
  await expectAccessible(page, "a result while a new one is made")
  await page.getByRole("button", { name: "Cancel the conversion of Paid.pdf" }).press("Enter")
  await page.getByRole("button", { name: "Cancel conversion" }).press("Enter")
  await page.getByText("Nothing was charged. The result from before is still there.").waitFor()
  await expectFocus(page, "…More for Paid.pdf")
  expect(await files()).toMatchObject([{ status: "uploaded", hasResult: true }])
  await openMore(page, "Paid.pdf")
  await page.getByRole("button", { name: "Share the result of Paid.pdf" }).waitFor()
  await open.press("Enter")
  await page.waitForURL("**/result")
  expect(await page.locator("body").innerText()).toContain("Page")
  expect(complaints).toEqual([])
})

it("R1: a layout-true result that is there is offered while another is made, which is asked for by its price", async () => {
  const { complaints, customer, page } = await signIn()
  await upload(page, "Twice.pdf")
  await page.getByLabel("Mode of Twice.pdf").selectOption("layout")
  const convert = page.getByRole("button", { name: "Convert Twice.pdf" })
  await convert.press("Enter")
  await page.getByText("The result that keeps the layout is being made…").waitFor()
  await world.run(
    WriteSql.use(
      (sql) => sql`update flyer_jobs set status = 'completed', result_key = 'none' where status = 'pending'`
    )
  )
  const link = page.getByRole("link", { name: "Open layout-true result of Twice.pdf" })
  await link.waitFor()
  const first = await link.getAttribute("href")
  await openMore(page, "Twice.pdf")
  await page.getByRole("button", { name: "Keep the layout Twice.pdf" }).press("Enter")
  const question = page.getByRole("dialog", { name: "Keep the layout of Twice.pdf again?" })
  await question.getByText("It costs 2 credits again").waitFor()
  await question.getByRole("button", { name: "Convert for 2 credits" }).press("Enter")
  await page.getByText("The result that keeps the layout is being made…").waitFor()
  expect(await link.getAttribute("href")).toBe(first)
  await page.getByRole("button", { name: "Cancel keeping the layout of Twice.pdf" }).press("Enter")
  await page.getByRole("button", { name: "Cancel conversion" }).press("Enter")
  await page.getByText("Keeping the layout was cancelled.").waitFor()
  expect(await link.getAttribute("href")).toBe(first)
  expect((await world.ask("GET", "/api/files", customer)).json.files).toHaveLength(1)
  expect(complaints).toEqual([])
})

it("keeping a layout is cancelled after it was confirmed, and the file can be converted again", async () => {
  const { complaints, customer, page } = await signIn()
  await upload(page, "Poster.pdf")
  await page.getByLabel("Mode of Poster.pdf").selectOption("layout")
  await page.getByRole("button", { name: "Convert Poster.pdf" }).press("Enter")
  const cancel = page.getByRole("button", { name: "Cancel keeping the layout of Poster.pdf" })
  await cancel.waitFor()
  await expectAccessible(page, "keeping the layout")
  const dialog = page.getByRole("dialog", { name: "Cancel keeping the layout of Poster.pdf?" })
  await cancel.press("Enter")
  await dialog.getByRole("button", { name: "Keep converting" }).press("Enter")
  await expectFocus(page, "Cancel keeping the layout of Poster.pdf")
  await cancel.press("Enter")
  await dialog.waitFor()
  // Asked again in the moment before the browser tells that the dialog was closed: that no is not the answer to this.
  await page.evaluate(`{
      const again = [...document.querySelectorAll("#rows button")].find((one) => one.textContent.includes("keeping the layout"))
      document.getElementById("confirm-no").click()
      again.click()
    }`)
  // The answer to a request made before the cancellation is out of date: it is dropped.
  const looking = Promise.withResolvers<void>()
  const late = Promise.withResolvers<void>()
  await page.route(
    "**/flyer-jobs",
    async (route) => {
      const response = await route.fetch()
      looking.resolve()
      await late.promise
      await route.fulfill({ response })
    },
    { times: 1 }
  )
  await looking.promise
  await dialog.getByRole("button", { name: "Cancel conversion" }).press("Enter")
  await hears(page, "Poster.pdf: The conversion is cancelled. Nothing was charged.")
  const stopped = page.getByText("Keeping the layout was cancelled. Nothing was charged.")
  await stopped.waitFor()
  const arrived = page.waitForResponse("**/flyer-jobs")
  late.resolve()
  await (await arrived).finished()
  // Twice a frame: the page has handled the answer and drawn what it made of it.
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
  expect(await stopped.isVisible()).toBe(true)
  // Who stopped it is not warned of it.
  expect(await page.locator("#urgent").textContent()).toBe("")
  await expectFocus(page, "Convert Poster.pdf")
  await page.getByLabel("Mode of Poster.pdf").selectOption("standard")
  await page.getByRole("button", { name: "Convert Poster.pdf" }).press("Enter")
  await page.getByText("Queued", { exact: true }).waitFor()
  expect((await world.ask("GET", "/api/files", customer)).json.files).toMatchObject([
    { status: "chunked_processing" }
  ])
  expect(complaints).toEqual([])
})

it("a row has one main action and 56 px; the rest is behind “…”: arrows go through it, Escape and a press elsewhere close it", async () => {
  const { complaints, page } = await signIn()
  await upload(page, "Plain.pdf")
  expect((await page.locator("#rows > li").boundingBox())!.height).toBeLessThanOrEqual(57)
  const isOpen = () => page.evaluate<boolean>("document.querySelector('#rows details.more').open")
  await openMore(page, "Plain.pdf")
  expect(await isOpen()).toBe(true)
  await page.keyboard.press("ArrowDown")
  expect(await focused(page)).toBe("Details of Plain.pdf")
  await page.keyboard.press("ArrowUp")
  expect(await focused(page)).toBe("Delete Plain.pdf")
  await page.keyboard.press("Escape")
  expect(await isOpen()).toBe(false)
  expect(await focused(page)).toBe("…More for Plain.pdf")
  await page.keyboard.press("ArrowDown")
  await page.locator("h1").click()
  expect(await isOpen()).toBe(false)
  expect(complaints).toEqual([])
})

it("several uploads are stopped at once", async () => {
  const { page } = await signIn()
  const held = Promise.withResolvers<void>()
  await page.route("**/api/v1/files?name=*", async (route) => {
    await held.promise
    await route.abort()
  })
  const file = (name: string) => ({ name, mimeType: "application/pdf", buffer: numbered(1) })
  await page.setInputFiles("#files", [file("One.pdf"), file("Two.pdf"), file("Three.pdf")])
  await page.getByText("3 uploads left").waitFor()
  await page.getByRole("button", { name: "Stop all" }).press("Enter")
  await expect.poll(() => page.locator("#uploads li").count()).toBe(0)
  held.resolve()
  await expectFocus(page, "#files")
})

it("without streams the list is asked instead", async () => {
  const { page } = await signIn()
  const refused: Array<string> = []
  await page.route("**/stream", async (route) => {
    refused.push(route.request().url())
    await route.fulfill({ status: 503, contentType: "application/problem+json", body: "{}" })
  })
  await upload(page, "Polled.pdf")
  await page.getByRole("button", { name: "Convert Polled.pdf" }).click()
  await expect.poll(() => refused.length).toBeGreaterThan(0)
  await world.work()
  await page.getByText("Converted", { exact: true }).waitFor()
})

it("names are text, refusals show what to do next, and an ended session leads to the sign-in", async () => {
  const { complaints, page } = await signIn(0)
  await upload(page, HOSTILE)
  expect(await page.locator("#rows img").count()).toBe(0)
  await page.getByRole("button", { name: `Convert ${HOSTILE}` }).click()
  await page.locator("#rows .problem", { hasText: "There are not enough credits." }).waitFor()
  await isWarned(page, "There are not enough credits")
  await openMore(page, HOSTILE)
  await page.getByRole("button", { name: `Delete ${HOSTILE}` }).click()
  await page.getByRole("dialog", { name: `Delete ${HOSTILE}?` }).waitFor()
  await page.keyboard.press("Escape")

  await page.setInputFiles("#files", {
    name: "notes.txt",
    mimeType: "text/plain",
    buffer: Buffer.from("words")
  })
  await page.locator("#uploads .problem", { hasText: "Save it as PDF or DOCX" }).waitFor()
  await expectAccessible(page, "refusals")
  await page.getByRole("button", { name: "Dismiss" }).press("Enter")
  expect(await page.locator("#uploads li").count()).toBe(0)

  await page.context().clearCookies()
  await page.getByRole("button", { name: `Convert ${HOSTILE}` }).click()
  await page.waitForURL("**/sign-in?reason=ended")
  await expectAccessible(page, "the sign-in")
  expect(complaints).toEqual([])
})

it("a result is shared, with the recipients it reached and missed; signing out ends it", async () => {
  const { complaints, customer, page } = await signIn()
  const { json } = await world.upload(customer, numbered(1), "Shared.pdf")
  await world.ask("POST", `/api/v1/files/${json.file.id}/convert`, customer)
  await world.work()
  await page.reload()
  await openMore(page, "Shared.pdf")
  await page.getByRole("button", { name: "Share the result of Shared.pdf" }).press("Enter")
  await page.getByRole("dialog", { name: "Share the result of Shared.pdf" }).waitFor()
  expect(await focused(page)).toBe("#share-recipients")
  await expectAccessible(page, "sharing")
  world.post.send = (request) =>
    Effect.succeed(
      request.to === "bad@x.test"
        ? { ...sent, ok: false, status: "failed", error: "no", kind: "rejected", providerMessageId: null }
        : sent
    )
  await page.keyboard.type("Bob <bob@x.test>\nbad@x.test, cy@x.test")
  await tabTo(page, "Share")
  await page.keyboard.press("Enter")
  await page.getByText("Shared with 2 people. Not sent to: bad@x.test.").first().waitFor()
  await expectFocus(page, "…More for Shared.pdf")
  await page.getByRole("button", { name: "Sign out" }).press("Enter")
  await page.getByRole("heading", { name: "You are signed out" }).waitFor()
  expect(complaints).toEqual([])
})

it("the checks can fail", async () => {
  const { page } = await openPage(browser, world.server.url)
  await page.goto(`${world.server.url}/sign-in`)
  await page.evaluate(`{
      document.documentElement.lang = ""
      document.getElementById("token").removeAttribute("id")
      document.querySelector("h1").style.cssText = "width: 40rem; color: #ddd"
    }`)
  const { violations } = await findings(page)
  expect(violations.join()).toMatch(/color-contrast[\s\S]*html-has-lang[\s\S]*label/)
  await expect(expectAccessible(page, "spoilt")).rejects.toThrow("spoilt")
})
