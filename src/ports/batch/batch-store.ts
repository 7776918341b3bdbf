import { Context, type Duration, type Effect } from "effect"

import type { BatchOutcome } from "../../domain/batch/row.ts"
import type { CostEntry, ModelPrice } from "../../domain/cascade/cost.ts"
import type { JobOptions } from "../../domain/conversion/job.ts"
import type { JobId, LeaseId } from "../../domain/ids.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** A row to prepare, held by `lease`. */
export interface ClaimedBatch {
  readonly id: string
  readonly lease: LeaseId
  readonly jobId: JobId
  /** An earlier prepare was begun: its batch job may exist. */
  readonly foundOpen: boolean
  /** A live leader did not finish it in time (BATCH-15). */
  readonly stuck: boolean
  /** Why its owner no longer wants it. */
  readonly closeReason: string | null
  /** Its job is waiting for it. */
  readonly waiting: boolean
  /** The folder of its records, once they are uploaded. */
  readonly inputPrefix: string | null
  /** The model of its records, once they are uploaded. */
  readonly model: string | null
  /** Its job's time limit in the lane passed a day ago. */
  readonly abandoned: boolean
  readonly objectKey: string
  readonly totalPages: number
}

/** What models may cost a day, and what a page costs in the lane where no batch job has shown it yet. US dollars. */
export interface LaneBudget {
  readonly dailyUsd: number
  readonly pageUsd: number
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
  readonly jobId: JobId
  /** Empty on a row that was set to `submitted` by hand, without its batch job. */
  readonly arn: string
  readonly model: string
  /** Of the model, when the records were uploaded; undefined on a row that was written by hand. */
  readonly price: ModelPrice | undefined
  readonly records: number
  /** Files that the records were uploaded in. */
  readonly shards: number
  readonly closeReason: string | null
  /** Its time-out and grace period have passed. */
  readonly overdue: boolean
  /** They passed a day ago. */
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

/** A closed row with a job that is still waiting. */
interface StrandedJob {
  readonly jobId: JobId
  readonly outcome: BatchOutcome
  readonly costUsd: number
}

type Store<A> = Effect.Effect<A, StoreUnavailable>

/** Batch rows. Each method is one guarded function of the database and returns whether it won. */
export class BatchStore extends Context.Service<
  BatchStore,
  {
    /**
     * Claims a row that was left `preparing`, oldest first, or the oldest parked job; its funds stay reserved for `window`.
     */
    readonly claim: (claim: {
      readonly take: "open" | "parked"
      readonly lease: LeaseId
      /** This process. */
      readonly preparer: string
      /** The leader's term. */
      readonly term: number
      readonly model: string
      readonly stuckAfter: Duration.Duration
      readonly window: Duration.Duration
      /** How long a job may wait in the lane. */
      readonly giveUpIn: Duration.Duration
      /** Only a parked job that this leaves room for; undefined: any. */
      readonly budget?: LaneBudget | undefined
    }) => Store<ClaimedBatch | undefined>
    readonly chunks: (jobId: JobId) => Store<ReadonlyArray<ChunkRange>>
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
    /** The service has no room for another batch job: uploaded rows wait for their turn, and are not stuck. */
    readonly serviceFull: Store<void>
    /** Whether a batch job is an orphan: its row was closed without it. */
    readonly isOrphan: (id: string, arn: string) => Store<boolean>
    /** `preparing` → `closed`. */
    readonly drop: (batch: Pick<ClaimedBatch, "id" | "lease">, end: BatchEnd) => Store<boolean>
    /** The submitted rows that are due; each goes to one driver, and is due again after `every`. */
    readonly claimPolls: (every: Duration.Duration, limit: number) => Store<ReadonlyArray<PolledBatch>>
    /** Which collect this is, from 1; undefined where the row is no longer `submitted`. */
    readonly beginCollect: (id: string) => Store<number | undefined>
    /** Marks a batch job as unwanted; it is polled until it has stopped. */
    readonly giveUp: (id: string, reason: string) => Store<boolean>
    /** `submitted` → `closed`, with its ledger entry; true for the one call that did it. */
    readonly end: (id: string, end: BatchEnd) => Store<boolean>
    /** Resumes on demand one job that has waited too long, whatever the state of its row; returns which. */
    readonly releaseOverdue: (limits: {
      readonly giveUpIn: Duration.Duration
      readonly stuckAfter: Duration.Duration
      /** The extra time that the driver has to resume it by itself. */
      readonly slack: Duration.Duration
      readonly window: Duration.Duration
    }) => Store<JobId | undefined>
    readonly stranded: Store<ReadonlyArray<StrandedJob>>
    /** Resumes a parked job on demand; true for the one call that did it. */
    readonly resume: (jobId: JobId, patch: JobOptions, window: Duration.Duration) => Store<boolean>
    readonly makeInteractive: (
      jobId: JobId,
      window: Duration.Duration
    ) => Store<"resumed" | "closed" | "not_waiting">
    /** The ARN of a submitted row's batch job that is to be stopped, if there is one. */
    readonly toStop: (jobId: JobId) => Store<string | undefined>
    readonly toPurge: (
      after: Duration.Duration,
      limit: number
    ) => Store<ReadonlyArray<{ readonly id: string; readonly jobId: JobId }>>
    readonly purged: (id: string) => Store<void>
  }
>()("postlane/ports/BatchStore") {}
