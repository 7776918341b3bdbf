import { Effect } from "effect"

import type { CustomerId, WorkId } from "../../../domain/ids.ts"
import type { Accounts, FundsHold, FundsMove } from "../../../ports/accounts/accounts.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { newestFirst } from "../documents/page.ts"
import { type Documents, isoOf } from "../documents/state.ts"
import { by } from "../documents/table.ts"

type PaidWork = Pick<FundsMove, "fileId" | "jobId" | "name" | "work">

/** What a charge or a hold is for; a deleted file has no name any more. */
const workOf = (db: Documents, jobId: WorkId): PaidWork => {
  const flyer = db.flyers.find(({ id }) => id === jobId)
  const mail = db.mails.find(({ id }) => id === jobId)
  const job = db.jobs.find(({ id }) => id === jobId)
  const found =
    db.files.get(job?.fileId ?? flyer?.fileId ?? null) ?? db.files.find((one) => one.jobId === jobId)
  const file = found?.deletedAt === null ? found : undefined
  return {
    jobId,
    work: flyer === undefined ? (mail === undefined ? "conversion" : "mail") : "layout",
    fileId: file?.id ?? null,
    name: file?.name ?? mail?.filename ?? null
  }
}

const NO_WORK: PaidWork = { jobId: null, work: null, fileId: null, name: null }

const movesOf = (db: Documents, customer: CustomerId) => [
  ...db.charges
    .where(({ customerId }) => customerId === customer)
    .map(({ createdAt, credits, freePages, jobId }) => ({
      id: String(jobId),
      kind: "charge" as const,
      createdAt,
      credits,
      freePages,
      ...workOf(db, jobId)
    })),
  ...db.grants
    .where(({ customerId }) => customerId === customer)
    .map(({ createdAt, credits, reference }) => ({
      id: reference,
      kind: credits > 0 ? ("grant" as const) : ("debit" as const),
      createdAt,
      credits: Math.abs(credits),
      freePages: 0,
      ...NO_WORK
    }))
]

const holdsOf = (db: Documents, customer: CustomerId): ReadonlyArray<FundsHold> => {
  const now = db.moment()
  return db.holds
    .where(
      ({ credits, customerId, expiresAt, freePages, state }) =>
        customerId === customer && state === "held" && expiresAt > now && credits + freePages > 0
    )
    .sort(by(({ createdAt }) => -createdAt))
    .map(({ createdAt, credits, expiresAt, freePages, jobId }) => ({
      createdAt: isoOf(createdAt),
      expiresAt: isoOf(expiresAt),
      credits,
      freePages,
      ...workOf(db, jobId)
    }))
}

/** What moved an account's funds, and what is set aside. */
export const makeMoves = (
  documents: Documents,
  run: <A>(read: (db: Documents) => A) => Effect.Effect<A, StoreUnavailable>
): Pick<Accounts["Service"], "moves" | "holds"> => ({
  moves: (customerId, page) =>
    newestFirst(movesOf(documents, customerId), page).pipe(
      Effect.map(({ nextCursor, rows }) => ({
        rows: rows.map((row): FundsMove => ({ ...row, createdAt: isoOf(row.createdAt) })),
        nextCursor
      }))
    ),
  holds: (customerId) => run((db) => holdsOf(db, customerId))
})
