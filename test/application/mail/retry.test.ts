import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"

import { type DeferredSend, tagOf } from "../../../src/domain/mail/deferred-send.ts"
import type { SendRequest } from "../../../src/domain/mail/message.ts"
import type { Provider } from "../../../src/domain/mail/provider.ts"
import type { StoreUnavailable } from "../../../src/ports/store-unavailable.ts"
import { anyId } from "../../support/any-id.ts"
import { clockAhead } from "../../support/later.ts"
import { storeDown, storeRefuses } from "../../support/worlds/store-down.ts"
import { mail, makeHarness } from "./harness.ts"

/** A world in which one send was ambiguous, and the message that waits for it. */
const deferred = Effect.fnUntraced(function* (
  options: Parameters<typeof makeHarness>[0] & {
    readonly request?: Partial<SendRequest>
    readonly lost?: boolean
  } = {}
) {
  const world = yield* makeHarness(options)
  const provider: Provider = options.primary ?? "provider_a"
  world.scripts[provider].push(options.lost === true ? "ambiguous-lost" : "ambiguous-accepted")
  yield* world.send(mail(options.request))
  const [message] = yield* world.queued
  return { ...world, message: message! }
})

const statuses = (world: {
  readonly database: { readonly rows: () => ReadonlyArray<{ readonly status: string }> }
}) => world.database.rows().map((row) => row.status)

const successor = (queued: ReadonlyArray<DeferredSend>, attempt: number) =>
  queued.find((message) => message.attempt === attempt)

/** Fifteen minutes from the test clock's beginning: as long as a sign-in link works. */
const LINK_EXPIRES = new Date(15 * 60_000).toISOString()

describe("the row of a retry", () => {
  it.effect("MAIL-74: has its own attempt, and the time of the next retry", () =>
    Effect.gen(function* () {
      const world = yield* deferred({ lost: true })
      world.scripts.provider_a.push("ambiguous-lost")
      yield* TestClock.adjust("2 minutes")
      yield* world.retry(world.message)
      const row = world.database.rows().at(-1)
      assert.deepStrictEqual(
        row?.attempts.map(({ outcome, provider, startedAt }) => [provider, outcome, startedAt]),
        [["provider_a", "ambiguous", 120_000]]
      )
      assert.strictEqual(row?.retryAt, 120_000 + 600_000)
      yield* TestClock.adjust("10 minutes")
      yield* world.retry(successor(yield* world.queued, 2)!)
      assert.deepInclude(world.database.rows().at(-1), { status: "sent", retryAt: null })
    })
  )
})

describe("a call that is repeated after a deferral", () => {
  it.effect("S9: is answered how the mail ended", () =>
    Effect.gen(function* () {
      const request = { idempotencyKey: "k" }
      const sentLater = yield* deferred({ lost: true, request })
      assert.deepInclude(yield* sentLater.send(mail(request)), { ok: true, status: "deferred" })
      yield* sentLater.retry(sentLater.message)
      const accepted = sentLater.database.rows().at(-1)
      assert.deepInclude(yield* sentLater.send(mail(request)), {
        ok: true,
        status: "sent",
        sendId: accepted!.id,
        providerMessageId: accepted!.providerMessageId
      })

      const refused = yield* deferred({ primary: "provider_b", lost: true, request })
      refused.scripts.provider_b.push("rejected")
      yield* refused.retry(refused.message)
      assert.deepInclude(yield* refused.send(mail(request)), {
        ok: false,
        status: "failed",
        kind: "ambiguous",
        sendId: refused.database.rows().at(-1)!.id,
        idempotencyKey: "k"
      })
      assert.strictEqual((yield* refused.received).provider_b, 2)

      const settled = yield* deferred({ primary: "provider_b", request })
      const [row] = settled.database.rows()
      yield* settled.database.recordEvent({
        provider: "provider_b",
        providerMessageId: "m-1",
        event: "delivered",
        keyTag: row?.keyTag ?? undefined
      })
      assert.deepInclude(yield* settled.send(mail(request)), {
        ok: true,
        status: "sent",
        sendId: row!.id,
        providerMessageId: "m-1"
      })
    })
  )
})

describe("a retry of a mail that expires", () => {
  it.effect("D1: goes out while the mail is of use; the one that would come later is given up at once", () =>
    Effect.gen(function* () {
      const world = yield* deferred({ lost: true, request: { expiresAt: LINK_EXPIRES } })
      world.scripts.provider_a.push("ambiguous-lost", "ambiguous-lost")
      yield* TestClock.adjust("2 minutes")
      yield* world.retry(world.message)
      yield* TestClock.adjust("10 minutes")
      yield* world.retry(successor(yield* world.queued, 2)!)
      assert.strictEqual((yield* world.received).provider_a, 3)
      assert.isUndefined(successor(yield* world.queued, 3))
      const last = world.database.rows().at(-1)
      assert.deepInclude(last, { status: "failed", errorKind: "ambiguous" })
      assert.match(last?.error ?? "", /expires before its next retry/)
    })
  )

  it.effect("D1 S2: that comes too late ends failed, ambiguous, and asks no provider", () =>
    Effect.gen(function* () {
      const world = yield* deferred({ lost: true, request: { expiresAt: LINK_EXPIRES } })
      yield* TestClock.adjust("15 minutes")
      yield* world.retry(world.message)
      assert.strictEqual((yield* world.received).provider_a, 1)
      const last = world.database.rows().at(-1)
      assert.deepInclude(last, { status: "failed", errorKind: "ambiguous" })
      assert.match(last?.error ?? "", /expired before its retry/)
    })
  )

  it.effect("S5: is not promised where the mail expires before the first one", () =>
    Effect.gen(function* () {
      const world = yield* makeHarness()
      world.scripts.provider_a.push("ambiguous-lost")
      const result = yield* world.send(mail({ expiresAt: new Date(119_000).toISOString() }))
      assert.deepInclude(result, { ok: false, status: "failed", kind: "ambiguous" })
      assert.deepStrictEqual(yield* world.queued, [])
    })
  )

  it.effect("is no part of the payload: the same key with a later time is the same mail", () =>
    Effect.gen(function* () {
      const world = yield* makeHarness()
      const send = (expiresAt: string) => world.send(mail({ idempotencyKey: "k", expiresAt }))
      const first = yield* send(LINK_EXPIRES)
      assert.deepStrictEqual(yield* send(new Date(16 * 60_000).toISOString()), first)
      assert.strictEqual((yield* Effect.flip(send("tomorrow")))._tag, "InvalidRequest")
    })
  )
})

describe("a retry of mail to a person who was erased meanwhile", () => {
  it.effect.each(["provider_a", "provider_b"] as const)(
    "MAIL-66: by %s: looks before it sends, ends suppressed, and writes nobody's name",
    (primary) =>
      Effect.gen(function* () {
        const world = yield* deferred({ lost: true, primary })
        yield* world.database.erase("a@x.test")
        yield* world.retry(world.message)
        assert.strictEqual((yield* world.received)[primary], 1)
        assert.deepStrictEqual(statuses(world), ["deferred", "suppressed"])
        const last = world.database.rows().at(-1)
        assert.deepInclude(last, { to: ["erased:a@x.test"], subject: null })
        assert.match(last?.error ?? "", /^Recipient suppressed: erased/)
      })
  )

  it.effect("MAIL-66: goes to the others", () =>
    Effect.gen(function* () {
      const world = yield* deferred({ lost: true, request: { to: ["a@x.test", "b@x.test"] } })
      yield* world.database.erase("a@x.test")
      yield* world.retry(world.message)
      const [copy] = yield* world.providers.provider_a.copies
      assert.notInclude(JSON.stringify(copy), "a@x.test")
      assert.deepInclude(world.database.rows().at(-1), { status: "sent", to: ["b@x.test"] })
    })
  )
})

describe("a retry of marketing mail", () => {
  it.effect("MAIL-65: does not reach who unsubscribed meanwhile; other mail does", () =>
    Effect.gen(function* () {
      const ended = Effect.fnUntraced(function* (category: "marketing" | "notification") {
        const world = yield* deferred({ lost: true, request: { category } })
        world.database.unsubscribe("a@x.test")
        yield* world.retry(world.message)
        return statuses(world)
      })
      assert.deepStrictEqual(yield* ended("marketing"), ["deferred", "suppressed"])
      assert.deepStrictEqual(yield* ended("notification"), ["deferred", "sent"])
    })
  )
})

describe("a queued retry", () => {
  it.effect("S1 L1: goes out on the same key and bytes, delivers one copy, and writes a row of its own", () =>
    Effect.gen(function* () {
      const world = yield* deferred({ fallback: "provider_b" })
      yield* world.retry(world.message)
      assert.deepStrictEqual(yield* world.copies, { provider_a: 1, provider_b: 0 })
      assert.deepStrictEqual(statuses(world), ["deferred", "sent"])
      const [first, second] = world.database.rows()
      assert.strictEqual(second?.idempotencyKey, first?.idempotencyKey)
    })
  )

  it.effect("D4: that was recorded sends nothing when its message comes back", () =>
    Effect.gen(function* () {
      const world = yield* deferred({ primary: "provider_b", lost: true })
      yield* world.retry(world.message)
      yield* world.retry(world.message)
      assert.deepStrictEqual(yield* world.copies, { provider_a: 0, provider_b: 1 })
      assert.deepStrictEqual(statuses(world), ["deferred", "sent"])
    })
  )

  it.effect("S4: ends without sending when an event has proven acceptance; the deferred row moves on", () =>
    Effect.gen(function* () {
      const world = yield* deferred({ primary: "provider_b" })
      const keyTag = tagOf(world.message.details)
      yield* world.database.recordEvent({
        provider: "provider_b",
        providerMessageId: "m",
        event: "delivered",
        keyTag
      })
      yield* world.retry(world.message)
      assert.strictEqual((yield* world.received).provider_b, 1)
      assert.deepStrictEqual(statuses(world), ["delivered"])
    })
  )

  for (const outcome of ["ambiguous-lost", "unavailable"] as const) {
    it.effect(`D1 D2: that is ${outcome} waits 10 min, then 15 min, then ends failed, ambiguous`, () =>
      Effect.gen(function* () {
        const world = yield* deferred({ fallback: "provider_b", lost: true })
        world.scripts.provider_a.push(outcome, outcome, outcome)
        yield* world.retry(world.message)
        const second = successor(yield* world.queued, 2)!
        yield* world.retry(second)
        const third = successor(yield* world.queued, 3)!
        yield* world.retry(third)
        assert.deepStrictEqual(statuses(world), ["deferred", "deferred", "deferred", "failed"])
        assert.deepInclude(world.database.rows().at(-1), { errorKind: "ambiguous" })
        assert.match(world.database.rows().at(-1)?.error ?? "", /gave up after 3 retries/)
        assert.strictEqual((yield* world.received).provider_b, 0)
        assert.strictEqual(new Set([world.message.rowId, second.rowId, third.rowId]).size, 3)
      })
    )
  }

  it.effect("S2: that the provider rejects is final, and not reported as certain", () =>
    Effect.gen(function* () {
      const world = yield* deferred({ lost: true })
      world.scripts.provider_a.push("rejected")
      yield* world.retry(world.message)
      assert.deepInclude(world.database.rows().at(-1), { status: "failed", errorKind: "ambiguous" })
      assert.strictEqual((yield* world.queued).length, 1)
    })
  )

  it.effect("queues one successor however often it is handled", () =>
    Effect.gen(function* () {
      const world = yield* deferred({
        lost: true,
        store: (real) => ({ ...real, record: () => Effect.fail(storeRefuses()) })
      })
      world.scripts.provider_a.push("ambiguous-lost", "ambiguous-lost")
      for (const _ of [1, 2]) {
        assert.strictEqual((yield* Effect.flip(world.retry(world.message)))._tag, "StoreUnavailable")
        yield* TestClock.adjust("60 seconds")
      }
      const rowIds = (yield* world.queued).filter(({ attempt }) => attempt === 2).map(({ rowId }) => rowId)
      assert.strictEqual(rowIds.length, 2)
      assert.strictEqual(new Set(rowIds).size, 1)
    })
  )

  for (const away of ["record", "enqueue"] as const) {
    it.effect(`D2: makes one attempt, and waits with its outcome while ${away} fails`, () =>
      Effect.gen(function* () {
        let failures = 0
        const away40s = <A>(call: Effect.Effect<A, StoreUnavailable>) =>
          Effect.suspend(() => (failures-- > 0 ? Effect.fail(storeDown()) : call))
        const world = yield* deferred({
          primary: "provider_b",
          lost: true,
          store: (real) =>
            away === "record" ? { ...real, record: (row) => away40s(real.record(row)) } : real,
          broker: (real) =>
            away === "enqueue" ? { ...real, enqueue: (...asked) => away40s(real.enqueue(...asked)) } : real
        })
        world.scripts.provider_b.push("ambiguous-lost")
        failures = 8
        const fiber = yield* Effect.forkChild(world.retry(world.message), { startImmediately: true })
        yield* TestClock.adjust("39 seconds")
        assert.isUndefined(fiber.pollUnsafe())
        yield* TestClock.adjust("5 seconds")
        yield* Fiber.join(fiber)
        assert.strictEqual((yield* world.received).provider_b, 2)
        assert.deepStrictEqual(statuses(world), ["deferred", "deferred"])
        assert.lengthOf(
          (yield* world.queued).filter(({ attempt }) => attempt === 2),
          1
        )
      })
    )
  }

  it.effect("S1: does not go out 24 hours after the first attempt", () =>
    Effect.gen(function* () {
      const world = yield* deferred()
      yield* TestClock.adjust("24 hours")
      yield* world.retry(world.message)
      assert.strictEqual((yield* world.received).provider_a, 1)
      assert.deepInclude(world.database.rows().at(-1), { status: "failed", errorKind: "ambiguous" })
    })
  )

  it.effect("S7: ends suppressed when its last recipient has been suppressed meanwhile", () =>
    Effect.gen(function* () {
      const world = yield* deferred({ lost: true })
      world.database.suppress({ email: "a@x.test", reason: "complaint" })
      yield* world.retry(world.message)
      assert.strictEqual((yield* world.received).provider_a, 1)
      assert.deepInclude(world.database.rows().at(-1), {
        status: "suppressed",
        error: "Recipient suppressed: complaint; an earlier attempt may have been accepted"
      })
    })
  )

  it.effect("S7: leaves out who has been suppressed meanwhile, by the policy of its category", () =>
    Effect.gen(function* () {
      const world = yield* deferred({
        primary: "provider_b",
        lost: true,
        request: { to: ["a@x.test", "b@x.test"], category: "auth" }
      })
      world.database.suppress({ email: "a@x.test", reason: "hard_bounce" })
      world.database.suppress({ email: "b@x.test", reason: "complaint" })
      yield* world.retry(world.message)
      const copies = JSON.stringify(yield* world.providers.provider_b.copies)
      assert.notInclude(copies, "a@x.test")
      assert.include(copies, "b@x.test")
      assert.deepInclude(world.database.rows().at(-1), {
        status: "sent",
        to: ["b@x.test"],
        dropped: ["a@x.test"],
        recipientCount: 1
      })
    })
  )

  it.effect("D2: is put back while another process works on its key", () =>
    Effect.gen(function* () {
      const world = yield* deferred({ primary: "provider_b", lost: true })
      const { keyHash } = world.message.details
      yield* world.database.store.beginRetry({
        keyHash,
        tag: tagOf(world.message.details),
        firstAttemptAt: 0,
        ageMs: 0,
        provider: "provider_b",
        rowId: anyId("other"),
        addresses: [],
        owner: "other",
        leaseMs: 5_000
      })
      yield* world.retry(world.message)
      assert.strictEqual((yield* world.copies).provider_b, 0)
      assert.deepStrictEqual(yield* world.queued, [world.message, world.message])
      yield* TestClock.adjust("5 seconds")
      yield* world.retry(world.message)
      assert.strictEqual((yield* world.copies).provider_b, 1)
    })
  )

  for (const [primary, sends] of [
    ["provider_a", 2],
    ["provider_b", 1]
  ] as const) {
    it.effect(
      `D1: without an answer of the database ${sends === 2 ? "goes on" : "is put back"} on ${primary}`,
      () =>
        Effect.gen(function* () {
          const world = yield* deferred({
            primary,
            lost: true,
            store: (real) => ({ ...real, beginRetry: () => Effect.never })
          })
          const fiber = yield* Effect.forkChild(Effect.exit(world.retry(world.message)), {
            startImmediately: true
          })
          yield* TestClock.adjust("2500 millis")
          assert.strictEqual((yield* Fiber.join(fiber))._tag, "Success")
          assert.strictEqual((yield* world.received)[primary], sends)
          assert.lengthOf(yield* world.queued, 3 - sends)
        })
    )
  }

  it.effect("D1: is put back by a queue that was silent, whose answer is not waited for", () =>
    Effect.gen(function* () {
      let silent = 2
      const world = yield* deferred({
        primary: "provider_b",
        lost: true,
        store: (real) => ({ ...real, beginRetry: () => Effect.fail(storeDown()) }),
        broker: (real) => ({
          ...real,
          putBack: (...asked) => Effect.suspend(() => (silent-- > 0 ? Effect.never : real.putBack(...asked)))
        })
      })
      const fiber = yield* Effect.forkChild(world.retry(world.message), { startImmediately: true })
      yield* TestClock.adjust("20 seconds")
      yield* Fiber.join(fiber)
      assert.lengthOf(yield* world.queued, 2)
    })
  )

  it.effect("D3: fails where the database answers, and not for this message", () =>
    Effect.gen(function* () {
      const world = yield* deferred({
        primary: "provider_b",
        lost: true,
        store: (real) => ({ ...real, beginRetry: () => Effect.fail(storeRefuses()) })
      })
      assert.isFalse((yield* Effect.flip(world.retry(world.message))).isRetryable)
      assert.strictEqual((yield* world.received).provider_b, 1)
    })
  )

  const DAY = 86_400_000
  for (const [title, offset] of [
    ["a day ahead", DAY],
    ["a day behind", -DAY],
    ["at the epoch", Number.NEGATIVE_INFINITY]
  ] as const) {
    it.effect(`S1 D1: goes by the store's clock in a process whose own is ${title}`, () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(1_800_000_000_000)
        const world = yield* deferred({ lost: true, request: { expiresAt: "2027-01-15T09:00:00Z" } })
        const clock = clockAhead(yield* Clock.Clock, () => Math.max(offset, -1_800_000_000_000))
        const off = <A, E, R>(run: Effect.Effect<A, E, R>) => Effect.provideService(run, Clock.Clock, clock)
        // What an earlier process without a store would have said.
        const message = { ...world.message, firstAttemptAt: 0, timedBy: "process" as const }
        world.scripts.provider_a.push("ambiguous-lost", "ambiguous-lost")
        yield* TestClock.adjust("2 minutes")
        yield* off(world.retry(message))
        assert.deepStrictEqual(statuses(world), ["deferred", "deferred"])
        assert.strictEqual(world.database.rows().at(-1)?.retryAt, 1_800_000_000_000 + 720_000)
        yield* TestClock.adjust("24 hours")
        yield* off(world.retry(successor(yield* world.queued, 2)!))
        assert.strictEqual((yield* world.received).provider_a, 2)
        assert.match(world.database.rows().at(-1)?.error ?? "", /24 hours after the first/)
      })
    )
  }

  it.effect(
    "D1: is not ended by the process's own clock while the store is away, and is not sent either",
    () =>
      Effect.gen(function* () {
        const world = yield* deferred({
          lost: true,
          store: (real) => ({ ...real, beginRetry: () => Effect.fail(storeDown()) })
        })
        yield* TestClock.adjust("24 hours")
        yield* world.retry(world.message)
        assert.strictEqual((yield* world.received).provider_a, 1)
        assert.deepStrictEqual(statuses(world), ["deferred"])
        assert.lengthOf(yield* world.queued, 2)
      })
  )

  it.effect(
    "S1: says of its first attempt that only this process's clock timed it where the store was away",
    () =>
      Effect.gen(function* () {
        const world = yield* deferred({
          lost: true,
          store: (real) => ({ ...real, begin: () => Effect.fail(storeDown()) })
        })
        assert.strictEqual(world.message.timedBy, "process")
        assert.isUndefined((yield* deferred({ lost: true })).message.timedBy)
      })
  )

  it.effect("D3: is not handed back for a row that could not be written once acceptance is proven", () =>
    Effect.gen(function* () {
      const world = yield* deferred({
        lost: true,
        store: (real) => ({ ...real, record: () => Effect.never })
      }).pipe(
        Effect.forkChild({ startImmediately: true }),
        Effect.tap(() => TestClock.adjust("2500 millis")),
        Effect.flatMap(Fiber.join)
      )
      const fiber = yield* Effect.forkChild(world.retry(world.message), { startImmediately: true })
      yield* TestClock.adjust("16 minutes")
      yield* Fiber.join(fiber)
      assert.strictEqual((yield* world.copies).provider_a, 1)
    })
  )

  it.effect("D1: an acceptance's row is written after an outage of minutes", () =>
    Effect.gen(function* () {
      let silent = 0
      const world = yield* deferred({
        lost: true,
        store: (real) => ({
          ...real,
          record: (row) => Effect.suspend(() => (silent-- > 0 ? Effect.never : real.record(row)))
        })
      })
      silent = 60
      const fiber = yield* Effect.forkChild(world.retry(world.message), { startImmediately: true })
      yield* TestClock.adjust("8 minutes")
      yield* Fiber.join(fiber)
      assert.include(statuses(world), "sent")
    })
  )
})
