import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

import {
  advance,
  EmailStatus,
  isDelivered,
  isProviderFailure,
  isTerminal,
  isUndelivered,
  statusesThat,
  statusOfEvent,
  statusRank,
  TERMINAL_STATUSES
} from "../../../src/domain/mail/status.ts"

const statuses = EmailStatus.literals
const status = fc.constantFrom(...statuses)

describe("email_log.status", () => {
  it("moves by this table, for each event and each status (EVENT-10)", () => {
    const events = [
      "sent",
      "delivery_delayed",
      "delivered",
      "opened",
      "clicked",
      "bounced",
      "complained",
      "failed",
      "suppressed",
      "bounce_transient",
      "scheduled"
    ]
    const table = statuses.map((from) => {
      const moved = events.filter((event) => {
        const to = statusOfEvent(event)
        return to !== undefined && advance(from, to) !== from
      })
      return `${from} -> ${moved.join(" ")}`.trim()
    })
    assert.deepStrictEqual(table, [
      "deferred -> sent delivery_delayed delivered opened clicked bounced complained failed suppressed",
      "sent -> delivery_delayed delivered opened clicked bounced complained failed suppressed",
      "delivery_delayed -> delivered opened clicked bounced complained failed suppressed",
      "delivered -> opened clicked bounced complained failed suppressed",
      "opened -> clicked bounced complained failed suppressed",
      "clicked -> bounced complained failed suppressed",
      "suppressed ->",
      "failed ->",
      "bounced ->",
      "complained ->"
    ])
  })

  it("says what is known of a mail: that it was accepted, that it arrived, that it came to nothing", () => {
    assert.deepStrictEqual(statusesThat("accepted"), [
      "sent",
      "delivery_delayed",
      "delivered",
      "opened",
      "clicked",
      "bounced",
      "complained"
    ])
    const terminal: ReadonlyArray<EmailStatus> = TERMINAL_STATUSES
    assert.deepStrictEqual(terminal, statuses.filter(isTerminal))
    assert.deepStrictEqual(statusesThat("delivered"), ["delivered", "opened", "clicked", "complained"])
    assert.deepStrictEqual(statuses.filter(isDelivered), ["delivered", "opened", "clicked"])
    const withError = statuses.filter((each) => isUndelivered({ status: each, error: "returned" }))
    assert.deepStrictEqual(withError, ["sent", "delivery_delayed"])
    for (const each of statuses) assert.isFalse(isUndelivered({ status: each, error: null }))
  })

  it("L2: rank never goes down and a terminal status never changes", () => {
    fc.assert(
      fc.property(status, fc.array(status), (start, asked) => {
        let now = start
        for (const next of asked) {
          const moved = advance(now, next)
          assert.isAtLeast(statusRank(moved), statusRank(now))
          if (isTerminal(now)) assert.strictEqual(moved, now)
          now = moved
        }
      })
    )
  })

  it("L3: any permutation with at most one terminal status ends in the same one, and repeats change nothing", () => {
    const ranked = fc.array(fc.constantFrom(...statuses.filter((each) => !isTerminal(each))))
    const set = fc
      .tuple(ranked, fc.option(fc.constantFrom(...TERMINAL_STATUSES)))
      .map(([some, terminal]) => (terminal === null ? some : [...some, terminal]))
    fc.assert(
      fc.property(
        set.chain((all) =>
          fc.tuple(fc.constant(all), fc.shuffledSubarray([...all, ...all], { minLength: 2 * all.length }))
        ),
        ([once, shuffledTwice]) => {
          const fold = (events: ReadonlyArray<EmailStatus>) => events.reduce<EmailStatus>(advance, "deferred")
          assert.strictEqual(fold(shuffledTwice), fold(once))
        }
      )
    )
  })

  it("alerts on the provider-reported failures only", () => {
    assert.deepStrictEqual(
      [
        "sent",
        "delivered",
        "bounced",
        "complained",
        "failed",
        "suppressed",
        "bounce_transient",
        "scheduled",
        "queued",
        ""
      ].filter(isProviderFailure),
      ["bounced", "complained", "failed", "suppressed"]
    )
  })
})
