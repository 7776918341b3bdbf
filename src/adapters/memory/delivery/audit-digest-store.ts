import { Clock, Effect } from "effect"

import type { DigestActivity } from "../../../domain/delivery/digest-activity.ts"
import type { SendRequest } from "../../../domain/mail/message.ts"
import {
  AuditDigestStore,
  type DigestClaim,
  type DigestKey,
  type DigestSubscription,
  RELAY_MEMORY_MS
} from "../../../ports/delivery/audit-digest-store.ts"

interface Delivery {
  state: "claimed" | "sent" | "suppressed" | "failed"
  owner: string
  leaseUntil: number
  claimedAt: number
  attempts: number
  uncertainSince: number | undefined
  request: SendRequest | undefined
  updatedAt: number
}

const MINUTE_MS = 60_000
const MAX_WAIT_MS = 6 * 60 * MINUTE_MS

const rowOf = ({ period, subscriptionId }: DigestKey): string =>
  `${subscriptionId} ${period.cadence} ${period.from}`

/** A subscription of the store; `createdAt` in milliseconds since the epoch. */
type Subscription = DigestSubscription & { readonly createdAt: number }

/** The table of deliveries; the caller supplies the subscriptions. */
interface Digests {
  readonly subscriptions: ReadonlyArray<Subscription>
  readonly deliveries: Map<string, Delivery>
}

/** A page of the subscriptions with a digest of the period that has not gone out. */
const pending = (
  { deliveries, subscriptions }: Digests,
  { after, createdBefore, limit, period }: Parameters<AuditDigestStore["Service"]["pending"]>[0]
): ReadonlyArray<DigestSubscription> =>
  subscriptions
    .filter(({ createdAt }) => createdBefore === undefined || createdAt < createdBefore)
    .filter(({ cadence, id }) => {
      const state = deliveries.get(rowOf({ subscriptionId: id, period }))?.state
      return cadence === period.cadence && state !== "sent" && state !== "suppressed"
    })
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .filter(({ id }) => after === undefined || id > after)
    .slice(0, limit)
    .map(({ cadence, customerId, email, id }) => ({ id, email, cadence, customerId }))

type ClaimEntry = Parameters<AuditDigestStore["Service"]["claim"]>[0]

/** Decides about a digest that was claimed before, as `claim_audit_digest` does. */
const claimAgain = (row: Delivery, { patient, request }: ClaimEntry, now: number): DigestClaim => {
  if (row.state === "sent" || row.state === "suppressed") return { _tag: "Settled" }
  if (row.state === "claimed" && row.leaseUntil > now) return { _tag: "Busy" }
  const uncertainSince = row.uncertainSince ?? (row.state === "claimed" ? row.claimedAt : undefined)
  if (uncertainSince !== undefined && uncertainSince <= now - RELAY_MEMORY_MS) {
    return { _tag: patient ? "Waiting" : "Unknown" }
  }
  const wait = Math.min(2 ** Math.min(row.attempts, 10) * MINUTE_MS, MAX_WAIT_MS)
  if (patient && row.state === "failed" && row.updatedAt > now - wait) return { _tag: "Waiting" }
  row.uncertainSince = uncertainSince
  return { _tag: "Claimed", request: row.request ?? request }
}

const claim = ({ deliveries, subscriptions }: Digests, entry: ClaimEntry, now: number): DigestClaim => {
  if (!subscriptions.some(({ id }) => id === entry.subscriptionId)) return { _tag: "Settled" }
  const id = rowOf(entry)
  const row = deliveries.get(id)
  const claimed: DigestClaim =
    row === undefined ? { _tag: "Claimed", request: entry.request } : claimAgain(row, entry, now)
  if (claimed._tag === "Claimed") {
    deliveries.set(id, {
      state: "claimed",
      owner: entry.owner,
      leaseUntil: now + entry.leaseMs,
      claimedAt: now,
      attempts: (row?.attempts ?? 0) + 1,
      uncertainSince: row?.uncertainSince,
      request: claimed.request,
      updatedAt: now
    })
  }
  return claimed
}

/** Notes how a claimed digest ended; false where another owner has claimed it since. */
const settle = (
  { deliveries }: Digests,
  entry: Parameters<AuditDigestStore["Service"]["settle"]>[0],
  now: number
): boolean => {
  const row = deliveries.get(rowOf(entry))
  if (row?.owner !== entry.owner || row.state !== "claimed") return false
  const { end } = entry
  if (end.state !== "failed") row.uncertainSince = undefined
  else if (!end.certain) row.uncertainSince ??= row.claimedAt
  if (row.uncertainSince === undefined) row.request = undefined
  row.state = end.state
  row.updatedAt = now
  return true
}

/**
 * Digests in memory: the same decisions as `claim_audit_digest`. The caller supplies the subscriptions and the activity;
 * times come from the caller's `Clock`.
 */
export const makeAuditDigestStore = (options: {
  readonly subscriptions: ReadonlyArray<Subscription>
  readonly activity: DigestActivity
}): AuditDigestStore["Service"] => {
  const digests: Digests = { subscriptions: options.subscriptions, deliveries: new Map() }
  return AuditDigestStore.of({
    pending: (entry) => Effect.sync(() => pending(digests, entry)),
    activity: () => Effect.succeed(options.activity),
    claim: (entry) => Effect.map(Clock.currentTimeMillis, (now) => claim(digests, entry, now)),
    settle: (entry) => Effect.map(Clock.currentTimeMillis, (now) => settle(digests, entry, now))
  })
}
