import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"

import * as BatchLines from "../../src/adapters/bedrock/batch-lines.ts"
import { BatchService } from "../../src/ports/batch/batch-service.ts"
import { BatchStore } from "../../src/ports/batch/batch-store.ts"
import { PageSources } from "../../src/ports/conversion/page-sources.ts"
import { Leadership } from "../../src/ports/leadership.ts"
import { BatchObjects } from "../../src/ports/object-store.ts"
import { batchDuties } from "../../src/runtime/compose/batch.ts"
import { Supervisors } from "../../src/runtime/process/supervisor.ts"
import { decodeSettings, type Env } from "../../src/runtime/settings/settings.ts"

const LANE = {
  BATCH_CONVERSION_ENABLED: "true",
  BATCH_CONVERSION_S3_BUCKET: "bucket",
  BATCH_CONVERSION_ROLE_ARN: "arn:aws:iam::000000000000:role/r"
}

/** What the anchor runs for the batch lane with these settings; nobody leads. */
const running = (env: Env) =>
  Effect.gen(function* () {
    const { snapshot } = yield* Supervisors
    return (yield* snapshot).map(({ name }) => name)
  }).pipe(
    Effect.provide(
      batchDuties(
        Result.getOrThrow(
          decodeSettings({ DB_URL: "postgres://u:p@127.0.0.1/x", ...env }, { embedded: true })
        )
      ).pipe(
        Layer.provide([
          Layer.mock(BatchStore, {}),
          Layer.mock(BatchService, {}),
          BatchLines.layer,
          Layer.mock(BatchObjects, {}),
          Layer.mock(PageSources, {}),
          Layer.succeed(Leadership, {
            term: Effect.succeed(undefined),
            whileLeading: () => Effect.succeed(false)
          })
        ]),
        Layer.provideMerge(Supervisors.layer)
      )
    )
  )

describe("the anchor of the batch lane", () => {
  it.live("starts the driver with the switch, a bucket and a role, and not without one of them", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* running(LANE), [
        "batch-driver",
        "batch-preparer",
        "batch-releaser",
        "batch-tidying"
      ])
      for (const name of Object.keys(LANE)) {
        assert.deepStrictEqual(yield* running({ ...LANE, [name]: "" }), ["batch-tidying"], name)
      }
    })
  )
})
