import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"

import * as BatchLines from "../../../src/adapters/bedrock/batch-lines.ts"
import { prepareTick } from "../../../src/application/batch/driver.ts"
import { STUCK_AFTER } from "../../../src/application/batch/lane-settings.ts"
import { MAX_BATCH_BYTES } from "../../../src/application/batch/shards.ts"
import { BatchService } from "../../../src/ports/batch/batch-service.ts"
import { BatchStore } from "../../../src/ports/batch/batch-store.ts"
import { PageSources } from "../../../src/ports/conversion/page-sources.ts"
import { BatchObjects } from "../../../src/ports/object-store.ts"
import { anyId } from "../../support/any-id.ts"

describe("a document that cannot be prepared to an end", () => {
  it.effect("goes on-demand after two hours, so that the next one has its turn", () =>
    Effect.gen(function* () {
      const did: Array<unknown> = []
      const begun = yield* Deferred.make<void>()
      const ports = Layer.mergeAll(
        Layer.mock(BatchService, {}),
        Layer.mock(BatchObjects, {}),
        Layer.mock(PageSources, {
          open: () => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
        }),
        Layer.mock(BatchStore, {
          claim: ({ lease, take }) =>
            Effect.succeed(
              take === "open"
                ? undefined
                : {
                    id: "row",
                    lease,
                    jobId: anyId("job"),
                    foundOpen: false,
                    stuck: false,
                    closeReason: null,
                    waiting: true,
                    inputPrefix: null,
                    model: null,
                    abandoned: false,
                    objectKey: "key",
                    totalPages: 1
                  }
            ),
          chunks: () => Effect.succeed([{ chunkIndex: 0, firstPage: 0, lastPage: 0 }]),
          drop: ({ id }, { outcome, reason }) => Effect.sync(() => did.push([id, outcome, reason]) > 0),
          resume: (jobId, patch) => Effect.sync(() => did.push([jobId, patch]) > 0)
        }),
        BatchLines.layer,
        NodeCrypto.layer
      )
      const limits = { minRecords: 1, maxRecords: 9, maxShardBytes: 9, maxBytes: MAX_BATCH_BYTES }
      const price = { inputUsdPerMtok: 1, outputUsdPerMtok: 1 }
      const settings = {
        preparer: "me",
        model: "m",
        price,
        limits,
        timeoutHours: 24,
        pollEvery: Duration.zero
      }
      const tick = yield* Effect.forkChild(Effect.provide(prepareTick(settings, 1), ports))
      yield* Deferred.await(begun)
      yield* TestClock.adjust(Duration.subtract(STUCK_AFTER, Duration.seconds(1)))
      assert.deepStrictEqual(did, [])
      yield* TestClock.adjust(STUCK_AFTER)
      yield* Fiber.join(tick)
      assert.deepStrictEqual(did, [
        ["row", "skipped", "preparing took too long"],
        ["job", {}]
      ])
    })
  )
})
