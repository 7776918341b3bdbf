import { Schema } from "effect"

import type { JobOptions } from "../conversion/job.ts"

/** States of a batch row (invariant B1). */
export const BatchRowState = Schema.Literals(["preparing", "submitted", "closed"]).annotate({
  identifier: "BatchRowState"
})
export type BatchRowState = typeof BatchRowState.Type

/**
 * How a closed row ended. `collected`: its results are there. `skipped`: never submitted (too few or too many records), or no
 * longer wanted. `expired`: not done in time. `failed`: everything else.
 */
export const BatchOutcome = Schema.Literals(["collected", "skipped", "failed", "expired"]).annotate({
  identifier: "BatchOutcome"
})
export type BatchOutcome = typeof BatchOutcome.Type

/** What causes a batch row to change state. */
export type BatchRowMove =
  /** The driver prepared it and the batch job exists. */
  | "submit"
  /** It will never be submitted. */
  | "drop"
  /** The batch job ended, or the driver gave up on it. */
  | "end"

const MOVES: Readonly<Record<BatchRowState, Partial<Record<BatchRowMove, BatchRowState>>>> = {
  preparing: { submit: "submitted", drop: "closed" },
  submitted: { end: "closed" },
  closed: {}
}

/**
 * All transitions of a batch row; undefined where the move does nothing. The database makes them, under its row locks, and a test
 * holds each of its functions to this table and to {@link whenUserActs} in every state.
 */
export const moveBatchRow = (state: BatchRowState, move: BatchRowMove): BatchRowState | undefined =>
  MOVES[state][move]

interface UserAct {
  readonly state: BatchRowState
  /** The reason is recorded in the row. */
  readonly reason: boolean
  /** There is a batch job to stop: the API does so now, the driver at its next poll. */
  readonly stop: boolean
}

/** What an owner's action leads to (BATCH-41); `none` is a job that the driver has not claimed. */
export const whenUserActs = (found: BatchRowState | "none"): UserAct => {
  switch (found) {
    case "none":
      return { state: "closed", reason: true, stop: false }
    case "preparing":
      return { state: "preparing", reason: true, stop: false }
    case "submitted":
      return { state: "submitted", reason: true, stop: true }
    case "closed":
      return { state: "closed", reason: false, stop: false }
  }
}

/** Statuses of a batch job, as the service reports them (Bedrock, GetModelInvocationJob). */
export const BatchStatus = Schema.Literals([
  "Submitted",
  "Validating",
  "Scheduled",
  "InProgress",
  "Completed",
  "PartiallyCompleted",
  "Failed",
  "Stopping",
  "Stopped",
  "Expired"
])
export type BatchStatus = typeof BatchStatus.Type

/** The terminal statuses of a batch job. */
export type EndStatus = "Completed" | "PartiallyCompleted" | "Failed" | "Stopped" | "Expired"

/** What to do with a submitted row. */
type PollVerdict =
  | { readonly do: "wait" }
  /** Ask the batch service to stop it; the row stays `submitted` until it has. */
  | { readonly do: "stop" }
  /** Like `stop`, and converts the job on demand at once. */
  | { readonly do: "give-up" }
  /** Its results are wanted: parse, write, bill, close. */
  | { readonly do: "collect"; readonly end: EndStatus }
  /** Bill what it returned, and close. */
  | { readonly do: "bill"; readonly end: EndStatus; readonly outcome: BatchOutcome }

/**
 * What a poll of a submitted row leads to (BATCH-14, BATCH-42). `unwanted`: the owner or the driver has given the row a reason to
 * stop, so that its results are not needed.
 */
export const verdictOf = (poll: {
  readonly status: BatchStatus
  readonly unwanted: boolean
  readonly overdue: boolean
  /** Overdue for so long that its end is no longer waited for. */
  readonly abandoned: boolean
}): PollVerdict => {
  const { abandoned, overdue, status, unwanted } = poll
  switch (status) {
    case "Completed":
    case "PartiallyCompleted":
      return unwanted
        ? { do: "bill", end: status, outcome: overdue ? "expired" : "skipped" }
        : { do: "collect", end: status }
    case "Expired":
      return { do: "bill", end: status, outcome: "expired" }
    case "Stopped":
      return {
        do: "bill",
        end: status,
        outcome: overdue ? "expired" : unwanted ? "skipped" : "failed"
      }
    case "Failed":
      return { do: "bill", end: status, outcome: "failed" }
    case "Stopping":
      if (abandoned) return { do: "bill", end: "Expired", outcome: "expired" }
      return overdue ? { do: "give-up" } : { do: "wait" }
    case "Submitted":
    case "Validating":
    case "Scheduled":
    case "InProgress":
      if (abandoned) return { do: "bill", end: "Expired", outcome: "expired" }
      return overdue ? { do: "give-up" } : unwanted ? { do: "stop" } : { do: "wait" }
  }
}

/** What is added to a job's options when it resumes after its batch row was closed (BATCH-17). */
export const resumePatch = (closed: {
  readonly outcome: BatchOutcome
  readonly costUsd: number
}): Pick<JobOptions, "_batchPrimed" | "_batchCostUsd"> => ({
  ...(closed.outcome === "collected" ? { _batchPrimed: true } : {}),
  ...(closed.outcome === "collected" || closed.costUsd > 0 ? { _batchCostUsd: closed.costUsd } : {})
})
