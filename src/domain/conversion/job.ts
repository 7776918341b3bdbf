import { Duration, Schema } from "effect"

/** Statuses of a conversion job (document 3; contract, "Files and conversions"). */
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

/** What moves a job. */
export type JobMove =
  /** A worker claimed its first chunk. */
  | "start"
  /** The batch lane is done with it, one way or another; or its owner would not wait. */
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

/** Every move of a job, as a table; the functions of migration 0018 are guarded to the same ones. */
export const moveJob = (status: JobStatus, move: JobMove): JobStatus | undefined => MOVES[status][move]

/** A job that nothing moves any more. */
export const isTerminal = (status: JobStatus): boolean => Object.keys(MOVES[status]).length === 0

/** Statuses that Cancel acts on (document 3, "Cancel"). */
export const CANCELLABLE: ReadonlyArray<JobStatus> = Schema.decodeUnknownSync(Schema.Array(JobStatus))(
  Object.keys(MOVES)
).filter((status) => MOVES[status].cancel !== undefined)

/** Pages of a chunk. */
export const CHUNK_PAGES = 20

/** Attempts of a chunk, crashes of its worker included, before its job fails. */
export const MAX_CHUNK_ATTEMPTS = 3

/** Heartbeats without a word after which a chunk's worker counts as dead (contract, "Health and metrics"). */
export const LEASE_HEARTBEATS = 5

/** How long funds are set aside for an on-demand conversion; renewed while it is under way. */
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
  mathOcr: Schema.optionalKey(Schema.Boolean)
}).annotate({ identifier: "ConversionOptions" })
export type ConversionOptions = typeof ConversionOptions.Type

/** A job's options: what was asked for, and what Postlane itself noted (underscored; never taken from outside). */
export const JobOptions = Schema.Struct({
  ...ConversionOptions.fields,
  /** The bulk opt-in to the batch lane. */
  _batchLane: Schema.optionalKey(Schema.Boolean),
  /** Batch results are there to be reused. */
  _batchPrimed: Schema.optionalKey(Schema.Boolean),
  /** What the batch job cost, USD. */
  _batchCostUsd: Schema.optionalKey(Schema.Finite),
  /** The flyer job that this free reflow stands for. */
  _compedFlyerJobId: Schema.optionalKey(Schema.String)
})
export type JobOptions = typeof JobOptions.Type

/** Whether a conversion goes through the cascade page by page, and so may call the hi-fi model once a page. */
export const usesCascade = ({ highFidelity, mathOcr, parser }: ConversionOptions): boolean =>
  highFidelity === true && (parser === undefined || parser === "auto") && mathOcr !== true
