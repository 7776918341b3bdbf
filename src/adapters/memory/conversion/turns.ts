import type { ServedRow } from "../documents/rows.ts"
import type { Documents } from "../documents/state.ts"

/** Owners in the order of their turns: those behind the one that was served last, then from the beginning. */
export const inTurn = (
  db: Documents,
  kind: ServedRow["kind"],
  owners: Iterable<string>
): ReadonlyArray<string> => {
  const last = db.served.get(kind)?.customerId ?? ""
  const all = [...new Set(owners)].sort()
  return [...all.filter((owner) => owner > last), ...all.filter((owner) => owner <= last)]
}

/** The owner's turn is over. */
export const wasServed = (db: Documents, kind: ServedRow["kind"], customerId: string): void => {
  if (db.served.get(kind) === undefined) db.served.insert({ kind, customerId })
  else db.served.update(kind, { customerId })
}
