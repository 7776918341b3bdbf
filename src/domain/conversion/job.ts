import { Duration, Schema } from "effect"

import type { LayoutOptions } from "../../reader/model/layout-page.ts"

/** Statuses of a conversion job (DOC-11). */
export const JobStatus = Schema.Literals([
  "pending",
  "waiting_batch",
  "processing",
  "paused_budget",
  "assembling",
  "completed",
  "failed",
  "cancelled"
]).annotate({ identifier: "JobStatus" })
export type JobStatus = typeof JobStatus.Type

/** Statuses of a chunk. */
export const ChunkStatus = Schema.Literals([
  "pending",
  "waiting_batch",
  "processing",
  "completed",
  "failed",
  "cancelled"
])
export type ChunkStatus = typeof ChunkStatus.Type

/** What causes a job to change status. */
export type JobMove =
  /** A worker claimed its first chunk. */
  | "start"
  /** The batch lane is finished with it, or its owner chose process-now. */
  | "resume"
  /** The daily model budget is spent. */
  | "pause"
  /** There is budget again. */
  | "unpause"
  /** Its last chunk is completed. */
  | "assemble"
  /** Its result is stored and charged. */
  | "complete"
  | "fail"
  | "cancel"

const MOVES: Readonly<Record<JobStatus, Partial<Record<JobMove, JobStatus>>>> = {
  pending: {
    start: "processing",
    pause: "paused_budget",
    assemble: "assembling",
    fail: "failed",
    cancel: "cancelled"
  },
  waiting_batch: { resume: "pending", fail: "failed", cancel: "cancelled" },
  processing: { pause: "paused_budget", assemble: "assembling", fail: "failed", cancel: "cancelled" },
  paused_budget: { unpause: "pending", assemble: "assembling", fail: "failed", cancel: "cancelled" },
  assembling: { complete: "completed", fail: "failed" },
  completed: {},
  failed: {},
  cancelled: {}
}

/**
 * All transitions of a job; undefined where the move does nothing. The database makes them, under its row locks, and a test holds
 * each of its functions to this table in every status.
 */
export const moveJob = (status: JobStatus, move: JobMove): JobStatus | undefined => MOVES[status][move]

/** Whether the job has ended. */
export const isTerminal = (status: JobStatus): boolean => Object.keys(MOVES[status]).length === 0

/** Pages of a chunk. */
export const CHUNK_PAGES = 20

/** Attempts of a chunk, worker crashes included, before its job fails. */
export const MAX_CHUNK_ATTEMPTS = 3

/** How long funds are on hold for an on-demand conversion; renewed while it is under way (DOC-31). */
export const HOLD_WINDOW = Duration.minutes(90)

/** Which converter takes the pages: the smart cascade, the layout tier alone, or a model that converts whole chunks. */
const Parser = Schema.Literals(["auto", "layout", "harness"])
type Parser = typeof Parser.Type

/** What a caller may ask of a conversion. */
export const ConversionOptions = Schema.Struct({
  /** Hi-fi single pass by the vision model; else the layout tier. */
  highFidelity: Schema.optionalKey(Schema.Boolean),
  parser: Schema.optionalKey(Parser),
  /** Formulas of each chunk read by whole-chunk math OCR. */
  mathOcr: Schema.optionalKey(Schema.Boolean),
  /** Running headers, footers and page numbers stay in the layout tier's result; else they are left out. */
  keepRunningHeads: Schema.optionalKey(
    Schema.Boolean.annotate({
      description:
        "Running headers, footers and page numbers stay in the result, as notes; else they are left out."
    })
  )
}).annotate({ identifier: "ConversionOptions" })
export type ConversionOptions = typeof ConversionOptions.Type

/** What a conversion asks of the layout tier. */
export const layoutOptionsOf = ({ keepRunningHeads }: ConversionOptions): LayoutOptions => ({
  keepsRunningLines: keepRunningHeads === true
})

/** A job's options: what was requested, and what Postlane itself adds (underscored; never accepted from outside). */
export const JobOptions = Schema.Struct({
  ...ConversionOptions.fields,
  /** The bulk opt-in to the batch lane. */
  _batchLane: Schema.optionalKey(Schema.Boolean),
  /** Batch results are ready for reuse. */
  _batchPrimed: Schema.optionalKey(Schema.Boolean),
  /** What the batch job cost, USD. */
  _batchCostUsd: Schema.optionalKey(Schema.Finite),
  /** The flyer job that this free reflow replaces. */
  _compedFlyerJobId: Schema.optionalKey(Schema.String)
})
export type JobOptions = typeof JobOptions.Type

/** What the caller asked for: a job's options without what Postlane added. */
export const askedOf = ({
  highFidelity,
  keepRunningHeads,
  mathOcr,
  parser
}: JobOptions): ConversionOptions => ({
  ...(highFidelity === undefined ? {} : { highFidelity }),
  ...(keepRunningHeads === undefined ? {} : { keepRunningHeads }),
  ...(mathOcr === undefined ? {} : { mathOcr }),
  ...(parser === undefined ? {} : { parser })
})

/** Whether a conversion goes through the cascade page by page, and so may call the hi-fi model once a page (BATCH-3). */
export const usesCascade = ({ highFidelity, mathOcr, parser }: ConversionOptions): boolean =>
  highFidelity === true && (parser === undefined || parser === "auto") && mathOcr !== true
