import fc from "fast-check"
import { assert, describe, expect, it } from "vitest"

import { NOTHING } from "../../../src/adapters/memory/delivery/alarm-board.ts"
import {
  ALARMS,
  alarmTable,
  type AlarmName,
  type AlarmState,
  CALM_MS,
  evaluate,
  isOfSilence,
  isShown,
  judge,
  type Measures,
  QUIET,
  silentProvider
} from "../../../src/domain/delivery/alarm-rules.ts"
import type { DocumentMeasures } from "../../../src/domain/delivery/document-alarms.ts"
import { isOfQueue } from "../../../src/domain/delivery/queue-alarms.ts"
import type { Provider } from "../../../src/domain/mail/provider.ts"

const nothing: Measures = { ...NOTHING, at: 0, deadLetters: false }

const documents = (parts: Partial<DocumentMeasures>): Partial<Measures> => ({
  documents: { ...nothing.documents, ...parts }
})

const b = (sends: number, bounced: number, complained = 0): Partial<Measures> => ({
  providerB: { sends, bounced, complained }
})
const accepted = (byFallback: number, byPrimary: number): Partial<Measures> => ({
  accepted: { byFallback, byPrimary }
})
const unsettled = (deferred: number, failed: number): Partial<Measures> => ({
  unsettled: { deferred, failed }
})
const queue = (parts: Partial<Measures["queue"]>): Partial<Measures> => ({
  queue: { ...nothing.queue, ...parts }
})
const silent = (provider_a: number, provider_b: number): Partial<Measures> => ({
  silent: { provider_a, provider_b, postmark: 0 }
})

const TABLE: ReadonlyArray<readonly [AlarmName, Partial<Measures>, "bad" | "between" | "calm"]> = [
  ["failovers", { failovers: 0 }, "calm"],
  ["failovers", { failovers: 2 }, "between"],
  ["failovers", { failovers: 3 }, "bad"],
  ["provider_b_bounces", b(0, 0), "calm"],
  ["provider_b_bounces", b(40, 16), "bad"],
  ["provider_b_bounces", b(199, 10), "bad"],
  ["provider_b_bounces", b(199, 9), "between"],
  ["provider_b_bounces", b(40, 5), "between"],
  ["provider_b_bounces", b(40, 1), "calm"],
  ["provider_b_bounces", b(200, 3), "calm"],
  ["provider_b_bounces", b(200, 4), "between"],
  ["provider_b_bounces", b(200, 5), "bad"],
  ["provider_b_bounces", b(10_000, 200), "between"],
  ["provider_b_bounces", b(10_000, 201), "bad"],
  ["provider_b_complaints", b(999, 0, 3), "bad"],
  ["provider_b_complaints", b(40, 0, 2), "between"],
  ["provider_b_complaints", b(40, 0, 1), "calm"],
  ["provider_b_complaints", b(1_000, 0, 1), "bad"],
  ["provider_b_complaints", b(2_000, 0, 1), "between"],
  ["provider_b_complaints", b(1_999, 0, 1), "bad"],
  ["provider_b_complaints", b(4_000, 4_000, 1), "calm"],
  ["event_hooks", { hooks: { off: 0, pending: 9, dead: 0, oldestSeconds: 300 } }, "calm"],
  ["event_hooks", { hooks: { off: 0, pending: 9, dead: 0, oldestSeconds: 301 } }, "bad"],
  ["event_hooks", { hooks: { off: 1, pending: 0, dead: 0, oldestSeconds: 0 } }, "bad"],
  ["event_hooks", { hooks: { off: 0, pending: 0, dead: 1, oldestSeconds: 0 } }, "bad"],
  ["queue_overdue", queue({ oldestDueMs: 60_000 }), "calm"],
  ["queue_overdue", queue({ oldestDueMs: 299_999 }), "between"],
  ["queue_overdue", queue({ oldestDueMs: 300_000 }), "bad"],
  ["queue_set_aside", queue({}), "calm"],
  ["queue_set_aside", queue({ setAside: 1 }), "bad"],
  ["queue_given_up", queue({}), "calm"],
  ["queue_given_up", queue({ givenUp: 1 }), "bad"],
  ["dead_letters", { deadLetters: true }, "bad"],
  ["dead_letters", { deadLetters: undefined }, "between"],
  ["dead_letters", { deadLetters: false }, "calm"],
  ["fallback_only", accepted(0, 0), "between"],
  ["fallback_only", accepted(9, 0), "between"],
  ["fallback_only", accepted(10, 0), "bad"],
  ["fallback_only", accepted(10, 1), "calm"],
  ["deferred_sends", unsettled(10, 0), "bad"],
  ["deferred_sends", unsettled(9, 40), "between"],
  ["deferred_sends", unsettled(2, 40), "calm"],
  ["retries_overdue", { overdue: 1 }, "bad"],
  ["retries_overdue", { overdue: 0 }, "calm"],
  ["clocks", { clocks: { processOffMs: 60_001, databaseBackMs: 0 } }, "bad"],
  ["clocks", { clocks: { processOffMs: 0, databaseBackMs: 60_001 } }, "bad"],
  ["clocks", { clocks: { processOffMs: 60_000, databaseBackMs: 60_000 } }, "calm"],
  ["failed_sends", unsettled(40, 3), "bad"],
  ["failed_sends", unsettled(40, 1), "between"],
  ["failed_sends", unsettled(40, 0), "calm"],
  ["unclaimed_sends", { unclaimed: 1 }, "bad"],
  ["unclaimed_sends", { unclaimed: 0 }, "calm"],
  ["silence_provider_a", silent(20, 0), "bad"],
  ["silence_provider_a", silent(0, 20), "calm"],
  ["silence_provider_b", silent(0, 20), "bad"],
  ["silence_provider_b", silent(0, 19), "between"],
  ["silence_provider_b", silent(0, 5), "between"],
  ["silence_provider_b", silent(0, 4), "calm"],
  ["no_model", { unanswered: 3 }, "bad"],
  ["no_model", { unanswered: 2 }, "between"],
  ["no_model", { unanswered: 0 }, "calm"],
  ["failed_conversions", documents({ failed: 10 }), "bad"],
  ["failed_conversions", documents({ failed: 9 }), "between"],
  ["failed_conversions", documents({ failed: 3 }), "calm"],
  ["waiting_conversions", documents({ waitingMinutes: 30 }), "bad"],
  ["waiting_conversions", documents({ waitingMinutes: 29 }), "between"],
  ["waiting_conversions", documents({ waitingMinutes: 5 }), "calm"],
  ["batch_fallback", documents({ batch: { pages: 99, fallback: 99 } }), "calm"],
  ["batch_fallback", documents({ batch: { pages: 100, fallback: 21 } }), "bad"],
  ["batch_fallback", documents({ batch: { pages: 100, fallback: 20 } }), "between"],
  ["batch_fallback", documents({ batch: { pages: 100, fallback: 10 } }), "calm"],
  ["unverified_mails", documents({ mails: { ended: 19, unverified: 10 } }), "bad"],
  ["unverified_mails", documents({ mails: { ended: 20, unverified: 10 } }), "between"],
  ["unverified_mails", documents({ mails: { ended: 9, unverified: 9 } }), "between"],
  ["unverified_mails", documents({ mails: { ended: 2, unverified: 2 } }), "calm"],
  ["waiting_mails", documents({ mailWaitingMinutes: 30 }), "bad"],
  ["waiting_mails", documents({ mailWaitingMinutes: 6 }), "between"],
  ["waiting_mails", documents({ mailWaitingMinutes: 0 }), "calm"]
]

it.each(TABLE)("%s: %j is %s", (name, measures, level) => {
  expect(judge(name, { ...nothing, ...measures }).level).toBe(level)
})

describe("which alarms are shown", () => {
  it("those about all mail, those about a configured provider, and what fires", () => {
    const shown = (configured: ReadonlyArray<Provider>, firing = false) =>
      ALARMS.filter((name) => isShown(name, { firing }, configured))
    expect(shown([], true)).toEqual(ALARMS)
    const ofProviders = [
      "provider_b_bounces",
      "provider_b_complaints",
      "silence_provider_a",
      "silence_provider_b",
      "silence_postmark"
    ]
    expect(ALARMS.filter((name) => !shown([]).includes(name))).toEqual(ofProviders)
    expect(shown(["provider_a"]).filter((name) => ofProviders.includes(name))).toEqual(["silence_provider_a"])
    expect(shown(["provider_b", "smtp"]).filter((name) => ofProviders.includes(name))).toEqual([
      "provider_b_bounces",
      "provider_b_complaints",
      "silence_provider_b"
    ])
  })

  it("each is judged by the table above, and is in the table of states once", () => {
    expect([...new Set(TABLE.map(([name]) => name)), "silence_postmark"].toSorted()).toEqual(
      ALARMS.toSorted()
    )
    expect(
      judge("silence_postmark", { ...nothing, silent: { provider_a: 0, provider_b: 0, postmark: 20 } }).level
    ).toBe("bad")
    expect(ALARMS.filter(isOfQueue)).toEqual(["queue_overdue", "queue_set_aside", "queue_given_up"])
    expect(Object.keys(alarmTable(() => QUIET))).toEqual([...ALARMS])
    expect(ALARMS.filter(isOfSilence).map(silentProvider)).toEqual(["provider_a", "provider_b", "postmark"])
    expect(isOfSilence("silence_smtp")).toBe(false)
  })

  it("a figure that decides is in what is said of it", () => {
    const detail = (name: AlarmName, measures: Partial<Measures>) =>
      judge(name, { ...nothing, ...measures }).detail
    expect(detail("provider_b_bounces", b(1_000, 25))).toMatch(/25 of 1000 .* 2\.50 %.* 2\.00 %/)
    expect(detail("provider_b_bounces", b(40, 16))).toMatch(/16 of 40 .* 10 of less than 200/)
    expect(detail("clocks", { clocks: { processOffMs: 61_000, databaseBackMs: 2_000 } })).toMatch(
      /61 s.* 2 s/
    )
    expect(detail("event_hooks", { hooks: { off: 0, pending: 0, dead: 0, oldestSeconds: 600 } })).toMatch(
      /10 minutes/
    )
    expect(detail("queue_overdue", queue({ oldestDueMs: 310_000 }))).toMatch(/310 s, the limit is 300 s/)
    expect(detail("batch_fallback", documents({ batch: { pages: 100, fallback: 21 } }))).toMatch(/20\.00 %/)
    const [yes, no] = [
      detail("dead_letters", { deadLetters: true }),
      detail("dead_letters", { deadLetters: false })
    ]
    expect(yes).not.toBe(no)
  })

  it("ends after fifteen calm minutes, to the millisecond", () => {
    const firing = { firing: true, episode: 1, calmSince: 0 }
    const change = (at: number, calmSince: number | undefined = 0) =>
      evaluate({ ...alarmTable(() => QUIET), failovers: { ...firing, calmSince } }, { ...nothing, at })
    expect(CALM_MS).toBe(900_000)
    expect(change(CALM_MS - 1)).toEqual([])
    expect(change(CALM_MS)).toMatchObject([
      { name: "failovers", notice: "ended", to: { firing: false, episode: 1, calmSince: undefined } }
    ])
    // The database's clock went back by an hour: the quarter of an hour counts from then.
    expect(change(0, 3_600_000)).toMatchObject([{ notice: undefined, to: { firing: true, calmSince: 0 } }])
    const begun = evaluate({ ...alarmTable(() => QUIET) }, { ...nothing, failovers: 3 })
    expect(begun).toMatchObject([{ name: "failovers", notice: "begun", to: { firing: true, episode: 1 } }])
  })
})

const quiet: Record<AlarmName, AlarmState> = Object.fromEntries(
  ALARMS.map((name) => [name, QUIET])
) as Record<AlarmName, AlarmState>

const counts = fc.record({
  failovers: fc.nat(5),
  providerB: fc
    .record({ sends: fc.nat(5_000), bounced: fc.nat(5_000), complained: fc.nat(3) })
    .map(({ bounced, complained, sends }) => ({
      sends,
      bounced: Math.min(bounced, sends),
      complained: Math.min(complained, sends)
    })),
  accepted: fc.record({ byFallback: fc.nat(20), byPrimary: fc.nat(1) }),
  unsettled: fc.record({ deferred: fc.nat(20), failed: fc.nat(5) }),
  unclaimed: fc.nat(2),
  overdue: fc.nat(2),
  clocks: fc.record({ processOffMs: fc.nat(120_000), databaseBackMs: fc.nat(120_000) }),
  silent: fc.record({ provider_a: fc.nat(30), provider_b: fc.nat(30), postmark: fc.nat(30) }),
  deadLetters: fc.constantFrom(true, false, undefined),
  unanswered: fc.nat(5),
  documents: fc.record({
    failed: fc.nat(12),
    waitingMinutes: fc.nat(40),
    batch: fc.record({ pages: fc.nat(200), fallback: fc.nat(60) }),
    mails: fc.record({ ended: fc.nat(40), unverified: fc.nat(20) }),
    mailWaitingMinutes: fc.nat(40)
  }),
  hooks: fc.record({ off: fc.nat(1), pending: fc.nat(5), dead: fc.nat(1), oldestSeconds: fc.nat(600) }),
  queue: fc.record({ oldestDueMs: fc.nat(400_000), setAside: fc.nat(2), givenUp: fc.nat(2) })
})

/** Ticks, one to twenty minutes apart. */
const story = fc.array(fc.tuple(counts, fc.integer({ min: 1, max: 20 })), { maxLength: 60 }).map((ticks) => {
  let at = 0
  return ticks.map(([measures, minutes]): Measures => ({ ...measures, at: (at += minutes * 60_000) }))
})

describe("any story", () => {
  it("tells each episode's beginning once and then its end once, fifteen calm minutes later at the earliest", () => {
    fc.assert(
      fc.property(story, (ticks) => {
        const table = { ...quiet }
        const reported: Record<string, Array<{ kind: string; episode: number; at: number }>> = {}
        const calmSince = new Map<AlarmName, number>()
        for (const measures of ticks) {
          for (const name of ALARMS) {
            const { level } = judge(name, measures)
            if (level !== "calm") calmSince.delete(name)
            else if (!calmSince.has(name)) calmSince.set(name, measures.at)
          }
          for (const change of evaluate(table, measures)) {
            expect(change.from).toEqual(table[change.name])
            table[change.name] = change.to
            if (change.notice === undefined) continue
            const { level } = judge(change.name, measures)
            expect(level).toBe(change.notice === "begun" ? "bad" : "calm")
            if (change.notice === "ended") {
              assert.isAtLeast(measures.at - calmSince.get(change.name)!, CALM_MS)
            }
            const all = (reported[change.name] ??= [])
            all.push({ kind: change.notice, episode: change.to.episode, at: measures.at })
          }
          for (const name of ALARMS) {
            // Everything bad now has been reported, and so has everything that was calm for long.
            const { level } = judge(name, measures)
            if (level === "bad") assert.isTrue(table[name].firing)
            const calm = calmSince.get(name)
            if (calm !== undefined && measures.at - calm >= CALM_MS) assert.isFalse(table[name].firing)
          }
        }
        for (const [name, all] of Object.entries(reported)) {
          all.forEach(({ episode, kind }, index) => {
            expect([name, kind, episode]).toEqual([
              name,
              index % 2 === 0 ? "begun" : "ended",
              (index >> 1) + 1
            ])
          })
        }
      }),
      { numRuns: 300 }
    )
  })

  it("that the same tick reports twice changes nothing the second time", () => {
    fc.assert(
      fc.property(story, (ticks) => {
        const table = { ...quiet }
        for (const measures of ticks) {
          for (const { name, to } of evaluate(table, measures)) table[name] = to
          expect(evaluate(table, measures)).toEqual([])
        }
      })
    )
  })
})
