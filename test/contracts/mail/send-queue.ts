/**
 * `SendQueue`: what is committed is taken once, in order, at its pace; an end of a request asks its key first.
 *
 * Adapters: memory, postgres. Rules: FRONT-2, FRONT-8, Q1, Q2, Q3, Q4, Q5, QUEUE-2, QUEUE-3, QUEUE-4, QUEUE-5, QUEUE-6, QUEUE-8, QUEUE-9, QUEUE-10.
 */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Result, type Scope } from "effect"

import type { IdempotencyKey, KeyHash, QueueId } from "../../../src/domain/ids.ts"
import type { Provider } from "../../../src/domain/mail/provider.ts"
import { fixedRate } from "../../../src/domain/mail/rate.ts"
import type { MailStore } from "../../../src/ports/mail/mail-store.ts"
import type { PaceLimit, QueueMove, SendQueue, TakenMail } from "../../../src/ports/mail/send-queue.ts"
import { anyId } from "../../support/any-id.ts"
import { attempt, mail, resultOf } from "./mail-store/mails.ts"

/** A queue and the mail store beside it, on a database of their own. */
export interface QueueStoreWorld {
  readonly queue: SendQueue["Service"]
  readonly store: MailStore["Service"]
  readonly advance: (ms: number) => Effect.Effect<void>
  /** What happens at the same time as the store sees it. */
  readonly inItsTime: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** The hash of a key as the store keeps it. */
  readonly hashOf: (key: string) => KeyHash
}

const LEASE_MS = 12_000
const DAY_MS = 24 * 3_600_000
const FREE: ReadonlyArray<PaceLimit> = [
  { provider: "provider_a", ...fixedRate(0) },
  { provider: "provider_b", ...fixedRate(0) }
]

const entry = (change: object = {}) => ({
  request: {
    to: "a@x.test",
    subject: "s",
    text: "t",
    category: "transactional",
    source: "api:test",
    ...change
  },
  payloadHash: "payload"
})

/** The suite, each test on a world of its own. */
export const suite = (name: string, makeWorld: Effect.Effect<QueueStoreWorld, never, Scope.Scope>) =>
  describe(`send queue: ${name}`, () => {
    const test = <E>(title: string, body: (world: QueueStoreWorld) => Effect.Effect<void, E, Scope.Scope>) =>
      it.live(title, () => Effect.scoped(Effect.flatMap(makeWorld, body)))

    const take = (
      { inItsTime, queue }: QueueStoreWorld,
      options: {
        readonly limit?: number
        readonly paces?: ReadonlyArray<PaceLimit>
        readonly primary?: Provider
      } = {}
    ) =>
      inItsTime(
        queue.take({
          paces: options.paces ?? FREE,
          primary: options.primary ?? "provider_a",
          limit: options.limit ?? 100,
          leaseMs: LEASE_MS
        })
      )

    const enqueue = ({ inItsTime, queue }: QueueStoreWorld, ...changes: ReadonlyArray<object>) =>
      inItsTime(queue.enqueue(changes.map(entry)))

    const subjects = (mails: ReadonlyArray<TakenMail>) =>
      mails.map(({ request }) => String(Reflect.get(Object(request), "subject")))

    const begin = ({ hashOf, inItsTime, queue }: QueueStoreWorld, taken: TakenMail) =>
      inItsTime(
        queue.begin({
          keyHash: hashOf(taken.idempotencyKey),
          addresses: ["a@x.test"],
          claim: {
            payloadHash: "payload",
            provider: "provider_a",
            owner: taken.lease,
            leaseMs: LEASE_MS,
            tag: anyId(`tag-of-${taken.id}`),
            known: undefined
          },
          held: taken
        })
      )

    /** How the request's sender ends it, or goes on. */
    const move = (
      { hashOf, inItsTime, queue }: QueueStoreWorld,
      taken: TakenMail,
      state: QueueMove["state"],
      more: Partial<QueueMove> = {}
    ) => {
      const key: IdempotencyKey = taken.idempotencyKey
      const isSent = state === "sent"
      const status = state === "queued" ? "failed" : state
      const record = attempt(
        mail({ idempotencyKey: key, keyHash: hashOf(key), keyTag: anyId(`tag-of-${taken.id}`) }),
        status,
        {
          rowId: anyId(taken.id),
          providerMessageId: isSent ? `m-${taken.id}` : null,
          errorKind: status === "failed" ? "unavailable" : null,
          settle: {
            owner: taken.lease,
            state: isSent ? "accepted" : state === "deferred" ? "deferred" : "refused",
            ambiguous: state === "deferred",
            result: resultOf(status, key)
          }
        }
      )
      return inItsTime(
        queue.move({
          id: taken.id,
          lease: taken.lease,
          state,
          tried: [],
          refusals: 0,
          error: null,
          result: record.settle?.result ?? null,
          frees: state === "failed" || state === "suppressed",
          record,
          writesRow: state !== "queued" && state !== "deferred",
          ...more
        })
      )
    }

    const stateOf = ({ inItsTime, queue }: QueueStoreWorld, id: QueueId) =>
      inItsTime(Effect.map(queue.find(id), (found) => found?.state))

    const one = (taken: { readonly mails: ReadonlyArray<TakenMail> }): TakenMail => {
      assert.lengthOf(taken.mails, 1)
      return taken.mails[0]!
    }

    test("takes a request once, under a lease; when its sender is silent another one takes it, and knows", (world) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* take(world), { mails: [], nextMs: undefined })
        const [queued] = yield* enqueue(world, {})
        const first = one(yield* take(world))
        assert.strictEqual(first.id, queued?.id)
        assert.deepInclude(first, { deaths: 0, waitMs: 0, tried: [] })
        assert.lengthOf((yield* take(world)).mails, 0)
        yield* world.advance(LEASE_MS / 2)
        assert.deepStrictEqual(
          [...(yield* world.inItsTime(world.queue.renew([first], LEASE_MS)))],
          [first.id]
        )
        yield* world.advance(LEASE_MS * 0.8)
        assert.lengthOf((yield* take(world)).mails, 0)
        yield* world.advance(LEASE_MS)
        const second = one(yield* take(world))
        assert.deepInclude(second, { id: first.id, deaths: 1 })
        assert.notStrictEqual(second.lease, first.lease)
        assert.strictEqual((yield* world.inItsTime(world.queue.renew([first], LEASE_MS))).size, 0)
        assert.strictEqual((yield* begin(world, first)).decision._tag, "InProgress")
        assert.isUndefined(yield* move(world, first, "sent"))
        assert.strictEqual(yield* stateOf(world, first.id), "sending")
        assert.strictEqual((yield* begin(world, second)).decision._tag, "Claimed")
        assert.isDefined(yield* move(world, second, "sent"))
        assert.strictEqual(yield* stateOf(world, first.id), "sent")
      }))

    test("the work of a sender that died is next, and not behind all that was queued while it was silent (QUEUE-3)", (world) =>
      Effect.gen(function* () {
        yield* enqueue(world, { subject: "of the dead" }, { subject: "of the living" })
        const [dead, living] = (yield* take(world)).mails
        yield* enqueue(world, { subject: "later" }, { subject: "later" })
        yield* world.advance(LEASE_MS / 2)
        yield* world.inItsTime(world.queue.renew([living!], LEASE_MS))
        yield* world.advance(LEASE_MS / 2 + 1)
        yield* world.inItsTime(world.queue.renew([living!], LEASE_MS))
        assert.deepInclude(one(yield* take(world, { limit: 1 })), { id: dead!.id, deaths: 1 })
        assert.deepStrictEqual(subjects((yield* take(world)).mails), ["later", "later"])
      }))

    test("a sender that lost its lease and lives is no death: a request is not set aside for an outage", (world) =>
      Effect.gen(function* () {
        yield* enqueue(world, {})
        const senders: Array<TakenMail> = []
        for (let outage = 0; outage < 4; outage += 1) {
          const taken = one(yield* take(world))
          senders.push(taken)
          yield* world.advance(LEASE_MS + 1)
          // After the outage both ask; the first one only now sees that it has lost the request.
          for (const sender of senders) yield* world.inItsTime(world.queue.renew([sender], LEASE_MS))
          yield* world.advance(LEASE_MS + 1)
        }
        assert.isAtMost(one(yield* take(world)).deaths, 1)
      }))

    test("Q3: nothing is taken before its time", (world) =>
      Effect.gen(function* () {
        yield* enqueue(world, { sendAt: new Date(Date.now() + 3_600_000).toISOString() })
        const early = yield* take(world)
        assert.lengthOf(early.mails, 0)
        assert.isAbove(early.nextMs ?? 0, 3_500_000)
        yield* world.advance(3_700_000)
        one(yield* take(world))
      }))

    test("the same key with the same mail is the first request; with another mail a conflict, and then none of the batch is queued", (world) =>
      Effect.gen(function* () {
        const [first] = yield* enqueue(world, { idempotencyKey: "k", expiresAt: "2099-01-01T00:00:00Z" })
        const [again] = yield* enqueue(world, { to: ["a@x.test"], cc: [], idempotencyKey: "k" })
        assert.strictEqual(again?.id, first?.id)
        const refused = yield* Effect.flip(
          enqueue(world, { subject: "beside" }, { subject: "other", idempotencyKey: "k" })
        )
        assert.deepInclude(refused, { why: "conflict" })
        assert.lengthOf((yield* take(world)).mails, 1)
      }))

    test("a key is held for a day after its request ended, and free at once after a cancel or a proven refusal", (world) =>
      Effect.gen(function* () {
        const [first] = yield* enqueue(world, { idempotencyKey: "k" })
        assert.strictEqual(yield* world.inItsTime(world.queue.cancel(first!.id)), "cancelled")
        const [second] = yield* enqueue(world, { idempotencyKey: "k", subject: "another mail" })
        assert.notStrictEqual(second?.id, first?.id)
        const failing = one(yield* take(world))
        yield* begin(world, failing)
        yield* move(world, failing, "failed")
        const [third] = yield* enqueue(world, { idempotencyKey: "k" })
        assert.notStrictEqual(third?.id, second?.id)
        const sending = one(yield* take(world))
        yield* begin(world, sending)
        yield* move(world, sending, "sent")
        const [same] = yield* enqueue(world, { idempotencyKey: "k" })
        assert.deepInclude(same, { id: third!.id, state: "sent" })
        yield* world.advance(25 * 3_600_000)
        const [fourth] = yield* enqueue(world, { idempotencyKey: "k" })
        assert.notStrictEqual(fourth?.id, third?.id)
      }))

    test("Q4: goes by category, then by time; what is paused is passed over, and resuming all lifts only that pause", (world) =>
      Effect.gen(function* () {
        const categories = ["marketing", "transactional", "auth", "notification", "alert"]
        yield* enqueue(world, ...categories.map((category) => ({ category, subject: category })))
        yield* world.inItsTime(world.queue.pause({ category: "alert", actor: "me", isPaused: true }))
        yield* world.inItsTime(world.queue.pause({ category: undefined, actor: "me", isPaused: true }))
        assert.lengthOf((yield* take(world)).mails, 0)
        assert.isTrue(
          yield* world.inItsTime(world.queue.pause({ category: undefined, actor: "me", isPaused: false }))
        )
        assert.isFalse(
          yield* world.inItsTime(world.queue.pause({ category: undefined, actor: "me", isPaused: false }))
        )
        assert.deepStrictEqual(subjects((yield* take(world, { limit: 2 })).mails), ["auth", "transactional"])
        assert.deepStrictEqual(subjects((yield* take(world, { limit: 4 })).mails), [
          "notification",
          "marketing"
        ])
        yield* world.inItsTime(world.queue.pause({ category: "alert", actor: "me", isPaused: false }))
        assert.deepStrictEqual(subjects((yield* take(world)).mails), ["alert"])
      }))

    test("Q5: tokens are evenly spaced, a pace without a memory is silent for a second, and a provider that is held is passed over", (world) =>
      Effect.gen(function* () {
        const paces: ReadonlyArray<PaceLimit> = [
          { provider: "provider_a", ...fixedRate(2) },
          { provider: "provider_b", ...fixedRate(0) }
        ]
        yield* enqueue(world, ...Array.from({ length: 6 }, () => ({})), {
          provider: "provider_b",
          subject: "b"
        })
        const silent = yield* take(world, { paces })
        assert.deepStrictEqual(subjects(silent.mails), ["b"])
        assert.approximately(silent.nextMs ?? 0, 1_000, 500)
        yield* world.advance(1_000)
        assert.lengthOf((yield* take(world, { paces })).mails, 1)
        const soon = yield* take(world, { paces })
        assert.lengthOf(soon.mails, 0)
        assert.approximately(soon.nextMs ?? 0, 500, 250)
        yield* world.inItsTime(world.queue.heard(paces[0]!, 0, { holdMs: 60_000 }))
        yield* world.advance(5_000)
        assert.lengthOf((yield* take(world, { paces })).mails, 0)
        yield* world.advance(60_000)
        // That of the other provider, whose sender has been silent, comes back, too.
        assert.deepStrictEqual(subjects((yield* take(world, { paces })).mails).sort(), ["b", "s"])
      }))

    test("Q5: direct sends count, and one token in four stays the queue's; what the provider says raises a rate that nobody fixed", (world) =>
      Effect.gen(function* () {
        const paces: ReadonlyArray<PaceLimit> = [{ provider: "provider_a", rate: 2, least: 2, most: null }]
        yield* enqueue(world, ...Array.from({ length: 100 }, () => ({})))
        yield* take(world, { paces })
        yield* world.advance(1_000)
        assert.lengthOf((yield* take(world, { paces })).mails, 1)
        let taken = 0
        for (let step = 0; step < 16; step += 1) {
          yield* world.advance(500)
          yield* world.inItsTime(world.queue.heard(paces[0]!, 5, {}))
          taken += (yield* take(world, { paces })).mails.length
        }
        assert.isAtLeast(taken, 3)
        assert.isAtMost(taken, 5)
        yield* world.inItsTime(world.queue.heard(paces[0]!, 0, { ratePerSecond: 100 }))
        yield* world.advance(3_000)
        assert.isAtLeast((yield* take(world, { paces })).mails.length, 20)
      }))

    test("Q5: direct sends that are refused all the time leave the queue its token, too", (world) =>
      Effect.gen(function* () {
        const paces: ReadonlyArray<PaceLimit> = [{ provider: "provider_a", rate: 2, least: 2, most: null }]
        yield* enqueue(world, ...Array.from({ length: 100 }, () => ({})))
        yield* take(world, { paces })
        yield* world.advance(1_000)
        let taken = 0
        for (let step = 0; step < 50; step += 1) {
          yield* world.advance(200)
          yield* world.inItsTime(world.queue.heard(paces[0]!, 5, { holdMs: 1_000 }))
          taken += (yield* take(world, { paces })).mails.length
        }
        assert.isAtLeast(taken, 3)
        assert.isAtMost(taken, 6)
      }))

    test("Q5: what the provider says lowers its usual rate, too, and not below the least of its kind", (world) =>
      Effect.gen(function* () {
        for (const [least, tokens] of [
          [0.1, 1],
          [2, 3]
        ] as const) {
          const pace: PaceLimit = {
            provider: least === 2 ? "provider_b" : "provider_a",
            rate: 14,
            least,
            most: null
          }
          yield* world.inItsTime(world.queue.heard(pace, 0, { ratePerSecond: 1 }))
          yield* world.advance(2_000)
          let taken = 0
          for (let step = 0; step < 5; step += 1) {
            if (yield* world.inItsTime(world.queue.token(pace))) taken += 1
            yield* world.advance(250)
          }
          assert.isAtLeast(taken, tokens)
          assert.isAtMost(taken, tokens + 1)
        }
      }))

    test("Q4: every eighth token goes to the oldest, whatever its category", (world) =>
      Effect.gen(function* () {
        const paces: ReadonlyArray<PaceLimit> = [{ provider: "provider_a", ...fixedRate(100) }]
        yield* enqueue(world, { category: "marketing", subject: "oldest" })
        yield* world.advance(1_000)
        yield* enqueue(world, ...Array.from({ length: 20 }, () => ({ category: "auth" })))
        yield* take(world, { paces })
        yield* world.advance(2_000)
        const { mails } = yield* take(world, { paces, limit: 8 })
        assert.lengthOf(mails, 8)
        assert.include(subjects(mails), "oldest")
      }))

    test("Q2: what waits is cancelled; what is under way, deferred or ended is not, nor what a direct send has in hand", (world) =>
      Effect.gen(function* () {
        const cancel = (id: QueueId) => world.inItsTime(world.queue.cancel(id))
        const [waiting, direct] = yield* enqueue(world, {}, { idempotencyKey: "direct" })
        assert.strictEqual(yield* cancel(waiting!.id), "cancelled")
        assert.strictEqual(yield* cancel(waiting!.id), "cancelled")
        assert.isUndefined(yield* cancel(anyId("00000000-0000-4000-8000-00000000dead")))
        const began = yield* world.inItsTime(
          world.store.begin({
            keyHash: world.hashOf("direct"),
            addresses: ["a@x.test"],
            claim: {
              payloadHash: "payload",
              provider: "provider_a",
              owner: "a direct send",
              leaseMs: 60_000,
              tag: anyId("tag"),
              known: undefined
            }
          })
        )
        assert.strictEqual(began.decision._tag, "Claimed")
        assert.strictEqual(yield* cancel(direct!.id), "queued")
        const taken = one(yield* take(world))
        assert.strictEqual(yield* cancel(taken.id), "sending")
        yield* move(world, taken, "deferred", {
          dueMs: 60_000,
          deferral: "{}",
          record: undefined,
          result: null
        })
        assert.strictEqual(yield* cancel(taken.id), "deferred")
      }))

    test("what waits is moved to another time, and nothing else is (FRONT-8)", (world) =>
      Effect.gen(function* () {
        const reschedule = (id: QueueId, inMs: number) =>
          world.inItsTime(
            Effect.flatMap(Clock.currentTimeMillis, (now) =>
              world.queue.reschedule(id, new Date(now + inMs).toISOString())
            )
          )
        const [waiting] = yield* enqueue(world, {})
        assert.strictEqual(yield* reschedule(waiting!.id, 3_600_000), "queued")
        assert.lengthOf((yield* take(world)).mails, 0)
        const refused = yield* Effect.flip(reschedule(waiting!.id, 31 * 24 * 3_600_000))
        assert.match(refused._tag === "QueueRefused" ? refused.message : "", /^sendAt: is more than 30 days/)
        yield* world.advance(3_601_000)
        const taken = one(yield* take(world))
        assert.strictEqual(yield* reschedule(taken.id, 1_000), "sending")
        assert.isUndefined(yield* reschedule(anyId("00000000-0000-4000-8000-00000000dead"), 1_000))
        const [later] = yield* enqueue(world, { idempotencyKey: "later" })
        yield* reschedule(later!.id, 3_600_000)
        yield* reschedule(later!.id, -1_000)
        assert.strictEqual(one(yield* take(world)).id, later!.id)
      }))

    test("a refusal puts it back, and frees its key for its own next attempt; a deferral waits with its exact request", (world) =>
      Effect.gen(function* () {
        yield* enqueue(world, { idempotencyKey: "k" })
        const first = one(yield* take(world))
        yield* begin(world, first)
        yield* move(world, first, "queued", { dueMs: 5_000, refusals: 1, error: "429", result: null })
        assert.lengthOf((yield* take(world)).mails, 0)
        yield* world.advance(5_100)
        const second = one(yield* take(world))
        assert.deepInclude(second, { refusals: 1, deaths: 0 })
        const began = yield* begin(world, second)
        assert.deepInclude(began.decision, { _tag: "Claimed", sticky: undefined })
        yield* move(world, second, "deferred", {
          dueMs: 120_000,
          provider: "provider_b",
          deferral: '{"b":1,"a":2}',
          result: null
        })
        yield* world.advance(121_000)
        const retry = one(yield* take(world))
        assert.strictEqual(retry.deferral, '{"b":1,"a":2}')
        const found = yield* world.inItsTime(world.queue.find(retry.id))
        assert.deepInclude(found, { state: "sending", result: null })
      }))

    test("keeps by which sender token a request was queued (FRONT-2)", (world) =>
      Effect.gen(function* () {
        const sender = "00000000-0000-4000-8000-00000000000a"
        const [own, other] = yield* world.inItsTime(
          world.queue.enqueue([{ ...entry({}), sender }, entry({})])
        )
        const senderOf = (id: QueueId) =>
          Effect.map(world.inItsTime(world.queue.find(id)), (found) => found?.sender)
        assert.strictEqual(yield* senderOf(own!.id), sender)
        assert.isNull(yield* senderOf(other!.id))
      }))

    test("a batch under one key is the same batch or a conflict, also where some of its keys are free again (FRONT-8)", (world) =>
      Effect.gen(function* () {
        const keys = ["b/0", "b/1", "b/2"]
        const put = (hash: string, ...at: ReadonlyArray<number>) =>
          Effect.map(
            Effect.result(
              world.inItsTime(
                world.queue.enqueue(
                  at.map((n) => entry({ idempotencyKey: keys[n] })),
                  { hash, keys }
                )
              )
            ),
            (answer) =>
              Result.isSuccess(answer)
                ? answer.success.map(({ id }) => id)
                : answer.failure._tag === "QueueRefused" && answer.failure.why
          )
        const first = yield* put("one", 0, 1)
        assert.deepStrictEqual(yield* put("one", 0, 1), first)
        for (const [hash, ...at] of [
          ["two", 0],
          ["two", 0, 1],
          ["two", 0, 1, 2],
          ["two", 2]
        ] as const)
          assert.strictEqual(yield* put(hash, ...at), "conflict")
        // The first mail of it was cancelled: its key is free, and the batch is still what the key was used for.
        yield* world.inItsTime(world.queue.cancel((first as ReadonlyArray<QueueId>)[0]!))
        assert.strictEqual(yield* put("two", 0), "conflict")
        const [anew, second] = (yield* put("one", 0, 1)) as ReadonlyArray<QueueId>
        assert.strictEqual(second, (first as ReadonlyArray<QueueId>)[1])
        assert.notStrictEqual(anew, (first as ReadonlyArray<QueueId>)[0])
        // The same mail on its own is no batch.
        assert.strictEqual(
          (yield* Effect.flip(enqueue(world, { idempotencyKey: "b/1" })))._tag,
          "QueueRefused"
        )
        const { mails } = yield* take(world)
        assert.lengthOf(mails, 2)
        for (const taken of mails) yield* move(world, taken, "sent")
        yield* world.advance(DAY_MS - 60_000)
        assert.strictEqual(yield* put("two", 2), "conflict")
        yield* world.advance(120_000)
        assert.isArray(yield* put("two", 0, 1, 2))
      }))

    test("a lease that is prolonged prolongs its claim: no other call takes the key meanwhile", (world) =>
      Effect.gen(function* () {
        yield* enqueue(world, { idempotencyKey: "k" })
        const taken = one(yield* take(world))
        yield* begin(world, taken)
        const ask = (owner: string) =>
          world.inItsTime(
            world.store.begin({
              keyHash: world.hashOf("k"),
              addresses: [],
              claim: {
                payloadHash: "payload",
                provider: "provider_a",
                owner,
                leaseMs: LEASE_MS,
                tag: undefined,
                known: undefined
              }
            })
          )
        for (let step = 0; step < 4; step += 1) {
          yield* world.advance(LEASE_MS * 0.75)
          yield* world.inItsTime(world.queue.renew([taken], LEASE_MS))
          assert.strictEqual((yield* ask("another call")).decision._tag, "InProgress")
        }
        yield* world.advance(LEASE_MS + 1_000)
        assert.deepInclude((yield* ask("another call")).decision, { _tag: "Claimed", takeover: true })
      }))

    test("takes null for what is absent, and [] for no headers, as other languages write it", (world) =>
      Effect.gen(function* () {
        yield* enqueue(world, { idempotencyKey: "k" })
        const bare = {
          cc: null,
          html: null,
          expiresAt: null,
          sendAt: null,
          queue: null,
          tags: [],
          headers: []
        }
        yield* enqueue(world, { idempotencyKey: "k", ...bare })
        assert.lengthOf((yield* take(world)).mails, 1)
      }))

    test("refuses what no sender could send, naming the place", (world) =>
      Effect.gen(function* () {
        const refusal = (...changes: ReadonlyArray<object>) => Effect.flip(enqueue(world, ...changes))
        assert.deepInclude(yield* refusal({}, { sendAt: "2099-01-01T00:00:00Z" }), {
          why: "invalid",
          message: "emails.1.sendAt: is more than 30 days ahead"
        })
        assert.deepInclude(yield* refusal({ expiresAt: "2000-01-01T00:00:00Z" }), { why: "invalid" })
        assert.deepInclude(yield* refusal({ text: "x".repeat(1_100_000) }), { why: "too large" })
        assert.lengthOf((yield* take(world)).mails, 0)
      }))
  })
