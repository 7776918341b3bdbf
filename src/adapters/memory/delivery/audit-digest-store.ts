import { Clock, Effect } from "effect"

import type { SendRequest } from "../../../domain/mail/message.ts"
import {
  AuditDigestStore,
  type DigestActivity,
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

/**
 * Digests in memory: the same decisions as `claim_audit_digest`. The caller supplies the subscriptions and the activity;
 * times come from the caller's `Clock`.
 */
export const makeAuditDigestStore = (options: {
  readonly subscriptions: ReadonlyArray<
    DigestSubscription & {
      /** Milliseconds since the epoch. */
      readonly createdAt: number
    }
  >
  readonly activity: DigestActivity
}): AuditDigestStore["Service"] => {
  const deliveries = new Map<string, Delivery>()

  const again = (row: Delivery, request: SendRequest, patient: boolean, now: number): DigestClaim => {
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

  return AuditDigestStore.of({
    pending: ({ after, createdBefore, limit, period }) =>
      Effect.sync(() =>
        options.subscriptions
          .filter(({ createdAt }) => createdBefore === undefined || createdAt < createdBefore)
          .filter(({ cadence, id }) => {
            const state = deliveries.get(rowOf({ subscriptionId: id, period }))?.state
            return cadence === period.cadence && state !== "sent" && state !== "suppressed"
          })
          .sort((a, b) => (a.id < b.id ? -1 : 1))
          .filter(({ id }) => after === undefined || id > after)
          .slice(0, limit)
          .map(({ cadence, customerId, email, id }) => ({ id, email, cadence, customerId }))
      ),
    activity: () => Effect.succeed(options.activity),
    claim: (entry) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const id = rowOf(entry)
        if (!options.subscriptions.some(({ id: known }) => known === entry.subscriptionId)) {
          return { _tag: "Settled" } as const
        }
        const row = deliveries.get(id)
        const claim: DigestClaim =
          row === undefined
            ? { _tag: "Claimed", request: entry.request }
            : again(row, entry.request, entry.patient, now)
        if (claim._tag === "Claimed") {
          deliveries.set(id, {
            state: "claimed",
            owner: entry.owner,
            leaseUntil: now + entry.leaseMs,
            claimedAt: now,
            attempts: (row?.attempts ?? 0) + 1,
            uncertainSince: row?.uncertainSince,
            request: claim.request,
            updatedAt: now
          })
        }
        return claim
      }),
    settle: (entry) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const row = deliveries.get(rowOf(entry))
        if (row?.owner !== entry.owner || row.state !== "claimed") return false
        const { end } = entry
        if (end.state !== "failed") row.uncertainSince = undefined
        else if (!end.certain) row.uncertainSince ??= row.claimedAt
        if (row.uncertainSince === undefined) row.request = undefined
        row.state = end.state
        row.updatedAt = now
        return true
      })
  })
}
