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

  it.effect("MAIL-43: where the look-up holds a request back, its claim says when it leaves", () =>
    Effect.gen(function* () {
      const { copies, received, spawn, storeAway, storeBack } = yield* world(aFirst)
      const mails = yield* Mails
      const [mail, other] = [order(), order()]
      const blocked = `${fresh("blocked")}@x.test`
      yield* mails.suppress({ email: blocked, reason: "manual" })
      yield* storeAway("moveClaim")
      isDoubtful(yield* (yield* spawn).send({ ...mail, cc: [blocked] }))
      assert.deepStrictEqual(yield* received, { provider_a: 0, provider_b: 0 })
      yield* storeBack
      const sent = yield* (yield* spawn).send({ ...other, cc: [blocked] })
      assert.deepInclude(sent, { status: "sent", suppressedRecipients: [blocked] })
      assert.strictEqual((yield* copies).provider_a, 1)
    })
  )
}
