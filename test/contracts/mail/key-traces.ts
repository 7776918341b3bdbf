/**
 * What one key may lead to, whatever its calls, retries and events: the shortest ways to a second copy or to a false answer that an
 * exhaustive walk through the rules has found, each with what must come of it instead.
 *
 * Adapters: memory, postgres. Rules: S1, S2, S3, S4, S9, D1, MAIL-12, MAIL-41, MAIL-43, MAIL-44, MAIL-45, MAIL-52, MAIL-56, MAIL-57.
 */
import { createHash } from "node:crypto"

import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Result, type Scope } from "effect"

import type { DeferredSend } from "../../../src/domain/mail/deferred-send.ts"
import type { SendResult } from "../../../src/domain/mail/send-result.ts"
import type { SimulatedOutcome } from "../../../src/ports/mail/simulated-mail.ts"
import { anyId } from "../../support/any-id.ts"
import { makeKeyWorld } from "../../support/worlds/key-world.ts"
import type { MailWorld } from "../../support/worlds/mail-world.ts"
import { attempt, fresh, Mails } from "./mail-store/mails.ts"

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
/** Longer than the lease of a call. */
const STALL_MS = MINUTE_MS

const order = () => ({
  to: `${fresh("to")}@x.test`,
  subject: "Hello",
  text: "t",
  category: "transactional" as const,
  source: "api:test",
  idempotencyKey: fresh("order")
})

const isDoubtful = (result: SendResult) =>
  assert.deepInclude(result, { ok: false, status: "failed", kind: "ambiguous" })

const attemptOf = (messages: ReadonlyArray<DeferredSend>, attempt: number) =>
  messages.findLast((message) => message.attempt === attempt)!

/** A world on the suite's store. */
const world = (options: Parameters<typeof makeKeyWorld>[1]) =>
  Mails.use((mails) => makeKeyWorld(mails, options))

const aFirst = { primary: "provider_a", fallback: "provider_b" } as const
const bFirst = { primary: "provider_b", fallback: "provider_a" } as const

/** The row of an acceptance whose claim was not settled. */
const unfinished = (mail: ReturnType<typeof order>) =>
  attempt(
    {
      details: {
        category: mail.category,
        source: mail.source,
        from: "noreply@postlane.test",
        to: [mail.to],
        others: [],
        subject: mail.subject,
        idempotencyKey: anyId(mail.idempotencyKey),
        keyHash: anyId(createHash("sha256").update(mail.idempotencyKey).digest("hex")),
        keyTag: null
      }
    },
    "sent"
  )

/** The rows of a key, oldest first. */
const rowsOf = (key: string) =>
  Mails.use(({ rows }) =>
    Effect.map(rows, (all) => all.filter(({ idempotencyKey }) => idempotencyKey === key))
  )

export const suite = (name: string, makeWorld: Effect.Effect<MailWorld, never, Scope.Scope>) =>
  layer(Layer.effect(Mails, makeWorld), { excludeTestServices: true })(`one key: ${name}`, (it) => {
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
        assert.match(
          last?.error ?? "",
          /^Recipient suppressed: .*; an earlier attempt may have been accepted$/
        )
        yield* mails.unsuppress(mail.to)
        isDoubtful(yield* (yield* spawn).send(mail))
        assert.deepStrictEqual(yield* received, { provider_a: 1, provider_b: 0 })
        assert.strictEqual((yield* copies).provider_a, 1)
      })
    )

    it.effect(
      "S2: a suppression that a later call finds ends it, and a repeat is not told that nothing left",
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
      "S2, 4: a stalled call whose key has passed on asks nobody, and answers what the claim says",
      () =>
        Effect.gen(function* () {
          const { copies, pass, received, scripts, spawn } = yield* world(aFirst)
          const mail = order()
          const refusal = yield* Deferred.make<SimulatedOutcome>()
          scripts.provider_a.push(Deferred.await(refusal))
          const stalled = yield* Effect.forkChild((yield* spawn).send(mail), { startImmediately: true })
          while ((yield* received).provider_a === 0) yield* Effect.sleep("5 millis")
          yield* pass(STALL_MS)
          const heir = yield* (yield* spawn).send(mail)
          assert.strictEqual(heir.status, "sent")
          yield* Deferred.succeed(refusal, "unavailable")
          assert.deepStrictEqual(yield* Fiber.join(stalled), heir)
          assert.deepStrictEqual(yield* copies, { provider_a: 1, provider_b: 0 })
        })
    )

    it.effect("S2, 4: a stalled call whose key has passed on defers nothing", () =>
      Effect.gen(function* () {
        const { pass, queued, received, scripts, spawn } = yield* world(aFirst)
        const mail = order()
        const lost = yield* Deferred.make<SimulatedOutcome>()
        scripts.provider_a.push(Deferred.await(lost))
        const stalled = yield* Effect.forkChild((yield* spawn).send(mail), { startImmediately: true })
        while ((yield* received).provider_a === 0) yield* Effect.sleep("5 millis")
        yield* pass(STALL_MS)
        const heir = yield* (yield* spawn).send(mail)
        yield* Deferred.succeed(lost, "ambiguous-lost")
        assert.deepStrictEqual(yield* Fiber.join(stalled), heir)
        assert.deepStrictEqual(yield* queued, [])
      })
    )

    it.effect(
      "S4: an acceptance that a call without its claim learns of is evidence for whoever holds it",
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

    it.effect(
      "S2: a key that this process left ambiguous in an outage stays with its provider after it",
      () =>
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

    it.effect(
      "MAIL-12: an event of another installation is mail from outside, and settles nothing here",
      () =>
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

    it.effect(
      "S4: an event proves it whichever provider it is of, before a call, a deferral and a retry",
      () =>
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
  })
