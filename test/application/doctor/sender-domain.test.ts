import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"

import {
  layer,
  LOOK_AGAIN_MS,
  LOOK_KEPT_MS,
  SenderDomain
} from "../../../src/application/doctor/sender-domain.ts"
import { type DnsRecord, sharedRecords } from "../../../src/domain/doctor/sender-records.ts"
import { Dns, DnsFailure } from "../../../src/ports/doctor/examinations.ts"
import { type AskedRecords, SenderRecords } from "../../../src/ports/doctor/sender-records.ts"

const SENDER = "mail.test"
const RECORDS: ReadonlyArray<DnsRecord> = [
  { of: "provider_a", type: "MX", name: `send.${SENDER}`, value: "feedback.test", priority: 10 },
  ...sharedRecords(SENDER)
]

/** A domain whose look-ups are counted. */
const makeWorld = (
  options: { readonly asked?: Effect.Effect<AskedRecords>; readonly txt?: Dns["Service"]["txt"] } = {}
) => {
  let looks = 0
  const services = layer.pipe(
    Layer.provide([
      Layer.succeed(
        SenderRecords,
        SenderRecords.of({
          domain: SENDER,
          region: "eu-west-1",
          asked:
            options.asked ?? Effect.succeed({ records: RECORDS, notes: ["a note"], providerB: undefined })
        })
      ),
      Layer.succeed(
        Dns,
        Dns.of({
          cname: () => Effect.succeed([]),
          mx: () =>
            // Others ask before the answer is there.
            Effect.andThen(Effect.yieldNow, () =>
              Effect.sync(() => {
                looks += 1
                return [{ exchange: "Feedback.test.", priority: 10 }]
              })
            ),
          txt: options.txt ?? (() => Effect.fail(new DnsFailure({ message: "the resolver refused" })))
        })
      )
    ])
  )
  return { looks: () => looks, provided: Effect.provide(services) }
}

const look = (fresh = false) => SenderDomain.use((domain) => domain.look({ fresh }))
const states = Effect.map(look(), ({ records }) => records.map(({ purpose, state }) => [purpose, state]))

it.effect("says of each record whether it is published, and what could not be found out", () => {
  const { provided } = makeWorld()
  return provided(
    Effect.gen(function* () {
      const { advice, domain, notes, records } = yield* look()
      assert.deepStrictEqual([domain, advice, notes], [SENDER, [], ["a note"]])
      assert.deepStrictEqual(
        records.map(({ found, purpose, state }) => [purpose, state, found]),
        [
          ["return path", "published", undefined],
          ["dmarc", "unknown", "the resolver refused"]
        ]
      )
    })
  )
})

it.effect("a look is kept; a fresh one is made once in a while; those that ask at once share it", () => {
  const { looks, provided } = makeWorld()
  return provided(
    Effect.gen(function* () {
      yield* Effect.all([look(), look(), look(true)], { concurrency: "unbounded" })
      assert.strictEqual(looks(), 1)
      yield* TestClock.adjust(LOOK_AGAIN_MS - 1)
      yield* look(true)
      assert.strictEqual(looks(), 1)
      yield* TestClock.adjust(1)
      yield* look()
      assert.strictEqual(looks(), 1)
      yield* look(true)
      assert.strictEqual(looks(), 2)
      yield* TestClock.adjust(LOOK_KEPT_MS)
      yield* look()
      assert.strictEqual(looks(), 3)
    })
  )
})

it.effect("a provider and a resolver that never answer are not waited for", () =>
  Effect.gen(function* () {
    const silent = makeWorld({ asked: Effect.never })
    const asking = yield* Effect.forkChild(silent.provided(look()))
    yield* TestClock.adjust("10 seconds")
    const unasked = yield* Fiber.join(asking)
    assert.deepStrictEqual([unasked.records, unasked.notes.length], [[], 1])

    const began = yield* Deferred.make<void>()
    const deaf = makeWorld({ txt: () => Effect.andThen(Deferred.succeed(began, undefined), Effect.never) })
    const looking = yield* Effect.forkChild(deaf.provided(states))
    yield* Deferred.await(began)
    yield* TestClock.adjust("10 seconds")
    assert.deepStrictEqual(yield* Fiber.join(looking), [
      ["return path", "published"],
      ["dmarc", "unknown"]
    ])
  })
)

it.effect("advice is what the doctor says of provider_b, without what is well", () => {
  const { provided } = makeWorld({
    asked: Effect.succeed({ records: [], notes: [], providerB: { identity: undefined } }),
    txt: () => Effect.succeed([])
  })
  return provided(
    Effect.gen(function* () {
      const { advice } = yield* look()
      assert.isNotEmpty(advice)
      for (const { status } of advice) assert.include(["warn", "fail"], status)
      assert.include(JSON.stringify(advice), `_dmarc.${SENDER}`)
    })
  )
})
