import { Context, Duration, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto/SecureRandom"

import type { FileKind, StoredFile } from "../../domain/conversion/file.ts"
import {
  askedOf,
  CHUNK_PAGES,
  type ConversionOptions,
  HOLD_WINDOW,
  type JobOptions,
  type JobStatus
} from "../../domain/conversion/job.ts"
import { type CustomerId, type FileId, JobId, FlyerId } from "../../domain/ids.ts"
import { ConversionStore, type Requested } from "../../ports/conversion/conversion-store.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { type LaneSettings, statusAtCreation } from "../batch/lane-settings.ts"
import { ringBell } from "../work-bell.ts"

/** How long an answer waits for the executor to create the job, so that it can include the job's status. */
const JOB_WITHIN = Duration.seconds(1)
/** The executor of this process makes it in a few milliseconds, another one within its interval. */
const LOOK_FIRST = Duration.millis(10)
const LOOK_EVERY = Duration.millis(50)

/** A request for work: accepted, or why not. */
type Started<R> =
  | { readonly answer: "queued"; readonly id: JobId; readonly status: JobStatus }
  | { readonly answer: Exclude<R, "queued"> }

/** `stopped`: somebody wanted no result. `replaced`: the file's newest conversion is another one. */
type NoRetry = "not_failed" | "stopped" | "replaced"

/** How a cancel ended. */
type Cancelled =
  | { readonly answer: "cancelled"; readonly jobId: JobId }
  | { readonly answer: "not_found" | "finishing" | "inline" | "not_active" }

/** The job's status once the executor has created it; `pending` where that takes longer. Inline work has no job row. */
const statusOf = (store: ConversionStore["Service"], fileId: FileId, kind: FileKind | undefined) =>
  Effect.gen(function* () {
    for (let wait = LOOK_FIRST; kind === "pdf"; wait = Duration.min(Duration.times(wait, 2), LOOK_EVERY)) {
      const [file] = yield* store.filesById([fileId])
      if (file === undefined) break
      if (file.jobStatus !== null) return file.jobStatus
      yield* Effect.sleep(wait)
    }
    return "pending" as const
  }).pipe(Effect.timeoutOrElse({ duration: JOB_WITHIN, orElse: () => Effect.succeed("pending" as const) }))

/** Starts and stops conversions for the owners of files. */
export class Conversions extends Context.Service<
  Conversions,
  {
    readonly convert: (request: {
      /** The same one again starts nothing. */
      readonly callId?: string
      readonly fileId: FileId
      readonly customerId: CustomerId
      readonly options: ConversionOptions
    }) => Effect.Effect<Started<Requested>, StoreUnavailable>
    /** Converts the file of a failed job again as it was asked for, at its price: what was free of charge stays so (F2). */
    readonly retry: (job: {
      readonly jobId: JobId
      readonly fileId: FileId
      readonly customerId: CustomerId
      readonly status: JobStatus
      readonly options: JobOptions
    }) => Effect.Effect<Started<Requested | "resolved" | NoRetry>, StoreUnavailable>
    readonly cancel: (file: {
      readonly fileId: FileId
      readonly customerId: CustomerId
    }) => Effect.Effect<Cancelled, StoreUnavailable>
    readonly preserveFormatting: (file: {
      /** As of `convert`. */
      readonly callId?: string
      readonly fileId: FileId
      readonly customerId: CustomerId
    }) => Effect.Effect<
      { readonly answer: Requested | "unsupported"; readonly id: FlyerId },
      StoreUnavailable
    >
    readonly reflow: (flyer: {
      /** As of `convert`. */
      readonly callId?: string
      readonly flyerId: FlyerId
      readonly customerId: CustomerId
    }) => Effect.Effect<Started<Requested | "resolved">, StoreUnavailable>
  }
>()("postlane/application/Conversions") {
  static readonly layer: Layer.Layer<Conversions, never, ConversionStore | SecureRandom> = Layer.effect(
    Conversions,
    Effect.gen(function* () {
      const store = yield* ConversionStore
      const random = yield* SecureRandom

      const owned = (
        fileId: FileId,
        customerId: CustomerId
      ): Effect.Effect<StoredFile | undefined, StoreUnavailable> => store.file(fileId, customerId)

      const convert: Conversions["Service"]["convert"] = Effect.fnUntraced(function* ({ callId, ...asked }) {
        const jobId = JobId.make(callId ?? (yield* random.uuidV7()))
        const answer = yield* store.request({ ...asked, jobId, window: HOLD_WINDOW })
        if (answer !== "queued") return { answer }
        yield* ringBell("conversions")
        const file = yield* owned(asked.fileId, asked.customerId)
        return { answer, id: jobId, status: yield* statusOf(store, asked.fileId, file?.kind) }
      })

      const reflow: Conversions["Service"]["reflow"] = Effect.fnUntraced(function* ({ callId, ...flyer }) {
        const jobId = JobId.make(callId ?? (yield* random.uuidV7()))
        const answer = yield* store.requestReflow({ ...flyer, jobId, options: {}, window: HOLD_WINDOW })
        yield* ringBell("conversions")
        return answer === "queued" ? { answer, id: jobId, status: "pending" } : { answer }
      })

      return Conversions.of({
        convert,
        reflow,

        retry: Effect.fnUntraced(function* ({ customerId, fileId, jobId, options, status }) {
          if (status === "cancelled") return { answer: "stopped" }
          if (status !== "failed") return { answer: "not_failed" }
          const file = yield* owned(fileId, customerId)
          if (file === undefined) return { answer: "not_found" }
          if (file.jobId !== jobId) return { answer: "replaced" }
          const { _compedFlyerJobId: flyerId } = options
          return yield* flyerId === undefined
            ? convert({ fileId, customerId, options: askedOf(options) })
            : reflow({ flyerId: FlyerId.make(flyerId), customerId })
        }),

        cancel: Effect.fnUntraced(function* ({ customerId, fileId }) {
          const file = yield* owned(fileId, customerId)
          if (file === undefined) return { answer: "not_found" }
          if (file.status === "processing") return { answer: "inline" }
          if (file.jobId === null || file.status !== "chunked_processing") return { answer: "not_active" }
          const answer = yield* store.cancel(file.jobId)
          yield* ringBell("conversions")
          return answer === "cancelled" ? { answer, jobId: file.jobId } : { answer }
        }),

        preserveFormatting: Effect.fnUntraced(function* ({ callId, customerId, fileId }) {
          const id = FlyerId.make(callId ?? (yield* random.uuidV7()))
          const answer = yield* store.requestFlyer({ id, fileId, customerId, window: HOLD_WINDOW })
          yield* ringBell("conversions")
          return { answer, id }
        })
      })
    })
  )
}

/**
 * The convert executor: creates the jobs of everything in the queue `convert`, whichever route took the request. The flags of the
 * batch lane are read here and nowhere else. Several may run; a job is created once.
 */
export const createQueuedJobs = (
  lane: LaneSettings
): Effect.Effect<void, StoreUnavailable, ConversionStore> =>
  Effect.gen(function* () {
    const store = yield* ConversionStore
    while (true) {
      const queued = yield* store.nextQueued
      if (queued === undefined) return
      const { jobId, options, pages } = queued
      const status = statusAtCreation({ options, totalPages: pages }, lane)
      yield* store.createJob(jobId, { status, options, chunkPages: CHUNK_PAGES })
      yield* ringBell("conversions")
    }
  })
