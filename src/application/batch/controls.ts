import { Context, Duration, Effect, Layer } from "effect"

import { HOLD_WINDOW, type JobStatus } from "../../domain/conversion/job.ts"
import type { CustomerId, FileId, JobId } from "../../domain/ids.ts"
import { BatchService } from "../../ports/batch/batch-service.ts"
import { BatchStore } from "../../ports/batch/batch-store.ts"
import { ConversionStore } from "../../ports/conversion/conversion-store.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { withDeadline } from "../deadline.ts"
import { ringBell } from "../work-bell.ts"

/** How long an owner's request waits for the batch service; after that, the driver stops the job at its next poll. */
const STOP_WITHIN = Duration.seconds(3)

/** How process-now ended. */
export type ProcessedNow =
  | { readonly answer: "moved"; readonly jobId: JobId; readonly status: JobStatus }
  | { readonly answer: "not_found" | "not_waiting" }

/** What the owner of a file does to its waiting conversion (BATCH-40, BATCH-41). */
export class BatchControls extends Context.Service<
  BatchControls,
  {
    /**
     * Moves a waiting conversion to on-demand. Where its batch row is closed already the job is left alone, since the driver is
     * about to resume it with its results: `moved` all the same.
     */
    readonly processNow: (file: {
      readonly fileId: FileId
      readonly customerId: CustomerId
    }) => Effect.Effect<ProcessedNow, StoreUnavailable>
    /** Stops the batch job of a conversion that was cancelled, if there is one; best effort. */
    readonly stopBatchJob: (jobId: JobId) => Effect.Effect<void>
  }
>()("postlane/application/BatchControls") {
  static readonly layer: Layer.Layer<BatchControls, never, ConversionStore | BatchStore | BatchService> =
    Layer.effect(
      BatchControls,
      Effect.gen(function* () {
        const conversions = yield* ConversionStore
        const store = yield* BatchStore
        const service = yield* BatchService

        const stopBatchJob = (jobId: JobId) =>
          withDeadline(
            Effect.gen(function* () {
              const arn = yield* store.toStop(jobId)
              if (arn !== undefined) yield* service.stop(arn)
            }),
            { duration: STOP_WITHIN, onTimeout: () => Effect.fail("no answer in time" as const) }
          ).pipe(
            Effect.catch((error) =>
              Effect.logWarning("a batch job could not be stopped now; the driver stops it", error)
            )
          )

        return BatchControls.of({
          stopBatchJob,
          processNow: Effect.fnUntraced(function* ({ customerId, fileId }) {
            const file = yield* conversions.file(fileId, customerId)
            if (file === undefined) return { answer: "not_found" }
            if (file.jobId === null) return { answer: "not_waiting" }
            const { jobId } = file
            const answer = yield* store.makeInteractive(jobId, HOLD_WINDOW)
            if (answer === "not_waiting") return { answer }
            if (answer === "closed") return { answer: "moved", jobId, status: "waiting_batch" }
            yield* ringBell("conversions")
            yield* stopBatchJob(jobId)
            return { answer: "moved", jobId, status: "pending" }
          })
        })
      })
    )
}
