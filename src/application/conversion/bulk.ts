import { Context, Duration, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto/SecureRandom"

import { HOLD_WINDOW, type JobStatus, type ConversionOptions } from "../../domain/conversion/job.ts"
import { type CustomerId, type FileId, idOfPart, JobId } from "../../domain/ids.ts"
import { BulkOrders } from "../../ports/conversion/bulk-orders.ts"
import { ConversionStore } from "../../ports/conversion/conversion-store.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { ringBell } from "../work-bell.ts"

/** Most items of one order. */
export const MAX_BULK_ITEMS = 500

/** How long the answer waits for the executor to create the jobs, so that it can include their statuses. */
const JOBS_WITHIN = Duration.seconds(1)
const LOOK_EVERY = Duration.millis(100)

/** Files that are to be converted together. */
interface BulkRequest {
  /** The same one again starts nothing. */
  readonly callId?: string
  /** The owner's own name for it. */
  readonly reference?: string | undefined
  readonly customerId: CustomerId
  readonly items: ReadonlyArray<{
    readonly fileId: FileId
    readonly urgent: boolean
    readonly options: ConversionOptions
  }>
}

/** An accepted order, or why it was refused: all of it or nothing (DOC-51). */
type BulkStarted =
  | {
      readonly answer: "queued"
      readonly bulkId: string
      /** Of all files together. */
      readonly pages: number
      readonly jobs: ReadonlyArray<{
        readonly id: JobId
        readonly fileId: FileId
        readonly status: JobStatus
      }>
    }
  | { readonly answer: "not_found" | "active" | "insufficient"; readonly fileId: FileId }

/** Starts many conversions at once. Items that are not urgent opt in to the batch lane (BATCH-2). */
export class BulkConversions extends Context.Service<
  BulkConversions,
  {
    readonly start: (request: BulkRequest) => Effect.Effect<BulkStarted, StoreUnavailable>
  }
>()("postlane/application/BulkConversions") {}

export const layer: Layer.Layer<BulkConversions, never, BulkOrders | ConversionStore | SecureRandom> =
  Layer.effect(
    BulkConversions,
    Effect.gen(function* () {
      const orders = yield* BulkOrders
      const store = yield* ConversionStore
      const random = yield* SecureRandom

      /** The statuses of the jobs that the executor has created so far; inline work has no job, and is `pending` too. */
      const statusesOf = Effect.fnUntraced(function* (fileIds: ReadonlyArray<FileId>) {
        const known = new Map<FileId, JobStatus>()
        const look = Effect.gen(function* () {
          while (true) {
            const files = yield* store.filesById(fileIds)
            for (const { id, jobStatus } of files) if (jobStatus !== null) known.set(id, jobStatus)
            if (files.every(({ jobStatus, kind }) => kind !== "pdf" || jobStatus !== null)) return
            yield* Effect.sleep(LOOK_EVERY)
          }
        })
        yield* Effect.timeoutOrElse(look, { duration: JOBS_WITHIN, orElse: () => Effect.void })
        return known
      })

      return BulkConversions.of({
        start: Effect.fnUntraced(function* ({ callId, customerId, items, reference }) {
          const bulkId = callId ?? (yield* random.uuidV7())
          const jobs = items.map(({ fileId, options, urgent }, place) => ({
            jobId: JobId.make(idOfPart(bulkId, place)),
            fileId,
            options: urgent ? options : { ...options, _batchLane: true }
          }))
          const window = HOLD_WINDOW
          const answer = yield* orders.request({ bulkId, customerId, reference, items: jobs, window })
          if (answer.answer !== "queued") return answer
          yield* ringBell("conversions")
          const fileIds = items.map(({ fileId }) => fileId)
          const files = yield* store.filesById(fileIds)
          const statuses = yield* statusesOf(fileIds)
          return {
            answer: "queued",
            bulkId,
            pages: files.reduce((sum, { pages }) => sum + pages, 0),
            jobs: jobs.map(({ fileId, jobId }) => ({
              id: jobId,
              fileId,
              status: statuses.get(fileId) ?? ("pending" as const)
            }))
          }
        })
      })
    })
  )
