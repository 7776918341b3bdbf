import type { KeyHash, KeyTag } from "../../../domain/ids.ts"
import type { Evidence, Trail } from "../../../domain/mail/claim.ts"
import { IDEMPOTENCY_WINDOW_MS } from "../../../domain/mail/failover.ts"
import type { Provider } from "../../../domain/mail/provider.ts"
import type { ClaimEntry } from "../../../ports/mail/mail-store.ts"
import { AROUND_MS, type LogRow, type MailTables } from "./tables.ts"

/** Since when this use of a key is known, and until when, and since when its tag is its own; `firstAt`: its first attempt. */
const timeOfUse = (
  { claims, rows }: MailTables,
  keyHash: KeyHash,
  tag: KeyTag | undefined,
  firstAt: number | undefined
): { readonly since: number; readonly until: number; readonly tagSince: number } => {
  const claim = claims.get(keyHash)
  // A later use without a claim carries the first one's tag.
  const isOver =
    claim !== undefined && firstAt !== undefined && firstAt - claim.lastAttemptAt >= IDEMPOTENCY_WINDOW_MS
  if (claim !== undefined && claim.tag === tag && !isOver) {
    const since = claim.firstAttemptAt
    return { since, until: Number.POSITIVE_INFINITY, tagSince: since - AROUND_MS }
  }
  const first = rows.find(
    (row) =>
      row.keyHash === keyHash &&
      row.keyTag === (tag ?? null) &&
      row.outcome !== null &&
      (firstAt === undefined || row.createdAt > firstAt - AROUND_MS)
  )
  const own = first?.createdAt ?? firstAt ?? Number.POSITIVE_INFINITY
  const since = own - AROUND_MS
  return { since, until: own + AROUND_MS, tagSince: since }
}

/** Proof that an attempt of this use of the key was accepted: `find_email_evidence`. */
export const findEvidence = (
  tables: MailTables,
  keyHash: KeyHash,
  tag: KeyTag | undefined,
  firstAt?: number
): Evidence | undefined => {
  const { since, tagSince, until } = timeOfUse(tables, keyHash, tag, firstAt)
  const isOfThisUse = (at: number) => at >= since && at < until
  const stored = tables.claims.get(keyHash)
  const claim = stored !== undefined && isOfThisUse(stored.firstAttemptAt) ? stored : undefined
  const mine = tables.rows.filter((row) => row.keyHash === keyHash)
  const isMine = (row: LogRow) => row.keyHash === keyHash || (row.keyHash === null && row.outcome !== "sent")
  const written = mine.filter(({ createdAt, outcome }) => outcome !== null && isOfThisUse(createdAt))
  const tags = new Set([claim?.tag, ...written.map(({ keyTag }) => keyTag ?? undefined)])
  const proves = (row: LogRow) =>
    (tag !== undefined && row.keyTag === tag && isMine(row) && row.createdAt >= tagSince) ||
    written.includes(row) ||
    (mine.includes(row) && row.keyTag !== null && tags.has(row.keyTag) && row.createdAt >= tagSince)
  const reported = claim?.state === "accepted" ? claim.result : undefined
  const accepted = tables.rows.filter((one) => one.providerMessageId !== null && proves(one))
  // A caller has the answer of one that the library wrote.
  const row = accepted.findLast(({ outcome }) => outcome === "sent") ?? accepted.at(-1)
  const proof = reported !== undefined && reported.providerMessageId !== null ? reported : row
  const { provider = null, providerMessageId = null } = proof ?? {}
  return provider === null || providerMessageId === null ? undefined : { provider, providerMessageId }
}

export const recentRows = ({ rows }: MailTables, keyHash: KeyHash, now: number): ReadonlyArray<LogRow> =>
  rows.filter((row) => row.keyHash === keyHash && row.createdAt > now - IDEMPOTENCY_WINDOW_MS)

/** What the rows say of a key that has no claim: those of the library, and what an event made of the mail of one: see `Trail`. */
const findTrail = (tables: MailTables, keyHash: KeyHash, now: number): Trail | undefined => {
  const recent = recentRows(tables, keyHash, now)
  const tags = new Set(recent.flatMap(({ keyTag, outcome }) => (outcome === null ? [] : [keyTag])))
  tags.delete(null)
  const left = recent.filter(
    (row) =>
      row.provider !== null &&
      (row.outcome !== null || tags.has(row.keyTag)) &&
      (row.providerMessageId !== null ||
        row.status === "deferred" ||
        // An end without an attempt adds no evidence: the call came a day too late, or its claim could not be moved.
        (row.status === "failed" && row.errorKind === "ambiguous" && row.attempts.length > 0))
  )
  const newest = left.findLast((row) => row.providerMessageId !== null) ?? left.at(-1)
  return newest?.provider === undefined || newest.provider === null
    ? undefined
    : {
        provider: newest.provider,
        since: left[0]!.createdAt,
        last: left.at(-1)!.createdAt,
        tag: newest.keyTag ?? undefined
      }
}

/** The rows say what happened, and else the process that asks. */
export const trailOf = (tables: MailTables, keyHash: KeyHash, { known }: ClaimEntry, now: number) =>
  findTrail(tables, keyHash, now) ??
  (known === undefined
    ? undefined
    : { provider: known.provider, since: now - known.ageMs, last: now - known.lastAgeMs, tag: known.tag })

/** A use that only the provider's events report (`find_forgotten_use`); `tag`: of the key's first use. */
export const forgottenUse = (
  { rows }: MailTables,
  tag: KeyTag | undefined,
  now: number
): Trail | undefined => {
  const [latest] = rows
    .filter((row) => tag !== undefined && row.keyTag === tag && row.keyHash === null)
    .flatMap(({ events, provider }) =>
      provider === null ? [] : events.map((event) => ({ ...event, provider }))
    )
    .filter(({ at, event, listed }) => event === "sent" && !listed && at > now - AROUND_MS)
    .toSorted((one, other) => other.at - one.at)
  if (latest === undefined) return undefined
  const at = Math.min(latest.at, now)
  return { provider: latest.provider, since: at, last: at, tag }
}

/** How far the store's clock may step back within a use of a key; two uses are further apart. */
const STEP_MS = IDEMPOTENCY_WINDOW_MS / 2

/**
 * Where a row has left the key open since a moment (`email_doubt_at`), other than at `provider`: a send without a claim did, as the claim
 * itself is held at one provider.
 */
export const doubtAt = (
  { rows }: MailTables,
  keyHash: KeyHash,
  since: number,
  provider: Provider | undefined
): Provider | undefined =>
  rows.findLast(
    (row) =>
      row.keyHash === keyHash &&
      row.createdAt >= since - STEP_MS &&
      row.provider !== null &&
      row.provider !== provider &&
      // An end without an attempt adds no evidence.
      (row.outcome === "deferred" ||
        (row.outcome === "failed" && row.errorKind === "ambiguous" && row.attempts.length > 0))
  )?.provider ?? undefined
