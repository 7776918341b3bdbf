import { assert } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"

import type { SimulatedOutcome } from "../../../../src/ports/mail/simulated-mail.ts"
import { attemptOf, STALL_MS, order, isDoubtful, world, aFirst, bFirst, type KeyTests } from "./orders.ts"

/** What a call may do whose claim could not be moved, or has passed on. */
export const passedClaims = (it: KeyTests): void => {
  for (const operations of [["moveClaim"], []] as const)
    it.effect(
      `S3, 4: a send that holds its key fails over only once that is stored (${operations[0] ?? "nothing"} answers no more)`,
      () =>
        Effect.gen(function* () {
          const { received, scripts, spawn, storeAway, storeBack } = yield* world(aFirst)
          const mail = order()
          scripts.provider_a.push(Effect.as(storeAway(...operations), "unavailable"))
          const answer = yield* (yield* spawn).send(mail)
          isDoubtful(answer)
          assert.match(answer.ok ? "" : answer.error, /the script refuses.*claim/)
          assert.deepStrictEqual(yield* received, { provider_a: 1, provider_b: 0 })
          yield* storeBack
        })
    )

  it.effect(
    "S2: what a send without a claim left open at the fallback is no refusal of the key, for this call and the next ones",
    () =>
      Effect.gen(function* () {
        const { queued, received, scripts, spawn, storeAway, storeBack } = yield* world(bFirst)
        const mail = order()
        const other = yield* spawn
        scripts.provider_b.push(
          Effect.gen(function* () {
            yield* storeAway("begin", "moveClaim")
            assert.strictEqual((yield* Effect.orDie(other.send(mail))).status, "deferred")
            yield* storeBack
            return "unavailable" as const
          }),
          "unavailable"
        )
        scripts.provider_a.push("ambiguous-lost", "unavailable")
        isDoubtful(yield* (yield* spawn).send(mail))
        assert.deepStrictEqual(yield* received, { provider_a: 1, provider_b: 2 })
        assert.strictEqual((yield* queued).length, 1)
        // The next call asks where the key is open, and nobody else.
        yield* (yield* spawn).send(mail)
        assert.deepStrictEqual(yield* received, { provider_a: 2, provider_b: 2 })
      })
  )

  it.effect(
    "S2: a key that waits at two providers has a row for the retries of each, and ends in doubt",
    () =>
      Effect.gen(function* () {
        const { queued, received, scripts, spawn, storeAway, storeBack } = yield* world(bFirst)
        const mail = order()
        const [first, other] = [yield* spawn, yield* spawn]
        const waiting = (provider: string, retry: number) =>
          Effect.map(queued, (all) =>
            attemptOf(
              all.filter(({ request }) => request.provider === provider),
              retry
            )
          )
        scripts.provider_b.push("ambiguous-lost", "ambiguous-lost", "unavailable")
        scripts.provider_a.push("ambiguous-lost", Effect.as(storeBack, "rejected"))
        yield* first.send(mail)
        yield* first.retry(yield* waiting("provider_b", 1))
        // Without a claim it turns to the other provider, and only its retry's row is ever written.
        yield* storeAway()
        assert.strictEqual((yield* other.send(mail)).status, "deferred")
        yield* other.retry(yield* waiting("provider_a", 1))
        yield* first.retry(yield* waiting("provider_b", 2))
        assert.deepStrictEqual(yield* received, { provider_a: 2, provider_b: 3 })
        isDoubtful(yield* (yield* spawn).send(mail))
      })
  )

  it.effect("S2, 4: a stalled call whose key has passed on defers nothing", () =>
    Effect.gen(function* () {
      const { pass, queued, received, scripts, spawn } = yield* world(aFirst)
      const mail = order()
      const lost = yield* Deferred.make<SimulatedOutcome>()
      scripts.provider_a.push(Deferred.await(lost), "ambiguous-lost")
      const stalled = yield* Effect.forkChild((yield* spawn).send(mail), { startImmediately: true })
      while ((yield* received).provider_a === 0) yield* Effect.sleep("5 millis")
      yield* pass(STALL_MS)
      const heir = yield* (yield* spawn).send(mail)
      assert.strictEqual(heir.status, "deferred")
      yield* Deferred.succeed(lost, "ambiguous-lost")
      assert.deepStrictEqual(yield* Fiber.join(stalled), heir)
      assert.strictEqual((yield* queued).length, 1)
    })
  )

  it.effect("S2, 4: a refusal that a stalled call learns of is not certain once its key has passed on", () =>
    Effect.gen(function* () {
      const { pass, received, scripts, spawn } = yield* world({ primary: "provider_a" })
      const mail = order()
      const refusal = yield* Deferred.make<SimulatedOutcome>()
      scripts.provider_a.push(Deferred.await(refusal))
      const stalled = yield* Effect.forkChild((yield* spawn).send(mail), { startImmediately: true })
      while ((yield* received).provider_a === 0) yield* Effect.sleep("5 millis")
      yield* pass(STALL_MS)
      const heir = yield* (yield* spawn).send(mail)
      assert.strictEqual(heir.status, "sent")
      yield* Deferred.succeed(refusal, "rejected")
      assert.deepStrictEqual(yield* Fiber.join(stalled), heir)
    })
  )
}
