import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Logger, type Scope } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"

import * as MemoryLog from "../../../src/adapters/memory/delivery/delivery-log.ts"
import * as MemoryPollLog from "../../../src/adapters/memory/delivery/event-poll.ts"
import { makeMailDatabase } from "../../../src/adapters/memory/mail/mail-store.ts"
import { Alerts, type AlertOutcome } from "../../../src/application/delivery/alerts.ts"
import { EventRecording, layer as layerRecording } from "../../../src/application/delivery/event-recording.ts"
import { EventPoll, layer as layerPoll } from "../../../src/application/delivery/poll.ts"
import { ListFailure, SentMails } from "../../../src/ports/delivery/event-poll.ts"
import { deliveryEvent } from "../../contracts/delivery/delivery-log.ts"
import { type Account, makeAccount } from "../../support/vendors/sent-mail-account.ts"

const HOUR = 3_600_000

/** An account, a log and a poll between them. */
const makeWorld = Effect.fnUntraced(function* (account: Account = makeAccount()) {
  const database = makeMailDatabase()
  const alerted: Array<string> = []
  const channel: { delivery: AlertOutcome["delivery"] } = { delivery: "delivered" }
  const alerts = Layer.mock(Alerts, {
    raise: ({ providerMessageId }) =>
      Effect.sync(() => {
        alerted.push(providerMessageId)
        return { delivery: channel.delivery, escalated: undefined }
      })
  })
  const context = yield* Layer.build(
    layerPoll({ pause: 0 }).pipe(
      Layer.provide([Layer.succeed(SentMails, account.service), MemoryPollLog.layer(database)]),
      Layer.provideMerge(layerRecording),
      Layer.provide([MemoryLog.layer(database), alerts]),
      Layer.fresh
    )
  )
  const provided = Effect.provideContext(context)
  return {
    account,
    database,
    alerted,
    channel,
    run: provided(EventPoll.use(({ run }) => run)),
    webhook: (id: string, event: string, bounceType?: string) =>
      provided(
        Effect.gen(function* () {
          const { record } = yield* EventRecording
          const occurredAt = yield* Clock.currentTimeMillis
          const recipients = [`${id}@x.test`]
          const named = { providerMessageId: id, event, occurredAt, bounceType, recipients }
          yield* record(deliveryEvent(named))
        })
      ),
    events: () =>
      Object.fromEntries(database.rows().map((row) => [row.providerMessageId, row.lastEvent] as const))
  }
})

const test = <E>(name: string, body: Effect.Effect<void, E, Scope.Scope>) =>
  it.effect(name, () => Effect.provide(body, Logger.layer([])))

const started = Effect.andThen(TestClock.adjust(100 * HOUR), Clock.currentTimeMillis)

describe("the poll of provider_a", () => {
  test(
    "records what is new or changed, once, and alerts once with the webhook (A1)",
    Effect.gen(function* () {
      const now = yield* started
      const { account, alerted, database, run, webhook } = yield* makeWorld()
      account.send("m-1", now, "delivered")
      account.send("m-2", now, "bounced")
      assert.deepStrictEqual(yield* run, {
        truncated: false,
        pages: 1,
        seen: 2,
        recorded: 2,
        backfilled: 0,
        alerts: 1,
        alertsFailed: 0
      })
      const rows = database.rows()
      assert.deepStrictEqual([(yield* run).recorded, database.rows()], [0, rows])
      yield* webhook("m-2", "bounced", "Permanent")
      assert.deepStrictEqual(alerted, ["m-2"])
      assert.deepStrictEqual(database.suppressions(), [{ email: "m-2@x.test", reason: "hard_bounce" }])
      account.move("m-1", "complained")
      assert.deepStrictEqual((yield* run).recorded, 1)
      assert.deepStrictEqual(alerted, ["m-2", "m-1"])
    })
  )

  test(
    "suppresses on a complaint to one recipient, and never on a bounce (P1)",
    Effect.gen(function* () {
      const now = yield* started
      const { account, database, run } = yield* makeWorld()
      account.send("bounced", now, "bounced")
      account.send("one", now, "complained")
      account.send("two", now, "complained")
      account.mails[2] = { ...account.mails[2]!, recipients: ["b@x.test", "c@x.test"] }
      yield* run
      assert.deepStrictEqual(database.suppressions(), [{ email: "one@x.test", reason: "complaint" }])
    })
  )

  test(
    "never alerts about mail from before logging began, then or later",
    Effect.gen(function* () {
      const now = yield* started
      const { account, alerted, channel, database, run, webhook } = yield* makeWorld()
      channel.delivery = "failed"
      account.send("old", now - 3 * HOUR, "bounced")
      account.send("old and fine", now - 3 * HOUR, "delivered")
      account.send("recent", now - HOUR, "bounced")
      const first = yield* run
      assert.deepStrictEqual([first.backfilled, first.alertsFailed, alerted], [2, 1, ["recent"]])
      channel.delivery = "delivered"
      account.move("old and fine", "complained")
      yield* webhook("old", "bounced")
      yield* run
      assert.deepStrictEqual(alerted, ["recent", "recent"])
      assert.deepStrictEqual(database.suppressions(), [{ email: "old and fine@x.test", reason: "complaint" }])
      yield* TestClock.adjust(5 * HOUR)
      account.send("since", now + HOUR, "bounced")
      yield* run
      assert.deepStrictEqual(alerted, ["recent", "recent", "since"])
    })
  )

  test(
    "raises an alert again that found no channel, until one takes it",
    Effect.gen(function* () {
      const now = yield* started
      const { account, alerted, channel, run } = yield* makeWorld()
      account.send("m-1", now, "failed")
      for (const delivery of ["unconfigured", "failed"] as const) {
        channel.delivery = delivery
        assert.strictEqual((yield* run).alertsFailed, 1)
      }
      channel.delivery = "delivered"
      assert.strictEqual((yield* run).alerts, 1)
      assert.deepStrictEqual([(yield* run).recorded, alerted.length], [0, 3])
    })
  )

  test(
    "reads five pages, says that mails are left, and goes on with them",
    Effect.gen(function* () {
      const now = yield* started
      const { account, database, run } = yield* makeWorld()
      // All of one moment: no time tells them apart.
      for (let index = 0; index < 1_250; index += 1) account.send(`m-${index}`, now)
      const first = yield* run
      assert.deepStrictEqual([first.truncated, first.pages, first.seen, first.recorded], [true, 5, 500, 500])
      account.send("new", now)
      const second = yield* run
      assert.deepStrictEqual([second.truncated, second.recorded], [true, 401])
      const third = yield* run
      assert.deepStrictEqual([third.truncated, third.recorded], [false, 350])
      assert.strictEqual(database.rows().length, 1_251)
    })
  )

  test(
    "does not walk the years before logging began: says that more remain, and goes on with what is new",
    Effect.gen(function* () {
      const now = yield* started
      const { account, alerted, database, run } = yield* makeWorld()
      for (let index = 0; index < 5_000; index += 1) account.send(`old-${index}`, now - 3 * HOUR, "bounced")
      account.send("new", now, "bounced")
      const first = yield* run
      assert.deepStrictEqual([first.truncated, first.pages, first.recorded], [true, 5, 500])
      assert.deepStrictEqual(alerted, ["new"])
      account.send("newer", now)
      const second = yield* run
      assert.deepStrictEqual([second.truncated, second.recorded], [false, 1])
      assert.strictEqual(database.rows().length, 501)
    })
  )

  test(
    "walks to where logging began, however long that takes, and no further",
    Effect.gen(function* () {
      const now = yield* started
      const { account, database, run } = yield* makeWorld()
      for (let index = 0; index < 2_000; index += 1) account.send(`old-${index}`, now - 3 * HOUR)
      for (let index = 0; index < 1_200; index += 1) account.send(`new-${index}`, now - HOUR / 2)
      for (const truncated of [true, true, false]) {
        assert.strictEqual((yield* run).truncated, truncated)
        // By then the mails of the first run's last hour are older than the log's own first row.
        yield* TestClock.adjust(2 * HOUR)
      }
      const recorded = new Set(database.rows().map(({ providerMessageId }) => providerMessageId))
      assert.deepStrictEqual(
        Array.from({ length: 1_200 }, (_, index) => `new-${index}`).filter((id) => !recorded.has(id)),
        []
      )
      assert.isBelow(recorded.size, 1_400)
    })
  )

  test(
    "keeps the end of an earlier gap where the newest mails leave another",
    Effect.gen(function* () {
      const now = yield* started
      const { account, database, run } = yield* makeWorld()
      for (let round = 0; round < 2; round += 1) {
        for (let index = 0; index < 700; index += 1) account.send(`m-${round}-${index}`, now + round)
        assert.isTrue((yield* run).truncated)
      }
      let rounds = 0
      while ((yield* run).truncated) rounds += 1
      assert.isBelow(rounds, 5)
      assert.strictEqual(database.rows().length, 1_400)
    })
  )

  test(
    "starts its gap anew where the mail that it had reached is gone from the list",
    Effect.gen(function* () {
      const now = yield* started
      const { account, database, run } = yield* makeWorld()
      for (let index = 0; index < 600; index += 1) account.send(`m-${index}`, now + index)
      assert.isTrue((yield* run).truncated)
      account.forget("m-100")
      assert.isTrue((yield* run).truncated)
      assert.isFalse((yield* run).truncated)
      assert.strictEqual(database.rows().length, 600)
    })
  )

  test(
    "does not take mails for read because they are older than what it read: only those that the log knows",
    Effect.gen(function* () {
      const now = yield* started
      const { account, database, run } = yield* makeWorld()
      account.send("newest", now)
      assert.isFalse((yield* run).truncated)
      account.forget("newest")
      for (let index = 0; index < 620; index += 1) account.send(`m-${index}`, now - 1000 + index)
      const { pages, seen, truncated } = yield* run
      assert.deepStrictEqual([pages, seen, truncated], [5, 500, true])
      assert.isFalse((yield* run).truncated)
      assert.strictEqual(database.rows().length, 621)
    })
  )

  test(
    "waits as long as the provider asks, retries, and gives up on a longer time",
    Effect.gen(function* () {
      const now = yield* started
      const { account, run } = yield* makeWorld()
      account.send("m-1", now)
      const throttled = (retryAfterMs?: number) =>
        new ListFailure({ kind: "throttled", message: "slow down", retryAfterMs })
      account.fail([throttled(7_000), throttled()])
      const waiting = yield* Effect.forkChild(run, { startImmediately: true })
      yield* TestClock.adjust("6999 millis")
      assert.strictEqual(account.asked(), 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(account.asked(), 2)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(waiting)).seen, 1)

      account.fail([throttled(60_000)])
      const { cause, counts } = yield* Effect.flip(run)
      assert.deepStrictEqual([cause._tag === "ListFailure" && cause.kind, counts.pages], ["throttled", 0])
    })
  )

  test(
    "bounds each answer, tries a silent list three times, and a refusal once",
    Effect.gen(function* () {
      yield* started
      const { account, run } = yield* makeWorld()
      account.fail(["hang", "hang", "hang"])
      const waiting = yield* Effect.forkChild(Effect.flip(run), { startImmediately: true })
      yield* TestClock.adjust("47 seconds")
      const { cause } = yield* Fiber.join(waiting)
      assert.strictEqual(cause._tag === "ListFailure" && cause.kind, "unavailable")
      assert.strictEqual(account.asked(), 3)
      account.fail([new ListFailure({ kind: "refused", message: "no" })])
      yield* Effect.flip(run)
      assert.strictEqual(account.asked(), 4)
    })
  )

  test(
    "keeps what it recorded when it breaks off between two pages, and changes nothing twice",
    Effect.gen(function* () {
      const now = yield* started
      const { account, alerted, database, run } = yield* makeWorld()
      for (let index = 0; index < 300; index += 1) account.send(`m-${index}`, now, "bounced")
      account.fail([undefined, undefined, new ListFailure({ kind: "refused", message: "no" })])
      const { counts } = yield* Effect.flip(run)
      assert.deepStrictEqual([counts.pages, counts.recorded, counts.alerts], [2, 200, 200])
      const rows = database.rows()
      const again = yield* run
      assert.deepStrictEqual([again.recorded, again.alerts, again.truncated], [100, 100, false])
      assert.deepStrictEqual(database.rows().slice(0, 200), rows)
      assert.strictEqual(new Set(alerted).size, alerted.length)
    })
  )

  it("lets no mail fall between two runs, however many come and whichever are gone", async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("send" as const), count: fc.integer({ min: 1, max: 60 }) }),
      fc.record({
        kind: fc.constant("poll" as const),
        breaksAt: fc.option(fc.nat(4), { nil: undefined, freq: 1 })
      }),
      fc.record({ kind: fc.constant("forget" as const), at: fc.nat(1000) })
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.boolean(), (steps, sameTime) =>
        Effect.runPromise(
          Effect.gen(function* () {
            const now = yield* started
            const { account, database, run } = yield* makeWorld(makeAccount(3))
            let sent = 0
            for (const one of steps) {
              if (one.kind === "send") {
                for (let left = one.count; left > 0; left -= 1) {
                  account.send(`m-${sent}`, sameTime ? now : now + sent)
                  sent += 1
                }
              } else if (one.kind === "forget") {
                account.forget(account.mails[one.at % Math.max(1, account.mails.length)]?.id ?? "")
              } else {
                const { breaksAt } = one
                if (breaksAt !== undefined) {
                  const failure = new ListFailure({ kind: "refused", message: "no" })
                  account.fail([...Array.from({ length: breaksAt }, () => undefined), failure])
                }
                const { pages } = yield* run.pipe(Effect.catch(({ counts }) => Effect.succeed(counts)))
                assert.isAtMost(pages, 5)
                account.fail([])
              }
            }
            let rounds = 0
            while ((yield* run).truncated) {
              rounds += 1
              assert.isBelow(rounds, sent + 2)
            }
            const recorded = new Set(database.rows().map(({ providerMessageId }) => providerMessageId))
            assert.deepStrictEqual(
              account.mails.filter(({ id }) => !recorded.has(id)),
              []
            )
          }).pipe(Effect.scoped, Effect.provide([TestClock.layer(), Logger.layer([])]))
        )
      ),
      { numRuns: 60 }
    )
  })

  it("ends like the webhook, in whatever order both tell (L3, A1)", async () => {
    const history = ["sent", "delivered", "opened", "bounced"] as const
    const how = fc.array(fc.constantFrom("poll" as const, "webhook" as const, "both" as const), {
      minLength: history.length,
      maxLength: history.length
    })
    await fc.assert(
      fc.asyncProperty(how, fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 }), (sources, late) =>
        Effect.runPromise(
          Effect.gen(function* () {
            const now = yield* started
            const { account, alerted, database, events, run, webhook } = yield* makeWorld()
            account.send("m-1", now)
            for (const [index, event] of history.entries()) {
              yield* TestClock.adjust(1_000)
              account.move("m-1", event)
              if (sources[index] !== "poll") yield* webhook("m-1", event)
              if (sources[index] !== "webhook") yield* run
            }
            yield* run
            const [row] = database.rows()
            assert.deepStrictEqual(
              [events(), row?.status, alerted],
              [{ "m-1": "bounced" }, "bounced", ["m-1"]]
            )
            // What comes late and again moves neither the status nor the alert.
            for (const index of late) yield* webhook("m-1", history[index]!)
            yield* run
            yield* run
            assert.deepStrictEqual([database.rows()[0]?.status, alerted], ["bounced", ["m-1"]])
          }).pipe(Effect.scoped, Effect.provide([TestClock.layer(), Logger.layer([])]))
        )
      ),
      { numRuns: 60 }
    )
  })
})
