import { Context, type Duration, type Effect } from "effect"

import type { CostEntry } from "../../domain/cascade/cost.ts"
import type { FileKind, StoredFile } from "../../domain/conversion/file.ts"
import type { JobStatus, JobOptions } from "../../domain/conversion/job.ts"
import type { FileFilter, StoredBulk, StoredJob } from "../../domain/conversion/lookup.ts"
import type { Making } from "../../domain/conversion/making.ts"
import type { Legibility } from "../../domain/conversion/page-line.ts"
import type { NoRoomForFile } from "../../domain/conversion/stored-files.ts"
import type { WaitFacts } from "../../domain/conversion/waiting.ts"
import type { CustomerId, FileId, JobId, ChunkId, FlyerId, LeaseId } from "../../domain/ids.ts"
import type { InvalidCursor } from "../cursor.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"
import type { ChunkPages, InlineFailure, InlineFound } from "./result-facts.ts"

/** A requested conversion without a job yet. */
interface QueuedConversion {
  readonly jobId: JobId
  readonly fileId: FileId
  readonly pages: number
  readonly options: JobOptions
}

/** A chunk that this worker holds until it reports the end or loses the lease. */
export interface ClaimedChunk {
  readonly id: ChunkId
  /** Proof of the claim. */
  readonly lease: LeaseId
  readonly jobId: JobId
  readonly chunkIndex: number
  /** Pages from 0, the last one included. */
  readonly firstPage: number
  readonly lastPage: number
  /** This one included. */
  readonly attempts: number
  readonly fileId: FileId
  readonly objectKey: string
  readonly options: JobOptions
  readonly totalPages: number
}

/** A job with no chunk left to do, to be assembled by the holder of the lease. */
export interface ClaimedAssembly {
  readonly jobId: JobId
  readonly lease: LeaseId
  readonly fileId: FileId
  readonly fileName: string
  readonly objectKey: string
  readonly attempts: number
  readonly options: JobOptions
  readonly totalPages: number
  /** Results of the chunks, in the order of the pages. */
  readonly chunkKeys: ReadonlyArray<string>
}

/** A DOCX or an image to be converted inline. */
export interface ClaimedInline {
  readonly fileId: FileId
  readonly lease: LeaseId
  readonly jobId: JobId
  readonly name: string
  readonly kind: FileKind
  readonly objectKey: string
  readonly attempts: number
  readonly options: JobOptions
}

/** A PDF to be converted layout-true. */
export interface ClaimedFlyer {
  readonly id: FlyerId
  readonly lease: LeaseId
  readonly fileId: FileId
  readonly name: string
  readonly objectKey: string
  readonly pages: number
  readonly attempts: number
}

/** A flyer job as its owner sees it. */
export interface StoredFlyer {
  readonly id: FlyerId
  readonly fileId: FileId
  /** A stopped one is `failed` (DOC-42). */
  readonly status: "pending" | "processing" | "completed" | "failed"
  /** Of one that has failed for good; null while it is retried. */
  readonly error: string | null
  /** The free reflow that was chosen instead. */
  readonly compConversionId: JobId | null
  /** ISO 8601. */
  readonly createdAt: string
  /** Key of the layout-true result. */
  readonly resultKey: string | null
  /** Of the result: pages from 1 that could not be read. */
  readonly unreadablePages: ReadonlyArray<number>
}

type Store<A> = Effect.Effect<A, StoreUnavailable>

/** Most files of one page. */
export const MAX_FILES_PAGE = 1000

/** The answer to a request for work. */
export type Requested = "queued" | "not_found" | "active" | "insufficient"

/** A file that comes in. */
export type NewFile = Pick<
  StoredFile,
  "id" | "customerId" | "name" | "kind" | "sizeBytes" | "pages" | "objectKey"
> &
  Partial<Pick<StoredFile, "leftOut" | "reference">>

/**
 * Files, jobs, chunks and their funds. Each method is one guarded statement or function of the database, and returns
 * whether it won. When the answer to a call is lost, it may be repeated with the same ids.
 */
export class ConversionStore extends Context.Service<
  ConversionStore,
  {
    // Files
    /** Whether their owner may have another file (`FILE_ROOM`), as of now: `addFile` decides. */
    readonly hasRoom: (customerId: CustomerId) => Store<boolean>
    readonly addFile: (file: NewFile) => Effect.Effect<StoredFile, StoreUnavailable | NoRoomForFile>
    /**
     * Of this owner only; newest first, the page after `cursor`; `nextCursor` is null at the end.
     */
    readonly files: (
      customerId: CustomerId,
      page: FileFilter & { readonly limit: number; readonly cursor: string | undefined }
    ) => Effect.Effect<
      { readonly files: ReadonlyArray<StoredFile>; readonly nextCursor: string | null },
      StoreUnavailable | InvalidCursor
    >
    readonly file: (fileId: FileId, customerId: CustomerId) => Store<StoredFile | undefined>
    /** Files by id, for progress streams: many in one call. */
    readonly filesById: (fileIds: ReadonlyArray<FileId>) => Store<ReadonlyArray<StoredFile>>
    /**
     * A conversion of this owner, also one that is queued or has no job row; undefined where there is none, or its file is deleted. Of
     * those without a row, the newest of each file and those of bulk orders are known.
     */
    readonly job: (jobId: JobId, customerId: CustomerId) => Store<StoredJob | undefined>
    readonly bulk: (bulkId: string, customerId: CustomerId) => Store<StoredBulk | undefined>
    /** Of one job; undefined for a conversion without a job row. */
    readonly jobStatus: (jobId: JobId) => Store<JobStatus | undefined>
    /** Why its conversion does not move on; undefined where none is under way. */
    readonly waitFacts: (fileId: FileId) => Store<WaitFacts | undefined>
    readonly flyerWaitFacts: (flyerId: FlyerId) => Store<WaitFacts | undefined>
    readonly deleteFile: (
      fileId: FileId,
      customerId: CustomerId
    ) => Store<"deleted" | "not_found" | "finishing">
    /** Deleted files that still have objects, with all their jobs (flyer jobs too). */
    readonly filesToPurge: (
      limit: number
    ) => Store<ReadonlyArray<{ readonly id: FileId; readonly jobIds: ReadonlyArray<JobId | FlyerId> }>>
    readonly filePurged: (fileId: FileId) => Store<void>
    /** The ids that own no objects: they have no file, or its objects were removed. */
    readonly withoutObjects: (fileIds: ReadonlyArray<FileId>) => Store<ReadonlyArray<FileId>>

    // Requests
    readonly request: (request: {
      readonly jobId: JobId
      readonly fileId: FileId
      readonly customerId: CustomerId
      readonly options: JobOptions
      readonly window: Duration.Duration
      readonly bulkId?: string | undefined
    }) => Store<Requested>
    /** The oldest request of the owner that is next in turn in the queue `convert`, if any. */
    readonly nextQueued: Store<QueuedConversion | undefined>
    readonly createJob: (
      jobId: JobId,
      job: {
        readonly status: "pending" | "waiting_batch"
        readonly options: JobOptions
        readonly chunkPages: number
      }
    ) => Store<boolean>
    readonly cancel: (jobId: JobId) => Store<"cancelled" | "finishing" | "not_active">

    // Chunks
    /**
     * Owners take turns; one has at most `perOwner` chunks in progress (undefined: any number). `primed` false: none with batch
     * results, which this worker cannot read.
     */
    readonly claimChunk: (
      worker: string,
      lease: LeaseId,
      perOwner?: number,
      primed?: boolean
    ) => Store<ClaimedChunk | undefined>
    /** False: stop at once, the chunk no longer belongs to this worker. */
    readonly heartbeatChunk: (
      chunk: Pick<ClaimedChunk, "id" | "lease">,
      pagesDone: number,
      window: Duration.Duration
    ) => Store<boolean>
    readonly completeChunk: (
      chunk: Pick<ClaimedChunk, "id" | "lease">,
      resultKey: string,
      costs: ReadonlyArray<CostEntry>,
      pages?: ChunkPages
    ) => Store<"stale" | "completed" | "assembling">
    readonly failChunk: (
      chunk: Pick<ClaimedChunk, "id" | "lease">,
      failure: {
        readonly error: string
        readonly costs: ReadonlyArray<CostEntry>
        readonly retryIn: Duration.Duration
        readonly maxAttempts: number
      }
    ) => Store<"stale" | "pending" | "failed">
    /** The results of a job's chunks, in the order of their pages, which count from 0; the last one included. */
    readonly chunkResults: (
      jobId: JobId
    ) => Store<ReadonlyArray<{ readonly firstPage: number; readonly lastPage: number; readonly key: string }>>
    /** The attempt does not count; the chunk is claimed again in `retryIn` (at once) at the earliest. */
    readonly handBackChunk: (
      chunk: Pick<ClaimedChunk, "id" | "lease">,
      costs: ReadonlyArray<CostEntry>,
      retryIn?: Duration.Duration
    ) => Store<boolean>
    /** With a lease: does nothing where the assembly has passed to another holder. */
    readonly failJob: (jobId: JobId, error: string, lease?: LeaseId) => Store<boolean>
    readonly bookCosts: (costs: ReadonlyArray<CostEntry>) => Store<void>

    // Assembly
    readonly claimAssembly: (lease: LeaseId, stale: Duration.Duration) => Store<ClaimedAssembly | undefined>
    readonly heartbeatAssembly: (
      assembly: Pick<ClaimedAssembly, "jobId" | "lease">,
      window: Duration.Duration
    ) => Store<boolean>
    readonly handBackAssembly: (assembly: Pick<ClaimedAssembly, "jobId" | "lease">) => Store<boolean>
    readonly finishJob: (
      assembly: Pick<ClaimedAssembly, "jobId" | "lease">,
      resultKey: string,
      legibility?: Legibility,
      noModelPages?: ReadonlyArray<number>,
      made?: Making
    ) => Store<"completed" | "stale" | "insufficient" | "unreadable">

    // Inline and layout-true
    readonly claimInline: (lease: LeaseId, stale: Duration.Duration) => Store<ClaimedInline | undefined>
    readonly heartbeatInline: (
      inline: Pick<ClaimedInline, "fileId" | "lease">,
      window: Duration.Duration
    ) => Store<boolean>
    readonly finishInline: (
      inline: Pick<ClaimedInline, "fileId" | "lease">,
      resultKey: string,
      costs: ReadonlyArray<CostEntry>,
      /** `pages`: counted from the result, and charged; undefined keeps the earlier count. */
      found?: InlineFound
    ) => Store<"completed" | "stale" | "insufficient">
    readonly failInline: (
      inline: Pick<ClaimedInline, "fileId" | "lease">,
      failure: InlineFailure
    ) => Store<"stale" | "pending" | "failed">
    readonly requestFlyer: (request: {
      readonly id: FlyerId
      readonly fileId: FileId
      readonly customerId: CustomerId
      readonly window: Duration.Duration
    }) => Store<Requested | "unsupported">
    /** Undefined when the flyer does not exist, belongs to another customer, or its file is deleted. */
    readonly flyer: (flyerId: FlyerId, customerId: CustomerId) => Store<StoredFlyer | undefined>
    /** Flyers of a file, newest first. */
    readonly flyersOf: (fileId: FileId, customerId: CustomerId) => Store<ReadonlyArray<StoredFlyer>>
    /** As {@link claimChunk}. */
    readonly claimFlyer: (
      lease: LeaseId,
      stale: Duration.Duration,
      perOwner?: number
    ) => Store<ClaimedFlyer | undefined>
    readonly heartbeatFlyer: (
      flyer: Pick<ClaimedFlyer, "id" | "lease">,
      window: Duration.Duration
    ) => Store<boolean>
    readonly finishFlyer: (
      flyer: Pick<ClaimedFlyer, "id" | "lease">,
      resultKey: string,
      costs: ReadonlyArray<CostEntry>,
      unreadablePages?: ReadonlyArray<number>
    ) => Store<"completed" | "stale" | "insufficient">
    readonly failFlyer: (
      flyer: Pick<ClaimedFlyer, "id" | "lease">,
      failure: InlineFailure
    ) => Store<"stale" | "pending" | "failed">
    /** Stops a running one and releases its funds; a repeated call gets the same answer. */
    readonly cancelFlyer: (
      flyerId: FlyerId,
      customerId: CustomerId
    ) => Store<"cancelled" | "not_active" | "not_found">
    readonly requestReflow: (request: {
      readonly flyerId: FlyerId
      readonly customerId: CustomerId
      readonly jobId: JobId
      readonly options: JobOptions
      readonly window: Duration.Duration
    }) => Store<Requested | "resolved">

    // Upkeep
    /** Recovers one orphan a call; returns how many (0 or 1). */
    readonly recoverOrphan: (stale: Duration.Duration, maxAttempts: number) => Store<number>
    /** What models have cost since midnight UTC, US dollars. */
    readonly modelCostToday: Store<number>
    /** Pauses and resumes by the daily model budget, USD; undefined: no budget. Returns how many changed. */
    readonly applyBudget: (budgetUsd: number | undefined) => Store<number>
    /** Deletes one file of a closed account a call; returns how many (0 or 1). */
    readonly deleteFileOfClosedAccount: Store<number>
    readonly sweep: (window: Duration.Duration, stale: Duration.Duration) => Store<number>
  }
>()("postlane/ports/ConversionStore") {}
