import { releaseHold } from "../accounts/funds.ts"
import type { FlyerRow } from "../documents/rows.ts"
import type { Documents } from "../documents/state.ts"

/** Whether a flyer job is under way. */
export const isLive = ({ status }: Pick<FlyerRow, "status">): boolean =>
  status === "pending" || status === "processing"

/** Ends a live flyer job on its owner's behalf; a running one loses its claim. */
export const stopFlyer = (db: Documents, id: string, error: string): void => {
  db.flyers.update(id, { status: "failed", error, lease: null })
  releaseHold(db, id, "cancelled")
}

/** `cancel_flyer_jobs_for_file`. */
export const cancelFlyersOf = (db: Documents, fileId: string, error: string): void => {
  for (const flyer of db.flyers.where((one) => one.fileId === fileId && isLive(one)))
    stopFlyer(db, flyer.id, error)
}
