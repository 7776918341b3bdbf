import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Ref } from "effect"
import { TestClock } from "effect/testing"

import { pacedModel } from "../../../src/application/cascade/paced-model.ts"
import { visionCall } from "../../../src/application/cascade/vision.ts"
import { estimatedInput } from "../../../src/domain/cascade/model-call.ts"
import { type VisionAnswer, VisionModelError } from "../../../src/ports/conversion/vision-model.ts"

const request = visionCall("m", [])
const place = { tier: "agentic", page: 0 } as const
const answer: VisionAnswer = {
  text: "x",
  stopReason: "end_turn",
  usage: { inputTokens: 1, outputTokens: 1 },
  fromBatch: false
}
const failing = (reason: VisionModelError["reason"]) => new VisionModelError({ reason, message: reason })

describe("a paced model", () => {
  it.effect.each(["throttled", "unavailable"] as const)(
    "tries a call that is %s again, six times in all",
    (reason) =>
      Effect.gen(function* () {
        const tries = yield* Ref.make(0)
        const model = yield* pacedModel({
          converse: () =>
            Effect.andThen(
              Ref.update(tries, (n) => n + 1),
              Effect.fail(failing(reason))
            )
        })
        const fiber = yield* Effect.forkChild(Effect.flip(model.converse(request, place)))
        yield* TestClock.adjust("5 minutes")
        assert.strictEqual((yield* Fiber.join(fiber)).reason, reason)
        assert.strictEqual(yield* Ref.get(tries), 6)
      })
  )

  it.effect("tries a call that was not answered in time once more, and says what the tries cost", () =>
    Effect.gen(function* () {
      const long = visionCall("m", [
        { role: "user", content: [{ pdf: new Uint8Array(9), name: "page" }, { text: "x".repeat(4_000) }] }
      ])
      const { inputTokens } = estimatedInput(long)
      assert.isAbove(inputTokens, 4_000)
      for (const [answers, expected] of [
        [["timeout", "timeout", "ok"], { tries: 2, input: 2 * inputTokens }],
        [["timeout", "throttled", "timeout"], { tries: 3, input: 2 * inputTokens }],
        [["timeout", "ok"], { tries: 2, input: inputTokens + 1 }],
        [["ok"], { tries: 1, input: 1 }]
      ] as const) {
        let tries = 0
        const model = yield* pacedModel({
          converse: () =>
            Effect.suspend(() => {
              const said = answers[tries++]
              return said === "ok" || said === undefined ? Effect.succeed(answer) : Effect.fail(failing(said))
            })
        })
        const fiber = yield* Effect.forkChild(Effect.result(model.converse(long, place)))
        yield* TestClock.adjust("5 minutes")
        const ended = yield* Fiber.join(fiber)
        const usage = ended._tag === "Success" ? ended.success.usage : ended.failure.usage
        assert.deepStrictEqual({ tries, input: usage?.inputTokens }, expected)
      }
    })
  )

  it.effect("waits twice as long before every further try, half of it by chance", () =>
    Effect.gen(function* () {
      const waits: Array<Array<number>> = []
      const model = yield* pacedModel(
        {
          converse: (_, { page }) =>
            Effect.gen(function* () {
              const own = (waits[page] ??= [])
              own.push(yield* Clock.currentTimeMillis)
              return yield* failing("unavailable")
            })
        },
        { maxAtOnce: 40 }
      )
      const pages = Array.from({ length: 40 }, (_, page) => page)
      const all = yield* Effect.forkChild(
        Effect.forEach(pages, (page) => Effect.flip(model.converse(request, { ...place, page })), {
          concurrency: "unbounded"
        })
      )
      yield* TestClock.adjust("5 minutes")
      yield* Fiber.join(all)
      for (const [n, full] of [1_000, 2_000, 4_000, 8_000, 16_000].entries()) {
        const before = waits.map((times) => (times[n + 1] ?? 0) - (times[n] ?? 0))
        for (const wait of before) assert.isTrue(wait >= full / 2 && wait <= full, `${n}: ${wait}`)
        assert.isAbove(new Set(before).size, 10, "all come back at once")
      }
    })
  )

  it.effect(
    "halves the calls at once after a refusal for rate, down to one, and not for another failure",
    () =>
      Effect.gen(function* () {
        let running = 0
        let most = 0
        let says: VisionModelError["reason"] | undefined = "throttled"
        const model = yield* pacedModel(
          {
            converse: () =>
              Effect.gen(function* () {
                const said = says
                most = Math.max(most, ++running)
                yield* Effect.sleep("1 minute")
                running--
                return said === undefined ? answer : yield* failing(said)
              })
          },
          { maxAtOnce: 8 }
        )
        /** The most calls that are under way at once when many are made. */
        const mostOf = Effect.gen(function* () {
          most = 0
          const many = yield* Effect.forkChild(
            Effect.forEach(Array.from({ length: 8 }), () => Effect.ignore(model.converse(request, place)), {
              concurrency: "unbounded"
            })
          )
          yield* TestClock.adjust("30 seconds")
          const seen = most
          yield* Fiber.interrupt(many)
          running = 0
          return seen
        })
        /** One call whose tries all end as it is said. */
        const one = Effect.gen(function* () {
          const fiber = yield* Effect.forkChild(Effect.ignore(model.converse(request, place)))
          yield* TestClock.adjust("20 minutes")
          yield* Fiber.join(fiber)
        })
        assert.strictEqual(yield* mostOf, 8)
        says = "unavailable"
        yield* one
        assert.strictEqual(yield* mostOf, 8)
        says = "throttled"
        yield* one
        says = undefined
        assert.strictEqual(yield* mostOf, 1)
      })
  )

  it.effect.each(["refused", "captured"] as const)("a call that is %s is not made again", (reason) =>
    Effect.gen(function* () {
      const tries = yield* Ref.make(0)
      const model = yield* pacedModel({
        converse: () =>
          Effect.andThen(
            Ref.update(tries, (n) => n + 1),
            Effect.fail(failing(reason))
          )
      })
      assert.strictEqual((yield* Effect.flip(model.converse(request, place))).reason, reason)
      assert.strictEqual(yield* Ref.get(tries), 1)
    })
  )

  it.effect("lowers the calls at once after refusals, raises them after answers, and loses none", () =>
    Effect.gen(function* () {
      let running = 0
      let most = 0
      let bears = 2
      const model = yield* pacedModel(
        {
          converse: () =>
            Effect.gen(function* () {
              running++
              const over = running > bears
              if (!over) most = Math.max(most, running)
              yield* Effect.sleep("100 millis")
              running--
              if (!over) return answer
              return yield* failing("throttled")
            })
        },
        { maxAtOnce: 8 }
      )
      const all = (n: number) =>
        Effect.forEach(
          Array.from({ length: n }, (_, i) => i),
          () => model.converse(request, place),
          { concurrency: "unbounded" }
        )
      const first = yield* Effect.forkChild(all(40))
      yield* TestClock.adjust("20 minutes")
      assert.strictEqual((yield* Fiber.join(first)).length, 40)
      bears = 8
      most = 0
      const second = yield* Effect.forkChild(all(200))
      yield* TestClock.adjust("20 minutes")
      assert.strictEqual((yield* Fiber.join(second)).length, 200)
      assert.isAbove(most, 2, "it never tried more again")
      assert.strictEqual(running, 0)
    })
  )

  it.effect("a caller that goes away frees its place", () =>
    Effect.gen(function* () {
      const model = yield* pacedModel(
        { converse: () => Effect.andThen(Effect.sleep("1 hour"), Effect.succeed(answer)) },
        { maxAtOnce: 1 }
      )
      const first = yield* Effect.forkChild(model.converse(request, place), { startImmediately: true })
      const second = yield* Effect.forkChild(model.converse(request, place), { startImmediately: true })
      const third = yield* Effect.forkChild(model.converse(request, place), { startImmediately: true })
      yield* Fiber.interrupt(second)
      yield* Fiber.interrupt(first)
      yield* TestClock.adjust("2 hours")
      assert.strictEqual((yield* Fiber.join(third)).text, "x")
    })
  )
})
