import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"

import { Mails } from "../mail-store/mails.ts"
import {
  STALL_MS,
  order,
  isDoubtful,
  attemptOf,
  world,
  aFirst,
  bFirst,
  rowsOf,
  type KeyTests
} from "./orders.ts"

/** Once an attempt was ambiguous, the key stays so, whatever a later one is answered. */
export const doubts = (it: KeyTests): void => {
  it.effect("S2, 1a: retries that are refused end it ambiguous; nobody else is asked, then or later", () =>
    Effect.gen(function* () {
      const { copies, queued, scripts, spawn } = yield* world(bFirst)
      const process = yield* spawn
      const mail = order()
      scripts.provider_b.push("unavailable")
      scripts.provider_a.push("ambiguous-accepted", "unavailable", "unavailable", "unavailable")
      assert.strictEqual((yield* process.send(mail)).status, "deferred")
      for (const attempt of [1, 2, 3]) yield* process.retry(attemptOf(yield* queued, attempt))
      const last = (yield* rowsOf(mail.idempotencyKey)).at(-1)
      assert.deepInclude(last, { status: "failed", errorKind: "ambiguous" })
      assert.match(last?.error ?? "", /the script refuses/)
      isDoubtful(yield* (yield* spawn).send(mail))
      isDoubtful(yield* process.send(mail))
      assert.deepStrictEqual(yield* copies, { provider_a: 1, provider_b: 0 })
    })
  )

  it.effect("S2, 1b: a call after a stalled one that is refused does not free the key", () =>
    Effect.gen(function* () {
      const { copies, pass, received, scripts, spawn } = yield* world({ ...bFirst, queue: false })
      const mail = order()
      scripts.provider_b.push("unavailable")
      scripts.provider_a.push("hang-accepted", "unavailable")
      const stalled = yield* Effect.forkChild((yield* spawn).send(mail), { startImmediately: true })
      while ((yield* received).provider_a === 0) yield* Effect.sleep("5 millis")
      yield* pass(STALL_MS)
      isDoubtful(yield* (yield* spawn).send(mail))
      isDoubtful(yield* (yield* spawn).send(mail))
      assert.deepStrictEqual(yield* copies, { provider_a: 1, provider_b: 0 })
      yield* Fiber.interrupt(stalled)
    })
  )

  it.effect("S2, 1c: a suppression that comes later, and goes again, does not free the key", () =>
    Effect.gen(function* () {
      const { copies, queued, received, scripts, spawn } = yield* world(aFirst)
      const mails = yield* Mails
      const process = yield* spawn
      const mail = order()
      scripts.provider_a.push("ambiguous-accepted")
      yield* process.send(mail)
      yield* mails.suppress({ email: mail.to, reason: "manual" })
      yield* process.retry(attemptOf(yield* queued, 1))
      const last = (yield* rowsOf(mail.idempotencyKey)).at(-1)
      assert.deepInclude(last, { status: "suppressed" })
      assert.match(last?.error ?? "", /^Recipient suppressed: .*; an earlier attempt may have been accepted$/)
      yield* mails.unsuppress(mail.to)
      isDoubtful(yield* (yield* spawn).send(mail))
      assert.deepStrictEqual(yield* received, { provider_a: 1, provider_b: 0 })
      assert.strictEqual((yield* copies).provider_a, 1)
    })
  )

  it.effect(
    "S2: a suppression that a later call finds ends it, and no repeat answers that nothing left",
    () =>
      Effect.gen(function* () {
        const { received, scripts, spawn } = yield* world({ ...aFirst, queue: false })
        const mails = yield* Mails
        const mail = order()
        scripts.provider_a.push("ambiguous-accepted")
        isDoubtful(yield* (yield* spawn).send(mail))
        yield* mails.suppress({ email: mail.to, reason: "manual" })
        const found = yield* (yield* spawn).send(mail)
        assert.deepInclude(found, { status: "suppressed" })
        assert.match(found.ok ? "" : found.error, /an earlier attempt may have been accepted$/)
        yield* mails.unsuppress(mail.to)
        isDoubtful(yield* (yield* spawn).send(mail))
        assert.deepStrictEqual(yield* received, { provider_a: 1, provider_b: 0 })
      })
  )

  it.effect(
    "S2: a retry that only its process knows to be in doubt elsewhere waits until the store knows it, too",
    () =>
      Effect.gen(function* () {
        const { queued, received, scripts, spawn, storeAway, storeBack } = yield* world(bFirst)
        const [first, second] = [yield* spawn, yield* spawn]
        const mail = order()
        scripts.provider_b.push("ambiguous-lost", "unavailable")
        scripts.provider_a.push("ambiguous-lost")
        assert.strictEqual((yield* first.send(mail)).status, "deferred")
        const own = attemptOf(yield* queued, 1)
        yield* storeAway()
        assert.strictEqual((yield* second.send(mail)).status, "deferred")
        // Both carry the key's first tag, so that their retries have one id; this is the second's.
        const other = { ...own, request: { ...own.request, provider: "provider_a" as const } }
        // It is put back: an end that it writes would wait for the store.
        yield* first.retry(other)
        yield* storeBack
        yield* first.retry(other)
        yield* second.retry(own)
        assert.deepStrictEqual(yield* received, { provider_a: 1, provider_b: 2 })
      })
  )

  it.effect(
    "S2, 1d: a retry that takes over from a dead one and is refused is no proof, and asks nobody else",
    () =>
      Effect.gen(function* () {
        const { copies, pass, queued, received, scripts, spawn } = yield* world(aFirst)
        const mail = order()
        scripts.provider_a.push("ambiguous-lost", "hang-accepted", "unavailable")
        yield* (yield* spawn).send(mail)
        const message = attemptOf(yield* queued, 1)
        const dead = yield* Effect.forkChild((yield* spawn).retry(message), { startImmediately: true })
        while ((yield* received).provider_a < 2) yield* Effect.sleep("5 millis")
        yield* pass(STALL_MS)
        yield* (yield* spawn).retry(message)
        assert.strictEqual((yield* rowsOf(mail.idempotencyKey)).at(-1)?.status, "deferred")
        assert.isDefined(attemptOf(yield* queued, 2))
        assert.strictEqual((yield* (yield* spawn).send(mail)).status, "deferred")
        assert.deepStrictEqual(yield* copies, { provider_a: 1, provider_b: 0 })
        yield* Fiber.interrupt(dead)
      })
  )

  for (const options of [{ primary: "provider_b" }, { primary: "provider_a" }] as const)
    it.effect(`S9: a call repeats that its key waits, until its retry ends it (${options.primary})`, () =>
      Effect.gen(function* () {
        const { queued, received, scripts, spawn } = yield* world(options)
        const mail = order()
        scripts[options.primary].push("ambiguous-lost", "ambiguous-lost", "ambiguous-lost")
        const first = yield* (yield* spawn).send(mail)
        assert.strictEqual(first.status, "deferred")
        const asked = yield* received
        assert.deepStrictEqual(yield* (yield* spawn).send(mail), first)
        assert.deepStrictEqual(yield* received, asked)
        yield* (yield* spawn).retry(attemptOf(yield* queued, 1))
        assert.deepStrictEqual(yield* (yield* spawn).send(mail), first)
      })
    )
}
