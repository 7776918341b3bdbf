import { Duration, Effect, Layer } from "effect"

import { type HeldKey, type KeyState, RequestKeys } from "../../../ports/accounts/request-keys.ts"
import type { RequestKeyRow } from "../documents/rows.ts"
import { type Documents, MemoryDocuments, micros, transaction } from "../documents/state.ts"

/** How long a key stands for its request. */
const LIFETIME = micros(Duration.hours(24))

type Attempt = Parameters<RequestKeys["Service"]["hold"]>[0]
type Key = Pick<HeldKey, "customerId" | "keyHash">

const nameOf = ({ customerId, keyHash }: Key): string => `${customerId} ${keyHash}`

/** The row of the call; a key that was given back and taken again is another call's. */
const rowOf = (db: Documents, held: HeldKey): RequestKeyRow | undefined => {
  const row = db.requestKeys.get(nameOf(held))
  return row?.callId === held.callId ? row : undefined
}

/** `hold_request_key`. */
const hold = (db: Documents, attempt: Attempt): KeyState => {
  const { callId, customerId, keyHash, lease, requestHash, window } = attempt
  const now = db.moment()
  const heldUntil = now + micros(window)
  const known = db.requestKeys.get(nameOf(attempt))
  if (known === undefined || known.createdAt + LIFETIME <= now) {
    if (known !== undefined) db.requestKeys.remove(nameOf(known))
    db.requestKeys.insert({
      customerId,
      keyHash,
      requestHash,
      contentHash: null,
      callId,
      lease,
      heldUntil,
      attempts: 1,
      answer: undefined,
      createdAt: now
    })
    return { state: "held", callId }
  }
  if (known.requestHash !== requestHash) return { state: "other_request" }
  if (known.answer !== undefined)
    return { state: "answered", answer: known.answer, contentHash: known.contentHash }
  if (known.lease !== lease && known.heldUntil > now) return { state: "busy" }
  const attempts = known.attempts + (known.lease === lease ? 0 : 1)
  db.requestKeys.update(nameOf(known), { lease, heldUntil, attempts })
  return { state: "held", callId: known.callId }
}

const giveBack = (db: Documents, held: HeldKey, changedNothing: boolean): void => {
  const row = rowOf(db, held)
  if (row?.lease !== held.lease) return
  if (changedNothing && row.attempts === 1 && row.answer === undefined) db.requestKeys.remove(nameOf(held))
  else db.requestKeys.update(nameOf(held), { heldUntil: db.moment() })
}

/** Idempotency keys of calls in memory, by the rules of PostgreSQL. */
export const makeRequestKeys = (documents: Documents): RequestKeys["Service"] =>
  RequestKeys.of({
    hold: (attempt) => transaction(documents, (db) => hold(db, attempt)),
    renew: (held, window) =>
      transaction(documents, (db) => {
        if (rowOf(db, held)?.lease !== held.lease) return
        db.requestKeys.update(nameOf(held), { heldUntil: db.moment() + micros(window) })
      }),
    noteContent: (held, contentHash) =>
      transaction(documents, (db) => {
        const row = rowOf(db, held)
        if (row === undefined) return false
        if (row.contentHash === null) db.requestKeys.update(nameOf(held), { contentHash })
        return (row.contentHash ?? contentHash) === contentHash
      }),
    answer: (held, answer) =>
      transaction(documents, (db) => {
        const row = rowOf(db, held)
        if (row === undefined) return undefined
        if (row.answer === undefined) db.requestKeys.update(nameOf(held), { answer })
        return row.answer ?? answer
      }),
    giveBack: (held, changedNothing) => transaction(documents, (db) => giveBack(db, held, changedNothing))
  })

export const layer: Layer.Layer<RequestKeys, never, MemoryDocuments> = Layer.effect(
  RequestKeys,
  Effect.map(MemoryDocuments, makeRequestKeys)
)
