/** How many requests of the queue are at a provider at once, and how many are taken ahead. */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, it } from "@effect/vitest"
import { Clock, Context, Effect, Exit, Fiber, Latch, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"

import * as NoDeferQueue from "../../../src/adapters/memory/mail/defer-queue.ts"
import { makeMemoryProvider } from "../../../src/adapters/memory/mail/mail-provider.ts"
import { makeMailDatabase } from "../../../src/adapters/memory/mail/mail-store.ts"
import { makeSendQueue } from "../../../src/adapters/memory/mail/send-queue.ts"
import { MailerConfig } from "../../../src/application/mail/sending.ts"
import { QueueConfig } from "../../../src/application/send-queue/queue-config.ts"
import { layer as layerSender, QueueSender } from "../../../src/application/send-queue/sender.ts"
import { fixedRate } from "../../../src/domain/mail/rate.ts"
import { MailProviders } from "../../../src/ports/mail/mail-provider.ts"
import { MailStore } from "../../../src/ports/mail/mail-store.ts"
import { SendQueue } from "../../../src/ports/mail/send-queue.ts"
import { mailerConfig } from "../../support/mailer-config.ts"

const CONCURRENCY = 4
const MAILS = 40
const ANSWER_MS = 10

/** Keys by when their request was taken, milliseconds. */
type Taken = Map<string, number>

/** A sender, and a provider that answers in `answerMs`, or not before `goes` is open. */
const makeWorld = Effect.fnUntraced(function* (answerMs = ANSWER_MS, waitMs = 0, takeMs = 0) {
  const database = makeMailDatabase()
  const { queue } = makeSendQueue(database)
  const memory = makeMemoryProvider({ provider: "provider_a", outcome: () => Effect.succeed("ok") })
  const goes = Latch.makeUnsafe(true)
  const now = yield* Clock.clockWith(Effect.succeed)
  const seen = { asked: 0, atOnce: 0, most: 0, ahead: 0, longestWaitMs: 0, handedBack: 0, refusals: 0 }
  const taken: Taken = new Map()
  const provider = {
    ...memory.provider,
    send: (request: Parameters<typeof memory.provider.send>[0]) =>
      Effect.gen(function* () {
        const since = [...taken].find(([key]) => JSON.stringify(request).includes(`${key}@x.test`))
        seen.asked += 1
        seen.atOnce += 1
        seen.most = Math.max(seen.most, seen.atOnce)
        seen.longestWaitMs = Math.max(seen.longestWaitMs, now.currentTimeMillisUnsafe() - (since?.[1] ?? 0))
        yield* goes.whenOpen(Effect.sleep(answerMs))
        return yield* memory.provider.send(request)
      }).pipe(Effect.ensuring(Effect.sync(() => void (seen.atOnce -= 1))))
  }
  const watched: typeof queue = {
    ...queue,
    take: (asked) =>
      queue.take(asked).pipe(
        Effect.tap(({ mails }) =>
          Effect.sync(() => {
            for (const { idempotencyKey } of mails) taken.set(idempotencyKey, now.currentTimeMillisUnsafe())
            seen.ahead = Math.max(seen.ahead, taken.size - CONCURRENCY)
          })
        ),
        Effect.map((answer) => ({ ...answer, mails: answer.mails.map((mail) => ({ ...mail, waitMs })) })),
        Effect.tap(() => Effect.sleep(takeMs))
      ),
    move: (move) =>
      Effect.suspend(() => {
        taken.delete([...taken.keys()].find((key) => JSON.stringify(move).includes(`"${key}"`)) ?? "")
        if (move.state === "queued") seen.handedBack += 1
        seen.refusals = Math.max(seen.refusals, move.refusals)
        return queue.move(move)
      })
  }
  const ports = Layer.mergeAll(
    Layer.succeed(MailerConfig, mailerConfig),
    Layer.succeed(QueueConfig, {
      concurrency: CONCURRENCY,
      maxAgeMs: 24 * 3_600_000,
      paces: [{ provider: "provider_a", ...fixedRate(0) }]
    }),
    Layer.succeed(MailStore, database.store),
    Layer.succeed(SendQueue, watched),
    NoDeferQueue.layerNone,
    Layer.succeed(MailProviders, { get: (name) => (name === "provider_a" ? provider : undefined) }),
    NodeCrypto.layer
  )
  const life = yield* Scope.make()
  const context = yield* Layer.buildWithScope(Layer.provide(layerSender, ports), life)
  yield* queue.enqueue(
    Array.from({ length: MAILS }, (_, n) => ({
      request: {
        to: `mail-${n}@x.test`,
        subject: "s",
        text: "t",
        category: "transactional",
        source: "api:test",
        idempotencyKey: `mail-${n}`
      },
      payloadHash: "unused"
    }))
  )
  const looking = yield* Effect.forkScoped(Context.get(context, QueueSender).run)
  const shutDown = Effect.andThen(Fiber.interrupt(looking), Scope.close(life, Exit.void))
  return { seen, goes, taken, shutDown, copies: Effect.map(memory.copies, (copies) => copies.length) }
})

const pass = Effect.fnUntraced(function* (ms: number, isOver: () => boolean = () => false) {
  for (let passed = 0; passed < ms && !isOver(); passed += 5) {
    yield* TestClock.adjust("5 millis")
    yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
  }
})

it.effect("of more that are taken ahead no more are at a provider at once than are configured", () =>
  Effect.gen(function* () {
    const { copies, seen } = yield* makeWorld()
    yield* pass(2_000)
    assert.strictEqual(yield* copies, MAILS)
    assert.strictEqual(seen.most, CONCURRENCY)
    assert.isAbove(seen.ahead, 0)
    assert.strictEqual(seen.handedBack, 0)
  })
)

it.effect(
  "what was taken ahead of a provider that then hangs is not asked late: it goes back, and leaves once",
  () =>
    Effect.gen(function* () {
      const { copies, goes, seen } = yield* makeWorld()
      yield* pass(1_000, () => seen.asked >= 3 * CONCURRENCY)
      goes.closeUnsafe()
      yield* pass(5_000)
      const hanging = seen.asked
      assert.strictEqual(seen.atOnce, CONCURRENCY)
      goes.openUnsafe()
      yield* pass(30_000)
      assert.isAbove(seen.handedBack, 0)
      assert.isAbove(seen.asked, hanging)
      assert.isAtMost(seen.longestWaitMs, 2_000)
      assert.strictEqual(yield* copies, MAILS)
      assert.strictEqual(seen.asked, MAILS)
    })
)

it.effect(
  "nothing is taken ahead of a slow provider, whose requests began together and so end together",
  () =>
    Effect.gen(function* () {
      const { copies, seen } = yield* makeWorld(2_000)
      yield* pass(MAILS * 1_000)
      assert.strictEqual(yield* copies, MAILS)
      assert.strictEqual(seen.handedBack, 0)
      assert.isAtMost(seen.ahead, 0)
    })
)

it.effect.each([
  { what: "waits for its token", waitMs: 200, takeMs: 0 },
  { what: "was just taken", waitMs: 200, takeMs: 100 }
])(
  "a shutdown hands back what $what: no lease is left, and no attempt begins to be cut off",
  ({ takeMs, waitMs }) =>
    Effect.gen(function* () {
      const { copies, seen, shutDown, taken } = yield* makeWorld(ANSWER_MS, waitMs, takeMs)
      yield* pass(1_000, () => taken.size > 0)
      const ends = yield* Effect.forkScoped(shutDown)
      yield* pass(1_000)
      yield* Fiber.join(ends)
      assert.strictEqual(seen.handedBack, taken.size)
      assert.strictEqual(yield* copies, 0)
    })
)
