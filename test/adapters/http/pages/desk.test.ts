import { Effect, Layer } from "effect"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest"

import type { EmailLogRow, EmailStat } from "../../../../src/domain/delivery/email-log-row.ts"
import type { MailStory } from "../../../../src/domain/delivery/mail-story.ts"
import { EmailStats } from "../../../../src/ports/delivery/email-log-query.ts"
import type { HealthFacts } from "../../../../src/ports/delivery/health-board.ts"
import { SuppressionList } from "../../../../src/ports/mail/suppression-list.ts"
import { closePages, workersBrowser } from "../../../support/processes/browser.ts"
import { story, storyRow } from "../../../support/worlds/mail-story.ts"
import { ADMIN_TOKEN, startServer, type TestServer } from "../harness.ts"
import { expectAccessible, openPage, tabTo } from "./browse.ts"

const HOSTILE = `<img src=x onerror=alert(1)>"'&amp;`
const ID = "0199a000-0000-7000-8000-000000000001"
const ADDRESS = "christopher.wintersberg@mail.example.test"

const ago = (ms: number) => new Date(Date.now() - ms).toISOString()

/** A mail that failed over, was put off, came through at its retry and bounced. */
const bounced = (): MailStory => {
  const attempt = { reason: null, code: null } as const
  return story(
    [
      storyRow({
        created_at: ago(200_000),
        outcome: "deferred",
        status: "deferred",
        provider_message_id: null,
        cost_usd: null,
        failed_over: true,
        retry_at: ago(80_000),
        attempts: [
          {
            ...attempt,
            provider: "provider_a",
            outcome: "unavailable",
            reason: HOSTILE,
            code: "rate_limit",
            startedAt: Date.now() - 216_000,
            durationMs: 31
          },
          {
            ...attempt,
            provider: "provider_b",
            outcome: "ambiguous",
            reason: "no answer within 15000 ms",
            startedAt: Date.now() - 215_000,
            durationMs: 15_000
          }
        ]
      }),
      storyRow({
        id: "0199a000-0000-7000-8000-000000000002",
        subject: `Your order ${HOSTILE} ${"unbroken".repeat(40)}`,
        created_at: ago(79_000),
        provider: "provider_b",
        status: "bounced",
        to_addresses: [ADDRESS],
        other_addresses: ["copy@x.test"],
        dropped_addresses: ["out@x.test"],
        attempts: [
          {
            ...attempt,
            provider: "provider_b",
            outcome: "accepted",
            startedAt: Date.now() - 79_500,
            durationMs: 420
          }
        ],
        events: [
          { number: 1, event: "delivered", at: ago(70_000), by: "webhook", raw: null, bytes: 0 },
          {
            number: 95,
            event: "bounced",
            at: ago(60_000),
            by: "webhook",
            raw: { html: HOSTILE, long: "x".repeat(3000) },
            bytes: 3100
          }
        ],
        last_event_at: ago(60_000),
        suppression_marks: [`hard_bounce:${ADDRESS}`],
        alerted_at: ago(60_000)
      })
    ],
    {
      claim: { state: "deferred", provider: "provider_b", firstAttemptAt: ago(216_000), leaseUntil: null },
      alerts: [
        {
          sendId: "0199a000-0000-7000-8000-000000000002",
          claimedAt: ago(60_000),
          attempts: 1,
          confirmedAt: ago(59_000),
          dueAt: null
        }
      ],
      suppressions: [{ email: ADDRESS, reason: "hard_bounce", note: null, since: ago(60_000) }]
    }
  )
}

const deferred = (): MailStory =>
  story([
    storyRow({
      created_at: ago(1000),
      outcome: "deferred",
      status: "deferred",
      provider_message_id: null,
      retry_at: ago(-90_000)
    })
  ])

const mailOf = (index: number): EmailLogRow => {
  const {
    attempts: _,
    events: _events,
    queued: _queued,
    retry_at: _retry,
    suppression_marks: _marks,
    tags: _tags,
    ...row
  } = storyRow({
    id: `0199a000-0000-7000-8000-0000000000${10 + index}`,
    subject: `Mail ${index}`,
    to_addresses: [ADDRESS],
    last_event: "delivered"
  })
  return { ...row, raw: null }
}

const stats = (bucket: string): ReadonlyArray<EmailStat> =>
  (["delivered", "sent", "bounced", "failed"] as const).map((status, index) => ({
    day: bucket,
    category: "transactional",
    provider: "provider_a",
    status,
    count: [900, 120, 31, 4][index] ?? 0,
    failedOver: index,
    undelivered: 0,
    costUsd: 0
  }))

const calm: HealthFacts = {
  alarms: [],
  past: [
    {
      alarm: "failovers",
      begunAt: ago(7_200_000),
      endedAt: ago(3_600_000),
      detail: "9 sends failed over in 15 minutes"
    }
  ],
  queues: [
    { name: "retries", waiting: 0, oldestAt: null },
    { name: "chunks", waiting: 12, oldestAt: ago(120_000) }
  ],
  batch: [{ state: "submitted", count: 2 }],
  spentUsd: 3.2,
  budgetUsd: 10,
  newestMailAt: ago(120_000),
  processes: []
}

let shown: MailStory = bounced()
let facts = calm
let hasEvents = true
let removed: ReadonlyArray<string> = []
let suppressed: ReadonlyArray<string> = []
let arrived = 0
let server: TestServer
let browser: Browser
beforeAll(async () => {
  server = await startServer({
    story: () => Effect.sync(() => shown),
    queue: { deadLetters: () => Effect.succeed([]) },
    health: Effect.sync(() => facts),
    report: {
      ready: true,
      checks: [{ name: "database", ok: true, lastError: null }],
      supervisors: [
        { name: "alarms", state: "running", restarts: 2, lastRunAt: ago(1000), lastError: HOSTILE }
      ]
    },
    page: () =>
      Effect.sync(() => ({
        rows: [
          ...(arrived === 0 ? [] : [{ ...mailOf(80), subject: "Arrived" }]),
          ...Array.from({ length: 50 }, (_, index) => mailOf(index))
        ],
        nextCursor: null
      })),
    count: () => Effect.succeed({ count: 50 }),
    stats: Layer.succeed(EmailStats, {
      lastHours: Effect.sync(() => stats(new Date().toISOString().slice(0, 13))),
      since: () =>
        Effect.sync(() => ({
          from: "",
          stats: stats(new Date().toISOString().slice(0, 10)).filter(
            ({ status }) => hasEvents || status === "sent"
          )
        }))
    }),
    suppressions: Layer.succeed(SuppressionList, {
      page: () => Effect.succeed({ rows: [], nextCursor: null }),
      add: ({ email }) =>
        Effect.sync(() => {
          suppressed = [...suppressed, email]
          return { email, reason: "manual", note: null, created_at: ago(0) } as const
        }),
      addAll: () => Effect.die("not here"),
      remove: ({ email }) =>
        Effect.sync(() => {
          removed = [...removed, email]
          shown = { ...shown, suppressions: [] }
          return 1
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
const signIn = async (one: Page) => {
  await one.goto(`${server.url}/sign-in`)
  await one.getByLabel("Token").fill(ADMIN_TOKEN)
  await one.keyboard.press("Enter")
  await one.waitForURL("**/admin")
}
beforeEach(async () => {
  ;({ complaints, page } = await openPage(browser, server.url))
  await signIn(page)
})

it("a mail's page: its story, by keyboard to the way out of its bounce", async () => {
  shown = bounced()
  await page.goto(`${server.url}/admin/email-log/${ID}`)
  await page.getByRole("heading", { name: "Bounced" }).waitFor()
  expect(await page.locator("main img").count()).toBe(0)
  await page.getByText("Raw event", { exact: true }).press("Enter")
  await page.getByRole("region", { name: "Raw event" }).waitFor()
  await expectAccessible(page, "a mail that bounced")
  await page
    .locator("h1")
    .focus()
    .catch(() => undefined)
  await tabTo(page, "Remove the suppression")
  await page.keyboard.press("Enter")
  await tabTo(page, "Remove")
  await page.keyboard.press("Enter")
  await expect.poll(() => removed).toEqual([ADDRESS])
  await page.getByRole("button", { name: "Remove the suppression" }).waitFor({ state: "detached" })
  expect(complaints).toEqual([])
})

it("a mail that waits: its next retry is counted down", async () => {
  shown = deferred()
  await page.goto(`${server.url}/admin/email-log/${ID}`)
  await page.getByText(/^in 1 min \d+ s$/).waitFor()
  await expectAccessible(page, "a mail that waits")
  expect(complaints).toEqual([])
})

it("the log: ordinary addresses in one line, and Back returns to where it was", async () => {
  shown = deferred()
  await page.goto(`${server.url}/admin/email-log?recipient=${ADDRESS}`)
  const address = page.locator("tbody").getByText(ADDRESS, { exact: true }).first()
  await address.waitFor()
  const height = await address.evaluate((line) => line.getBoundingClientRect().height)
  expect(height).toBeLessThan(40)
  await page.getByText("50 mails").waitFor()
  await expectAccessible(page, "a log of long addresses")
  const link = page.getByRole("link", { name: "Mail 49" })
  await link.scrollIntoViewIfNeeded()
  const top = await page.evaluate<number>("scrollY")
  expect(top).toBeGreaterThan(500)
  await link.press("Enter")
  await page.getByRole("heading", { name: "What happened" }).waitFor()
  // The page's script leads it back to the list as it was left.
  await page.locator('#back[href*="recipient="]').press("Enter")
  await page.getByRole("link", { name: "Mail 49" }).waitFor()
  await expect.poll(() => page.evaluate<number>("scrollY")).toBe(top)
  expect(page.url()).toContain(`recipient=${ADDRESS}`)
  await page.getByRole("link", { name: "Mail 49" }).press("Enter")
  await page.getByRole("heading", { name: "What happened" }).waitFor()
  await page.goBack()
  await page.getByRole("link", { name: "Mail 49" }).waitFor()
  await expect.poll(() => page.evaluate<number>("scrollY")).toBe(top)
  await page.getByRole("link", { name: "Email log" }).press("Enter")
  await page.getByRole("link", { name: "Mail 49" }).waitFor()
  expect(await page.evaluate<number>("scrollY")).toBe(0)
  expect(complaints).toEqual([])
})

it("the log: chosen rows are acted on, and what arrives waits for the reader who holds it", async () => {
  arrived = 0
  suppressed = []
  await page.goto(`${server.url}/admin/email-log`)
  await page.getByLabel("Choose Mail 0", { exact: true }).press("Space")
  await page.getByLabel("Choose Mail 1", { exact: true }).press("Space")
  await page.getByText("2 chosen").waitFor()
  await expectAccessible(page, "chosen rows")
  await page.getByRole("button", { name: "Send again" }).press("Enter")
  await page.getByRole("heading", { name: "None of them can be sent again from here" }).waitFor()
  await page.keyboard.press("Escape")
  await page.getByRole("button", { name: "Suppress recipients" }).press("Enter")
  await page.getByRole("dialog", { name: `Suppress ${ADDRESS}?` }).waitFor()
  await page.getByRole("button", { name: "Suppress", exact: true }).press("Enter")
  await expect.poll(() => suppressed).toEqual([ADDRESS])
  await page.getByText("2 chosen").waitFor({ state: "hidden" })
  await page.evaluate("scrollTo(0, 0)")
  await page.getByRole("button", { name: "Hold" }).press("Enter")
  arrived = 1
  await page.getByRole("button", { name: "Show 1 new" }).waitFor()
  expect(await page.getByRole("link", { name: "Arrived" }).count()).toBe(0)
  await page.getByRole("button", { name: "Show 1 new" }).press("Enter")
  await page.getByRole("link", { name: "Arrived" }).waitFor()
  arrived = 0
  expect(complaints).toEqual([])
})

it("the overview: its charts, and an alarm that comes while it is open, without moving what the reader has opened", async () => {
  facts = calm
  await page.goto(`${server.url}/admin?days=7`)
  await page.getByText("No alarm is firing.").waitFor()
  await page.getByText("Numbers of Mails a day").press("Enter")
  await page.getByRole("table", { name: "Mails a day" }).waitFor()
  await page.getByText("Past alarms (1)").press("Enter")
  await page.getByText("Parts of the process that answers (1)").press("Enter")
  expect(await page.locator("main img").count()).toBe(0)
  await expectAccessible(page, "a calm overview")
  await page.locator("#live").evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
  facts = { ...calm, alarms: [{ name: "failed_sends", since: ago(0), detail: "3 sends ended failed" }] }
  await page.getByRole("heading", { name: "Sends failed" }).waitFor()
  await page.getByRole("table", { name: "Mails a day" }).waitFor()
  expect(await page.locator("#past").getAttribute("open")).toBe("")
  await expectAccessible(page, "an overview with an alarm")
  expect(complaints).toEqual([])
})

it("what is not known is no zero, and an empty filter is no empty list", async () => {
  const figure = (name: string) =>
    page.locator(".figures div", { hasText: name }).locator("dd").first().textContent()
  await page.goto(`${server.url}/admin/statistics`)
  await page.getByRole("table", { name: "By category and provider" }).waitFor()
  expect(await figure("Delivered")).toBe("85.6 %")
  await page.getByText("Numbers of Mails a day").press("Enter")
  await page.getByRole("cell", { name: "1,055" }).first().waitFor()
  await expectAccessible(page, "statistics")
  hasEvents = false
  await page.reload()
  await page.getByRole("table", { name: "By category and provider" }).waitFor()
  expect([await figure("Delivered"), await figure("Bounced")]).toEqual(["–", "–"])
  hasEvents = true
  await page.goto(`${server.url}/admin/suppressions?reason=manual`)
  await page.getByText("No suppressed address matches the filter.").waitFor()
  await page.goto(`${server.url}/admin/suppressions`)
  await page.getByText("No address is suppressed.").waitFor()
  expect(complaints).toEqual([])
})

it("without scripts both are there to be read", async () => {
  shown = bounced()
  facts = calm
  const context = await browser.newContext({
    javaScriptEnabled: false,
    extraHTTPHeaders: { authorization: `Bearer ${ADMIN_TOKEN}` }
  })
  const plain = await context.newPage()
  await plain.goto(`${server.url}/admin`)
  await plain.getByText("No alarm is firing.").waitFor()
  await plain.goto(`${server.url}/admin/email-log/${ID}`)
  await plain.getByText("no answer within 15000 ms").waitFor()
  expect(await plain.getByText("needs JavaScript").count()).toBe(0)
  expect(await plain.getByRole("button", { name: "Remove the suppression" }).isVisible()).toBe(false)
  await plain.getByText("unsuppress").waitFor()
  await context.close()
})
