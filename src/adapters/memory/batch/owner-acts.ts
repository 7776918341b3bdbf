import type { BatchRowState } from "../../../domain/batch/row.ts"
import { whenUserActs } from "../../../domain/batch/row.ts"
import type { JobId } from "../../../domain/ids.ts"
import type { BatchRow } from "../documents/rows.ts"
import type { Documents } from "../documents/state.ts"

/** A row of a job, new but for `parts`. */
export const newBatchRow = (db: Documents, jobId: JobId, parts: Partial<BatchRow>): BatchRow => {
  const now = db.moment()
  return {
    id: db.newId(),
    jobId,
    state: "preparing",
    outcome: null,
    closeReason: null,
    arn: null,
    name: null,
    model: null,
    inputUsdPerMtok: null,
    outputUsdPerMtok: null,
    inputPrefix: null,
    records: 0,
    accepted: 0,
    fallback: 0,
    shards: 0,
    inputBytes: 0,
    costUsd: 0,
    endState: null,
    attempts: 0,
    lease: null,
    preparer: null,
    term: null,
    createdAt: now,
    claimedAt: now,
    prepareStartedAt: now,
    fullAt: null,
    submittedAt: null,
    deadlineAt: null,
    nextPollAt: now,
    closedAt: null,
    purgedAt: null,
    ...parts
  }
}

/** `close_conversion_batch_row`: what an owner's action does to a job's row (BATCH-41); returns its state before. */
export const closeBatchRow = (db: Documents, jobId: JobId, reason: string): BatchRowState | "none" => {
  const row = db.batches.get(jobId)
  const found = row?.state ?? "none"
  const act = whenUserActs(found)
  if (row === undefined)
    db.batches.insert(
      newBatchRow(db, jobId, {
        state: act.state,
        outcome: "skipped",
        closeReason: reason,
        closedAt: db.moment()
      })
    )
  else if (act.reason)
    db.batches.update(jobId, { closeReason: row.closeReason ?? reason, nextPollAt: db.moment() })
  return found
}
