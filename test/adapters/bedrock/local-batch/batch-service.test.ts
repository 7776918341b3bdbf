import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope, Stream } from "effect"

import { makeLocalBatch } from "../../../../src/adapters/bedrock/local-batch/batch-service.ts"
import { type LocalBatchFaults, fateOf } from "../../../../src/adapters/bedrock/local-batch/faults.ts"
import { VisionModelError } from "../../../../src/ports/conversion/vision-model.ts"
import { echo } from "../../../application/batch/world/world.ts"
import {
  type BatchWorld,
  batchServiceContract,
  newJob,
  untilStatus
} from "../../../contracts/batch/batch-service.ts"
import { makeMapObjects } from "../../../support/worlds/map-objects.ts"

const world = (
  options: { readonly faults?: LocalBatchFaults; readonly delayMs?: number } = {},
  objects = makeMapObjects(),
  model = echo
): Effect.Effect<BatchWorld, never, Scope.Scope> =>
  makeLocalBatch({ objects, model, delayMs: options.delayMs ?? 0, faults: options.faults }).pipe(
    Effect.map((service) => ({ service, objects })),
    Effect.provide(NodeCrypto.layer)
  )

batchServiceContract("local", world())

interface Line {
  readonly recordId: string
  readonly error?: object
  readonly modelOutput?: {
    readonly output: { readonly message: { readonly content: ReadonlyArray<object> } }
  }
}

const outputOf = Effect.fnUntraced(function* ({ objects }: BatchWorld, prefix: string) {
  const text = yield* Stream.mkString(Stream.decodeText(objects.get(`${prefix}shard-0001.jsonl.out`)))
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Line => JSON.parse(line))
})

describe("the local batch service", () => {
  it.live("answers each record with the model, and echoes its input", () =>
    Effect.gen(function* () {
      const here = yield* world()
      const arn = yield* here.service.create(yield* newJob(here.objects, "j1"))
      const { outputPrefix } = yield* untilStatus(here.service, arn, ["Completed"])
      const [first] = yield* outputOf(here, outputPrefix)
      assert.deepStrictEqual(first?.modelOutput?.output.message.content, [{ text: "<p>page 0</p>" }])
    }).pipe(Effect.scoped)
  )

  it.live("its faults: shares of the records, the same each time; failure, expiry, a slow stop", () =>
    Effect.gen(function* () {
      const faults = { failed: 0.3, unfinished: 0.3 }
      const some = yield* world({ faults })
      const arn = yield* some.service.create(yield* newJob(some.objects, "j2", 40))
      const { outputPrefix, processed } = yield* untilStatus(some.service, arn, ["PartiallyCompleted"])
      const lines = yield* outputOf(some, outputPrefix)
      const ids = Array.from({ length: 40 }, (_, page) => `c0-p${page}`)
      assert.sameMembers(
        lines.map(({ recordId }) => recordId),
        ids.filter((id) => fateOf(id, faults) !== "unfinished")
      )
      assert.sameMembers(
        lines.flatMap(({ error, recordId }) => (error === undefined ? [] : [recordId])),
        ids.filter((id) => fateOf(id, faults) === "failed")
      )
      assert.strictEqual(processed, lines.length)
      const errors = lines.filter(({ error }) => error !== undefined).length
      assert.isTrue(errors > 0 && errors < lines.length && lines.length < ids.length)
      for (const [fault, status] of [
        [{ fails: "no" }, "Failed"],
        [{ expires: true }, "Expired"]
      ] as const) {
        const bad = yield* world({ faults: fault })
        yield* untilStatus(bad.service, yield* bad.service.create(yield* newJob(bad.objects, "j3")), [status])
      }
      const slow = yield* world({ delayMs: 60_000, faults: { stopLatencyMs: 60_000 } })
      const waiting = yield* slow.service.create(yield* newJob(slow.objects, "j4"))
      assert.strictEqual((yield* slow.service.get(waiting)).status, "Submitted")
      yield* slow.service.stop(waiting)
      assert.strictEqual((yield* slow.service.get(waiting)).status, "Stopping")
    }).pipe(Effect.scoped)
  )

  it.live("a job outlives the process: the next one runs it", () =>
    Effect.gen(function* () {
      const objects = makeMapObjects()
      const arn = yield* Effect.scoped(
        Effect.gen(function* () {
          const first = yield* world({ delayMs: 60_000 }, objects)
          return yield* first.service.create(yield* newJob(objects, "j5"))
        })
      )
      const second = yield* world({}, objects)
      yield* untilStatus(second.service, arn, ["Completed"])
    }).pipe(Effect.scoped)
  )

  it.live("a record that the model refuses, and a line that is none, come back as errors", () =>
    Effect.gen(function* () {
      const refusing = {
        converse: () => Effect.fail(new VisionModelError({ reason: "refused", message: "no" }))
      }
      const here = yield* world({}, makeMapObjects(), refusing)
      const asked = yield* newJob(here.objects, "j6", 1)
      yield* here.objects.put(
        `${asked.inputPrefix}bad.jsonl`,
        Stream.make(new TextEncoder().encode("{oops\n")),
        {
          contentType: "application/jsonl"
        }
      )
      const arn = yield* here.service.create(asked)
      const { outputPrefix } = yield* untilStatus(here.service, arn, ["Completed"])
      assert.isDefined((yield* outputOf(here, outputPrefix))[0]?.error)
    }).pipe(Effect.scoped)
  )
})
