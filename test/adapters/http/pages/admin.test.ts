import { Effect, Layer } from "effect"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest"

import { AlertPlaces } from "../../../../src/application/delivery/alert-places.ts"
import type { Answered } from "../../../../src/application/delivery/alert-ways.ts"
import { SenderDomain } from "../../../../src/application/doctor/sender-domain.ts"
import type { EmailLogRow } from "../../../../src/domain/delivery/email-log-row.ts"
import type { CheckedRecord, SenderDomainReport } from "../../../../src/domain/doctor/sender-domain.ts"
import {
  type ContactMessageFilter,
  type ContactMessageRow,
  ContactMessages
} from "../../../../src/ports/accounts/accounts.ts"
import {
  AuditLog,
  type AuditLogFilter,
  type AuditLogRow,
  AuditNotes
} from "../../../../src/ports/accounts/audit-log.ts"
import { type DocumentReport, JobReport, type JobRow } from "../../../../src/ports/conversion/job-report.ts"
import { AlertPreferences, DEFAULT_PREFERENCES } from "../../../../src/ports/delivery/alert-channels.ts"
import { type EmailLogFilter, EmailStats } from "../../../../src/ports/delivery/email-log-query.ts"
import {
  type IncomingMailFilter,
  type IncomingMailRow,
  IncomingMails
} from "../../../../src/ports/inbound/incoming-mails.ts"
import { SuppressionList, type SuppressionRow } from "../../../../src/ports/mail/suppression-list.ts"
import { anyId } from "../../../support/any-id.ts"
import { closePages, workersBrowser } from "../../../support/processes/browser.ts"
import { ADMIN_TOKEN, startServer, type TestServer } from "../harness.ts"
import { expectAccessible, expectFocus, focused, hears, listen, openPage, tabTo } from "./browse.ts"

const HOSTILE = `<img src=x onerror=alert(1)>"'&amp;`
const AT = "2026-11-20T10:11:12.000000Z"

const mailOf = (index: number): EmailLogRow => ({
  id: `0199a000-0000-7000-8000-00000000000${index}`,
  created_at: AT,
  updated_at: AT,
  category: "transactional",
  source: HOSTILE,
  from_address: HOSTILE,
  to_addresses: [`you${index}@x.test`, "x".repeat(300)],
  other_addresses: [],
  dropped_addresses: ["left-out@x.test"],
  subject: `${index} ${HOSTILE} ${"unbroken".repeat(60)}`,
  outcome: "sent",
  status: "bounced",
  last_event: "bounced",
  last_event_at: AT,
  error: HOSTILE,
  error_kind: null,
  failed_over: true,
  cost_usd: 0.0004,
  idempotency_key: HOSTILE,
  provider: "provider_a",
  provider_message_id: "m-1",
  alerted_at: AT,
  raw: { html: HOSTILE, long: "x".repeat(500) }
})

const deedOf = (target: string): AuditLogRow => ({
  id: "0199a000-0000-7000-8000-000000000001",
  action: "email_unsuppress",
  actor: HOSTILE,
  target,
  note: HOSTILE,
  details: { reasons: ["manual", HOSTILE, "x".repeat(300)] },
  created_at: AT
})

const messageOf = (changes: Partial<ContactMessageRow>): ContactMessageRow => ({
  id: "0199a000-0000-7000-8000-000000000001",
  kind: "contact",
  name: HOSTILE,
  email: "ann@x.test",
  message: HOSTILE,
  rating: null,
  page: null,
  spam: false,
  notified_at: null,
  notify_after: AT,
  notify_attempts: 2,
  notify_error: HOSTILE,
  created_at: AT,
  ...changes
})

const incomingOf = (changes: Partial<IncomingMailRow>): IncomingMailRow => ({
  id: "0199a000-0000-7000-8000-000000000007",
  createdAt: AT,
  sender: "ann@x.test",
  envelopeFrom: HOSTILE,
  subject: `${HOSTILE} ${"unbroken".repeat(40)}`,
  rawBytes: 1_000,
  step: "converting",
  outcome: null,
  reason: null,
  customerId: null,
  filename: `${HOSTILE}.pdf`,
  fileBytes: 900,
  pages: 3,
  creditsCharged: 0,
  attempts: 2,
  failingPart: "objects",
  failingSince: AT,
  notBefore: AT,
  endedAt: null,
  replies: [],
  ...changes
})

const jobOf = (status: JobRow["status"]): JobRow => ({
  id: anyId("0199a000-0000-7000-8000-000000000001"),
  fileId: anyId("0199a000-0000-7000-8000-000000000002"),
  fileName: `${HOSTILE}.pdf`,
  customerEmail: "ann@x.test",
  customerId: anyId("0199a000-0000-7000-8000-000000000003"),
  bulkId: null,
  status,
  options: { highFidelity: true },
  totalPages: 1200,
  totalChunks: 60,
  doneChunks: 12,
  totalCostUsd: 1.5,
  error: HOSTILE,
  createdAt: AT,
  finishedAt: null,
  batch: {
    state: "closed",
    outcome: "skipped",
    reason: "Cancelled by user",
    arn: null,
    endState: null,
    records: 1200,
    accepted: 1100,
    fallback: 100,
    inputBytes: 5,
    costUsd: 0.5,
    attempts: 1,
    submittedAt: AT,
    closedAt: AT
  }
})

const documentOf = (job: JobRow): DocumentReport => ({
  id: job.fileId,
  name: `${HOSTILE}.pdf`,
  kind: "pdf",
  sizeBytes: 1_234_567,
  pages: 1200,
  status: "failed",
  error: HOSTILE,
  customerId: job.customerId!,
  customerEmail: "ann@x.test",
  createdAt: AT,
  deletedAt: null,
  hasResult: true,
  unreadablePages: Array.from({ length: 40 }, (_, at) => at + 1),
  shares: 3,
  jobs: [job],
  chunks: [{ firstPage: 21, lastPage: 40, status: "failed", attempts: 3, error: HOSTILE }]
})

const recordOf = (changes: Partial<CheckedRecord>): CheckedRecord => ({
  of: "both",
  type: "TXT",
  name: "_dmarc.mail.test",
  value: "v=DMARC1; p=none",
  purpose: "dmarc",
  state: "published",
  found: undefined,
  ...changes
})

let report: SenderDomainReport = {
  domain: "mail.test",
  at: Date.parse(AT),
  records: [
    recordOf({}),
    recordOf({
      of: "provider_b",
      type: "MX",
      priority: 10,
      name: "m.mail.test",
      value: "mx.test",
      state: "missing"
    }),
    recordOf({
      of: "provider_a",
      purpose: "dkim",
      name: "x".repeat(200),
      value: HOSTILE,
      state: "different",
      found: HOSTILE
    }),
    recordOf({ purpose: "spf", name: "s.mail.test", value: "v=spf1 -all", state: "missing" })
  ],
  advice: [{ check: "dns", status: "fail", what: HOSTILE, why: HOSTILE, do: HOSTILE }],
  notes: [`provider_a: ${HOSTILE}`]
}
const looks: Array<boolean> = []
let takes: Answered = { answer: "took" }
let suppressed: Array<SuppressionRow> = []
let preferences = DEFAULT_PREFERENCES
let dead = [HOSTILE]
let acts: Array<string> = []
const asked: {
  mails?: EmailLogFilter
  actions?: AuditLogFilter
  messages?: ContactMessageFilter
  incoming?: IncomingMailFilter
  status?: string | undefined
} = {}

let server: TestServer
let browser: Browser
beforeAll(async () => {
  server = await startServer({
    jobs: Layer.succeed(JobReport, {
      jobCounts: Effect.succeed([{ status: "cancelled" as const, jobs: 1234 }]),
      others: ({ cursor }) =>
        Effect.succeed({
          rows: [
            {
              id: "w",
              kind: cursor === undefined ? ("docx" as const) : ("layout" as const),
              fileId: jobOf("failed").fileId,
              fileName: cursor === undefined ? "letter.docx" : "flyer.pdf",
              customerEmail: "ann@x.test",
              status: "failed" as const,
              pages: 1,
              attempts: 3,
              error: HOSTILE,
              movedAt: "2026-11-20T10:00:00.000Z"
            }
          ],
          nextCursor: cursor === undefined ? "next" : null
        }),
      jobOf: () => Effect.succeed(undefined),
      document: (fileId) =>
        Effect.succeed(fileId === jobOf("failed").fileId ? documentOf(jobOf("failed")) : undefined),
      jobs: ({ status }) =>
        Effect.sync(() => {
          asked.status = status
          return { rows: status === "completed" ? [] : [jobOf(status ?? "waiting_batch")], nextCursor: null }
        }),
      costs: (days) =>
        Effect.succeed({
          days,
          from: "2026-11-01",
          totalUsd: 12.5,
          sources: [{ source: HOSTILE, entries: 3, inputTokens: 1e6, outputTokens: 1e5, costUsd: 12.5 }],
          batch: {
            jobs: 1,
            accepted: 1100,
            served: 1000,
            fallback: 100,
            costUsd: 0.5,
            onDemandUsd: 1,
            savedUsd: 0.5
          }
        })
    }),
    page: (filter) =>
      Effect.sync(() => {
        asked.mails = filter
        if (filter.subject === "seldom")
          return { rows: [], nextCursor: "next-2", stoppedAfter: 50_000, stoppedAt: AT }
        return filter.cursor === undefined
          ? { rows: [mailOf(1)], nextCursor: "next-1" }
          : { rows: [mailOf(2)], nextCursor: null }
      }),
    count: ({ subject }, most) =>
      Effect.succeed(subject === "seldom" ? { count: 0, stoppedAfter: 50_000 } : { count: most }),
    counts: ({ subject }, most) =>
      Effect.succeed(
        subject === "seldom"
          ? { counts: new Map([["bounced", 7] as const]), stoppedAfter: 50_000 }
          : { counts: new Map([["bounced", most] as const]) }
      ),
    audit: Layer.succeed(AuditLog, {
      page: (filter) =>
        Effect.sync(() => {
          asked.actions = filter
          if (filter.action === "nothing") return { rows: [], nextCursor: null }
          return filter.cursor === undefined
            ? { rows: [deedOf("ann@x.test")], nextCursor: "next-1" }
            : { rows: [{ ...deedOf("bob@x.test"), note: null, details: {} }], nextCursor: null }
        })
    }),
    messages: Layer.mock(ContactMessages, {
      page: (filter) =>
        Effect.sync(() => {
          asked.messages = filter
          if (filter.state === "spam") return { rows: [], nextCursor: null }
          const rows = [
            messageOf({}),
            messageOf({ kind: "feedback", email: null, name: null, rating: 2, page: "/x", notified_at: AT })
          ]
          return { rows, nextCursor: null }
        })
    }),
    notes: Layer.succeed(AuditNotes, {
      add: ({ action, target }) => Effect.sync(() => void acts.push(`${action} ${target}`))
    }),
    incomingMails: Layer.succeed(IncomingMails, {
      page: (filter) =>
        Effect.sync(() => {
          asked.incoming = filter
          if (filter.outcome === "limited") return { rows: [], nextCursor: null }
          const reply = {
            kind: "success",
            recipient: "ann@x.test",
            status: "failed",
            attempts: 3,
            asLink: true,
            error: HOSTILE,
            createdAt: AT,
            endedAt: AT
          } as const
          return {
            rows: [
              incomingOf({}),
              incomingOf({
                step: "ended",
                outcome: "success",
                subject: "Report",
                failingPart: null,
                replies: [reply]
              }),
              incomingOf({
                step: "ended",
                outcome: "unverified",
                sender: null,
                subject: null,
                filename: null,
                reason: HOSTILE
              })
            ],
            nextCursor: null
          }
        }),
      ofCustomer: () => Effect.succeed([]),
      retry: (id) => Effect.sync(() => (acts.push(`retried ${id}`), "retried" as const)),
      setAside: () => Effect.succeed("ended")
    }),
    suppressions: Layer.succeed(SuppressionList, {
      page: () => Effect.sync(() => ({ rows: suppressed, nextCursor: null })),
      add: ({ email, note }) =>
        Effect.sync(() => {
          const row = { email, reason: "manual", note: note ?? null, created_at: AT } as const
          suppressed = [row, ...suppressed]
          return row
        }),
      addAll: () => Effect.die("not here"),
      remove: ({ email }) =>
        Effect.sync(() => {
          const before = suppressed.length
          suppressed = suppressed.filter((row) => row.email !== email)
          return before - suppressed.length
        })
    }),
    alertPlaces: Layer.succeed(AlertPlaces, {
      places: {
        email: { configured: true, where: "ops@x.test", settings: "ALERT_EMAIL" },
        chat: { configured: false, where: undefined, settings: "CHAT_ID" }
      },
      test: () => Effect.sync(() => takes)
    }),
    senderDomain: Layer.succeed(SenderDomain, {
      look: ({ fresh }) =>
        Effect.sync(() => {
          looks.push(fresh)
          return report
        })
    }),
    preferences: Layer.succeed(AlertPreferences, {
      read: Effect.sync(() => preferences),
      write: (table) => Effect.sync(() => void (preferences = table))
    }),
    queue: {
      deadLetters: () =>
        Effect.sync(() =>
          dead.map((id) => ({ id, diedAt: AT, receives: 3, reason: HOSTILE, message: null }))
        ),
      redrive: (id) =>
        Effect.sync(() => {
          const found = dead.includes(id)
          dead = dead.filter((one) => one !== id)
          return found
        })
    },
    stats: Layer.succeed(EmailStats, {
      lastHours: Effect.succeed([]),
      since: () =>
        Effect.succeed({
          from: "2026-11-01",
          stats: [
            {
              day: "2026-11-20",
              category: "transactional",
              provider: "provider_a",
              status: "delivered",
              count: 9,
              failedOver: 1,
              undelivered: 0,
              costUsd: 0.0036
            }
          ]
        })
    })
  })
  browser = await workersBrowser()
})
afterAll(async () => {
  await closePages(browser)
  await server.stop()
})

let page: Page
let complaints: ReadonlyArray<string>
beforeEach(async () => {
  ;({ complaints, page } = await openPage(browser, server.url))
  await page.goto(`${server.url}/admin`)
  await page.getByLabel("Token").fill(ADMIN_TOKEN)
  await page.keyboard.press("Enter")
  await page.waitForURL("**/admin")
})

const open = async (screen: string) => {
  await page.goto(`${server.url}/admin/${screen}`)
  await page.locator("#loading").waitFor({ state: "hidden" })
}

it("jobs: cancelled ones have their own filter; what a row shows is text", async () => {
  await open("jobs")
  await page.getByRole("table", { name: "Conversion jobs, newest first" }).waitFor()
  await tabTo(page, "Cancelled1,234")
  await page.keyboard.press("Enter")
  await page.waitForURL("**/admin/jobs?status=cancelled")
  await page.getByRole("cell", { name: "Cancelled", exact: true }).waitFor()
  expect(asked.status).toBe("cancelled")
  expect(await page.getByRole("link", { name: "Cancelled" }).getAttribute("aria-current")).toBe("page")
  await page.getByText("12 of 60").waitFor()
  await page.getByRole("listitem").filter({ hasText: "Cancelled" }).getByText("1,234").waitFor()
  const error = (await page.getByRole("cell", { name: HOSTILE, exact: true }).boundingBox())!
  expect(error.x + error.width).toBeLessThanOrEqual(1280)
  await page.getByText("Cancelled by user").waitFor()
  const others = page.getByRole("list", { name: "Word documents, pictures and layout-true results" })
  await others.getByRole("link", { name: "letter.docx" }).waitFor()
  expect(await others.textContent()).toContain("Word document · 3 attempts · ann@x.test")
  await tabTo(page, "Show older Word documents, pictures and layout-true results")
  await page.keyboard.press("Enter")
  await others.getByRole("link", { name: "flyer.pdf" }).waitFor()
  await expectAccessible(page, "cancelled jobs")
  // What a customer cancelled is theirs to begin anew.
  expect(await page.getByRole("button", { name: `Retry ${HOSTILE}.pdf` }).count()).toBe(0)
  await open("jobs?status=failed")
  await page.getByRole("button", { name: `Retry ${HOSTILE}.pdf` }).click()
  await page.getByRole("dialog", { name: `Convert ${HOSTILE}.pdf again?` }).waitFor()
  await page.getByRole("button", { name: "Retry", exact: true }).click()
  await page.locator("#problem", { hasText: "There is no such job" }).waitFor()
  await page.getByText(HOSTILE, { exact: true }).first().waitFor()
  await expectAccessible(page, "failed jobs")
  await page.getByRole("link", { name: `${HOSTILE}.pdf` }).press("Enter")
  await page.getByRole("heading", { name: `${HOSTILE}.pdf` }).waitFor()
  await page.getByRole("row", { name: "21–40 Failed 3" }).waitFor()
  expect(await page.locator("main img").count()).toBe(0)
  await expectAccessible(page, "a customer's document")
  await page.setViewportSize({ width: 320, height: 640 })
  await expectAccessible(page, "a customer's document at 320 px")
  await page.setViewportSize({ width: 1280, height: 900 })
  await page.getByRole("link", { name: "Jobs", exact: true }).first().press("Enter")
  await page.waitForURL("**/admin/jobs")
  await open("jobs?status=completed")
  await page.getByText("No job of the status “Completed”.").waitFor()
  expect(complaints).toEqual([])
})

it("email log: one search, filters and pages are in the URL, mails are text on one line", async () => {
  await open("email-log?status=bounced&subject=100%25&nothing=x")
  expect(asked.mails).toMatchObject({ status: "bounced", subject: "100%", cursor: undefined })
  expect(await page.getByLabel("Part of the subject").inputValue()).toBe("100%")
  await page.getByText("10,000+ mails").waitFor()
  expect(await page.getByRole("link", { name: "Export CSV" }).getAttribute("href")).toBe(
    "/api/admin/email-log.csv?status=bounced&subject=100%25"
  )
  expect(await page.getByRole("link", { name: "unbroken" }).getAttribute("href")).toBe(
    `/admin/email-log/${mailOf(1).id}`
  )
  const row = await page.getByRole("row").nth(1).boundingBox()
  expect(row!.height).toBeLessThan(50)
  expect(await page.locator("main img").count()).toBe(0)
  expect(await page.getByRole("link", { name: "Bounced 1,000+" }).getAttribute("aria-current")).toBe("page")
  expect(await page.getByRole("link", { name: "Failed" }).count()).toBe(0)
  await expectAccessible(page, "the email log")
  await page.getByRole("link", { name: "Remove Subject: 100%" }).press("Enter")
  await page.waitForURL(/email-log\?status=bounced$/)
  await page.getByLabel("Search address, subject, key or id").fill("you1@x.test")
  await page.keyboard.press("Enter")
  await page.waitForURL(/\?status=bounced&search=you1%40x\.test$/)
  await page.getByRole("link", { name: "Next page" }).press("Enter")
  await page.waitForURL(/cursor=next-1/)
  await page.getByText("you2@x.test").waitFor()
  expect(asked.mails).toMatchObject({ status: "bounced", search: "you1@x.test", cursor: "next-1" })
  expect(await page.getByRole("link", { name: "Next page" }).count()).toBe(0)
  await page.getByRole("link", { name: "Previous page" }).press("Enter")
  await page.getByText("you1@x.test").waitFor()
  await page.getByRole("link", { name: "Next page" }).press("Enter")
  await page.getByText("you2@x.test").waitFor()
  await page.getByRole("link", { name: "First page" }).press("Enter")
  await page.getByText("you1@x.test").waitFor()
  expect(await page.locator("#stopped").isVisible()).toBe(false)
  expect(await page.getByLabel("Idempotency key").isVisible()).toBe(false)
  await open("email-log?key=order-1")
  expect(await page.getByLabel("Idempotency key").isVisible()).toBe(true)
  expect(await page.getByLabel("Idempotency key").inputValue()).toBe("order-1")
  await expectAccessible(page, "the email log with all its filters")
  await page.getByLabel("Period").selectOption("Last 7 days")
  await page.waitForURL(/key=order-1&since=\d{4}-\d\d-\d\d$/)
  expect(await page.getByLabel("Period").inputValue()).toBe("7")
  await open("email-log?subject=seldom")
  await page.getByText(/^Looked through 50,000 mails, back to 20 Nov 2026, .+\. Search further$/).waitFor()
  await page.getByText("Nothing among these.").waitFor()
  expect(await page.getByRole("link", { name: "Search further" }).getAttribute("href")).toBe(
    "?subject=seldom&cursor=next-2"
  )
  await page.getByText("0+ mails").waitFor()
  // What none of the newest has, an older one may have.
  await page.getByRole("link", { name: "Bounced 7+" }).waitFor()
  await page.getByRole("link", { name: "Failed", exact: true }).waitFor()
  await expectAccessible(page, "the email log, where a search stopped")
  expect(await page.getByRole("link", { name: "Next page" }).getAttribute("href")).toContain("cursor=next-2")
  expect(complaints).toEqual([])
})

it("audit: what was done, filtered and page by page, as text", async () => {
  await page.getByRole("link", { name: "Audit" }).press("Enter")
  await page.waitForURL("**/admin/audit")
  await page.getByRole("table", { name: "Actions, newest first" }).waitFor()
  await page.getByText("Details").last().press("Enter")
  await page.getByText(HOSTILE, { exact: true }).first().waitFor()
  expect(await page.locator("main img").count()).toBe(0)
  await expectAccessible(page, "the audit log")
  await page.getByLabel("Action, exactly").fill("email_unsuppress")
  await page.getByLabel("Target, exactly").fill("ann@x.test")
  await page.keyboard.press("Enter")
  await page.waitForURL(/action=email_unsuppress&target=ann%40x\.test/)
  await page.getByRole("link", { name: "Next page" }).press("Enter")
  await page.waitForURL(/cursor=next-1/)
  await page.getByText("bob@x.test").waitFor()
  expect(asked.actions).toMatchObject({
    action: "email_unsuppress",
    target: "ann@x.test",
    cursor: "next-1"
  })
  expect(await page.getByRole("table").getByText("Details").count()).toBe(1)
  await open("audit?action=nothing")
  await page.getByText("Nothing was written down that matches.").waitFor()
  await expectAccessible(page, "an empty audit log")
  expect(complaints).toEqual([])
})

it("incoming mails: what became of each and why; what waits is tried again or set aside, by keyboard", async () => {
  acts = []
  await open("incoming")
  await page.getByRole("table", { name: "Mails, newest first" }).waitFor()
  const [waiting, ended, forged] = [1, 2, 3].map((at) => page.getByRole("row").nth(at))
  expect(await waiting!.getByRole("cell").allInnerTexts()).toEqual(
    expect.arrayContaining([expect.stringMatching(/^Converting[^]*Waits: objects does not answer/)])
  )
  expect(await ended!.getByRole("cell").allInnerTexts()).toEqual(
    expect.arrayContaining([
      expect.stringContaining("Success"),
      expect.stringContaining("success to ann@x.test, with a link")
    ])
  )
  expect(await forged!.getByRole("rowheader").innerText()).toContain("not verified: ")
  expect(await forged!.getByRole("cell").allInnerTexts()).toEqual(
    expect.arrayContaining([expect.stringMatching(/^Unverified[^]*img src=x/)])
  )
  expect(await forged!.getByRole("button").count()).toBe(0)
  expect(await page.locator("main img").count()).toBe(0)
  await expectAccessible(page, "incoming mails")
  await page.setViewportSize({ width: 320, height: 640 })
  await expectAccessible(page, "incoming mails at 320 px")
  await page.setViewportSize({ width: 1280, height: 900 })
  await tabTo(page, "Try again Report")
  await page.keyboard.press("Enter")
  await page.getByRole("dialog", { name: "Try it again now?" }).waitFor()
  expect(await focused(page)).toBe("Leave it")
  await expectAccessible(page, "the question about a mail")
  await tabTo(page, "Try again")
  await page.keyboard.press("Enter")
  await page.locator("#polite", { hasText: "“Report” is tried again." }).waitFor({ state: "attached" })
  expect(acts).toEqual([`mail_retried ${incomingOf({}).id}`, `retried ${incomingOf({}).id}`])
  await page.getByRole("button", { name: /^Set aside / }).press("Enter")
  await page.getByRole("dialog", { name: "Set the mail aside?" }).waitFor()
  await page.getByRole("button", { name: "Set aside", exact: true }).press("Enter")
  await page.locator("#problem", { hasText: "This mail has ended" }).waitFor()
  await page.getByLabel("Outcome").selectOption("limited")
  await page.getByLabel("Address, exactly").fill("Ann@X.test")
  await page.keyboard.press("Enter")
  await page.getByText("No mail matches.").waitFor()
  expect(asked.incoming).toMatchObject({ outcome: "limited", sender: "ann@x.test", step: undefined })
  expect(complaints.filter((one) => !one.includes("409"))).toEqual([])
})

it("messages of the forms: which of them wait, and why", async () => {
  await open("messages")
  await page.getByRole("table", { name: "Messages, newest first" }).waitFor()
  const [waiting, notified] = [page.getByRole("row").nth(1), page.getByRole("row").nth(2)]
  expect(await waiting.getByRole("cell").allInnerTexts()).toEqual(
    expect.arrayContaining(["contact", "Waiting", expect.stringContaining("Next try")])
  )
  expect(await notified.getByRole("cell").allInnerTexts()).toEqual(
    expect.arrayContaining(["feedback", "Notified", expect.stringContaining("Rating: 2 of 5")])
  )
  expect(await page.locator("main img").count()).toBe(0)
  await expectAccessible(page, "the messages")
  await page.getByLabel("Notification").selectOption("spam")
  await page.getByRole("button", { name: "Filter" }).press("Enter")
  await page.getByText("No message matches.").waitFor()
  expect(asked.messages).toMatchObject({ state: "spam", kind: undefined })
  expect(complaints).toEqual([])
})

it("suppressions are added and, after a question, removed; refusals are shown", async () => {
  await open("suppressions")
  await page.getByText("No address is suppressed.").waitFor()
  await page.getByRole("textbox", { name: "Address", exact: true }).fill("Ann@X.test")
  await page.getByLabel("Why").fill(HOSTILE)
  await page.keyboard.press("Enter")
  await page.getByRole("rowheader", { name: "ann@x.test" }).waitFor()
  await expectFocus(page, "#add-email")
  await expectAccessible(page, "suppressions")
  await page.keyboard.type("a..b@x.test")
  await page.keyboard.press("Enter")
  await page.locator("#add-problem", { hasText: "The request is not valid." }).waitFor()
  await page.getByRole("button", { name: "Remove ann@x.test" }).press("Enter")
  await page.getByRole("dialog", { name: "Mail ann@x.test again?" }).waitFor()
  expect(await focused(page)).toBe("Keep it suppressed")
  await page.keyboard.press("Tab")
  await page.keyboard.press("Enter")
  await page.getByText("No address is suppressed.").waitFor()
  expect([suppressed, complaints]).toEqual([[], []])
})

it("event hooks are made, tested, paused, given a new secret and, after a question, removed", async () => {
  await open("event-hooks")
  await page.getByText("No event hooks yet.").waitFor()
  await page.getByLabel("Address", { exact: true }).fill("https://shop.test/hooks")
  await page.keyboard.press("Enter")
  await page.getByText("Signing secret, shown this once: whsec_").waitFor()
  await expectAccessible(page, "event hooks")
  await page.getByRole("button", { name: "Test https://shop.test/hooks" }).press("Enter")
  await page.getByRole("cell", { name: "1", exact: true }).waitFor()
  await page.getByRole("button", { name: "Replace secret https://shop.test/hooks" }).press("Enter")
  await page.getByRole("button", { name: "Replace", exact: true }).press("Enter")
  await page.getByText("the old one signs, too").waitFor()
  await page.getByRole("link", { name: "https://shop.test/hooks" }).press("Enter")
  await page.getByRole("rowheader", { name: "test" }).waitFor()
  await expectAccessible(page, "deliveries of an event hook")
  await page.getByRole("link", { name: "All event hooks" }).press("Enter")
  await page.getByRole("button", { name: "Pause https://shop.test/hooks" }).press("Enter")
  await page.getByText("paused", { exact: true }).waitFor()
  await page.getByRole("button", { name: "Remove https://shop.test/hooks" }).press("Enter")
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).press("Enter")
  await page.getByText("No event hooks yet.").waitFor()
  expect(complaints).toEqual([])
})

it("dead letters go back, notifications are kept, figures are shown", async () => {
  await open("dead-letters")
  await expectAccessible(page, "dead letters")
  await page.getByRole("button", { name: "Send again" }).press("Enter")
  await page
    .getByRole("dialog", { name: "Send it again?" })
    .getByRole("button", { name: "Send again" })
    .press("Enter")
  await page.getByText("No dead letters").waitFor()
  expect(dead).toEqual([])

  await open("notifications")
  await page.getByLabel("by chat message").press("Space")
  await page.getByRole("button", { name: "Save" }).press("Enter")
  await page.getByText("Saved.", { exact: true }).waitFor()
  expect(preferences).toEqual({ email_delivery_failure: { email: true, chat: false } })
  await page.getByText("Goes to ops@x.test.").waitFor()
  await page.getByText("Leads nowhere yet: set CHAT_ID").waitFor()
  expect(await page.getByRole("button", { name: "Send a test by chat message" }).isVisible()).toBe(false)
  await listen(page)
  await page.getByRole("button", { name: "Send a test by email" }).press("Enter")
  await hears(page, "The test mail is on its way.")
  await expectAccessible(page, "notifications")
  takes = { answer: "failed", error: HOSTILE }
  await page.getByRole("button", { name: "Send a test by email" }).press("Enter")
  await page.locator("#problem", { hasText: HOSTILE }).waitFor()
  await expectAccessible(page, "notifications that do not arrive")

  await page.goto(`${server.url}/admin/statistics?days=7&category=auth`)
  expect(await page.getByLabel("Period").inputValue()).toBe("7")
  expect(await page.getByLabel("Category").inputValue()).toBe("auth")
  expect(await page.getByRole("link", { name: "Export CSV" }).getAttribute("href")).toBe(
    "/api/admin/email-stats.csv?days=7&category=auth"
  )
  await page.getByText("No mail in this period.").waitFor()
  await expectAccessible(page, "statistics")
  await open("costs")
  await page.getByText("$12.50").first().waitFor()
  await expectAccessible(page, "costs")
  expect(complaints).toEqual([])
})

it("the sender domain's records are shown with their state, copied, and looked up again", async () => {
  await open("sender-domain")
  await page.getByText("3 of 4 records are not as asked for.").waitFor()
  expect(await page.getByRole("navigation", { name: "Admin" }).getByText("Sender domain").count()).toBe(1)
  await expectAccessible(page, "sender domain")
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"])
  await listen(page)
  await page.getByRole("button", { name: "Copy value of TXT _dmarc.mail.test" }).press("Enter")
  await hears(page, "The value of TXT _dmarc.mail.test is copied.")
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe("v=DMARC1; p=none")

  report = { ...report, records: report.records.slice(0, 1), advice: [], notes: [] }
  await page.getByRole("button", { name: "Look again" }).press("Enter")
  await hears(page, "The record is published.")
  expect(looks).toEqual([false, true])
  await expectAccessible(page, "sender domain in order")
  expect(complaints).toEqual([])
})
