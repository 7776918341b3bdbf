import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Logger, References } from "effect"
import { TestClock } from "effect/testing"

import type { SendRequest } from "../../../src/domain/mail/message.ts"
import type { MailProviders } from "../../../src/ports/mail/mail-provider.ts"
import { anyId } from "../../support/any-id.ts"
import { storeDown } from "../../support/worlds/store-down.ts"
import { mail, makeHarness } from "./harness.ts"

/** Providers that take five seconds for their answer. */
const slowly = (real: MailProviders["Service"]): MailProviders["Service"] => ({
  get: (name) => {
    const provider = real.get(name)
    return provider && { ...provider, send: (request) => Effect.delay(provider.send(request), "5 seconds") }
  }
})

const silent = <A>(): Effect.Effect<A> => Effect.never

describe("a send", () => {
  it.effect("S3: fails over on proof of refusal only, once, and writes one row that says so (L1)", () =>
    Effect.gen(function* () {
      const world = yield* makeHarness({ fallback: "provider_b" })
      world.scripts.provider_a.push("unavailable")
      const result = yield* world.send(mail())
      assert.deepInclude(result, { ok: true, status: "sent", provider: "provider_b", failedOver: true })
      assert.deepStrictEqual(yield* world.copies, { provider_a: 0, provider_b: 1 })
      const rows = world.database.rows()
      assert.strictEqual(rows.length, 1)
      assert.deepInclude(rows[0], {
        status: "sent",
        failedOver: true,
        provider: "provider_b",
        costUsd: 0.0001
      })
    })
  )

  for (const outcome of ["rejected", "ambiguous-accepted", "ambiguous-lost"] as const) {
    it.effect(`S3: does not fail over when the primary is ${outcome}`, () =>
      Effect.gen(function* () {
        const world = yield* makeHarness({ fallback: "provider_b" })
        world.scripts.provider_a.push(outcome)
        yield* world.send(mail())
        assert.strictEqual((yield* world.received).provider_b, 0)
      })
    )
  }

  it.effect(
    "a recipient whom the provider itself does not mail is named by the answer, the row and every repetition (MAIL-62)",
    () =>
      Effect.gen(function* () {
        const to = ["ann@x.test", "Bob@X.test"]
        const world = yield* makeHarness({
          primary: "postmark",
          wrapProviders: (real) =>
            Effect.succeed({
              get: (name) => {
                const provider = real.get(name)
                const withheld = ["bob@x.test", "stranger@x.test"]
                return (
                  provider && {
                    ...provider,
                    send: (request) =>
                      Effect.map(provider.send(request), (accepted) => ({ ...accepted, withheld }))
                  }
                )
              }
            })
        })
        const direct = yield* world.send(mail({ to, cc: "cy@x.test", idempotencyKey: "direct" }))
        assert.deepInclude(direct, { ok: true, status: "sent", suppressedRecipients: ["bob@x.test"] })
        assert.deepInclude(yield* world.send(mail({ to, cc: "cy@x.test", idempotencyKey: "direct" })), {
          suppressedRecipients: ["bob@x.test"]
        })
        world.scripts.postmark.push("ambiguous-lost")
        yield* world.send(mail({ to, idempotencyKey: "later" }))
        yield* TestClock.adjust("2 minutes")
        yield* world.retry((yield* world.queued)[0]!)
        const sent = world.database.rows().filter(({ outcome }) => outcome === "sent")
        assert.deepStrictEqual(
          sent.map(({ dropped, others, recipientCount, to: left }) => [
            left,
            others,
            dropped,
            recipientCount
          ]),
          [
            [["ann@x.test"], ["cy@x.test"], ["bob@x.test"], 2],
            [["ann@x.test"], [], ["bob@x.test"], 1]
          ]
        )
      })
  )

  it.effect("S3: does not fail over a pinned send, and says who refused", () =>
    Effect.gen(function* () {
      const world = yield* makeHarness({ primary: "provider_b", fallback: "provider_b" })
      world.scripts.provider_a.push("unavailable")
      const result = yield* world.send(mail({ provider: "provider_a" }))
      assert.deepInclude(result, { ok: false, status: "failed", kind: "unavailable", failedOver: false })
      assert.deepStrictEqual(yield* world.received, { provider_a: 1, provider_b: 0 })
    })
  )

  it.effect("names both refusals when the fallback is unavailable, too", () =>
    Effect.gen(function* () {
      const world = yield* makeHarness({ fallback: "provider_b" })
      world.scripts.provider_a.push("unavailable")
      world.scripts.provider_b.push("unavailable")
      const result = yield* world.send(mail())
      assert.deepInclude(result, { status: "failed", kind: "unavailable", failedOver: true })
      assert.match(result.ok ? "" : result.error, /provider_a: .*; provider_b: /)
    })
  )

  it.effect("MAIL-74: notes each attempt of a send, and when its retry is due", () =>
    Effect.gen(function* () {
      const world = yield* makeHarness({ fallback: "provider_b" })
      world.scripts.provider_a.push("unavailable")
      world.scripts.provider_b.push("hang-lost")
      yield* TestClock.adjust("5 seconds")
      const fiber = yield* Effect.forkChild(world.send(mail()))
      yield* TestClock.adjust("15 seconds")
      yield* Fiber.join(fiber)
      const [row] = world.database.rows()
      assert.deepStrictEqual(
        row?.attempts.map(({ durationMs, outcome, provider, startedAt }) => [
          provider,
          outcome,
          startedAt,
          durationMs
        ]),
        [
          ["provider_a", "unavailable", 5_000, 0],
          ["provider_b", "ambiguous", 5_000, 15_000]
        ]
      )
      assert.strictEqual(row?.attempts[1]?.reason, "no answer within 15000 ms")
      assert.strictEqual(row?.retryAt, 20_000 + 120_000)
    })
  )

  it.effect("counts a provider without settings as unavailable", () =>
    Effect.gen(function* () {
      const world = yield* makeHarness({ missing: "provider_a", fallback: "provider_b" })
      assert.deepInclude(yield* world.send(mail()), {
        status: "sent",
        provider: "provider_b",
        failedOver: true
      })
      const pinned = yield* world.send(mail({ provider: "provider_a" }))
      assert.deepInclude(pinned, { status: "failed", kind: "unavailable" })
      assert.match(pinned.ok ? "" : pinned.error, /provider_a is not configured/)
    })
  )

  it.effect("S2 S5: defers an ambiguous attempt, pinned to its provider, with the same bytes", () =>
    Effect.gen(function* () {
      const world = yield* makeHarness({ fallback: "provider_b" })
      world.scripts.provider_a.push("ambiguous-accepted")
      const result = yield* world.send(mail({ idempotencyKey: "k" }))
      assert.deepInclude(result, {
        ok: true,
        status: "deferred",
        provider: "provider_a",
        providerMessageId: null
      })
      const [message] = yield* world.queued
      assert.deepInclude(message, { attempt: 1, failedOver: false })
      assert.deepInclude(message?.request, { provider: "provider_a", key: "k" })
      assert.strictEqual(world.database.rows()[0]?.status, "deferred")
    })
  )

  it.effect("S2: ends failed, ambiguous, where there is no queue", () =>
    Effect.gen(function* () {
      const world = yield* makeHarness({ queue: false })
      world.scripts.provider_a.push("ambiguous-lost")
      assert.deepInclude(yield* world.send(mail()), { ok: false, status: "failed", kind: "ambiguous" })
      assert.deepInclude(world.database.rows()[0], { status: "failed", errorKind: "ambiguous" })
    })
  )

  it.effect("D1: says once that nobody makes the retries, and what to do", () =>
    Effect.gen(function* () {
      const said: Array<unknown> = []
      const logger = Logger.make(({ message }) => void said.push(...[message].flat()))
      const world = yield* makeHarness()
      const deferOne = Effect.suspend(() => {
        world.scripts.provider_a.push("ambiguous-lost")
        return Effect.andThen(world.send(mail()), TestClock.adjust("61 seconds"))
      }).pipe(Effect.provideService(Logger.CurrentLoggers, new Set([logger])))
      const warnings = () =>
        said.filter((one) => typeof one === "string" && /postlane serve.*retry: true/.test(one))
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* world.consume
          yield* deferOne
        })
      )
      assert.lengthOf(warnings(), 0)
      yield* deferOne
      yield* deferOne
      assert.lengthOf(warnings(), 1)
    })
  )

  it.effect("takes a time-out for ambiguous after 15 s, and no earlier", () =>
    Effect.gen(function* () {
      const world = yield* makeHarness()
      world.scripts.provider_a.push("hang-accepted")
      const fiber = yield* Effect.forkChild(world.send(mail()))
      yield* TestClock.adjust("14999 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(fiber)).status, "deferred")
    })
  )

  it.effect("S7: leaves blocked recipients out of the request, and sends nothing when no To is left", () =>
    Effect.gen(function* () {
      const world = yield* makeHarness()
      world.database.suppress({ email: "a@x.test", reason: "hard_bounce" })
      const some = yield* world.send(mail({ to: ["A@x.test", "b@x.test"], bcc: ["a@x.test"] }))
      assert.deepInclude(some, { status: "sent", suppressedRecipients: ["a@x.test"] })
      assert.deepInclude(world.database.rows().at(-1), { to: ["b@x.test"], dropped: ["a@x.test"] })
      assert.notInclude(JSON.stringify(yield* world.providers.provider_a.copies).toLowerCase(), "a@x.test")
      const none = yield* world.send(mail({ cc: ["b@x.test"] }))
      assert.deepInclude(none, {
        ok: false,
        status: "suppressed",
        error: "Recipient suppressed: hard bounce"
      })
      assert.strictEqual((yield* world.copies).provider_a, 1)
      assert.strictEqual(world.database.rows().at(-1)?.status, "suppressed")
    })
  )

  it.effect("S7: a call that was frozen past its lease goes by what the store says when it wakes up", () =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      let frozenNanos = 0n
      const blockedMeanwhile: Array<string> = []
      const world = yield* makeHarness({
        store: (real) => ({
          ...real,
          begin: (entry) =>
            Effect.tap(real.begin(entry), () => {
              const blocked = blockedMeanwhile.splice(0)
              for (const email of blocked) world.database.suppress({ email, reason: "complaint" })
              if (blocked.length > 0) frozenNanos += 300_000_000_000n
              return Effect.void
            })
        })
      })
      const send = (request: SendRequest) =>
        Effect.provideService(
          world.send(request),
          Clock.Clock,
          Object.assign(Object.create(clock), {
            monotonicTimeNanos: Effect.sync(() => clock.monotonicTimeNanosUnsafe() + frozenNanos)
          })
        )
      blockedMeanwhile.push("a@x.test")
      const some = yield* send(mail({ to: ["a@x.test", "b@x.test"], idempotencyKey: "some" }))
      assert.deepInclude(some, { status: "sent", suppressedRecipients: ["a@x.test"] })
      assert.deepInclude(world.database.rows().at(-1), { to: ["b@x.test"], dropped: ["a@x.test"] })
      assert.notInclude(JSON.stringify(yield* world.providers.provider_a.copies), "a@x.test")
      blockedMeanwhile.push("c@x.test")
      const none = yield* send(mail({ to: "c@x.test", idempotencyKey: "none" }))
      assert.deepInclude(none, { status: "suppressed", error: "Recipient suppressed: complaint" })
      assert.strictEqual((yield* world.copies).provider_a, 1)
    })
  )

  it.effect("S9: answers a second call with the first result, and frees a key that was refused", () =>
    Effect.gen(function* () {
      const world = yield* makeHarness()
      world.scripts.provider_a.push("rejected")
      const request = mail({ idempotencyKey: "k" })
      assert.strictEqual((yield* world.send(request)).status, "failed")
      const first = yield* world.send(request)
      assert.strictEqual(first.status, "sent")
      assert.deepStrictEqual(yield* world.send(request), first)
      assert.strictEqual(
        (yield* Effect.flip(world.send(mail({ idempotencyKey: "k", text: "other" }))))._tag,
        "IdempotencyConflict"
      )
      assert.strictEqual((yield* world.copies).provider_a, 1)
    })
  )

  it.effect("S9: refuses a second call while the first is under way", () =>
    Effect.gen(function* () {
      const world = yield* makeHarness()
      world.scripts.provider_a.push("hang-lost")
      const request = mail({ idempotencyKey: "k" })
      yield* Effect.forkChild(world.send(request), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Effect.flip(world.send(request)))._tag, "IdempotencyInProgress")
    })
  )

  it.effect("S4: sends nothing when an event has proven an ambiguous key accepted", () =>
    Effect.gen(function* () {
      const world = yield* makeHarness({ primary: "provider_b", queue: false })
      world.scripts.provider_b.push("ambiguous-accepted")
      const request = mail({ idempotencyKey: "k" })
      assert.deepInclude(yield* world.send(request), { status: "failed", kind: "ambiguous" })
      assert.deepInclude(yield* world.send(request), { status: "failed", kind: "ambiguous" })
      const keyTag = world.database.rows()[0]?.keyTag ?? undefined
      yield* world.database.recordEvent({
        provider: "provider_b",
        providerMessageId: "m",
        event: "delivered",
        keyTag
      })
      assert.deepInclude(yield* world.send(request), { ok: true, status: "sent", providerMessageId: "m" })
      assert.strictEqual((yield* world.received).provider_b, 1)
    })
  )

  it.effect("MAIL-45: counts what goes out without look-up and claim, by key in the log, for the alarm", () =>
    Effect.gen(function* () {
      let away = true
      const world = yield* makeHarness({
        store: (real) => ({
          ...real,
          begin: (entry) => Effect.suspend(() => (away ? Effect.fail(storeDown()) : real.begin(entry)))
        })
      })
      const lines: Array<string> = []
      const logger = Logger.make(({ fiber, message }) => {
        lines.push(`${String(message)} ${JSON.stringify(fiber.getRef(References.CurrentLogAnnotations))}`)
      })
      const send = (key: string) =>
        world.send(mail({ idempotencyKey: key })).pipe(Effect.provide(Logger.layer([logger])))
      yield* send("order-1")
      yield* send("order-2")
      const told = lines.filter((line) => line.includes("goes out without look-up and claim"))
      assert.strictEqual(told.length, 2)
      assert.include(told[0], '"idempotencyKey":"order-1"')
      yield* Effect.yieldNow
      away = false
      yield* send("order-3")
      yield* Effect.yieldNow
      assert.strictEqual(world.database.unclaimed(), 2)
    })
  )

  it.effect("S6: goes on, within 2.5 s each, when the store neither looks up nor writes", () =>
    Effect.gen(function* () {
      const world = yield* makeHarness({ store: (real) => ({ ...real, begin: silent, record: silent }) })
      const fiber = yield* Effect.forkChild(world.send(mail()))
      yield* TestClock.adjust("2500 millis")
      assert.strictEqual((yield* world.copies).provider_a, 1)
      yield* TestClock.adjust("2500 millis")
      assert.strictEqual((yield* Fiber.join(fiber)).status, "sent")
    })
  )

  for (const [name, broken] of [
    ["fails", Effect.fail(storeDown())],
    ["dies", Effect.die(new Error("malformed"))]
  ] as const) {
    it.effect(`S6: goes on when the store ${name}`, () =>
      Effect.gen(function* () {
        const world = yield* makeHarness({
          store: (real) => ({ ...real, begin: () => broken, record: () => broken })
        })
        assert.strictEqual((yield* world.send(mail({ idempotencyKey: "k" }))).status, "sent")
      })
    )
  }

  it.effect("is not stopped by a caller that goes away", () =>
    Effect.gen(function* () {
      const world = yield* makeHarness()
      world.scripts.provider_a.push("hang-accepted")
      const fiber = yield* Effect.forkChild(world.send(mail()), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual(world.database.rows()[0]?.status, "deferred")
    })
  )

  it.effect("is cut short by a shutdown, counted as ambiguous, and deferred", () =>
    Effect.gen(function* () {
      const world = yield* makeHarness()
      world.scripts.provider_a.push("hang-accepted")
      const fiber = yield* Effect.forkChild(world.send(mail()), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      const closing = yield* Effect.forkChild(world.shutDown, { startImmediately: true })
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(closing)
      assert.strictEqual((yield* Fiber.join(fiber)).status, "deferred")
      assert.strictEqual((yield* world.queued).length, 1)
    })
  )

  it.effect("that is no message is refused by field, and leaves no trace", () =>
    Effect.gen(function* () {
      const world = yield* makeHarness()
      const refused = yield* Effect.flip(world.send(mail({ to: "nobody" })))
      assert.strictEqual(refused._tag, "InvalidRequest")
      assert.match(refused.message, /^to: /)
      assert.strictEqual(world.database.rows().length, 0)
      assert.strictEqual((yield* world.received).provider_a, 0)
    })
  )
})

describe("a provider that hangs", () => {
  /** Three callers wait in vain; then one probes. */
  const hanging = Effect.fnUntraced(function* (options: Parameters<typeof makeHarness>[0] = {}) {
    const world = yield* makeHarness(options)
    const { provider_a } = world.scripts
    provider_a.push("hang-lost", "hang-lost", "hang-lost", "hang-lost")
    for (const key of ["1", "2", "3"]) {
      const fiber = yield* Effect.forkChild(world.send(mail({ idempotencyKey: key })))
      yield* TestClock.adjust("15 seconds")
      yield* Fiber.join(fiber)
    }
    const probe = yield* Effect.forkChild(world.send(mail({ idempotencyKey: "probe" })))
    yield* TestClock.adjust("1 millis")
    return { ...world, probe }
  })

  it.effect("keeps nobody waiting but one: the others are deferred at once, and not asked", () =>
    Effect.gen(function* () {
      const world = yield* hanging({ fallback: "provider_b" })
      const result = yield* world.send(mail({ idempotencyKey: "k" }))
      assert.deepInclude(result, { ok: true, status: "deferred", provider: "provider_a", failedOver: false })
      assert.deepStrictEqual(yield* world.received, { provider_a: 4, provider_b: 0 })
      const row = world.database.rows().find(({ idempotencyKey }) => idempotencyKey === "k")
      assert.deepStrictEqual([row?.status, row?.attempts.length], ["deferred", 0])
      assert.strictEqual((yield* world.queued).length, 4)
    })
  )

  it.effect("S2: leaves a key that it was not asked on in no doubt", () =>
    Effect.gen(function* () {
      const world = yield* hanging()
      yield* world.send(mail({ idempotencyKey: "k" }))
      const claimOf = (key: string) => {
        const row = world.database.rows().find(({ idempotencyKey }) => idempotencyKey === key)
        return world.database.claim(anyId(row?.keyHash ?? ""))
      }
      assert.deepInclude(claimOf("k"), { state: "deferred", ambiguous: false })
      assert.deepInclude(claimOf("3"), { state: "deferred", ambiguous: true })
    })
  )

  it.effect("D1: a mail that was deferred unasked goes out by its retry", () =>
    Effect.gen(function* () {
      const world = yield* hanging()
      yield* world.send(mail({ idempotencyKey: "k" }))
      const message = (yield* world.queued).find(({ details }) => details.idempotencyKey === "k")
      yield* TestClock.adjust("2 minutes")
      yield* world.retry(message!)
      assert.deepInclude(yield* world.send(mail({ idempotencyKey: "k" })), { ok: true, status: "sent" })
      assert.strictEqual((yield* world.copies).provider_a, 1)
    })
  )

  it.effect("S3: without a queue fails at once, certainly unsent, and goes to no other provider", () =>
    Effect.gen(function* () {
      const world = yield* hanging({ queue: false, fallback: "provider_b" })
      const result = yield* world.send(mail({ idempotencyKey: "k" }))
      assert.deepInclude(result, { ok: false, status: "failed", kind: "unavailable" })
      assert.deepStrictEqual(yield* world.received, { provider_a: 4, provider_b: 0 })
      const row = world.database.rows().find(({ idempotencyKey }) => idempotencyKey === "k")
      const claim = world.database.claim(anyId(row?.keyHash ?? ""))
      assert.deepInclude(claim, { state: "refused", ambiguous: false })
      yield* TestClock.adjust("15 seconds")
      assert.deepInclude(yield* world.send(mail({ idempotencyKey: "k" })), { ok: true, status: "sent" })
    })
  )

  it.effect("S2: a key in doubt stays in doubt, though its provider is not asked again", () =>
    Effect.gen(function* () {
      const world = yield* hanging({ queue: false })
      const again = yield* world.send(mail({ idempotencyKey: "3" }))
      assert.deepInclude(again, { status: "failed", kind: "ambiguous" })
      assert.strictEqual((yield* world.received).provider_a, 4)
    })
  )

  it.effect("any answer to the probe, a refusal too, ends it", () =>
    Effect.gen(function* () {
      const world = yield* hanging()
      yield* TestClock.adjust("15 seconds")
      assert.deepInclude(yield* Fiber.join(world.probe), { status: "deferred" })
      world.scripts.provider_a.push("unavailable")
      assert.deepInclude(yield* world.send(mail()), { status: "failed", kind: "unavailable" })
      world.scripts.provider_a.push("hang-lost")
      yield* Effect.forkChild(world.send(mail()))
      yield* TestClock.adjust("1 millis")
      assert.deepInclude(yield* world.send(mail()), { ok: true, status: "sent" })
    })
  )
})

describe("a caller who does not wait", () => {
  const impatient = mail({ idempotencyKey: "k", deferAfterMs: 1_000 })

  it.effect("S5: gets the answer deferred in its time, once the retry is queued", () =>
    Effect.gen(function* () {
      const world = yield* makeHarness()
      world.scripts.provider_a.push("hang-lost")
      const fiber = yield* Effect.forkChild(world.send(impatient))
      yield* TestClock.adjust("999 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.deepInclude(yield* Fiber.join(fiber), { ok: true, status: "deferred", provider: "provider_a" })
      assert.lengthOf(yield* world.queued, 1)
      assert.strictEqual((yield* world.received).provider_a, 1)
    })
  )

  it.effect("S1: a time-out after that queues no second retry, and leaves one row", () =>
    Effect.gen(function* () {
      const world = yield* makeHarness()
      world.scripts.provider_a.push("hang-lost")
      const fiber = yield* Effect.forkChild(world.send(impatient))
      yield* TestClock.adjust("20 seconds")
      yield* Fiber.join(fiber)
      assert.lengthOf(yield* world.queued, 1)
      const [row, ...others] = world.database.rows()
      assert.lengthOf(others, 0)
      assert.deepStrictEqual([row?.status, row?.attempts.length], ["deferred", 1])
      assert.deepInclude(world.database.claim(anyId(row?.keyHash ?? "")), {
        state: "deferred",
        ambiguous: true
      })
    })
  )

  it.effect(
    "S4: an answer that comes later settles the claim: neither the retry nor another call sends",
    () =>
      Effect.gen(function* () {
        const world = yield* makeHarness({ wrapProviders: (real) => Effect.succeed(slowly(real)) })
        const fiber = yield* Effect.forkChild(world.send(impatient))
        yield* TestClock.adjust("1 second")
        const first = yield* Fiber.join(fiber)
        assert.deepInclude(first, { ok: true, status: "deferred" })
        yield* TestClock.adjust("3 minutes")
        const again = yield* world.send(impatient)
        assert.deepInclude(again, { ok: true, status: "sent", sendId: first.sendId })
        const [message] = yield* world.queued
        yield* world.retry(message!)
        assert.deepStrictEqual(
          [
            (yield* world.received).provider_a,
            (yield* world.copies).provider_a,
            world.database.rows().length
          ],
          [1, 1, 1]
        )
      })
  )

  it.effect(
    "S2 S3: a refusal that comes later changes nothing: no fail-over, since the retry is queued",
    () =>
      Effect.gen(function* () {
        const world = yield* makeHarness({
          fallback: "provider_b",
          wrapProviders: (real) => Effect.succeed(slowly(real))
        })
        world.scripts.provider_a.push("unavailable")
        const fiber = yield* Effect.forkChild(world.send(impatient))
        yield* TestClock.adjust("10 seconds")
        assert.deepInclude(yield* Fiber.join(fiber), { status: "deferred" })
        assert.strictEqual((yield* world.received).provider_b, 0)
        yield* TestClock.adjust("2 minutes")
        const retry = yield* Effect.forkChild(world.retry((yield* world.queued)[0]!))
        yield* TestClock.adjust("5 seconds")
        yield* Fiber.join(retry)
        assert.deepInclude(yield* world.send(impatient), { ok: true, status: "sent", provider: "provider_a" })
      })
  )

  it.effect(
    "S4: an acceptance that the database does not take at once is written before the retry looks",
    () =>
      Effect.gen(function* () {
        let down = true
        const world = yield* makeHarness({
          wrapProviders: (real) => Effect.succeed(slowly(real)),
          store: (real) => ({
            ...real,
            record: (entry) => Effect.suspend(() => (down ? Effect.fail(storeDown()) : real.record(entry)))
          })
        })
        const fiber = yield* Effect.forkChild(world.send(impatient))
        yield* TestClock.adjust("12 seconds")
        yield* Fiber.join(fiber)
        assert.lengthOf(world.database.rows(), 0)
        down = false
        yield* TestClock.adjust("10 seconds")
        assert.deepInclude(world.database.rows()[0], { status: "sent" })
      })
  )

  it.effect("waits where there is no queue, or a retry would come too late", () =>
    Effect.gen(function* () {
      const bare = yield* makeHarness({ queue: false, wrapProviders: (real) => Effect.succeed(slowly(real)) })
      const fiber = yield* Effect.forkChild(bare.send(impatient))
      yield* TestClock.adjust("5 seconds")
      assert.deepInclude(yield* Fiber.join(fiber), { ok: true, status: "sent" })
      const expiring = yield* makeHarness({ wrapProviders: (real) => Effect.succeed(slowly(real)) })
      const soon = new Date((yield* Clock.currentTimeMillis) + 60_000).toISOString()
      const other = yield* Effect.forkChild(expiring.send({ ...impatient, expiresAt: soon }))
      yield* TestClock.adjust("5 seconds")
      assert.deepInclude(yield* Fiber.join(other), { ok: true, status: "sent" })
    })
  )
})
