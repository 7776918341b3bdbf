import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, Metric, References } from "effect"
import { TestClock } from "effect/testing"

import { watchedModel } from "../../../src/application/cascade/watched-model.ts"
import { VisionModelError } from "../../../src/ports/conversion/vision-model.ts"

const PLACE = { tier: "hifi-single-pass", page: 0 } as const
const CALL = { model: "m", system: "", messages: [], maxTokens: 1, temperature: 0 }

interface Line {
  readonly level: string
  readonly message: string
  readonly facts: Readonly<Record<string, unknown>>
}

describe("a model that is watched", () => {
  it.effect(
    "tells what the vendor said once a minute for each reason, as an error, and counts every call",
    () =>
      Effect.gen(function* () {
        const lines: Array<Line> = []
        const log = Logger.make<unknown, void>(({ fiber, logLevel, message }) => {
          lines.push({
            level: logLevel,
            message: String(message),
            facts: { ...fiber.getRef(References.CurrentLogAnnotations) }
          })
        })
        let reason: VisionModelError["reason"] = "refused"
        const model = watchedModel({
          converse: () =>
            Effect.fail(new VisionModelError({ reason, message: `AccessDeniedException: ${reason}` }))
        })
        const ask = Effect.flip(Effect.suspend(() => model.converse(CALL, PLACE))).pipe(
          Effect.provide(Logger.layer([log]))
        )
        for (let call = 0; call < 50; call++) yield* ask
        reason = "throttled"
        yield* ask
        reason = "refused"
        yield* TestClock.adjust("61 seconds")
        yield* ask
        assert.deepStrictEqual(
          lines.map(({ facts, level, message }) => [level, message, facts["reason"], facts["detail"]]),
          [
            ["Error", "HIFI_UNAVAILABLE", "refused", "AccessDeniedException: refused"],
            ["Error", "HIFI_UNAVAILABLE", "throttled", "AccessDeniedException: throttled"],
            ["Error", "HIFI_UNAVAILABLE", "refused", "AccessDeniedException: refused"]
          ]
        )
        assert.deepStrictEqual(
          lines.map(({ facts }) => [facts["model"], facts["sinceLastLine"]]),
          [
            ["m", undefined],
            ["m", undefined],
            ["m", 49]
          ]
        )
        const counted = (yield* Metric.snapshot).flatMap(({ attributes, id, state }) =>
          id === "postlane_model_unanswered_total" ? [[attributes?.["reason"], state]] : []
        )
        assert.deepInclude(counted, ["refused", { count: 51, incremental: true }])
      })
  )

  it.effect("leaves answers and errors as they are", () =>
    Effect.gen(function* () {
      const answer = {
        text: "x",
        stopReason: "end_turn",
        usage: { inputTokens: 1, outputTokens: 1 },
        fromBatch: false
      }
      const model = watchedModel({ converse: () => Effect.succeed(answer) })
      assert.strictEqual(yield* model.converse(CALL, PLACE), answer)
    })
  )
})
