import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"

import { fresh, Mails } from "../mail-store/mails.ts"
import { STALL_MS, order, isDoubtful, attemptOf, world, aFirst, bFirst, type KeyTests } from "./orders.ts"

/** What becomes of a key whose call died. */
export const deadClaims = (it: KeyTests): void => {
  it.effect(
    "D1, 10: a claim that died on a provider that does not dedupe is deferred by the next call, and sent once",
    () =>
      Effect.gen(function* () {
        const { copies, pass, queued, received, scripts, spawn } = yield* world(bFirst)
        const mail = order()
        scripts.provider_b.push("hang-lost")
        const dead = yield* Effect.forkChild((yield* spawn).send(mail), { startImmediately: true })
        while ((yield* received).provider_b === 0) yield* Effect.sleep("5 millis")
        yield* pass(STALL_MS)
        const process = yield* spawn
        assert.strictEqual((yield* process.send(mail)).status, "deferred")
        assert.deepStrictEqual(yield* received, { provider_a: 0, provider_b: 1 })
        yield* process.retry(attemptOf(yield* queued, 1))
        assert.strictEqual((yield* (yield* spawn).send(mail)).status, "sent")
        assert.deepStrictEqual(yield* copies, { provider_a: 0, provider_b: 1 })
        yield* Fiber.interrupt(dead)
      })
  )

  it.effect(
    "MAIL-57: a call that takes a key over continues the retries of the dead one, and begins no second chain",
    () =>
      Effect.gen(function* () {
        const { copies, pass, queued, scripts, spawn, storeAway, storeBack } = yield* world({
          primary: "provider_b"
        })
        const mail = order()
        scripts.provider_b.push(Effect.as(storeAway("record"), "ambiguous-accepted"))
        const first = yield* spawn
        assert.strictEqual((yield* first.send(mail)).status, "deferred")
        yield* storeBack
        yield* pass(STALL_MS)
        // The claim was never settled: to another process its holder is dead.
        const process = yield* spawn
        assert.strictEqual((yield* process.send(mail)).status, "deferred")
        const waiting = yield* queued
        assert.strictEqual(new Set(waiting.map(({ rowId }) => rowId)).size, 1)
        scripts.provider_b.push("ambiguous-accepted", "ambiguous-accepted", "ambiguous-accepted")
        for (const attempt of [1, 2, 3])
          for (const message of (yield* queued).filter((one) => one.attempt === attempt))
            yield* process.retry(message)
        // The first attempt, and three by the schedule: what is documented.
        assert.strictEqual((yield* copies).provider_b, 4)
        isDoubtful(yield* (yield* spawn).send(mail))
      })
  )

  for (const [who, isAnother] of [
    ["the process that deferred", false],
    ["a process that knows nothing of it", true]
  ] as const)
    it.effect(
      `D1: retries that ended without the claim of a dead call end its deferral, too, as ${who} hears`,
      () =>
        Effect.gen(function* () {
          const { copies, pass, queued, received, scripts, spawn, storeAway, storeBack } =
            yield* world(aFirst)
          const mail = order()
          scripts.provider_a.push(Effect.as(storeAway("record"), "ambiguous-lost"), "rejected")
          const process = yield* spawn
          assert.strictEqual((yield* process.send(mail)).status, "deferred")
          yield* storeBack
          yield* storeAway("beginRetry")
          yield* (yield* spawn).retry(attemptOf(yield* queued, 1))
          yield* storeBack
          yield* pass(STALL_MS)
          const caller = isAnother ? yield* spawn : process
          scripts.provider_a.push(...Array.from({ length: 4 }, () => "ambiguous-lost" as const))
          assert.strictEqual(
            (yield* caller.send(mail)).status,
            "deferred",
            "in doubt again, with retries of its own"
          )
          for (const attempt of [1, 2, 3])
            for (const message of (yield* queued).filter((one) => one.attempt === attempt))
              yield* caller.retry(message)
          assert.strictEqual((yield* received).provider_a, 6)
          assert.strictEqual((yield* (yield* spawn).send(mail)).status, "sent")
          assert.strictEqual((yield* caller.send(mail)).status, "sent")
          assert.deepStrictEqual(yield* copies, { provider_a: 1, provider_b: 0 })
        })
    )

  it.effect("S2: a refusal of the last retry ends a key whose call died before it wrote its deferral", () =>
    Effect.gen(function* () {
      const { pass, queued, received, scripts, spawn, storeAway, storeBack } = yield* world(aFirst)
      const mail = order()
      scripts.provider_a.push(Effect.as(storeAway("record"), "ambiguous-lost"), "rejected")
      const process = yield* spawn
      assert.strictEqual((yield* process.send(mail)).status, "deferred")
      yield* storeBack
      yield* pass(STALL_MS)
      yield* storeAway("beginRetry")
      yield* (yield* spawn).retry(attemptOf(yield* queued, 1))
      yield* storeBack
      isDoubtful(yield* process.send(mail))
      isDoubtful(yield* (yield* spawn).send(mail))
      assert.deepStrictEqual(yield* received, { provider_a: 2, provider_b: 0 })
    })
  )

  it.effect(
    "D1: retries that end while a call has taken their key over leave no deferral behind that nobody ends",
    () =>
      Effect.gen(function* () {
        const { copies, pass, queued, scripts, spawn, storeAway, storeBack } = yield* world(aFirst)
        const mail = order()
        scripts.provider_a.push(Effect.as(storeAway("record"), "ambiguous-lost"))
        assert.strictEqual((yield* (yield* spawn).send(mail)).status, "deferred")
        yield* storeBack
        yield* pass(STALL_MS)
        const retrier = yield* spawn
        const retries = Effect.gen(function* () {
          yield* storeAway("beginRetry")
          scripts.provider_a.push("rejected")
          yield* Effect.orDie(retrier.retry(attemptOf(yield* queued, 1)))
          yield* storeBack
          return "ambiguous-lost" as const
        })
        scripts.provider_a.push(retries)
        const caller = yield* spawn
        assert.strictEqual((yield* caller.send(mail)).status, "deferred")
        for (const message of yield* queued) yield* caller.retry(message)
        assert.strictEqual((yield* (yield* spawn).send(mail)).status, "sent")
        assert.strictEqual((yield* caller.send(mail)).status, "sent")
        assert.deepStrictEqual(yield* copies, { provider_a: 1, provider_b: 0 })
      })
  )

  const THREE = [1, 2, 3] as const
  const unheard = () => THREE.map(() => "ambiguous-lost" as const)

  it.effect(
    "D1: a call that died on a key whose retries were over leaves the next one a deferral with retries of its own",
    () =>
      Effect.gen(function* () {
        const { copies, pass, queued, received, scripts, spawn } = yield* world(aFirst)
        const mail = order()
        const process = yield* spawn
        scripts.provider_a.push("ambiguous-lost", ...unheard(), "hang-lost", "ambiguous-lost")
        assert.strictEqual((yield* process.send(mail)).status, "deferred")
        for (const attempt of THREE) yield* process.retry(attemptOf(yield* queued, attempt))
        const dead = yield* Effect.forkChild((yield* spawn).send(mail), { startImmediately: true })
        while ((yield* received).provider_a < 5) yield* Effect.sleep("5 millis")
        yield* pass(STALL_MS)
        const caller = yield* spawn
        assert.strictEqual((yield* caller.send(mail)).status, "deferred")
        yield* caller.retry(attemptOf(yield* queued, 1))
        assert.strictEqual((yield* (yield* spawn).send(mail)).status, "sent")
        assert.deepStrictEqual(yield* copies, { provider_a: 1, provider_b: 0 })
        yield* Fiber.interrupt(dead)
      })
  )

  it.effect("D1: a call without a claim has retries of its own, also where those of its key are over", () =>
    Effect.gen(function* () {
      const { copies, queued, received, scripts, spawn, storeAway, storeBack } = yield* world(aFirst)
      const mail = order()
      const process = yield* spawn
      scripts.provider_a.push("ambiguous-lost", ...unheard(), "ambiguous-lost")
      assert.strictEqual((yield* process.send(mail)).status, "deferred")
      for (const attempt of THREE) yield* process.retry(attemptOf(yield* queued, attempt))
      yield* storeAway("begin")
      const caller = yield* spawn
      assert.strictEqual((yield* caller.send(mail)).status, "deferred")
      yield* storeBack
      yield* caller.retry(attemptOf(yield* queued, 1))
      assert.strictEqual((yield* received).provider_a, 6, "its retry is no repeat of theirs")
      assert.strictEqual((yield* (yield* spawn).send(mail)).status, "sent")
      assert.deepStrictEqual(yield* copies, { provider_a: 1, provider_b: 0 })
    })
  )

  it.effect(
    "D1: a deferral that its process writes late is not written as one whose retries are to come",
    () =>
      Effect.gen(function* () {
        const { queued, received, scripts, spawn, storeAway, storeBack } = yield* world(aFirst)
        const mail = order()
        scripts.provider_a.push("ambiguous-lost", "rejected")
        const process = yield* spawn
        yield* storeAway("begin")
        yield* storeAway("record")
        assert.strictEqual((yield* process.send(mail)).status, "deferred")
        yield* storeBack
        yield* storeAway("beginRetry")
        yield* (yield* spawn).retry(attemptOf(yield* queued, 1))
        yield* storeBack
        isDoubtful(yield* process.send(mail))
        assert.notStrictEqual((yield* (yield* spawn).send(mail)).status, "deferred")
        assert.strictEqual((yield* received).provider_b, 0)
      })
  )

  it.effect("MAIL-43: where the look-up holds a request back, its claim says when it leaves", () =>
    Effect.gen(function* () {
      const { copies, received, spawn, storeAway, storeBack } = yield* world(aFirst)
      const mails = yield* Mails
      const [mail, other] = [order(), order()]
      const blocked = `${fresh("blocked")}@x.test`
      yield* mails.suppress({ email: blocked, reason: "manual" })
      yield* storeAway("moveClaim")
      const caller = yield* spawn
      const unasked = yield* caller.send({ ...mail, cc: [blocked] })
      assert.deepInclude(
        unasked,
        { status: "failed", kind: "unavailable" },
        "nobody was asked, which is certain"
      )
      assert.deepStrictEqual(yield* received, { provider_a: 0, provider_b: 0 })
      yield* storeBack
      assert.deepInclude(
        yield* caller.send({ ...mail, cc: [blocked] }),
        { status: "sent" },
        "the key is free"
      )
      const sent = yield* (yield* spawn).send({ ...other, cc: [blocked] })
      assert.deepInclude(sent, { status: "sent", suppressedRecipients: [blocked] })
      assert.strictEqual((yield* copies).provider_a, 2)
    })
  )
}
