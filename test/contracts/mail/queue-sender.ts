/**
 * `SendQueue` and `MailStore` under the sender: what became of a request whose sender died, or stood still.
 *
 * Adapters: memory, postgres. Rules: H1, Q1, QUEUE-3, QUEUE-10, S3, S4.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer, type Scope } from "effect"

import * as NoDeferQueue from "../../../src/adapters/memory/mail/defer-queue.ts"
import { makeMemoryProvider } from "../../../src/adapters/memory/mail/mail-provider.ts"
import { MailerConfig } from "../../../src/application/mail/sending.ts"
import { QueueConfig } from "../../../src/application/send-queue/queue-config.ts"
import { layer as layerSender, QueueSender } from "../../../src/application/send-queue/sender.ts"
import type { Provider } from "../../../src/domain/mail/provider.ts"
import { EXPIRED, SET_ASIDE } from "../../../src/domain/mail/queue.ts"
import { fixedRate } from "../../../src/domain/mail/rate.ts"
import { MailProviders, ProviderFailure, type ProviderPace } from "../../../src/ports/mail/mail-provider.ts"
import { type ClaimEntry, MailStore } from "../../../src/ports/mail/mail-store.ts"
import { SendQueue, type TakenMail } from "../../../src/ports/mail/send-queue.ts"
import type { SimulatedOutcome } from "../../../src/ports/mail/simulated-mail.ts"
import { noAnswer } from "../../../src/ports/store-unavailable.ts"
import { anyId } from "../../support/any-id.ts"
import { clockAhead } from "../../support/later.ts"
import { mailerConfig } from "../../support/mailer-config.ts"
import type { QueueStoreWorld } from "./send-queue.ts"

const LEASE_MS = 12_000
const PACES = (["provider_a", "provider_b"] as const).map((provider) => ({ provider, ...fixedRate(0) }))
const REQUEST = {
  to: "a@x.test",
  subject: "s",
  text: "t",
  category: "transactional",
  source: "api:test",
  idempotencyKey: "order-1"
}

/** A sender on the queue, and what leaves. */
const makeSender = Effect.fnUntraced(function* (
  world: QueueStoreWorld,
  options: {
    readonly primary: Provider
    readonly outcomes?: Array<SimulatedOutcome>
    /** It refuses everything, with these words about its pace. */
    readonly refusal?: ProviderPace
    readonly queueAs?: (queue: SendQueue["Service"]) => SendQueue["Service"]
    /** Takes every mail. */
    readonly fallback?: Provider
    readonly moveClaim?: MailStore["Service"]["moveClaim"]
    /** Passes before the primary answers. */
    readonly meanwhile?: Effect.Effect<void>
  }
) {
  const { meanwhile = Effect.void, moveClaim = world.store.moveClaim, outcomes = [], primary } = options
  const { queueAs = (queue) => queue } = options
  const pace = options.refusal
  const provider = makeMemoryProvider({
    provider: primary,
    outcome: () => Effect.as(meanwhile, outcomes.shift() ?? "ok")
  })
  const adapter =
    pace === undefined
      ? provider.provider
      : {
          ...provider.provider,
          send: () =>
            Effect.fail(new ProviderFailure({ provider: primary, kind: "unavailable", message: "no", pace }))
        }
  const other =
    options.fallback &&
    makeMemoryProvider({ provider: options.fallback, outcome: () => Effect.succeed("ok") })
  const ports = Layer.mergeAll(
    Layer.succeed(MailerConfig, { ...mailerConfig, primary, fallback: options.fallback }),
    Layer.succeed(QueueConfig, { concurrency: 32, maxAgeMs: 24 * 3_600_000, paces: PACES }),
    Layer.succeed(MailStore, { ...world.store, moveClaim }),
    Layer.succeed(SendQueue, queueAs(world.queue)),
    NoDeferQueue.layerNone,
    Layer.succeed(MailProviders, {
      get: (name) => (name === primary ? adapter : name === options.fallback ? other?.provider : undefined)
    }),
    NodeCrypto.layer
  )
  const context = yield* Layer.build(Layer.provide(layerSender, ports))
  return { send: Context.get(context, QueueSender).send, copies: provider.copies }
})

/** The suite, each test on a world of its own. */
export const suite = (name: string, makeWorld: Effect.Effect<QueueStoreWorld, never, Scope.Scope>) =>
  describe(`the sender of the queue on the store: ${name}`, () => {
    const test = <E>(title: string, body: (world: QueueStoreWorld) => Effect.Effect<void, E, Scope.Scope>) =>
      it.live(title, () => Effect.scoped(Effect.flatMap(makeWorld, (world) => world.inItsTime(body(world)))))

    const enqueue = ({ queue }: QueueStoreWorld) =>
      queue.enqueue([{ request: REQUEST, payloadHash: "unused" }])

    const take = Effect.fnUntraced(function* ({ queue }: QueueStoreWorld, primary: Provider) {
      const { mails } = yield* queue.take({ paces: PACES, primary, limit: 1, leaseMs: LEASE_MS })
      assert.lengthOf(mails, 1)
      return mails[0]!
    })

    /** The request once two senders have died with it. */
    const takeFromTheDead = Effect.fnUntraced(function* (world: QueueStoreWorld, primary: Provider) {
      for (const _ of [1, 2]) {
        yield* take(world, primary)
        yield* world.advance(LEASE_MS + 1)
      }
      const taken = yield* take(world, primary)
      assert.strictEqual(taken.deaths, 2)
      return taken
    })

    const found = ({ queue }: QueueStoreWorld, { id }: TakenMail) =>
      Effect.map(queue.find(id), (row) => ({
        state: row?.state,
        error: row?.error,
        kind: row?.result?.status === "failed" ? row.result.kind : undefined
      }))

    test("a request that two senders died with is set aside: it ends, and nobody is asked", (world) =>
      Effect.gen(function* () {
        const sender = yield* makeSender(world, { primary: "provider_a" })
        yield* enqueue(world)
        const taken = yield* takeFromTheDead(world, "provider_a")
        yield* sender.send(taken)
        assert.deepInclude(yield* found(world, taken), {
          state: "failed",
          error: SET_ASIDE,
          kind: "rejected"
        })
        assert.lengthOf(yield* sender.copies, 0)
      }))

    test("so is a retry: it ends in doubt, and nobody is asked once more", (world) =>
      Effect.gen(function* () {
        const sender = yield* makeSender(world, { primary: "provider_b", outcomes: ["ambiguous-accepted"] })
        yield* enqueue(world)
        const first = yield* take(world, "provider_b")
        yield* sender.send(first)
        assert.deepInclude(yield* found(world, first), { state: "deferred" })
        yield* world.advance(120_001)
        const taken = yield* takeFromTheDead(world, "provider_b")
        yield* sender.send(taken)
        assert.deepInclude(yield* found(world, taken), {
          state: "failed",
          error: SET_ASIDE,
          kind: "ambiguous"
        })
        assert.lengthOf(yield* sender.copies, 1)
      }))

    test("a request that expired ends so: nobody is asked, and it does not fail over (S3, QUEUE-10)", (world) =>
      Effect.gen(function* () {
        const sender = yield* makeSender(world, { primary: "provider_a", fallback: "provider_b" })
        const [queued] = yield* world.queue.enqueue([
          {
            request: { ...REQUEST, expiresAt: new Date(Date.now() + 60_000).toISOString() },
            payloadHash: "unused"
          }
        ])
        yield* world.advance(120_000)
        yield* sender.send(yield* take(world, "provider_a"))
        const row = yield* world.queue.find(queued!.id)
        assert.deepInclude(row?.result, {
          status: "failed",
          kind: "unavailable",
          error: EXPIRED,
          provider: "provider_a",
          failedOver: false
        })
        assert.lengthOf(yield* sender.copies, 0)
      }))

    for (const [words, refusal, none, one] of [
      [
        "names no time waits 5 s and longer, however soon others may be asked",
        { holdMs: 1_000 },
        3_000,
        6_500
      ],
      ["names a time waits for it", { retryAfterMs: 60_000 }, 55_000, 60_500]
    ] as const)
      test(`a refusal that ${words} (QUEUE-10)`, (world) =>
        Effect.gen(function* () {
          const sender = yield* makeSender(world, { primary: "provider_a", refusal })
          yield* enqueue(world)
          yield* sender.send(yield* take(world, "provider_a"))
          yield* world.advance(none)
          const early = yield* world.queue.take({
            paces: PACES,
            primary: "provider_a",
            limit: 1,
            leaseMs: LEASE_MS
          })
          assert.lengthOf(early.mails, 0)
          yield* world.advance(one - none)
          yield* take(world, "provider_a")
        }))

    test("a refusal that comes when the store cannot say whose the key is does not end its request (Q1, QUEUE-10)", (world) =>
      Effect.gen(function* () {
        const clock = yield* Clock.clockWith(Effect.succeed)
        let passed = 0n
        const later = clockAhead(
          clock,
          () => 0,
          () => clock.monotonicTimeNanosUnsafe() + passed
        )
        let begun = 0
        const sender = yield* makeSender(world, {
          primary: "provider_a",
          outcomes: ["unavailable"],
          meanwhile: Effect.sync(() => void (passed += BigInt(LEASE_MS) * 1_000_000n)),
          queueAs: (queue) => ({
            ...queue,
            begin: (entry) =>
              Effect.suspend(() =>
                (begun += 1) === 2 ? Effect.fail(noAnswer("begin", "the test")) : queue.begin(entry)
              )
          })
        })
        yield* enqueue(world)
        const taken = yield* take(world, "provider_a")
        yield* Effect.provideService(sender.send(taken), Clock.Clock, later)
        assert.strictEqual(begun, 2)
        assert.deepInclude(yield* found(world, taken), { state: "queued", kind: undefined })
        yield* world.advance(LEASE_MS + 1)
        yield* sender.send(yield* take(world, "provider_a"))
        assert.deepInclude(yield* found(world, taken), { state: "sent" })
        assert.lengthOf(yield* sender.copies, 1)
      }))

    test("a request of which its key cannot say that it leaves waits for the key, and has not failed", (world) =>
      Effect.gen(function* () {
        let asked = 0
        const away = yield* makeSender(world, {
          primary: "provider_b",
          outcomes: ["unavailable"],
          fallback: "provider_a",
          moveClaim: (entry) =>
            (asked += 1) === 1 ? Effect.fail(noAnswer("moveClaim", "the test")) : world.store.moveClaim(entry)
        })
        yield* enqueue(world)
        const taken = yield* take(world, "provider_b")
        yield* away.send(taken)
        assert.deepInclude(yield* found(world, taken), { state: "queued", kind: undefined })
        assert.lengthOf(yield* away.copies, 0)
        // The process remembers a doubt, and no failure, of which the key has never heard: a retry follows.
        for (const waited of [LEASE_MS + 1, 120_001]) {
          yield* world.advance(waited)
          yield* away.send(yield* take(world, "provider_b"))
        }
        assert.deepInclude(yield* found(world, taken), { state: "sent" })
        assert.lengthOf(yield* away.copies, 1)
      }))

    test("an acceptance that is written late is evidence, where another sender has the request by then", (world) =>
      Effect.gen(function* () {
        let writes = 0
        let tag: ClaimEntry["tag"]
        const sender = yield* makeSender(world, {
          primary: "provider_b",
          queueAs: (queue) => ({
            ...queue,
            begin: (entry) =>
              Effect.tap(queue.begin(entry), ({ decision }) =>
                Effect.sync(() => void (tag = decision._tag === "Claimed" ? decision.tag : undefined))
              ),
            move: (move) =>
              (writes += 1) === 1
                ? Effect.andThen(
                    Effect.andThen(world.advance(LEASE_MS + 1), take(world, "provider_b")),
                    Effect.fail(noAnswer("move", "the test"))
                  )
                : queue.move(move)
          })
        })
        yield* enqueue(world)
        const taken = yield* take(world, "provider_b")
        yield* sender.send(taken)
        assert.deepInclude(yield* found(world, taken), { state: "sending" })
        const keyHash = world.hashOf(REQUEST.idempotencyKey)
        const evidence = yield* world.store.findEvidence({ keyHash, tag, ageMs: LEASE_MS + 1 })
        assert.strictEqual(evidence?.provider, "provider_b")
      }))

    test("what a process remembers of a request ends its key, too: the next call hears of it at once", (world) =>
      Effect.gen(function* () {
        let writes = 0
        let claim: ClaimEntry | undefined
        const sender = yield* makeSender(world, {
          primary: "provider_b",
          queueAs: (queue) => ({
            ...queue,
            begin: (entry) =>
              Effect.andThen(
                Effect.sync(() => void (claim ??= entry.claim)),
                queue.begin(entry)
              ),
            // Another sender takes the request and its key, and dies; this one writes what it knows as evidence.
            move: Effect.fnUntraced(function* (move) {
              if ((writes += 1) === 1) {
                yield* world.advance(LEASE_MS + 1)
                const other = yield* take(world, "provider_b")
                const entry = { ...claim!, owner: other.lease }
                const keyHash = world.hashOf(REQUEST.idempotencyKey)
                yield* queue.begin({ keyHash, addresses: [], claim: entry, held: other })
              }
              return yield* queue.move(move)
            })
          })
        })
        yield* enqueue(world)
        yield* sender.send(yield* take(world, "provider_b"))
        yield* world.advance(LEASE_MS + 1)
        const taken = yield* take(world, "provider_b")
        yield* sender.send(taken)
        assert.deepInclude(yield* found(world, taken), { state: "sent" })
        assert.lengthOf(yield* sender.copies, 1)
        const { decision } = yield* world.store.begin({
          keyHash: world.hashOf(REQUEST.idempotencyKey),
          addresses: [],
          claim: { ...claim!, owner: anyId("later") }
        })
        assert.strictEqual(decision._tag, "Replay")
      }))
  })
