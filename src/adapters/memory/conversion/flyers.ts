import type { Duration } from "effect"

import type { CostEntry } from "../../../domain/cascade/cost.ts"
import { FAILURES } from "../../../domain/conversion/failures.ts"
import type { JobOptions } from "../../../domain/conversion/job.ts"
import type { CustomerId, FileId, JobId, FlyerId, LeaseId } from "../../../domain/ids.ts"
import type { ClaimedFlyer, Requested, StoredFlyer } from "../../../ports/conversion/conversion-store.ts"
import type { InlineFailure } from "../../../ports/conversion/result-facts.ts"
import { placeHold, refreshHold, releaseHold, settleHold } from "../accounts/funds.ts"
import type { FlyerRow } from "../documents/rows.ts"
import { type Documents, isoOf, micros } from "../documents/state.ts"
import { by } from "../documents/table.ts"
import { bookCosts, isLive, stopFlyer, moveFlyer } from "./jobs.ts"
import { isBeingConverted, ownFile, request } from "./requests.ts"
import { inTurn, wasServed } from "./turns.ts"

type Held = Pick<ClaimedFlyer, "id" | "lease">

/** Most flyer jobs of one list. */
const MAX_FLYERS = 100

const ownFlyer = (db: Documents, id: string, customerId: CustomerId): FlyerRow | undefined => {
  const flyer = db.flyers.get(id)
  return flyer?.customerId === customerId ? flyer : undefined
}

const shown = (flyer: FlyerRow): StoredFlyer => ({
  id: flyer.id,
  fileId: flyer.fileId,
  status: flyer.status,
  error: flyer.status === "failed" ? flyer.error : null,
  compConversionId: flyer.compConversionId,
  createdAt: isoOf(flyer.createdAt),
  resultKey: flyer.resultKey,
  unreadablePages: flyer.unreadablePages
})

const hasFile = (db: Documents, { fileId }: FlyerRow): boolean => db.files.get(fileId)?.deletedAt === null

/** A flyer job as its owner sees it. */
export const flyer = (db: Documents, id: string, customerId: CustomerId): StoredFlyer | undefined => {
  const found = ownFlyer(db, id, customerId)
  return found !== undefined && hasFile(db, found) ? shown(found) : undefined
}

/** Flyers of a file, newest first. */
export const flyersOf = (db: Documents, fileId: FileId, customerId: CustomerId): ReadonlyArray<StoredFlyer> =>
  db.flyers
    .where((one) => one.fileId === fileId && one.customerId === customerId && hasFile(db, one))
    .sort(by(({ createdAt }) => -createdAt))
    .slice(0, MAX_FLYERS)
    .map(shown)

/** `request_flyer`. */
export const requestFlyer = (
  db: Documents,
  asked: {
    readonly id: FlyerId
    readonly fileId: FileId
    readonly customerId: CustomerId
    readonly window: Duration.Duration
  }
): Requested | "unsupported" => {
  const { customerId, fileId, id, window } = asked
  const file = ownFile(db, fileId, customerId)
  if (file === undefined) return "not_found"
  if (file.kind !== "pdf") return "unsupported"
  if (db.flyers.get(id) !== undefined) return "queued"
  if (isBeingConverted(db, file)) return "active"
  if (!placeHold(db, { customerId, jobId: id, pages: file.pages }, window)) return "insufficient"
  db.flyers.insert({
    id,
    fileId,
    customerId,
    status: "pending",
    compConversionId: null,
    resultKey: null,
    unreadablePages: [],
    error: null,
    lease: null,
    heartbeatAt: null,
    attempts: 0,
    createdAt: db.moment(),
    updatedAt: db.moment()
  })
  return "queued"
}

/** The oldest flyer job of the owner that is next in turn. */
const nextFlyer = (db: Documents, perOwner: number): FlyerRow | undefined => {
  const byOwner = (status: FlyerRow["status"]) =>
    Map.groupBy(
      db.flyers.where((one) => one.status === status),
      ({ customerId }): string => customerId
    )
  const [waiting, running] = [byOwner("pending"), byOwner("processing")]
  const owner = inTurn(db, "flyer", waiting.keys()).find((one) => (running.get(one)?.length ?? 0) < perOwner)
  if (owner === undefined) return undefined
  wasServed(db, "flyer", owner)
  return [...(waiting.get(owner) ?? [])].sort(by(({ createdAt }) => createdAt))[0]
}

/** `claim_flyer`: the one that this lease holds, else one with a silent worker, else the next in turn. */
export const claimFlyer = (
  db: Documents,
  lease: LeaseId,
  stale: Duration.Duration,
  perOwner = Infinity
): ClaimedFlyer | undefined => {
  const now = db.moment()
  const [held] = db.flyers
    .where(
      (one) =>
        one.status === "processing" && (one.lease === lease || (one.heartbeatAt ?? now) < now - micros(stale))
    )
    .sort(
      by(
        (one) => (one.lease === lease ? 0 : 1),
        ({ createdAt }) => createdAt
      )
    )
  const next = held ?? nextFlyer(db, perOwner)
  const file = db.files.get(next?.fileId)
  if (next === undefined || file === undefined) return undefined
  const attempts = next.attempts + (next.lease === lease ? 0 : 1)
  moveFlyer(db, next.id, { status: "processing", lease, heartbeatAt: now, attempts })
  const { id: fileId, name, objectKey, pages } = file
  return { id: next.id, lease, fileId, name, objectKey, pages, attempts }
}

/** The flyer job, while this lease holds it. */
const heldFlyer = (db: Documents, { id, lease }: Held): FlyerRow | undefined => {
  const found = db.flyers.get(id)
  return found?.status === "processing" && found.lease === lease ? found : undefined
}

/** `heartbeat` of a flyer. */
export const heartbeatFlyer = (db: Documents, held: Held, window: Duration.Duration): boolean => {
  if (heldFlyer(db, held) === undefined) return false
  db.flyers.update(held.id, { heartbeatAt: db.moment() })
  refreshHold(db, held.id, window)
  return true
}

/** `complete_flyer`: the hold becomes the charge for the pages that could be read. */
export const finishFlyer = (
  db: Documents,
  held: Held,
  resultKey: string,
  costs: ReadonlyArray<CostEntry>,
  unreadablePages: ReadonlyArray<number>
): "completed" | "stale" | "insufficient" => {
  bookCosts(db, costs)
  const known = db.flyers.get(held.id)
  if (known?.status === "completed" && known.lease === held.lease) return "completed"
  const found = heldFlyer(db, held)
  if (found === undefined) return "stale"
  const pages = db.files.get(found.fileId)?.pages
  const readable =
    unreadablePages.length > 0 && pages !== undefined
      ? Math.max(pages - unreadablePages.length, 0)
      : undefined
  if (settleHold(db, found.id, readable) === "insufficient") {
    moveFlyer(db, found.id, { status: "failed", error: FAILURES.insufficient })
    releaseHold(db, found.id, "failed")
    return "insufficient"
  }
  moveFlyer(db, found.id, { status: "completed", resultKey, error: null, unreadablePages })
  return "completed"
}

/** `fail_flyer`: another attempt, or the end. */
export const failFlyer = (
  db: Documents,
  held: Held,
  failure: InlineFailure
): "stale" | "pending" | "failed" => {
  bookCosts(db, failure.costs)
  const found = heldFlyer(db, held)
  if (found === undefined) return "stale"
  const { error = found.error, maxAttempts } = failure
  const status = maxAttempts !== undefined && found.attempts >= maxAttempts ? "failed" : "pending"
  const attempts = maxAttempts === undefined ? found.attempts - 1 : found.attempts
  moveFlyer(db, found.id, { status, lease: null, error, attempts })
  if (status === "failed") releaseHold(db, found.id, "failed")
  return status
}

/** `cancel_flyer_job`. */
export const cancelFlyer = (
  db: Documents,
  id: FlyerId,
  customerId: CustomerId
): "cancelled" | "not_active" | "not_found" => {
  const found = ownFlyer(db, id, customerId)
  if (found === undefined) return "not_found"
  if (found.status === "failed" && found.error === FAILURES.stopped) return "cancelled"
  if (!isLive(found)) return "not_active"
  stopFlyer(db, id, FAILURES.stopped)
  return "cancelled"
}

/** `request_reflow`: the free conversion of a file with a layout-true result, once. */
export const requestReflow = (
  db: Documents,
  asked: {
    readonly flyerId: FlyerId
    readonly customerId: CustomerId
    readonly jobId: JobId
    readonly options: JobOptions
    readonly window: Duration.Duration
  }
): Requested | "resolved" => {
  const { customerId, flyerId, jobId, options, window } = asked
  const found = ownFlyer(db, flyerId, customerId)
  if (found === undefined || !hasFile(db, found)) return "not_found"
  if (found.compConversionId === jobId) return "queued"
  if (found.status !== "completed" || found.compConversionId !== null) return "resolved"
  const answer = request(db, {
    jobId,
    fileId: found.fileId,
    customerId,
    options: { ...options, _compedFlyerJobId: flyerId },
    window
  })
  if (answer === "queued") moveFlyer(db, flyerId, { compConversionId: jobId })
  return answer
}
