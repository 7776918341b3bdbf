import { assert, it as effect } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { afterAll } from "vitest"

import * as Allowances from "../../../src/adapters/redis/shared-allowances.ts"
import { SharedAllowances } from "../../../src/ports/shared-allowances.ts"
import { shared, suite } from "../../contracts/accounts/shared-allowances.ts"
import { startRespServer } from "./resp-server.ts"

const server = await startRespServer()
afterAll(() => server.close())

/** A real one by hand: `REDIS_URL=redis://127.0.0.1:6379`, which is emptied by nobody. */
const url = process.env["REDIS_URL"] ?? server.url

const probe = { key: "probe", limit: 1_000_000, window: "1 second" } as const

/** Once it is connected. */
const connected = Effect.gen(function* () {
  const { take } = yield* shared
  yield* take(probe).pipe(Effect.eventually)
})

const layer = Layer.effectDiscard(connected).pipe(Layer.provideMerge(Allowances.layer(Redacted.make(url))))

/** Time is the processes' here: what was taken moves into the past instead. */
const pass = (seconds: number) =>
  Effect.sync(() => {
    for (const [key, value] of server.values)
      if (key.endsWith(":refill")) server.values.set(key, String(Number(value) - seconds * 1000))
  })

suite("Redis", layer, pass)

effect.live("keeps no key in words; away, it fails at once, and counts again once it is back", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const { take } = yield* Effect.provide(shared, yield* Layer.build(layer))
      yield* take({ key: "sign-in links bob@example.com", limit: 1, window: "1 minute" })
      assert.notInclude(server.seen.join(), "bob")
      yield* Effect.promise(() => server.close())
      const lost = yield* Effect.flip(take(probe))
      assert.deepStrictEqual([lost._tag, lost.isRetryable], ["StoreUnavailable", true])
      yield* Effect.promise(() => server.open())
      assert.isUndefined(yield* Effect.eventually(take(probe)))
      server.silence(true)
      assert.match((yield* Effect.flip(take(probe))).message, /no answer within 300 millis/)
      server.silence(false)
    })
  )
)

effect.live("where nothing listens, the process starts and every call fails", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const context = yield* Layer.build(Allowances.layer(Redacted.make("redis://127.0.0.1:1")))
      const { take } = yield* Effect.provide(
        Effect.map(SharedAllowances, (one) => one!),
        context
      )
      assert.strictEqual((yield* Effect.flip(take(probe)))._tag, "StoreUnavailable")
    })
  )
)
