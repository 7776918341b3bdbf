import { type KeyHash, KeyTag } from "../../../domain/ids.ts"
import { settledClaim } from "../../../domain/mail/claim-end.ts"
import {
  boundClaim,
  claimOf,
  decideClaim,
  movedClaim,
  newUse,
  tornAt,
  type Claim
} from "../../../domain/mail/claim.ts"
import { tagOf } from "../../../domain/mail/deferred-send.ts"
import { IDEMPOTENCY_WINDOW_MS } from "../../../domain/mail/failover.ts"
import type { Provider } from "../../../domain/mail/provider.ts"
import { claimOfRetry, decideRetry } from "../../../domain/mail/retry-claim.ts"
import type { SendResult } from "../../../domain/mail/send-result.ts"
import type { Block } from "../../../domain/mail/suppression/policy.ts"
import type {
  BeganRetry,
  BeganSend,
  BeginRetry,
  BeginSend,
  ClaimEntry,
  RecordedSend,
  RecordSend
} from "../../../ports/mail/mail-store.ts"
import { doubtAt, findEvidence, forgottenUse, recentRows, trailOf } from "./evidence.ts"
import { AROUND_MS, erasedOf, type MailTables, putRow } from "./tables.ts"

/** `email_suppressions_of`: the one look-up, for every path. */
const suppressionsOf = (
  { erased, leftLists, suppressions, unsubscribed }: MailTables,
  addresses: ReadonlyArray<string>
): ReadonlyArray<Block> => {
  const isListed = (one: Block) =>
    suppressions.some(({ email, reason }) => email === one.email && reason === one.reason)
  const left = Array.from(unsubscribed, (email): Block => ({ email, reason: "unsubscribed" }))
  const lists = leftLists.map((one): Block => ({ ...one, reason: "unsubscribed" }))
  return [...suppressions, ...erased.filter((one) => !isListed(one)), ...left, ...lists].filter(({ email }) =>
    addresses.includes(email)
  )
}

/** Replaces the HMAC of a later use; as unique. */
const laterTag = ({ owner }: ClaimEntry): KeyTag =>
  KeyTag.make(owner.replaceAll("-", "").padStart(64, "0").slice(-64))

/** The tag of a use: that of the last 24 hours' refusals while nothing was accepted, else a new one if the key was used before. */
const tagOfUse = (
  tables: MailTables,
  { keyHash }: BeginSend,
  asked: ClaimEntry,
  now: number
): KeyTag | undefined =>
  recentRows(tables, keyHash, now).findLast(({ outcome }) => outcome !== null)?.keyTag ??
  (tables.rows.some((row) => row.keyHash === keyHash) ? laterTag(asked) : asked.tag)

/** Suppression look-up and claim before a send (`begin_email_sends`). */
export const beginSend = (tables: MailTables, entry: BeginSend, now: number): BeganSend => {
  const { addresses, claim: asked, keyHash } = entry
  const suppressions = suppressionsOf(tables, addresses)
  if (asked === undefined) {
    return {
      at: now,
      suppressions,
      decision: newUse(undefined, now),
      evidence: undefined,
      leaving: true
    }
  }
  const claim = tables.claims.get(keyHash)
  const request = {
    ...asked,
    tag: claim === undefined ? tagOfUse(tables, entry, asked, now) : laterTag(asked)
  }
  const evidenceOf = (tag: KeyTag | undefined) => findEvidence(tables, keyHash, tag)
  const untorn = decideClaim(
    claim,
    request,
    {
      evidence: claim === undefined ? undefined : evidenceOf(claim.tag),
      trail:
        trailOf(tables, keyHash, asked, now) ??
        (claim === undefined ? forgottenUse(tables, asked.tag, now) : undefined)
    },
    now
  )
  if (untorn._tag !== "Claimed")
    return { at: now, suppressions: [], decision: untorn, evidence: undefined, leaving: false }
  const { firstAttemptAt, sticky } = untorn
  const decision = tornAt(
    untorn,
    sticky === undefined ? undefined : doubtAt(tables, keyHash, firstAttemptAt, sticky)
  )
  const grant = (isSettled: boolean) => {
    const granted = claimOf(
      claim,
      decision,
      { ...request, leaving: suppressions.length === 0, isSettled },
      now
    )
    tables.claims.set(keyHash, granted)
    return granted
  }
  const isRepeated = asked.known?.isSettled === true
  const granted = grant(isRepeated)
  const evidence = decision.sticky === undefined ? undefined : evidenceOf(decision.tag)
  if (evidence !== undefined && !isRepeated) grant(true)
  return {
    at: now,
    suppressions,
    decision,
    evidence,
    leaving: granted.leaving
  }
}

/** Look-up and lease before a retry (`begin_email_retry`). */
export const beginRetry = (tables: MailTables, entry: BeginRetry, now: number): BeganRetry => {
  const { addresses, keyHash, tag } = entry
  const { claims, rows } = tables
  // A row that an event made while nothing here knew the key of its tag learns it now.
  for (const row of rows)
    if (tag !== undefined && row.keyTag === tag && row.keyHash === null) putRow(tables, { ...row, keyHash })
  if (rows.some(({ entryId, id }) => id === entry.rowId || entryId === entry.rowId))
    return { _tag: "Recorded" }
  // Without a claim of the first call, all rows of the key's last 24 hours count.
  const written = rows.filter(
    ({ createdAt, keyHash: key, outcome }) =>
      key === keyHash && outcome !== null && createdAt > now - AROUND_MS
  )
  const firstAt = entry.firstAttemptAt ?? now - entry.ageMs
  const firstAttemptAt = written[0]?.createdAt ?? firstAt
  const lastAttemptAt = written.at(-1)?.createdAt ?? firstAttemptAt
  const claim = claims.get(keyHash) ?? claimOfRetry(entry, { firstAttemptAt, lastAttemptAt })
  claims.set(keyHash, claim)
  const decision = decideRetry(
    claim,
    {
      ...entry,
      ageMs: now - firstAt,
      evidence: findEvidence(tables, keyHash, tag, firstAt),
      doubtAt: doubtAt(tables, keyHash, claim.firstAttemptAt, entry.provider)
    },
    now
  )
  if (decision._tag === "Settled") {
    // The claim may be a later use's.
    const times = claim.tag === tag ? claim : { firstAttemptAt: firstAt, lastAttemptAt: firstAt }
    return {
      ...decision,
      at: now,
      firstAttemptAt: times.firstAttemptAt,
      lastAttemptAt: Math.min(times.lastAttemptAt, now)
    }
  }
  if (decision._tag !== "Go") return decision
  claims.set(keyHash, decision.claim)
  const gone = erasedOf(tables, keyHash, addresses, now)
  return {
    _tag: "Go",
    torn: decision.torn,
    suppressions: [
      ...suppressionsOf(tables, addresses),
      ...gone.map((email): Block => ({ email, reason: "erased" }))
    ],
    at: now,
    firstAttemptAt: claim.firstAttemptAt
  }
}

/** Notes the provider that the holder of a claim asks now; false where it may not (`move_email_claim`). */
export const moveClaim = (
  tables: MailTables,
  entry: { readonly keyHash: KeyHash; readonly owner: string; readonly provider: Provider }
): boolean => {
  const { keyHash, owner, provider } = entry
  const claim = tables.claims.get(keyHash)
  const moved = movedClaim(claim, owner, provider)
  if (claim === undefined || moved === undefined || findEvidence(tables, keyHash, claim.tag) !== undefined)
    return false
  const own = claim.ambiguous ? provider : undefined
  const open = doubtAt(tables, keyHash, claim.firstAttemptAt, own)
  tables.claims.set(keyHash, open === undefined ? moved : boundClaim(claim, open))
  return open === undefined
}

/** The result that the first caller gets: with the row's own id, and `sent` where an event proved a deferral accepted. */
const finalResult = (
  given: SendResult,
  { outcome, rowId }: RecordSend,
  recorded: RecordedSend
): SendResult => {
  const result = recorded.sendId === rowId ? given : { ...given, sendId: recorded.sendId }
  return outcome === "deferred" && result.status === "deferred" && recorded.providerMessageId !== null
    ? { ...result, status: "sent", providerMessageId: recorded.providerMessageId }
    : result
}

/** Settles the owner's claim, or returns its lease; a claim that has passed to another owner is left alone. */
export const settleClaim = (
  tables: MailTables,
  entry: RecordSend,
  recorded: RecordedSend,
  now: number
): void => {
  const { details, settle } = entry
  if (settle === undefined) return
  const all = [...details.to, ...details.others, ...(details.dropped ?? [])]
  // After an erasure meanwhile, the claim keeps the first call's result, from which the names were removed.
  const isKept = settle.isRetry === true && erasedOf(tables, details.keyHash, all, now).length > 0
  const claim: Claim | undefined = tables.claims.get(details.keyHash)
  // What a retry of an earlier use learns is not the end of the present one.
  const tag = tagOf(details)
  const isOfThisUse = tag === undefined || claim?.tag === tag
  const result =
    settle.result === undefined || !isOfThisUse || isKept
      ? undefined
      : finalResult(settle.result, entry, recorded)
  const settled = settledClaim(claim, { ...settle, result }, now)
  if (settled !== undefined) tables.claims.set(details.keyHash, settled)
}

/** Days for which the claim of a process that died is kept. */
const UNSETTLED_MS = 90 * 24 * 3_600_000

/** Drops claims that have expired, with none under way (`purge_email_claims`). */
export const purgeClaims = ({ claims }: MailTables, now: number): number => {
  let gone = 0
  for (const [keyHash, { firstAttemptAt, lastAttemptAt, leaseUntil, leaving, state }] of claims) {
    const isOld = [firstAttemptAt, lastAttemptAt].every((at) => at <= now - IDEMPOTENCY_WINDOW_MS)
    const isSettled = state !== "held" || !leaving || lastAttemptAt <= now - UNSETTLED_MS
    if (isOld && isSettled && leaseUntil < now && claims.delete(keyHash)) gone += 1
  }
  return gone
}
