import { Duration } from "effect"

import { moveBatchRow } from "../../../domain/batch/row.ts"
import { isTerminal } from "../../../domain/conversion/job.ts"
import type { JobId } from "../../../domain/ids.ts"
import type {
  BatchEnd,
  BatchStore,
  ClaimedBatch,
  LaneBudget,
  PolledBatch
} from "../../../ports/batch/batch-store.ts"
import { refreshHold } from "../accounts/funds.ts"
import { bookCosts, sumUsd } from "../conversion/jobs.ts"
import { modelCostToday } from "../conversion/upkeep.ts"
import type { BatchRow } from "../documents/rows.ts"
import { type Documents, micros } from "../documents/state.ts"
import { by } from "../documents/table.ts"
import { newBatchRow } from "./owner-acts.ts"
import { waitingJobs } from "./resume.ts"

type Store = BatchStore["Service"]
type Held = Pick<ClaimedBatch, "id" | "lease">

const DAY = micros(Duration.days(1))

const rowById = (db: Documents, id: string): BatchRow | undefined => db.batches.find((row) => row.id === id)

/** The row that this lease prepares. */
const preparedBy = (db: Documents, { id, lease }: Held): BatchRow | undefined => {
  const row = rowById(db, id)
  return row?.state === "preparing" && row.lease === lease ? row : undefined
}

type Claim = Parameters<Store["claim"]>[0]

/** Takes over the row that was left `preparing` for longest. */
const takeOpen = (db: Documents, { lease, preparer, stuckAfter, term }: Claim) => {
  const now = db.moment()
  const isLate = ({ createdAt, fullAt, prepareStartedAt }: BatchRow) =>
    Math.max(Math.min(prepareStartedAt, createdAt), fullAt ?? -Infinity) < now - micros(stuckAfter)
  const [found] = db.batches
    .where(
      (row) =>
        row.state === "preparing" &&
        ((row.term !== null && row.term < term) || row.preparer === preparer || isLate(row))
    )
    .sort(by(({ claimedAt }) => claimedAt))
  if (found === undefined) return undefined
  const isOlder = found.term !== null && found.term < term
  const row = db.batches.update(found.jobId, {
    lease,
    preparer,
    term,
    claimedAt: now,
    prepareStartedAt: isOlder ? now : found.prepareStartedAt
  })
  return { row, foundOpen: true, stuck: !isOlder && isLate(found) }
}

/** Batch jobs that a record's price is taken from. */
const LATELY = 20

/** `next_batch_job_within`: whether the day's budget has room for this many pages on top of the unbilled batch jobs. */
const hasRoom = (db: Documents, { dailyUsd, pageUsd: assumed }: LaneBudget) => {
  const billed = db.batches
    .where(({ costUsd, records }) => costUsd > 0 && records > 0)
    .sort(by(({ closedAt }) => -(closedAt ?? 0)))
    .slice(0, LATELY)
  const records = billed.reduce((sum, row) => sum + row.records, 0)
  const pageUsd = records === 0 ? assumed : sumUsd(billed.map(({ costUsd }) => costUsd)) / records
  const open = db.batches
    .where(({ state }) => state !== "closed")
    .reduce(
      (sum, row) =>
        sum + (row.inputPrefix === null ? (db.jobs.get(row.jobId)?.totalPages ?? 0) : row.records),
      0
    )
  const left = dailyUsd - modelCostToday(db) - open * pageUsd
  return (pages: number): boolean => pages * pageUsd <= left
}

/** Makes the row of the parked job that has waited for longest, of those that the budget has room for. */
const takeParked = (db: Documents, { budget, lease, model, preparer, term, window }: Claim) => {
  const fits = budget === undefined ? () => true : hasRoom(db, budget)
  const job = waitingJobs(db).find(
    ({ id, totalPages }) => db.batches.get(id) === undefined && fits(totalPages)
  )
  if (job === undefined) return undefined
  const row = db.batches.insert(newBatchRow(db, job.id, { lease, preparer, term, model }))
  refreshHold(db, job.id, window)
  return { row, foundOpen: false, stuck: false }
}

/** `claim_conversion_batch`. The same lease gets the same row. */
export const claim = (db: Documents, asked: Claim): ClaimedBatch | undefined => {
  const mine = db.batches.find(({ lease, state }) => state === "preparing" && lease === asked.lease)
  const taken =
    mine !== undefined
      ? { row: mine, foundOpen: true, stuck: false }
      : asked.take === "open"
        ? takeOpen(db, asked)
        : takeParked(db, asked)
  const job = db.jobs.get(taken?.row.jobId)
  const file = db.files.get(job?.fileId)
  if (taken === undefined || job === undefined || file === undefined) return undefined
  const { closeReason, id, inputPrefix, model } = taken.row
  return {
    id,
    lease: asked.lease,
    jobId: job.id,
    foundOpen: taken.foundOpen,
    stuck: taken.stuck,
    closeReason,
    waiting: job.status === "waiting_batch",
    inputPrefix,
    model,
    abandoned: job.createdAt < db.moment() - micros(asked.giveUpIn) - DAY,
    objectKey: file.objectKey,
    totalPages: job.totalPages
  }
}

/** `batch_service_full`. */
export const serviceFull = (db: Documents): void => {
  for (const { inputPrefix, jobId } of db.batches.where(({ state }) => state === "preparing"))
    if (inputPrefix !== null) db.batches.update(jobId, { fullAt: db.moment() })
}

/** `batch_records_uploaded`. */
export const uploaded = (db: Documents, held: Held, input: Parameters<Store["uploaded"]>[1]): boolean => {
  const row = preparedBy(db, held)
  if (row === undefined) return false
  const { bytes, model, prefix, price, records, shards } = input
  db.batches.update(row.jobId, {
    inputPrefix: prefix,
    records,
    shards,
    inputBytes: bytes,
    model,
    inputUsdPerMtok: price.inputUsdPerMtok,
    outputUsdPerMtok: price.outputUsdPerMtok
  })
  return true
}

/** `submit_conversion_batch_row`. Safe to repeat. */
export const submitted = (
  db: Documents,
  held: Held,
  { arn, giveUpIn, name, pollIn }: Parameters<Store["submitted"]>[1]
): boolean => {
  const row = preparedBy(db, held)
  const state = row && moveBatchRow(row.state, "submit")
  if (row === undefined || state === undefined) {
    const known = rowById(db, held.id)
    return known?.state === "submitted" && known.lease === held.lease
  }
  const now = db.moment()
  db.batches.update(row.jobId, {
    state,
    arn,
    name,
    submittedAt: now,
    deadlineAt: Math.min(now, db.jobs.get(row.jobId)?.createdAt ?? now) + micros(giveUpIn),
    nextPollAt: row.closeReason === null ? now + micros(pollIn) : now
  })
  return true
}

/** `claim_batch_polls`: submitted rows that are due; the deadline is a separate poll. */
export const claimPolls = (
  db: Documents,
  every: Duration.Duration,
  limit: number
): ReadonlyArray<PolledBatch> => {
  const now = db.moment()
  const next = now + micros(every)
  return db.batches
    .where(({ nextPollAt, state }) => state === "submitted" && nextPollAt <= now)
    .sort(by(({ nextPollAt }) => nextPollAt))
    .slice(0, limit)
    .map((row) => {
      const deadline = row.deadlineAt ?? Infinity
      const isAhead = row.deadlineAt !== null && deadline > now
      db.batches.update(row.jobId, { nextPollAt: isAhead ? Math.min(next, deadline) : next })
      const { inputUsdPerMtok, outputUsdPerMtok } = row
      const hasPrice = inputUsdPerMtok !== null && outputUsdPerMtok !== null
      return {
        id: row.id,
        jobId: row.jobId,
        arn: row.arn ?? "",
        model: row.model ?? "",
        price: hasPrice ? { inputUsdPerMtok, outputUsdPerMtok } : undefined,
        records: row.records,
        shards: row.shards,
        closeReason: row.closeReason,
        overdue: deadline <= now,
        abandoned: deadline <= now - DAY
      }
    })
}

/** The submitted row. */
const submittedRow = (db: Documents, id: string): BatchRow | undefined => {
  const row = rowById(db, id)
  return row?.state === "submitted" ? row : undefined
}

/** `begin_batch_collect`. */
export const beginCollect = (db: Documents, id: string): number | undefined => {
  const row = submittedRow(db, id)
  return row && db.batches.update(row.jobId, { attempts: row.attempts + 1 }).attempts
}

/** `stop_conversion_batch_row`. */
export const giveUp = (db: Documents, id: string, reason: string): boolean => {
  const row = submittedRow(db, id)
  if (row !== undefined) db.batches.update(row.jobId, { closeReason: row.closeReason ?? reason })
  return row !== undefined
}

/** `end_conversion_batch_row`: closes a row with its one ledger entry. */
const close = (db: Documents, row: BatchRow | undefined, move: "drop" | "end", end: BatchEnd): boolean => {
  const state = row && moveBatchRow(row.state, move)
  if (row === undefined || state === undefined) return false
  const { accepted, cost, endState, fallback, outcome, reason } = end
  db.batches.update(row.jobId, {
    state,
    outcome,
    closeReason: row.closeReason ?? reason,
    endState,
    accepted,
    fallback,
    closedAt: db.moment(),
    costUsd: cost?.costUsd ?? 0
  })
  const job = db.jobs.get(row.jobId)
  if (cost !== undefined && job !== undefined) {
    db.jobs.update(job.id, { options: { ...job.options, _batchCostUsd: cost.costUsd } })
    bookCosts(db, [cost])
  }
  return true
}

export const drop = (db: Documents, held: Held, end: BatchEnd): boolean =>
  close(db, preparedBy(db, held), "drop", end)

export const endRow = (db: Documents, id: string, end: BatchEnd): boolean =>
  close(db, submittedRow(db, id), "end", end)

/** `stranded_batch_conversion_jobs`: closed rows with a job that still waits. */
export const stranded = (db: Documents) =>
  waitingJobs(db)
    .flatMap(({ id }) => {
      const row = db.batches.get(id)
      return row?.state === "closed" && row.outcome !== null
        ? [{ jobId: id, outcome: row.outcome, costUsd: row.costUsd }]
        : []
    })
    .slice(0, 1000)

/** `batch_rows_to_purge`: closed rows with a job that ended long ago, or has ended and belongs to a deleted file. */
export const toPurge = (db: Documents, after: Duration.Duration, limit: number) => {
  const before = db.moment() - micros(after)
  return db.batches
    .where(({ closedAt, jobId, purgedAt, state }) => {
      const job = db.jobs.get(jobId)
      if (state !== "closed" || purgedAt !== null || job === undefined || !isTerminal(job.status))
        return false
      return db.files.get(job.fileId)?.deletedAt !== null || (closedAt !== null && closedAt < before)
    })
    .sort(by(({ closedAt }) => closedAt ?? 0))
    .slice(0, limit)
    .map(({ id, jobId }) => ({ id, jobId }))
}

/** Whether a batch job is an orphan: its row was closed without it. */
export const isOrphan = (db: Documents, id: string, arn: string): boolean => {
  const row = rowById(db, id)
  return row?.state === "closed" && row.arn !== arn
}

/** The batch job that its owner's action is to stop. */
export const toStop = (db: Documents, jobId: JobId): string | undefined => {
  const row = db.batches.get(jobId)
  return row?.state === "submitted" && row.closeReason !== null ? (row.arn ?? undefined) : undefined
}

export const purged = (db: Documents, id: string): void => {
  const row = rowById(db, id)
  if (row !== undefined) db.batches.update(row.jobId, { purgedAt: db.moment() })
}
