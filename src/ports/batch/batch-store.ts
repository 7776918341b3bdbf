import { Context, type Duration, type Effect } from "effect"

import type { BatchOutcome } from "../../domain/batch/row.ts"
import type { CostEntry, ModelPrice } from "../../domain/conversion/cascade/cost.ts"
import type { JobOptions } from "../../domain/conversion/job.ts"
import type { ConversionStoreError } from "../conversion/conversion-store.ts"

/** A row that is to be prepared, held by `lease`. */
export interface ClaimedBatch {
  readonly id: string
  readonly lease: string
  readonly jobId: string
  /** Somebody began before: its batch job may exist. */
  readonly foundOpen: boolean
  /** A leader that lives did not get it done in time. */
  readonly stuck: boolean
  /** Why its owner does not want it any more. */
  readonly closeReason: string | null
  /** Its job waits for it. */
  readonly waiting: boolean
  /** Where its records are, if they are uploaded. */
  readonly inputPrefix: string | null
  /** What its records were made for, once they are uploaded. */
  readonly model: string | null
  /** Its job's time in the lane has been over for a day. */
  readonly abandoned: boolean
  readonly objectKey: string
  readonly totalPages: number
}

/** The pages of a chunk, from 0, the last one included. */
export interface ChunkRange {
  readonly chunkIndex: number
  readonly firstPage: number
  readonly lastPage: number
}

/** A submitted row that is due. */
export interface PolledBatch {
  readonly id: string
  readonly jobId: string
  /** Empty on a row that was set to `submitted` by hand, without its batch job. */
  readonly arn: string
  readonly model: string
  /** Of the model, when the records were uploaded; undefined on a row that was written by hand. */
  readonly price: ModelPrice | undefined
  readonly records: number
  /** Files that the records were uploaded in. */
  readonly shards: number
  readonly closeReason: string | null
  /** Its time-out and the grace after it are over. */
  readonly overdue: boolean
  /** They have been for a day. */
  readonly abandoned: boolean
}

/** How a row ends. */
export interface BatchEnd {
  readonly outcome: BatchOutcome
  readonly reason: string
  /** The service's status; null where there was no batch job. */
  readonly endState: string | null
  readonly accepted: number
  readonly fallback: number
  /** Undefined: it returned nothing. */
  readonly cost: CostEntry | undefined
}

/** A closed row whose job waits all the same. */
interface StrandedJob {
  readonly jobId: string
  readonly outcome: BatchOutcome
  readonly costUsd: number
}

type Store<A> = Effect.Effect<A, ConversionStoreError>

/** Batch rows. Each method is one guarded function of the database and tells whether it won. */
export class BatchStore extends Context.Service<
  BatchStore,
  {
    /** A row that was left `preparing`, longest ago first, or the oldest parked job, whose funds stay set aside for `window`. */
    readonly claim: (claim: {
      readonly take: "open" | "parked"
      readonly lease: string
      /** This process. */
      readonly preparer: string
      /** The leader's term. */
      readonly term: number
      readonly model: string
      readonly stuckAfter: Duration.Duration
      readonly window: Duration.Duration
      /** How long a job may wait in the lane. */
      readonly giveUpIn: Duration.Duration
    }) => Store<ClaimedBatch | undefined>
    readonly chunks: (jobId: string) => Store<ReadonlyArray<ChunkRange>>
    readonly uploaded: (
      batch: Pick<ClaimedBatch, "id" | "lease">,
      input: {
        readonly prefix: string
        readonly records: number
        readonly shards: number
        readonly bytes: number
        readonly model: string
        readonly price: ModelPrice
      }
    ) => Store<boolean>
    readonly submitted: (
      batch: Pick<ClaimedBatch, "id" | "lease">,
      job: {
        readonly arn: string
        readonly name: string
        readonly pollIn: Duration.Duration
        readonly giveUpIn: Duration.Duration
      }
    ) => Store<boolean>
    /** Whether a batch job belongs to nobody: its row was closed without it. */
    readonly isOrphan: (id: string, arn: string) => Store<boolean>
    /** `preparing` → `closed`. */
    readonly drop: (batch: Pick<ClaimedBatch, "id" | "lease">, end: BatchEnd) => Store<boolean>
    /** The submitted rows that are due; each goes to one driver, and comes again in `every`. */
    readonly claimPolls: (every: Duration.Duration, limit: number) => Store<ReadonlyArray<PolledBatch>>
    /** Which collect this is, from 1; undefined where the row is not `submitted` any more. */
    readonly beginCollect: (id: string) => Store<number | undefined>
    /** Nobody waits for its results any more; it is polled on until it has stopped. */
    readonly giveUp: (id: string, reason: string) => Store<boolean>
    /** `submitted` → `closed`, with its ledger entry; true for the one call that did it. */
    readonly end: (id: string, end: BatchEnd) => Store<boolean>
    /** A job that has waited for too long goes on-demand, whatever became of its row; answers which. One a call. */
    readonly releaseOverdue: (limits: {
      readonly giveUpIn: Duration.Duration
      readonly stuckAfter: Duration.Duration
      /** What the driver has to see to it by itself. */
      readonly slack: Duration.Duration
      readonly window: Duration.Duration
    }) => Store<string | undefined>
    readonly stranded: Store<ReadonlyArray<StrandedJob>>
    /** A parked job goes on-demand; true for the one call that did it. */
    readonly resume: (jobId: string, patch: JobOptions, window: Duration.Duration) => Store<boolean>
    readonly makeInteractive: (
      jobId: string,
      window: Duration.Duration
    ) => Store<"resumed" | "closed" | "not_waiting">
    /** The batch job of a submitted row that is to be stopped, if that is how it stands. */
    readonly toStop: (jobId: string) => Store<string | undefined>
    readonly toPurge: (
      after: Duration.Duration,
      limit: number
    ) => Store<ReadonlyArray<{ readonly id: string; readonly jobId: string }>>
    readonly purged: (id: string) => Store<void>
  }
>()("postlane/ports/BatchStore") {}
