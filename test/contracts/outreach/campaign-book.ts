/**
 * `CampaignBook` and `Unsubscribes`: events in any order end in the same tables, a mail begins once, and who unsubscribed gets
 * none.
 *
 * Adapters: memory, postgres. Rules: R3, EVENT-70.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"

import {
  type CampaignSendStatus,
  CAMPAIGN_SEND_STATUSES,
  furtherSend,
  type ProspectStatus
} from "../../../src/domain/outreach/campaign-status.ts"
import {
  CampaignBook,
  type CampaignEvent,
  type OutreachEnd,
  Unsubscribes
} from "../../../src/ports/outreach/campaign-book.ts"

/** What the tables hold; times in milliseconds since the epoch. */
export interface CampaignTables {
  readonly sends: ReadonlyArray<{
    readonly email: string | null
    readonly campaign: string | null
    readonly providerMessageId: string | null
    readonly status: CampaignSendStatus
    readonly opens: number
    readonly clicks: number
    readonly openedAt: number | null
    readonly clickedAt: number | null
    readonly bouncedAt: number | null
    readonly complainedAt: number | null
  }>
  readonly prospects: Readonly<Record<string, ProspectStatus>>
  readonly unsubscribed: Readonly<Record<string, string>>
}

/** A book with its tables in sight. */
export interface CampaignWorld {
  readonly tables: Effect.Effect<CampaignTables>
  readonly clear: Effect.Effect<void>
  /** Writes down in the send log how the deferral under a key stands. */
  readonly deferral: (key: string, end: "deferred" | "sent" | "failed" | "suppressed") => Effect.Effect<void>
  /** What somebody does by hand: takes an address back into outreach. */
  readonly resubscribe: (email: string) => Effect.Effect<void>
}

const BASE = Date.parse("2026-01-02T03:04:05Z")

export const campaignEvent = (changes: Partial<CampaignEvent> = {}): CampaignEvent => ({
  providerMessageId: "m-1",
  event: "sent",
  occurredAt: BASE,
  eventId: "e-1",
  sendId: undefined,
  campaign: "spring",
  subject: "Hello",
  recipients: ["a@x.test"],
  affected: ["a@x.test"],
  ...changes
})

const entry = { email: "a@x.test", name: undefined, campaign: "spring", subject: "s", idempotencyKey: "k" }
const end = (id: string, changes: Partial<OutreachEnd> = {}): OutreachEnd => ({
  id,
  outcome: "sent",
  providerMessageId: "m-1",
  error: null,
  errorKind: null,
  ...changes
})

const NAMES = [
  "sent",
  "delivery_delayed",
  "delivered",
  "opened",
  "clicked",
  "failed",
  "bounced",
  "complained",
  "bounce_transient",
  "scheduled"
]

/** A handful of events of two messages to two people, each once or several times. */
const events = fc.array(
  fc
    .record({
      message: fc.constantFrom("m-1", "m-2"),
      event: fc.constantFrom(...NAMES),
      minute: fc.integer({ min: 0, max: 4 }),
      copies: fc.integer({ min: 1, max: 3 })
    })
    .map(({ copies, event, message, minute }) => ({
      copies,
      event: campaignEvent({
        providerMessageId: message,
        event,
        occurredAt: BASE + minute * 60_000,
        recipients: [message === "m-1" ? "a@x.test" : "b@x.test"],
        affected: [message === "m-1" ? "a@x.test" : "b@x.test"]
      })
    })),
  { minLength: 1, maxLength: 10 }
)

/** What every book of campaigns does. `runs`: of the property. */
export const suite = (
  name: string,
  runs: number,
  run: <A, E>(
    body: (world: CampaignWorld) => Effect.Effect<A, E, CampaignBook | Unsubscribes>
  ) => Effect.Effect<A, E>
) =>
  describe(`campaign book: ${name}`, () => {
    const test = (
      title: string,
      body: (world: CampaignWorld) => Effect.Effect<void, unknown, CampaignBook | Unsubscribes>
    ) => it.live(title, () => run((world) => Effect.andThen(world.clear, body(world))))

    const record = (event: CampaignEvent) => CampaignBook.use((book) => book.record(event))
    const begin = CampaignBook.use((book) => book.begin(entry))
    const finish = (one: OutreachEnd) => CampaignBook.use((book) => book.finish(one))
    const begun = Effect.map(begin, (result) =>
      result._tag === "Begun" ? result.id : assert.fail(result._tag)
    )

    it.live(
      "the same events in any order, any number of times, from several at once, end in the same tables",
      () =>
        run((world) =>
          Effect.promise(() =>
            fc.assert(
              fc.asyncProperty(
                events.chain((all) =>
                  fc.tuple(
                    fc.constant(all),
                    fc.shuffledSubarray(
                      all.flatMap(({ copies, event }) => Array.from({ length: copies }, () => event)),
                      { minLength: all.reduce((sum, { copies }) => sum + copies, 0) }
                    ),
                    fc.boolean()
                  )
                ),
                ([all, shuffled, atOnce]) =>
                  Effect.runPromise(
                    run(() =>
                      Effect.gen(function* () {
                        yield* world.clear
                        for (const { event } of all) yield* record(event)
                        const expected = yield* world.tables
                        yield* world.clear
                        yield* Effect.forEach(shuffled, record, {
                          concurrency: atOnce ? "unbounded" : 1
                        })
                        assert.deepStrictEqual(yield* world.tables, expected)
                        for (const { event } of all) assert.isFalse(yield* record(event))
                        assert.deepStrictEqual(yield* world.tables, expected)
                        for (const { opens, providerMessageId, status } of expected.sends) {
                          const own = all.map(({ event }) => event)
                          const of = own.filter((one) => one.providerMessageId === providerMessageId)
                          const reached = CAMPAIGN_SEND_STATUSES.filter((known) =>
                            of.some(({ event }) => event === known)
                          )
                          assert.strictEqual(status, reached.reduce(furtherSend, "queued"))
                          assert.strictEqual(
                            opens,
                            new Set(
                              of.flatMap(({ event, occurredAt }) => (event === "opened" ? [occurredAt] : []))
                            ).size
                          )
                        }
                      })
                    )
                  )
              ),
              { numRuns: runs }
            )
          )
        )
    )

    test("a send's row takes its events by tag, before and after the library knows the message", (world) =>
      Effect.gen(function* () {
        const id = yield* begun
        yield* record(campaignEvent({ event: "opened", sendId: id, occurredAt: BASE + 1 }))
        yield* finish(end(id))
        yield* finish(end(id))
        yield* record(campaignEvent({ event: "delivered" }))
        const { sends } = yield* world.tables
        assert.deepStrictEqual(
          sends.map((row) => [row.status, row.providerMessageId, row.opens, row.openedAt, row.campaign]),
          [["opened", "m-1", 1, BASE + 1, "spring"]]
        )
      }))

    test("a row that an early event made without the tag becomes part of the send's", (world) =>
      Effect.gen(function* () {
        const id = yield* begun
        yield* record(campaignEvent({ event: "delivered" }))
        assert.lengthOf((yield* world.tables).sends, 2)
        yield* finish(end(id))
        const { sends } = yield* world.tables
        assert.deepStrictEqual(
          sends.map(({ providerMessageId, status }) => [status, providerMessageId]),
          [["delivered", "m-1"]]
        )
      }))

    test("a tag names the row of its send until that has a message; another message gets a row of its own", (world) =>
      Effect.gen(function* () {
        const id = yield* begun
        yield* record(campaignEvent({ event: "opened", sendId: id }))
        yield* record(campaignEvent({ event: "clicked", sendId: id, providerMessageId: "m-2" }))
        const { sends } = yield* world.tables
        assert.deepStrictEqual(
          sends.map(({ providerMessageId, status }) => [providerMessageId, status]),
          [
            ["m-1", "opened"],
            ["m-2", "clicked"]
          ]
        )
      }))

    test("a complaint unsubscribes, a bounce does not; neither comes back after it was lifted", (world) =>
      Effect.gen(function* () {
        const bounce = campaignEvent({ event: "bounced", providerMessageId: "m-2", affected: ["b@x.test"] })
        const complaint = campaignEvent({ event: "complained" })
        yield* record(bounce)
        yield* record(complaint)
        const { prospects, unsubscribed } = yield* world.tables
        assert.deepStrictEqual(unsubscribed, { "a@x.test": "complaint" })
        assert.deepStrictEqual([prospects["a@x.test"], prospects["b@x.test"]], ["complained", "bounced"])
        assert.strictEqual((yield* begin)._tag, "Unsubscribed")
        yield* world.resubscribe("a@x.test")
        yield* record(complaint)
        assert.deepStrictEqual((yield* world.tables).unsubscribed, {})
        assert.strictEqual((yield* begin)._tag, "Begun")
      }))

    test("an unsubscribed prospect gets nothing, however often; it is recorded once", (world) =>
      Effect.gen(function* () {
        const unsubscribes = yield* Unsubscribes
        yield* begin
        const add = unsubscribes.add({ email: "a@x.test", campaign: "spring" })
        yield* Effect.all(
          Array.from({ length: 8 }, () => add),
          { concurrency: "unbounded" }
        )
        yield* unsubscribes.add({ email: "stranger@x.test", campaign: "spring" })
        const { prospects, unsubscribed } = yield* world.tables
        assert.deepStrictEqual(unsubscribed, { "a@x.test": "one_click", "stranger@x.test": "one_click" })
        assert.deepStrictEqual(prospects, { "a@x.test": "unsubscribed" })
        assert.strictEqual((yield* begin)._tag, "Unsubscribed")
        const book = yield* CampaignBook
        const stranger = { ...entry, email: "stranger@x.test", idempotencyKey: "other" }
        assert.strictEqual((yield* book.begin(stranger))._tag, "Unsubscribed")
        yield* record(campaignEvent({ event: "bounced" }))
        assert.deepStrictEqual((yield* world.tables).prospects, { "a@x.test": "unsubscribed" })
      }))

    test("the same mail begins once: again only where it surely did not go out, or its end is not known", () =>
      Effect.gen(function* () {
        const all = yield* Effect.all(
          Array.from({ length: 8 }, () => begin),
          {
            concurrency: "unbounded"
          }
        )
        assert.lengthOf(new Set(all.map((one) => (one._tag === "Begun" ? one.id : one._tag))), 1)
        const id = yield* begun
        const none = { providerMessageId: null, error: "e" }
        yield* finish(end(id, { ...none, outcome: "failed", errorKind: "ambiguous" }))
        assert.strictEqual(yield* begun, id)
        yield* finish(end(id, { ...none, outcome: "failed", errorKind: "unavailable" }))
        assert.strictEqual(yield* begun, id)
        yield* finish(end(id, { ...none, outcome: "failed", errorKind: "rejected" }))
        assert.strictEqual(yield* begun, id)
        yield* finish(end(id, { ...none, outcome: "suppressed" }))
        assert.strictEqual(yield* begun, id)
        yield* finish(end(id))
        assert.deepStrictEqual(yield* begin, {
          _tag: "Settled",
          id,
          status: "sent",
          providerMessageId: "m-1"
        })
      }))

    test("a deferral is settled by its end, and begins again under a new key only where that was no mail (R3)", (world) =>
      Effect.gen(function* () {
        const book = yield* CampaignBook
        const status = Effect.map(world.tables, ({ sends }) => sends.map((row) => row.status))
        const deferred = { outcome: "deferred", providerMessageId: null } as const
        const id = yield* begun
        yield* world.deferral("k", "deferred")
        yield* finish(end(id, deferred))
        assert.strictEqual(yield* book.settle, 0)
        assert.deepInclude(yield* begin, { _tag: "Settled", status: "deferred" })

        yield* world.deferral("k", "failed")
        assert.strictEqual(yield* book.settle, 1)
        assert.strictEqual(yield* book.settle, 0)
        assert.deepStrictEqual(yield* status, ["failed"])
        assert.deepStrictEqual(yield* begin, { _tag: "Begun", id, mailKey: "k/2" })

        // Asked for again before anybody settled it.
        yield* world.deferral("k/2", "deferred")
        yield* finish(end(id, deferred))
        yield* world.deferral("k/2", "suppressed")
        assert.deepStrictEqual(yield* begin, { _tag: "Begun", id, mailKey: "k/3" })

        yield* world.deferral("k/3", "deferred")
        yield* finish(end(id, deferred))
        yield* world.deferral("k/3", "sent")
        assert.deepInclude(yield* begin, { _tag: "Settled", status: "sent" })
        assert.strictEqual(yield* book.settle, 0)
        assert.deepStrictEqual(yield* status, ["sent"])
      }))

    test("only a deferral is settled, and only its end, not why it was deferred, begins it again", (world) =>
      Effect.gen(function* () {
        const book = yield* CampaignBook
        const id = yield* begun
        yield* finish(end(id, { outcome: "deferred", providerMessageId: null, errorKind: "unavailable" }))
        yield* world.deferral("k", "deferred")
        assert.deepInclude(yield* begin, { _tag: "Settled", status: "deferred" })
        yield* record(campaignEvent({ event: "opened", sendId: id }))
        yield* world.deferral("k", "failed")
        assert.strictEqual(yield* book.settle, 0)
        assert.deepInclude(yield* begin, { _tag: "Settled", status: "opened" })
      }))

    test("an event about several people marks those that it names", (world) =>
      Effect.gen(function* () {
        const recipients = ["a@x.test", "b@x.test"]
        yield* record(campaignEvent({ event: "bounced", recipients, affected: ["b@x.test"] }))
        assert.deepStrictEqual((yield* world.tables).prospects, { "b@x.test": "bounced" })
      }))

    test("two events without a time are distinguished by the bus's id", (world) =>
      Effect.gen(function* () {
        const opened = (eventId: string) =>
          record(campaignEvent({ event: "opened", occurredAt: undefined, eventId }))
        assert.deepStrictEqual(yield* Effect.all([opened("e-1"), opened("e-2"), opened("e-1")]), [
          true,
          true,
          false
        ])
        assert.strictEqual((yield* world.tables).sends[0]?.opens, 2)
      }))
  })
