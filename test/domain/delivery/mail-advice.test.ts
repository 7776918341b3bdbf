import { assert, describe, it } from "@effect/vitest"

import { adviceOn, standingRow } from "../../../src/domain/delivery/mail-advice.ts"
import type { MailStory, StoryRow } from "../../../src/domain/delivery/mail-story.ts"
import { EmailStatus } from "../../../src/domain/mail/status.ts"
import { story, storyRow } from "../../support/worlds/mail-story.ts"

const AT = Date.parse("2026-11-20T10:11:12Z")
const MINUTE = 60_000
const known = (after: number, deadLetter?: string) => ({ now: AT + after, deadLetter })
const on = (row: Partial<StoryRow>, after = MINUTE, more: Partial<MailStory> = {}) =>
  adviceOn(story([storyRow(row)], more), known(after))
const said = ({ steps }: ReturnType<typeof adviceOn>) => steps.map(({ text }) => text).join(" ")

const doubtful = {
  outcome: "failed",
  status: "failed",
  error_kind: "ambiguous",
  provider_message_id: null
} as const
const deferred = {
  outcome: "deferred",
  status: "deferred",
  provider_message_id: null,
  retry_at: "2026-11-20T10:13:12Z"
} as const

describe("what to do about a mail", () => {
  it("has an answer for every status", () => {
    for (const status of EmailStatus.literals)
      for (const outcome of ["sent", "deferred", "suppressed", "failed", null] as const) {
        const advice = on({ status, outcome })
        assert.isNotEmpty(advice.steps, status)
        assert.notStrictEqual(advice.title, "")
      }
  })

  it("S2: never calls a doubtful mail free to send, and offers its key only where one copy is sure", () => {
    assert.match(said(on(doubtful)), /same key \(order-17\) is safe/)
    for (const unsure of [
      on(doubtful, 24 * 60 * MINUTE),
      on({ ...doubtful, provider: "provider_b" }),
      on({ ...doubtful, idempotency_key: null })
    ])
      assert.match(said(unsure), /second copy cannot be ruled out/)
    assert.match(said(on({ ...doubtful, error_kind: "unavailable" })), /the key is free/)
  })

  it("leaves a deferral to its retry, until that is late, dead or a day old", () => {
    assert.match(said(on(deferred)), /Nothing to do/)
    assert.match(said(on(deferred, 4 * MINUTE)), /Nothing to do/)
    assert.match(said(on(deferred, 5 * MINUTE)), /overdue/)
    assert.match(said(on(deferred, 24 * 60 * MINUTE)), /Ask a recipient/)
    const dead = adviceOn(story([storyRow(deferred)]), known(MINUTE, "d'1; rm"))
    assert.deepInclude(dead.steps[0], {
      _tag: "Redrive",
      id: "d'1; rm",
      command: "npx postlane dead-letters redrive 'd'\\''1; rm'"
    })
  })

  it("EVENT-16: says that a mail which ended in a temporary bounce was not delivered", () => {
    const error = "Transient/MailboxFull: smtp; 452 mailbox full"
    for (const status of ["sent", "delivery_delayed", "bounced"] as const) {
      const advice = on({ status, error })
      assert.deepInclude(advice, { mood: "bad", title: "Not delivered" })
      assert.include(advice.why, error)
      assert.match(said(advice), /again under a new key/)
    }
    assert.strictEqual(on({ status: "bounced", error: "Permanent/General: 550" }).title, "Bounced")
    assert.strictEqual(on({ status: "bounced", error: null }).title, "Bounced")
    const reply = {
      event: "bounce_transient",
      number: 2,
      at: "",
      by: "webhook",
      raw: null,
      bytes: 0
    } as const
    const arrival = { ...reply, number: 1, event: "delivered" } as const
    const delivered = (row: Partial<StoryRow>) => on({ status: "delivered", ...row })
    const plain = delivered({ events: [arrival] })
    assert.strictEqual(plain.title, "Delivered")
    const replied = delivered({ events: [arrival, reply] })
    assert.strictEqual(replied.title, "Delivered")
    assert.match(replied.why, /automatic reply/)
    assert.notMatch(plain.why, /reply/)
    const other_addresses = ["bob@x.test"]
    assert.match(delivered({ error, events: [reply], other_addresses }).why, /Not to every recipient/)
    // To one recipient, or without an error, it is to every recipient that there is.
    assert.strictEqual(delivered({ error }).why, plain.why)
    assert.strictEqual(delivered({ other_addresses }).why, plain.why)
  })

  it("what leads to a second copy is never advised before it is certain that there is no first one", () => {
    const day = 24 * 60 * MINUTE
    assert.match(said(on(doubtful, day - 1)), /is safe/)
    assert.match(said(on({ ...doubtful, provider: null }, MINUTE)), /cannot be ruled out/)
    assert.match(said(on(deferred, day - 1)), /overdue/)
    assert.match(said(on({ ...deferred, retry_at: null }, 5 * MINUTE)), /Nothing to do/)
    for (const kind of ["unavailable", "rejected"] as const) {
      const advice = on({ ...doubtful, error_kind: kind })
      assert.match(said(advice), /the key is free/)
      assert.strictEqual(/Correct/.test(said(advice)), kind === "rejected")
      assert.lengthOf(advice.steps, kind === "rejected" ? 2 : 1)
      assert.strictEqual(/provider refused/.test(advice.why), kind === "rejected")
    }
    assert.notMatch(said(on({ ...doubtful, error_kind: "rejected", idempotency_key: null })), /key/)
  })

  it("tells what this library did not send from what a provider held back or could not deliver", () => {
    const since = "2026-11-20T10:11:12Z"
    const suppressions = [{ email: "ann@x.test", reason: "manual", note: null, since }] as const
    const own = on(
      { status: "suppressed", outcome: "suppressed", error: "Recipient suppressed: x" },
      MINUTE,
      { suppressions }
    )
    assert.strictEqual(own.why, "Recipient suppressed: x")
    assert.deepStrictEqual(
      own.steps.map(({ _tag }) => _tag),
      ["Unsuppress", "Say"]
    )
    const theirs = on({ status: "suppressed", outcome: "sent" }, MINUTE, { suppressions })
    assert.notStrictEqual(theirs.title, own.title)
    assert.deepStrictEqual(
      theirs.steps.map(({ _tag }) => _tag),
      ["Say", "Unsuppress"]
    )
    const late = on({ status: "failed", outcome: "sent", error: "why" })
    assert.strictEqual(late.why, "why")
    assert.match(said(late), /under a new key/)
    const titles = ["sent", "delivery_delayed", "delivered", "opened", "clicked"] as const
    assert.lengthOf(new Set(titles.map((status) => on({ status }).title)), 5)
    assert.strictEqual(on({ status: "delivery_delayed" }).mood, "wait")
    for (const status of ["delivered", "opened", "clicked"] as const)
      assert.strictEqual(on({ status }).mood, "good")
  })

  it("a complaint is a recipient's, of a mail that was delivered", () => {
    const complained = on({ status: "complained" })
    assert.strictEqual(complained.mood, "bad")
    assert.match(complained.why, /delivered, and a recipient complained/)
    assert.match(said(complained), /Do not mail this recipient again/)
  })

  it("a step has a command where there is one to type, and none elsewhere", () => {
    const stepOf = (after: number) => on(deferred, after).steps[0]
    assert.deepInclude(stepOf(5 * MINUTE), { command: "npx postlane doctor" })
    assert.notProperty(stepOf(MINUTE), "command")
  })

  it("a command takes whatever an address or an id holds", () => {
    const command = (email: string) =>
      on({ status: "bounced" }, MINUTE, {
        suppressions: [{ email, reason: "manual", note: null, since: "2026-11-20T10:11:12Z" }]
      }).steps.flatMap((step) => ("command" in step && step._tag === "Unsuppress" ? [step.command] : []))
    assert.deepStrictEqual(command("a+b@x.test"), ["npx postlane unsuppress a+b@x.test"])
    assert.deepStrictEqual(command("o'x $(y)@x.test"), ["npx postlane unsuppress 'o'\\''x $(y)@x.test'"])
  })

  it("lifts each suppressed address once", () => {
    const since = "2026-11-20T10:11:12Z"
    const suppressions = [
      { email: "ann@x.test", reason: "hard_bounce", note: null, since },
      { email: "ann@x.test", reason: "manual", note: null, since }
    ] as const
    const { steps } = on({ status: "bounced" }, MINUTE, { suppressions })
    assert.deepStrictEqual(
      steps.filter(({ _tag }) => _tag === "Unsuppress").map((step) => "email" in step && step.email),
      ["ann@x.test"]
    )
  })

  it("goes by the row that was accepted, also where a later one ended otherwise", () => {
    const accepted = storyRow({ status: "delivered" })
    const later = storyRow({ ...doubtful, id: "0199a000-0000-7000-8000-000000000002" })
    assert.strictEqual(standingRow([accepted, later]), accepted)
    assert.strictEqual(adviceOn(story([accepted, later]), known(MINUTE)).title, "Delivered")
    assert.strictEqual(standingRow([storyRow(deferred), later]), later)
    // A relay names no id of its own; a deferral that an event proved to have arrived has one.
    for (const proof of [{ outcome: "sent", provider_message_id: null }, { outcome: "deferred" }] as const) {
      const newer = storyRow({ ...proof, id: "0199a000-0000-7000-8000-000000000003" })
      assert.strictEqual(standingRow([accepted, newer, later]), newer)
    }
  })
})
