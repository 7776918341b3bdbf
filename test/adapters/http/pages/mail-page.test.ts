import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import type { MailStory as ShownStory } from "../../../../src/adapters/client/generated/types.ts"
import type { MailStory } from "../../../../src/domain/delivery/mail-story.ts"
import { story, storyRow } from "../../../support/worlds/mail-story.ts"
import { storeDown } from "../../../support/worlds/store-down.ts"
import { admin, call, startServer, type TestServer } from "../harness.ts"

const HOSTILE = `<img src=x onerror=alert(1)>"'&amp;`
const ID = "0199a000-0000-7000-8000-000000000001"
const AT = "2026-11-20T10:11:13.000000Z"

let shown: MailStory | undefined
let asked: Array<string> = []
let down = false
let server: TestServer
beforeAll(async () => {
  server = await startServer({
    story: (id) => {
      asked.push(id)
      return down ? Effect.fail(storeDown("password=hunter2")) : Effect.succeed(shown)
    },
    outbox: {
      list: () =>
        Effect.succeed(
          ["other", "mine"].map((id) => ({
            id,
            via: "provider_b",
            from: "noreply@x.test",
            to: [],
            cc: [],
            bcc: [],
            subject: "",
            at: AT,
            messageId: id === "mine" ? HOSTILE : "another"
          }))
        )
    },
    queue: {
      deadLetters: () =>
        down
          ? Effect.fail(storeDown("password=hunter2"))
          : Effect.succeed([{ id: HOSTILE, diedAt: AT, receives: 3, reason: null, message: null }])
    }
  })
})
afterAll(() => server.stop())

const open = (id = ID) =>
  call(server, `/admin/email-log/${id}`, { headers: { ...admin, accept: "text/html" } })

describe("the page of a mail", () => {
  it("is complete as it is served: who, what happened, what to do, with every text escaped", async () => {
    shown = story(
      [
        storyRow({
          subject: HOSTILE,
          from_address: HOSTILE,
          to_addresses: [HOSTILE],
          other_addresses: ["copy@x.test"],
          dropped_addresses: ["out@x.test", "old@x.test"],
          source: HOSTILE,
          idempotency_key: HOSTILE,
          provider_message_id: HOSTILE,
          status: "bounced",
          failed_over: true,
          attempts: [
            {
              provider: "provider_a",
              outcome: "unavailable",
              reason: HOSTILE,
              code: HOSTILE,
              startedAt: Date.parse("2026-11-20T10:11:11Z"),
              durationMs: 12
            },
            {
              provider: "provider_b",
              outcome: "accepted",
              reason: null,
              code: null,
              startedAt: Date.parse("2026-11-20T10:11:11.500Z"),
              durationMs: 1840
            }
          ],
          events: [
            {
              number: 1,
              event: HOSTILE,
              at: AT,
              by: "webhook",
              raw: { [HOSTILE]: "x".repeat(200_000) },
              bytes: 200_100
            },
            { number: 1_000_000, event: "clicked", at: AT, by: "webhook", raw: null, bytes: 40_000 }
          ],
          last_event_at: AT,
          suppression_marks: ["hard_bounce:ann@x.test"],
          alerted_at: AT,
          tags: { order: HOSTILE }
        })
      ],
      {
        claim: { state: "accepted", provider: "provider_b", firstAttemptAt: AT, leaseUntil: null },
        alerts: [{ sendId: ID, claimedAt: AT, attempts: 2, confirmedAt: AT, dueAt: null }],
        suppressions: [
          { email: "out@x.test", reason: "manual", note: HOSTILE, since: AT },
          { email: "ann@x.test", reason: "hard_bounce", note: null, since: AT }
        ]
      }
    )
    const { headers, status, text: body } = await open()
    expect(status).toBe(200)
    expect(headers["content-security-policy"]).toContain("script-src 'self'")
    expect(body).not.toContain("<img")
    expect(body).not.toContain("needs JavaScript")
    expect(body.length).toBeLessThan(60_000)
    const order = [
      "did not take it; nothing left, after 12 ms",
      "accepted it, after 1.8 s",
      "Recorded as sent. It went to the fallback.",
      "more characters",
      "999,998 more events, which are not kept",
      "Its body (40,000 bytes) is not shown",
      "ann@x.test went onto the suppression list: hard bounce",
      "The alert about it went out."
    ].map((part) => body.indexOf(part))
    expect(order).not.toContain(-1)
    expect(order).toEqual(order.toSorted((one, other) => one - other))
    expect(body).toContain("<dt>Tags</dt><dd><ul><li>order: &lt;img")
    // The one of this id alone: others went to the same address.
    expect(body.match(/href="\/dev\/messages\/[^"]*"/g)).toEqual(['href="/dev/messages/mine"'])
    expect(body).toContain("npx postlane unsuppress ann@x.test")
    expect(body).toMatch(/out@x\.test <span class="help">manual since/)
    expect(body).toContain('old@x.test <span class="help">suppressed then, not any more')
    expect(body).toContain("the same call gets the first result again")
  })

  it("is there for machines, with the same advice, and nothing of what is secret", async () => {
    const { json, status } = await call(server, `/api/admin/email-log/${ID}`, { headers: admin })
    expect(status).toBe(200)
    const { alerts, claim, deadLetter, rows, standing, suppressions } = json as ShownStory
    expect(standing).toMatchObject({ status: "bounced", title: "Bounced" })
    expect(standing.steps.at(-1)).toMatchObject({ unsuppress: "ann@x.test", redrive: null })
    expect(rows).toEqual(shown!.rows)
    expect([alerts, claim, deadLetter, suppressions]).toEqual([
      shown!.alerts,
      shown!.claim,
      null,
      shown!.suppressions
    ])
    shown = story([storyRow({ status: "deferred", outcome: "deferred", idempotency_key: "order-18" })])
    const waiting = await call(server, `/api/admin/email-log/${ID}`, { headers: admin })
    expect(waiting.json).toMatchObject({ claim: null, standing: { steps: [{ command: null }] } })
    for (const id of ["x", `${ID}%00`, "0".repeat(900)])
      expect((await call(server, `/api/admin/email-log/${id}`, { headers: admin })).status).toBe(404)
    down = true
    const away = await call(server, `/api/admin/email-log/${ID}`, { headers: admin })
    down = false
    expect([away.status, away.json]).toMatchObject([503, { code: "UNAVAILABLE", retryable: true }])
    expect(away.text).not.toContain("hunter2")
    expect((await call(server, `/api/admin/email-log/${ID}`)).status).toBe(401)
  })

  it("says when the next retry is due, and has nothing else to offer", async () => {
    const retryAt = new Date(Date.now() + 90_000).toISOString()
    shown = story([
      storyRow({
        status: "deferred",
        outcome: "deferred",
        provider_message_id: null,
        created_at: new Date().toISOString(),
        retry_at: retryAt
      })
    ])
    const { text: body } = await open()
    expect(body).toContain(`data-due="${retryAt}"`)
    expect(body).not.toContain("data-redrive")
  })

  it("says when a mail of the send queue was queued and for when, and how long it waited for its turn", async () => {
    const accepted = {
      provider: "provider_a",
      outcome: "accepted",
      reason: null,
      code: null,
      startedAt: Date.parse("2026-11-20T11:00:02.500Z"),
      durationMs: 40
    } as const
    const queued = { queuedAt: "2026-11-20T10:00:00.000Z", sendAt: "2026-11-20T11:00:00.000Z" }
    shown = story([storyRow({ queued, attempts: [accepted] })])
    const { text: body } = await open()
    expect(body).toMatch(/Queued, to be sent <time datetime="2026-11-20T11:00:00.000Z"/)
    expect(body).toMatch(/Waited in the send queue[^]{0,40}2\.5 s/)
    shown = story([storyRow({ attempts: [accepted] })])
    expect((await open()).text).not.toMatch(/Waited in|Queued/)
  })

  it("what is no id, or unknown, is a page that says so, and no id reaches the store", async () => {
    asked = []
    shown = undefined
    for (const id of ["x", "%3Cscript%3E", "0".repeat(900), `${ID}%00`]) {
      const answer = await open(id)
      expect([id, answer.status]).toEqual([id, 404])
      expect(answer.text).toContain("There is no such mail")
      expect(answer.text).not.toContain("<script>")
    }
    expect(asked).toEqual([])
    expect((await open()).status).toBe(404)
    expect(asked).toEqual([ID])
  })

  it("a log that does not answer is a page, without its reason", async () => {
    down = true
    const { status, text: body } = await open()
    down = false
    expect(status).toBe(503)
    expect(body).not.toContain("hunter2")
  })

  it("strangers are sent to the sign-in", async () => {
    const { headers, status } = await call(server, `/admin/email-log/${ID}`, {
      headers: { accept: "text/html" }
    })
    expect([status, headers.location]).toEqual([
      303,
      `/sign-in?reason=admin&next=%2Fadmin%2Femail-log%2F${ID}`
    ])
  })
})
