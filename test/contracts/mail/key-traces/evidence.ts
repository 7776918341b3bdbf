import { createHash } from "node:crypto"

import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"

import { FIRST_USE, makeUseTag } from "../../../../src/application/mail/use-tag.ts"
import type { SimulatedOutcome } from "../../../../src/ports/mail/simulated-mail.ts"
import { anyId } from "../../../support/any-id.ts"
import { fresh, Mails } from "../mail-store/mails.ts"
import {
  aFirst,
  isDoubtful,
  HOUR_MS,
  MINUTE_MS,
  STALL_MS,
  order,
  attemptOf,
  world,
  bFirst,
  unfinished,
  rowsOf,
  type KeyTests
} from "./orders.ts"

/** The tag of a key's first use. */
const firstTagOf = Effect.fnUntraced(function* (key: string) {
  const { store } = yield* Mails
  const keyHash = anyId(createHash("sha256").update(key).digest("hex"))
  return yield* (yield* makeUseTag)((yield* store.tagSecret)!, keyHash, FIRST_USE)
}, Effect.provide(NodeCrypto.layer))

/** What the store's clock shows. */
const nowOf = Mails.use(({ store }) =>
  Effect.map(store.begin({ keyHash: anyId(fresh("none")), addresses: [], claim: undefined }), ({ at }) =>
    Math.round(at)
  )
)

/** What proves an acceptance, and what does not. */
export const proofs = (it: KeyTests): void => {
  it.effect("S4, 2a: an event of yesterday's mail does not settle today's", () =>
    Effect.gen(function* () {
      const { copies, pass, scripts, spawn } = yield* world({ primary: "provider_b" })
      const mails = yield* Mails
      const process = yield* spawn
      const mail = order()
      assert.strictEqual((yield* process.send(mail)).status, "sent")
      const [yesterday] = yield* rowsOf(mail.idempotencyKey)
      yield* pass(24 * HOUR_MS + MINUTE_MS)
      yield* mails.recordEvent({
        provider: "provider_b",
        providerMessageId: fresh("a copy that the log does not know"),
        event: "opened",
        keyTag: yesterday?.keyTag ?? undefined
      })
      scripts.provider_b.push("ambiguous-lost")
      assert.strictEqual((yield* process.send({ ...mail, text: "today" })).status, "deferred")
      assert.strictEqual((yield* copies).provider_b, 1)
      const tags = (yield* rowsOf(mail.idempotencyKey)).map(({ keyTag }) => keyTag)
      assert.strictEqual(new Set(tags).size, 2)
    })
  )

  it.effect(
    "S4: an acceptance that a call without its claim learns of is evidence for the claim's holder",
    () =>
      Effect.gen(function* () {
        const { copies, pass, queued, received, scripts, spawn } = yield* world({ primary: "provider_b" })
        const mail = order()
        const late = yield* Deferred.make<SimulatedOutcome>()
        scripts.provider_b.push(Deferred.await(late))
        const stalled = yield* Effect.forkChild((yield* spawn).send(mail), { startImmediately: true })
        while ((yield* received).provider_b === 0) yield* Effect.sleep("5 millis")
        yield* pass(STALL_MS)
        const process = yield* spawn
        assert.strictEqual((yield* process.send(mail)).status, "deferred")
        yield* Deferred.succeed(late, "ok")
        assert.strictEqual((yield* Fiber.join(stalled)).status, "sent")
        yield* process.retry(attemptOf(yield* queued, 1))
        assert.strictEqual((yield* copies).provider_b, 1)
      })
  )

  it.effect("MAIL-12: an event of another installation is mail from outside, and settles nothing here", () =>
    Effect.gen(function* () {
      const { copies, queued, scripts, spawn } = yield* world({ primary: "provider_b" })
      const mails = yield* Mails
      const process = yield* spawn
      const mail = order()
      const foreign = {
        provider: "provider_b",
        providerMessageId: fresh("m"),
        keyTag: anyId("f".repeat(64))
      } as const
      yield* mails.recordEvent({ ...foreign, event: "delivered", category: "transactional" })
      scripts.provider_b.push("ambiguous-lost")
      assert.strictEqual((yield* process.send(mail)).status, "deferred")
      yield* mails.recordEvent({ ...foreign, providerMessageId: fresh("m"), event: "delivered" })
      yield* process.retry(attemptOf(yield* queued, 1))
      assert.strictEqual((yield* copies).provider_b, 1)
      const outside = (yield* mails.rows).find(
        ({ providerMessageId }) => providerMessageId === foreign.providerMessageId
      )
      assert.deepInclude(outside, {
        category: "unknown",
        idempotencyKey: null,
        keyHash: null,
        outcome: null
      })
    })
  )

  it.effect("S4: an event proves it whichever provider it is of, before a call, a deferral and a retry", () =>
    Effect.gen(function* () {
      const { copies, pass, queued, received, scripts, spawn } = yield* world(bFirst)
      const mails = yield* Mails
      const [called, retried] = [order(), order()]
      const proof = (provider: "provider_a" | "provider_b", key: string) =>
        Effect.flatMap(rowsOf(key), (rows) =>
          mails.recordEvent({
            provider,
            providerMessageId: fresh("m"),
            event: "delivered",
            keyTag: rows[0]?.keyTag ?? undefined
          })
        )
      const process = yield* spawn
      scripts.provider_b.push("ambiguous-lost", "ambiguous-lost")
      yield* process.send(retried)
      yield* proof("provider_a", retried.idempotencyKey)
      assert.deepInclude((yield* rowsOf(retried.idempotencyKey))[0], {
        status: "delivered",
        provider: "provider_a"
      })
      yield* process.retry(attemptOf(yield* queued, 1))
      // The claim says provider_b; the log knows that provider_a delivered it.
      scripts.provider_b[0] = "hang-lost"
      const dead = yield* Effect.forkChild((yield* spawn).send(called), { startImmediately: true })
      while ((yield* received).provider_b < 2) yield* Effect.sleep("5 millis")
      yield* mails.store.record({
        ...unfinished(called),
        provider: "provider_a",
        providerMessageId: fresh("m")
      })
      yield* pass(STALL_MS)
      assert.deepInclude(yield* (yield* spawn).send(called), { status: "sent", provider: "provider_a" })
      assert.deepStrictEqual(yield* copies, { provider_a: 0, provider_b: 0 })
      assert.strictEqual((yield* received).provider_b, 2)
      yield* Fiber.interrupt(dead)
    })
  )

  it.effect(
    "S1, S2: a send that nobody recorded is known to the provider alone, which delivers one copy",
    () =>
      Effect.gen(function* () {
        const { copies, received, spawn, storeAway, storeBack } = yield* world(aFirst)
        const [mail, other] = [order(), order()]
        yield* storeAway()
        // Without a claim, and their rows are lost.
        for (const one of [mail, other]) assert.strictEqual((yield* (yield* spawn).send(one)).status, "sent")
        yield* storeBack
        // The same bytes, in whichever process: the provider gives the first message again.
        assert.strictEqual((yield* (yield* spawn).send(mail)).status, "sent")
        // Other bytes: what it says proves that one is out, and nothing about the rest.
        const changed = { ...other, text: "another" }
        isDoubtful(yield* (yield* spawn).send(changed))
        isDoubtful(yield* (yield* spawn).send(changed))
        assert.deepStrictEqual(yield* copies, { provider_a: 2, provider_b: 0 })
        assert.deepStrictEqual(yield* received, { provider_a: 4, provider_b: 0 })
      })
  )

  it.effect(
    "S2, MAIL-44: a send that the store forgot is not repeated in its 24 hours, once its provider reports it",
    () =>
      Effect.gen(function* () {
        const { copies, pass, spawn, storeAway, storeBack } = yield* world({ primary: "provider_b" })
        const mails = yield* Mails
        const [told, untold] = [order(), order()]
        // As after a restore: neither the claims nor the rows are there.
        yield* storeAway()
        for (const mail of [told, untold])
          assert.strictEqual((yield* (yield* spawn).send(mail)).status, "sent")
        yield* storeBack
        const message = { provider: "provider_b", providerMessageId: fresh("m") } as const
        const keyTag = yield* firstTagOf(told.idempotencyKey)
        yield* mails.recordEvent({ ...message, event: "sent", occurredAt: yield* nowOf, keyTag })
        yield* mails.recordEvent({ ...message, event: "delivered", occurredAt: yield* nowOf, keyTag })
        for (const mail of [told, told, untold]) {
          const result = yield* (yield* spawn).send(mail)
          assert.strictEqual(result.status, "sent")
          if (mail === told) assert.deepInclude(result, message)
        }
        assert.strictEqual((yield* copies).provider_b, 3)
        const [row, ...others] = yield* rowsOf(told.idempotencyKey)
        assert.deepInclude(row, { ...message, status: "delivered", outcome: "sent" })
        assert.isEmpty(others)
        // Tomorrow's use is another one, though events of yesterday's mail still come.
        yield* pass(24 * HOUR_MS + MINUTE_MS)
        yield* mails.purgeClaims
        yield* mails.recordEvent({ ...message, event: "opened", occurredAt: yield* nowOf, keyTag })
        assert.strictEqual((yield* (yield* spawn).send({ ...told, text: "tomorrow" })).status, "sent")
        assert.strictEqual((yield* copies).provider_b, 4)
      })
  )
}
