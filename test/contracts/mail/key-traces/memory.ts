import { assert } from "@effect/vitest"
import { Effect, Result } from "effect"

import { attemptOf, order, isDoubtful, world, aFirst, type KeyTests } from "./orders.ts"

/** What a process remembers while the store is away, and after it. */
export const memories = (it: KeyTests): void => {
  it.effect("S4, 5: calls of one process agree through an outage of the store, and after it", () =>
    Effect.gen(function* () {
      const { copies, received, scripts, spawn, storeAway, storeBack } = yield* world(aFirst)
      const process = yield* spawn
      const [known, unknown, lost] = [order(), order(), order()]
      const first = yield* process.send(known)
      yield* storeAway()
      const second = yield* process.send(unknown)
      scripts.provider_a.push("ambiguous-lost")
      assert.strictEqual((yield* process.send(lost)).status, "deferred")
      scripts.provider_a.push("unavailable", "unavailable", "unavailable")
      for (const [mail, answer] of [
        [known, first],
        [unknown, second]
      ] as const)
        assert.deepStrictEqual(yield* process.send(mail), answer)
      yield* storeBack
      // The store knows nothing of the second and the third: the process tells it, and every other process, what happened.
      assert.deepStrictEqual(yield* process.send(unknown), second)
      assert.strictEqual((yield* process.send(lost)).status, "deferred")
      assert.deepInclude(yield* (yield* spawn).send(unknown), { status: "sent", sendId: second.sendId })
      assert.strictEqual((yield* (yield* spawn).send(lost)).status, "deferred")
      const conflict = yield* Effect.result(process.send({ ...unknown, text: "another" }))
      assert.strictEqual(Result.isFailure(conflict) && conflict.failure._tag, "IdempotencyConflict")
      assert.deepStrictEqual(yield* copies, { provider_a: 2, provider_b: 0 })
      assert.strictEqual((yield* received).provider_b, 0)
    })
  )

  for (const [who, retrier, caller] of [
    ["that has heard of a deferral", 0, 1],
    ["that wrote a deferral", 1, 0]
  ] as const)
    it.effect(`S9: a process ${who} hears of its end, as one that knows nothing of it`, () =>
      Effect.gen(function* () {
        const { copies, queued, received, scripts, spawn } = yield* world(aFirst)
        const processes = [yield* spawn, yield* spawn] as const
        const mail = order()
        scripts.provider_a.push(...Array.from({ length: 4 }, () => "ambiguous-lost" as const))
        for (const process of processes) assert.strictEqual((yield* process.send(mail)).status, "deferred")
        for (const retry of [1, 2, 3]) yield* processes[retrier].retry(attemptOf(yield* queued, retry))
        assert.strictEqual((yield* received).provider_a, 4)
        // The provider knows its keys: it may be asked once more, in doubt or not.
        assert.strictEqual((yield* processes[caller].send(mail)).status, "sent")
        assert.deepStrictEqual(yield* copies, { provider_a: 1, provider_b: 0 })
        assert.strictEqual((yield* processes[retrier].send(mail)).status, "sent")
        assert.strictEqual((yield* received).provider_a, 5)
      })
    )

  it.effect("S9: of two calls of one process at once one sends, also while the store does not answer", () =>
    Effect.gen(function* () {
      const { copies, scripts, spawn, storeAway, storeBack } = yield* world(aFirst)
      const process = yield* spawn
      const mail = order()
      scripts.provider_a.push(Effect.as(Effect.sleep("50 millis"), "ok"))
      yield* storeAway()
      const both = yield* Effect.all(
        [1, 2].map(() => Effect.result(process.send(mail))),
        {
          concurrency: "unbounded"
        }
      )
      yield* storeBack
      const refused = both.flatMap((one) => (Result.isFailure(one) ? [one.failure._tag] : []))
      assert.deepStrictEqual(refused, ["IdempotencyInProgress"])
      assert.strictEqual((yield* copies).provider_a, 1)
    })
  )

  it.effect("S2: a key that this process left ambiguous in an outage stays with its provider after it", () =>
    Effect.gen(function* () {
      const { copies, received, scripts, spawn, storeAway, storeBack } = yield* world({
        ...aFirst,
        queue: false
      })
      const process = yield* spawn
      const mail = order()
      scripts.provider_a.push("ambiguous-accepted", "unavailable")
      yield* storeAway()
      isDoubtful(yield* process.send(mail))
      yield* storeBack
      isDoubtful(yield* process.send(mail))
      isDoubtful(yield* (yield* spawn).send(mail))
      assert.deepStrictEqual(yield* copies, { provider_a: 1, provider_b: 0 })
      assert.deepStrictEqual(yield* received, { provider_a: 2, provider_b: 0 })
    })
  )

  it.effect(
    "MAIL-45: `requireClaim` sends nothing where the key cannot be claimed, and repeats what it knows",
    () =>
      Effect.gen(function* () {
        const { copies, received, spawn, storeAway, storeBack } = yield* world(aFirst)
        const process = yield* spawn
        const mail = { ...order(), requireClaim: true }
        yield* storeAway("begin")
        for (const request of [mail, { ...mail, idempotencyKey: undefined }]) {
          const { idempotencyKey, ...unkeyed } = request
          const asked = idempotencyKey === undefined ? unkeyed : { ...unkeyed, idempotencyKey }
          assert.strictEqual((yield* Effect.flip(process.send(asked)))._tag, "ClaimUnavailable")
        }
        assert.deepStrictEqual(yield* received, { provider_a: 0, provider_b: 0 })
        yield* storeBack
        const first = yield* process.send(mail)
        assert.strictEqual(first.status, "sent")
        yield* storeAway("begin")
        assert.deepStrictEqual(yield* process.send(mail), first)
        assert.strictEqual((yield* copies).provider_a, 1)
      })
  )
}
