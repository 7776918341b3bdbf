import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Layer, Logger, Result } from "effect"
import { TestClock } from "effect/testing"

import { RequestLimits, requestLimitsLayer } from "../../../../src/adapters/http/server/rate-limit.ts"
import * as Allowances from "../../../../src/adapters/memory/allowances.ts"
import { SharedAllowances } from "../../../../src/ports/shared-allowances.ts"
import { noAnswer } from "../../../../src/ports/store-unavailable.ts"
import { call, startServer } from "../harness.ts"

const counted = Layer.provide(requestLimitsLayer, Allowances.layer)

describe("an allowance", () => {
  it.effect("is used up, says when to come again, and refills evenly; each key has its own", () =>
    Effect.gen(function* () {
      const limits = yield* RequestLimits
      const take = (key: string) => Effect.exit(limits.take({ key, limit: 3, window: "1 minute" }))
      for (let index = 0; index < 3; index += 1) assert.isTrue(Exit.isSuccess(yield* take("a")))
      const refused = yield* Effect.flip(limits.take({ key: "a", limit: 3, window: "1 minute" }))
      assert.deepStrictEqual(
        [refused.problem.code, refused.problem.status, refused.retryAfterSeconds],
        ["RATE_LIMITED", 429, 20]
      )
      assert.isTrue(Exit.isSuccess(yield* take("b")))
      yield* TestClock.adjust("19 seconds")
      assert.isTrue(Exit.isFailure(yield* take("a")))
      yield* TestClock.adjust("1 seconds")
      assert.isTrue(Exit.isSuccess(yield* take("a")))
      assert.isTrue(Exit.isFailure(yield* take("a")))
    }).pipe(Effect.provide(counted))
  )

  it.effect("of a stranger is forgotten before strangers fill the memory", () =>
    Effect.gen(function* () {
      const limits = yield* RequestLimits
      const take = (key: string) => Effect.exit(limits.take({ key, limit: 1, window: "1 hour" }))
      yield* take("first")
      assert.isTrue(Exit.isFailure(yield* take("first")))
      for (let index = 1; index < 20_000; index += 1) yield* take(`stranger ${index}`)
      assert.isTrue(Exit.isFailure(yield* take("first")))
      yield* take("one too many")
      assert.isTrue(Exit.isSuccess(yield* take("first")))
    }).pipe(Effect.provide(counted))
  )
})

describe("allowances that processes share", () => {
  it.effect(
    "are asked for first; while their store is away each process counts alone, and says so once",
    () =>
      Effect.gen(function* () {
        const asked: Array<string> = []
        const logged: Array<string> = []
        let isAway = false
        const shared = {
          take: ({ key }: { readonly key: string }) =>
            Effect.suspend(() => {
              asked.push(key)
              return isAway
                ? Effect.fail(noAnswer("take", "300 millis"))
                : Effect.succeed(asked.length > 2 ? Duration.seconds(7) : undefined)
            })
        }
        yield* Effect.gen(function* () {
          const limits = yield* RequestLimits
          const take = Effect.result(limits.take({ key: "a", limit: 1, window: "1 hour" }))
          const says = Effect.map(take, (taken) =>
            Result.isSuccess(taken) ? 0 : taken.failure.retryAfterSeconds
          )
          assert.deepStrictEqual([yield* says, yield* says, yield* says], [0, 0, 7])
          isAway = true
          assert.strictEqual(yield* says, 0, "nobody is refused because the store is away")
          assert.isAbove(yield* says, 0, "and nobody has more than a process alone would give")
          assert.lengthOf(asked, 4)
          yield* TestClock.adjust("11 seconds")
          yield* says
          assert.lengthOf(asked, 5)
          isAway = false
          yield* TestClock.adjust("11 seconds")
          assert.strictEqual(yield* says, 7)
          assert.lengthOf(logged, 2)
          assert.match(logged[0]!, /each process counts alone/)
          assert.match(logged[1]!, /hold across processes again/)
        }).pipe(
          Effect.provide(counted),
          Effect.provideService(SharedAllowances, shared),
          Effect.provide(
            Logger.layer([Logger.make(({ message }) => void logged.push(String([message].flat()[0])))])
          )
        )
      })
  )
})

it.live("a client that asks too often: 429, Retry-After, before its body is read; other routes go on", () =>
  Effect.promise(async () => {
    const server = await startServer()
    try {
      // A header that says where a request came from is anybody's to write.
      const knock = (index: number) =>
        call(server, "/auth/logout", { method: "POST", headers: { "x-forwarded-for": `192.0.2.${index}` } })
      let passed = 0
      let answer = await knock(0)
      for (; answer.status === 200 && passed < 400; answer = await knock(passed)) passed += 1
      assert.isAtLeast(passed, 60)
      assert.strictEqual(answer.status, 429)
      assert.match(answer.headers["retry-after"]!, /^1$/)
      assert.deepStrictEqual([answer.json.code, answer.json.retryable], ["RATE_LIMITED", true])
      assert.strictEqual((await call(server, "/auth/session")).status, 200)
      assert.strictEqual((await call(server, "/health")).status, 200)
    } finally {
      await server.stop()
    }
  })
)
