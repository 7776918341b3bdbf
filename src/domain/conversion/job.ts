import { Duration, Schema } from "effect"

import type { LayoutOptions } from "../../reader/model/layout-page.ts"
import type { Mood } from "../mood.ts"

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

/** What is known of a status of a job. */
interface JobFacts {
  readonly mood: Mood
  /** For people, where it does not follow from the name. */
  readonly label?: string
  /** Where each move leads; one that is not named does nothing. A status without moves has ended. */
  readonly moves: { readonly [move in JobMove]?: string }
}

/** Statuses of a conversion job (DOC-11), with all that is known of each. */
export const JOB_STATUSES = {
  pending: {
    mood: "",
    moves: {
      start: "processing",
      pause: "paused_budget",
      assemble: "assembling",
      fail: "failed",
      cancel: "cancelled"
    }
  },
  waiting_batch: {
    mood: "wait",
    label: "Waiting for batch",
    moves: { resume: "pending", fail: "failed", cancel: "cancelled" }
  },
  processing: {
    mood: "",
    moves: { pause: "paused_budget", assemble: "assembling", fail: "failed", cancel: "cancelled" }
  },
  paused_budget: {
    mood: "wait",
    label: "Paused: budget spent",
    moves: { unpause: "pending", assemble: "assembling", fail: "failed", cancel: "cancelled" }
  },
  assembling: { mood: "", moves: { complete: "completed", fail: "failed" } },
  completed: { mood: "good", moves: {} },
  failed: { mood: "bad", moves: {} },
  cancelled: { mood: "", moves: {} }
} as const satisfies Readonly<Record<string, JobFacts>>

export type JobStatus = keyof typeof JOB_STATUSES

/** Its codec. */
export const JobStatus = Schema.Literals(Object.keys(JOB_STATUSES) as ReadonlyArray<JobStatus>).annotate({
  identifier: "JobStatus"
})

const MOVES: Readonly<Record<JobStatus, { readonly moves: Partial<Record<JobMove, JobStatus>> }>> =
  JOB_STATUSES

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

/**
 * All transitions of a job; undefined where the move does nothing. The database makes them, under its row locks, and a test holds
 * each of its functions to this table in every status.
 */
export const moveJob = (status: JobStatus, move: JobMove): JobStatus | undefined => MOVES[status].moves[move]

/** Whether the job has ended. */
export const isTerminal = (status: JobStatus): boolean => Object.keys(MOVES[status].moves).length === 0

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
