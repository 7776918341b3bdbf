import { assert } from "@effect/vitest"
import { Effect, Fiber, Result } from "effect"

import { HOUR_MS, MINUTE_MS, order, isDoubtful, attemptOf, world, type KeyTests } from "./orders.ts"

/** How long a key is held, and how long somebody may still be asked. */
export const times = (it: KeyTests): void => {
  it.effect(
    "S4, 2b: a key is held for 24 hours from its last attempt, whether or not the house was kept",
    () =>
      Effect.gen(function* () {
        const { copies, pass, queued, received, scripts, spawn } = yield* world({ primary: "provider_a" })
        const mail = order()
        scripts.provider_a.push("ambiguous-lost")
        yield* (yield* spawn).send(mail)
        yield* pass(27 * MINUTE_MS)
        yield* (yield* spawn).retry(attemptOf(yield* queued, 1))
        yield* pass(23 * HOUR_MS + 34 * MINUTE_MS)
        // 24 h 1 min after the first attempt: the provider still remembers the key, and so does the claim.
        const held = yield* (yield* spawn).send(mail)
        assert.strictEqual(held.status, "sent")
        const other = yield* Effect.result((yield* spawn).send({ ...mail, text: "another" }))
        assert.strictEqual(Result.isFailure(other) && other.failure._tag, "IdempotencyConflict")
        assert.strictEqual((yield* received).provider_a, 2)
        yield* pass(HOUR_MS)
        assert.strictEqual((yield* (yield* spawn).send({ ...mail, text: "another" })).status, "sent")
        assert.strictEqual((yield* copies).provider_a, 2)
      })
  )

  it.effect("S1: a key whose claim died is not asked for again 24 hours after its first attempt", () =>
    Effect.gen(function* () {
      const { pass, received, scripts, spawn } = yield* world({ primary: "provider_a", queue: false })
      const mail = order()
      scripts.provider_a.push("ambiguous-lost", "hang-lost")
      isDoubtful(yield* (yield* spawn).send(mail))
      yield* pass(12 * HOUR_MS)
      const dead = yield* Effect.forkChild((yield* spawn).send(mail), { startImmediately: true })
      while ((yield* received).provider_a < 2) yield* Effect.sleep("5 millis")
      yield* pass(12 * HOUR_MS)
      isDoubtful(yield* (yield* spawn).send(mail))
      assert.strictEqual((yield* received).provider_a, 2)
      yield* Fiber.interrupt(dead)
    })
  )
}
