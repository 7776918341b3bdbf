import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"

import { addCustomer } from "../../../src/adapters/memory/accounts/accounts.ts"
import { makeRequestKeys } from "../../../src/adapters/memory/accounts/request-keys.ts"
import { makeConversionStore } from "../../../src/adapters/memory/conversion/conversion-store.ts"
import { type Documents, makeDocuments } from "../../../src/adapters/memory/documents/state.ts"
import { layer, RepeatableCalls } from "../../../src/application/accounts/repeatable-calls.ts"
import { Conversions } from "../../../src/application/conversion/conversions.ts"
import { RequestKeys } from "../../../src/ports/accounts/request-keys.ts"
import { ConversionStore } from "../../../src/ports/conversion/conversion-store.ts"
import { StoreUnavailable } from "../../../src/ports/store-unavailable.ts"
import { anyId } from "../../support/any-id.ts"

const customerId = anyId()
const fileId = anyId()
const request = { customerId, keyHash: anyId("key"), requestHash: "convert" }

/** What befalls the process of an attempt. Seconds. */
const Attempt = fc.record({
  comesAt: fc.integer({ min: 0, max: 60 }),
  /** How long it is frozen before it asks for the conversion: its lease may run out meanwhile. */
  frozenFor: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 60 })),
  dies: fc.constantFrom("no", "no", "before", "after"),
  loses: fc.constantFrom("nothing", "nothing", "hold", "request", "answer")
})
type Attempt = typeof Attempt extends fc.Arbitrary<infer A> ? A : never

/** What others do with the file meanwhile. */
const Other = fc.record({
  at: fc.integer({ min: 0, max: 90 }),
  what: fc.constantFrom("cancel", "cancel", "cancel", "convert")
})

const lost = Effect.fail(
  new StoreUnavailable({ operation: "test", reason: "lost", isRetryable: true, isAboutData: false })
)
const losing = <A>(is: boolean, effect: Effect.Effect<A, StoreUnavailable>) =>
  is ? Effect.andThen(effect, lost) : effect

/** The services of a process that this befalls. */
const processOf = (db: Documents, { dies, frozenFor, loses }: Attempt) => {
  const keys = makeRequestKeys(db)
  const store = makeConversionStore(db)
  const silent = dies !== "no"
  return Layer.mergeAll(layer, Conversions.layer).pipe(
    Layer.provide([
      Layer.succeed(RequestKeys, {
        ...keys,
        hold: (attempt) => losing(loses === "hold", keys.hold(attempt)),
        answer: (...given) => losing(loses === "answer", keys.answer(...given)),
        renew: (...given) => (silent || frozenFor > 0 ? Effect.void : keys.renew(...given)),
        giveBack: (...given) => (silent ? Effect.void : keys.giveBack(...given))
      }),
      Layer.succeed(ConversionStore, {
        ...store,
        request: (asked) => losing(loses === "request", store.request(asked))
      }),
      NodeCrypto.layer
    ])
  )
}

const attempted = (db: Documents, attempt: Attempt) =>
  Effect.gen(function* () {
    yield* Effect.sleep(attempt.comesAt * 1000)
    const calls = yield* RepeatableCalls
    const conversions = yield* Conversions
    return yield* calls.once(request, {
      run: ({ id: callId }) =>
        Effect.gen(function* () {
          yield* Effect.sleep(attempt.frozenFor * 1000)
          if (attempt.dies === "before") return yield* Effect.die("killed")
          const started = yield* conversions.convert({ callId, customerId, fileId, options: {} })
          if (attempt.dies === "after") return yield* Effect.die("killed")
          return started.answer === "queued" ? started.id : yield* Effect.fail(started.answer)
        }),
      changedNothing: (error) => typeof error === "string"
    })
  }).pipe(Effect.provide(processOf(db, attempt)), Effect.exit)

const others = (db: Documents, { at, what }: { readonly at: number; readonly what: string }) =>
  Effect.gen(function* () {
    yield* Effect.sleep(at * 1000)
    const store = makeConversionStore(db)
    const file = db.files.get(fileId)
    if (what === "cancel" && file?.jobId) yield* store.cancel(file.jobId)
    else
      yield* store.request({
        jobId: anyId("other"),
        fileId,
        customerId,
        options: {},
        window: Duration.minutes(90)
      })
  }).pipe(Effect.ignore)

it.effect(
  "HTTP-16: however attempts fail, freeze, die and overlap, a call is charged once and has one answer",
  () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(
          fc.array(Attempt, { minLength: 1, maxLength: 6 }),
          fc.array(Other, { maxLength: 6 }),
          (attempts, meanwhile) =>
            Effect.gen(function* () {
              const db = makeDocuments()
              addCustomer(db, { id: customerId, email: "a@x.test", plan: "paid", credits: 100 })
              yield* makeConversionStore(db).addFile({
                id: fileId,
                customerId,
                name: "a.pdf",
                kind: "pdf",
                sizeBytes: 1,
                pages: 2,
                objectKey: "k"
              })
              const running = yield* Effect.forkChild(
                Effect.all(
                  [
                    Effect.forEach(attempts, (attempt) => attempted(db, attempt), {
                      concurrency: "unbounded"
                    }),
                    Effect.forEach(meanwhile, (other) => others(db, other), { concurrency: "unbounded" })
                  ],
                  { concurrency: "unbounded" }
                )
              )
              yield* TestClock.adjust("20 minutes")
              const [exits] = yield* Fiber.join(running)
              const answers = new Set(exits.flatMap((exit) => (Exit.isSuccess(exit) ? [exit.value] : [])))
              const holds = db.holds.where(({ jobId }) => jobId !== "other")
              assert.isAtMost(holds.length, 1)
              assert.isAtMost(answers.size, 1)
              for (const answer of answers) assert.strictEqual(holds[0]?.jobId, answer)
            }).pipe(Effect.provide([TestClock.layer(), Logger.layer([])]), Effect.scoped, Effect.runPromise)
        )
      )
    )
)
