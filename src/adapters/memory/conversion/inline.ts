import type { Duration } from "effect"

import type { CostEntry } from "../../../domain/cascade/cost.ts"
import { FAILURES } from "../../../domain/conversion/failures.ts"
import type { LeaseId } from "../../../domain/ids.ts"
import type { ClaimedInline } from "../../../ports/conversion/conversion-store.ts"
import type { InlineFailure, InlineFound } from "../../../ports/conversion/result-facts.ts"
import { refreshHold, releaseHold, settleHold, widenHold } from "../accounts/funds.ts"
import type { FileRow } from "../documents/rows.ts"
import { type Documents, micros } from "../documents/state.ts"
import { by } from "../documents/table.ts"
import { bookCosts, updateFile } from "./jobs.ts"

type Held = Pick<ClaimedInline, "fileId" | "lease">

const isWaiting = ({ deletedAt, status }: FileRow): boolean => status === "processing" && deletedAt === null

/** The next file in turn: the longest-waiting file of the owner who has used the least, among owners without a file in work. */
const nextInTurn = (db: Documents, stale: Duration.Duration): FileRow | undefined => {
  const now = db.moment()
  const owners = new Map<string, Array<FileRow>>()
  for (const file of db.files.where(isWaiting))
    owners.set(file.customerId, [...(owners.get(file.customerId) ?? []), file])
  const isFree = ({ heartbeatAt, lease }: FileRow) =>
    lease === null || (heartbeatAt ?? now) < now - micros(stale)
  const heads = [...owners.values()]
    .filter((files) => files.every(isFree))
    .flatMap((files) => files.sort(by(({ updatedAt }) => updatedAt)).slice(0, 1))
  return heads.sort(
    by(
      ({ customerId }) => Math.max(db.turns.get(customerId)?.busyUntil ?? now, now),
      ({ updatedAt }) => updatedAt
    )
  )[0]
}

/** `claim_inline`: the file that this lease holds already, else the next in turn. */
export const claimInline = (
  db: Documents,
  lease: LeaseId,
  stale: Duration.Duration
): ClaimedInline | undefined => {
  const found = db.files.find((file) => isWaiting(file) && file.lease === lease) ?? nextInTurn(db, stale)
  if (found === undefined) return undefined
  const file = updateFile(db, found, {
    lease,
    heartbeatAt: db.moment(),
    ...(found.lease === lease ? {} : { claimedAt: db.moment(), attempts: found.attempts + 1 }),
    phase: "Converting"
  })
  if (file.jobId === null) throw new Error(`a file without its conversion ${file.id}`)
  const { attempts, id, jobId, kind, name, objectKey, options } = file
  return { fileId: id, lease, jobId, name, kind, objectKey, attempts, options }
}

/** The file, while this lease holds it. */
const heldFile = (db: Documents, { fileId, lease }: Held): FileRow | undefined => {
  const file = db.files.get(fileId)
  return file !== undefined && isWaiting(file) && file.lease === lease ? file : undefined
}

/** `heartbeat` of an inline conversion. */
export const heartbeatInline = (db: Documents, held: Held, window: Duration.Duration): boolean => {
  const file = heldFile(db, held)
  if (file === undefined) return false
  db.files.update(file.id, { heartbeatAt: db.moment() })
  refreshHold(db, file.jobId, window)
  return true
}

/** `complete_inline`: the hold becomes the charge. A result that the file shows was accepted, whichever worker asks again. */
export const finishInline = (
  db: Documents,
  held: Held,
  resultKey: string,
  costs: ReadonlyArray<CostEntry>,
  found: InlineFound | undefined
): "completed" | "stale" | "insufficient" => {
  bookCosts(db, costs)
  const known = db.files.get(held.fileId)
  if (known === undefined || known.deletedAt !== null) return "stale"
  if (known.resultKey === resultKey) return "completed"
  const file = heldFile(db, held)
  if (file === undefined) return "stale"
  const pages = found?.pages
  if (!widenHold(db, file.jobId, pages) || settleHold(db, file.jobId, pages) === "insufficient") {
    updateFile(db, file, { status: "failed", phase: null, error: FAILURES.insufficient })
    releaseHold(db, file.jobId, "failed")
    return "insufficient"
  }
  updateFile(db, file, {
    status: "completed",
    resultKey,
    phase: null,
    error: null,
    pages: pages ?? file.pages,
    total: pages ?? file.total,
    done: pages ?? file.total,
    unreadablePages: [],
    noModelPages: found?.noModelPages ?? [],
    hasText: found?.hasText ?? null,
    made: found?.made ?? null,
    madeAt: db.moment()
  })
  return "completed"
}

/** `fail_inline`: another attempt, or the end. */
export const failInline = (
  db: Documents,
  held: Held,
  failure: InlineFailure
): "stale" | "pending" | "failed" => {
  bookCosts(db, failure.costs)
  const file = heldFile(db, held)
  if (file === undefined) return "stale"
  const { error = null, maxAttempts } = failure
  if (maxAttempts === undefined || file.attempts < maxAttempts) {
    const attempts = maxAttempts === undefined ? file.attempts - 1 : file.attempts
    updateFile(db, file, { lease: null, error: null, phase: "Queued", attempts })
    return "pending"
  }
  updateFile(db, file, { status: "failed", lease: null, error, phase: null })
  releaseHold(db, file.jobId, "failed")
  return "failed"
}
