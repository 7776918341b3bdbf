import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Result } from "effect"
import { TestClock } from "effect/testing"

import * as BatchLines from "../../src/adapters/bedrock/batch-lines.ts"
import { BatchService } from "../../src/ports/batch/batch-service.ts"
import { BatchStore } from "../../src/ports/batch/batch-store.ts"
import { PageSources } from "../../src/ports/conversion/page-sources.ts"
import { Leadership } from "../../src/ports/leadership.ts"
import { BatchObjects } from "../../src/ports/object-store.ts"
import { batchDuties } from "../../src/runtime/compose/batch.ts"
import { Supervisors } from "../../src/runtime/process/supervisor.ts"
import { decodeSettings } from "../../src/runtime/settings/settings.ts"

const settings = Result.getOrThrow(
  decodeSettings(
    {
      DB_URL: "postgres://u:p@127.0.0.1/x",
      BATCH_CONVERSION_ENABLED: "true",
      BATCH_CONVERSION_S3_BUCKET: "bucket",
      BATCH_CONVERSION_ROLE_ARN: "arn:aws:iam::000000000000:role/r"
    },
    { embedded: true }
  )
)

/** What the anchor asks the database for in ten minutes. */
const asked = (leads: boolean) =>
  Effect.gen(function* () {
    const calls: Array<string> = []
    const answer = <A>(name: string, value: A) =>
      Effect.sync(() => {
        calls.push(name)
        return value
      })
    const ports = Layer.mergeAll(
      Layer.mock(BatchStore, {
        stranded: answer("stranded", []),
        claimPolls: () => answer("polls", []),
        claim: ({ term }) => answer(`claim of term ${term}`, undefined),
        toPurge: () => answer("purge", [])
      }),
      Layer.mock(BatchService, {}),
      BatchLines.layer,
      Layer.mock(BatchObjects, {}),
      Layer.mock(PageSources, {}),
      Layer.succeed(Leadership, {
        term: Effect.succeed(leads ? 7 : undefined),
        whileLeading: (work) => (leads ? Effect.as(work, true) : Effect.succeed(false))
      })
    )
    yield* Layer.build(batchDuties(settings).pipe(Layer.provide(ports), Layer.provide(Supervisors.layer)))
    for (let minute = 0; minute < 10; minute++) yield* TestClock.adjust(Duration.minutes(1))
    return [...new Set(calls)].sort()
  }).pipe(Effect.scoped)

describe("the batch lane of several processes", () => {
  it.effect("is driven by the one that leads, under its term, and by no other", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* asked(true), ["claim of term 7", "polls", "purge", "stranded"])
      assert.deepStrictEqual(yield* asked(false), [])
    })
  )
})
