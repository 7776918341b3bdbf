import { assert, describe, it } from "@effect/vitest"
import { Option, Tracer } from "effect"

import { samplerOf } from "../../../src/runtime/process/sampler.ts"

const LOW = "4bf92f3577b34da6a3ce929d00000001"
const HIGH = "4bf92f3577b34da6a3ce929dfffffff0"
const parentOf = (sampled: boolean, traceId: string) =>
  Option.some(Tracer.externalSpan({ traceId, spanId: "00f067aa0ba902b7", sampled }))

/** Of a root of a low and of a high trace id, and of a child of a recorded and of an unrecorded span. */
const answers = (name: string | undefined, ratio?: string) => {
  const { sampler } = samplerOf(name, ratio)
  return [
    sampler({ parent: Option.none(), traceId: LOW }),
    sampler({ parent: Option.none(), traceId: HIGH }),
    sampler({ parent: parentOf(true, HIGH), traceId: HIGH }),
    sampler({ parent: parentOf(false, LOW), traceId: LOW })
  ]
    .map((is) => (is ? "1" : "0"))
    .join("")
}

describe("OTEL_TRACES_SAMPLER", () => {
  for (const [name, ratio, expected] of [
    ["always_on", undefined, "1111"],
    ["always_off", undefined, "0000"],
    ["traceidratio", "0.5", "1001"],
    ["traceidratio", "0", "0000"],
    ["traceidratio", undefined, "1111"],
    ["parentbased_always_on", undefined, "1110"],
    ["parentbased_always_off", undefined, "0010"],
    ["parentbased_traceidratio", "0.5", "1010"],
    [undefined, undefined, "1110"]
  ] as const) {
    it(`${name ?? "unset"} ${ratio ?? ""}`, () => {
      assert.strictEqual(answers(name, ratio), expected)
      assert.deepStrictEqual(samplerOf(name, ratio).notes, [])
    })
  }

  it("says what it does not know, and the defaults hold", () => {
    for (const name of ["jaeger_remote", "constructor", "ALWAYS_ON"]) {
      assert.strictEqual(answers(name), "1110")
      assert.deepStrictEqual(samplerOf(name, undefined).notes, [
        "OTEL_TRACES_SAMPLER names no sampler that is known: parentbased_always_on is used"
      ])
    }
    for (const ratio of ["2", "-1", "half"]) {
      assert.strictEqual(answers("traceidratio", ratio), "1111")
      assert.lengthOf(samplerOf("traceidratio", ratio).notes, 1)
    }
  })
})
