import type { KeyHash } from "../../../domain/ids.ts"
import {
  type Claim,
  type ClaimDecision,
  decideClaim,
  type Evidence,
  type Trail
} from "../../../domain/mail/claim.ts"
import { IDEMPOTENCY_WINDOW_MS, type Provider } from "../../../domain/mail/failover.ts"
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
import { erasedOf, type MailTables, newestRow } from "./tables.ts"

/** A claim without a lease. */
const NO_LEASE = Number.NEGATIVE_INFINITY

/** `email_suppressions_of`: the one look-up, for every path. */
const suppressionsOf = (
  { erased, suppressions, unsubscribed }: MailTables,
  addresses: ReadonlyArray<string>
): ReadonlyArray<Block> => {
  const isListed = (one: Block) =>
    suppressions.some(({ email, reason }) => email === one.email && reason === one.reason)
  const left = Array.from(unsubscribed, (email): Block => ({ email, reason: "unsubscribed" }))
  return [...suppressions, ...erased.filter((one) => !isListed(one)), ...left].filter(({ email }) =>
    addresses.includes(email)
  )
}

/** Proof that an attempt on the key was accepted. */
export const findEvidence = (
  tables: MailTables,
  keyHash: KeyHash,
  provider: Provider
): Evidence | undefined => {
  const providerMessageId = newestRow(
    tables,
    keyHash,
    provider,
    (row) => row.providerMessageId !== null
  )?.providerMessageId
  return providerMessageId === undefined || providerMessageId === null
    ? undefined
    : { provider, providerMessageId }
}

/** What is left of a key that has no claim: see `Trail`. */
const findTrail = ({ rows }: MailTables, keyHash: KeyHash, now: number): Trail | undefined => {
  const left = rows.filter(
    (row) =>
      row.keyHash === keyHash &&
      row.provider !== null &&
      row.createdAt > now - IDEMPOTENCY_WINDOW_MS &&
      (row.providerMessageId !== null ||
        row.status === "deferred" ||
        (row.status === "failed" && row.errorKind === "ambiguous"))
  )
  const provider = (left.findLast((row) => row.providerMessageId !== null) ?? left.at(-1))?.provider
  return provider === undefined || provider === null ? undefined : { provider, since: left[0]!.createdAt }
}

/** The same owner asks again when its first answer was lost: it already holds the key. */
const decisionOfHolder = ({ ambiguous, firstAttemptAt, provider }: Claim): ClaimDecision => ({
  _tag: "Claimed",
  sticky: ambiguous ? provider : undefined,
  takeover: ambiguous,
  firstAttemptAt
})

const decide = (
  tables: MailTables,
  keyHash: KeyHash,
  asked: ClaimEntry,
  known: Claim | undefined,
  now: number
): ClaimDecision =>
  decideClaim(
    known,
    asked,
    {
      evidence: known === undefined ? undefined : findEvidence(tables, keyHash, known.provider),
      trail: findTrail(tables, keyHash, now)
    },
    now
  )

/** Suppression look-up and claim before a send (`begin_email_sends`). */
export const beginSend = (tables: MailTables, entry: BeginSend, now: number): BeganSend => {
  const { addresses, claim: asked, keyHash } = entry
  if (asked === undefined) {
    return {
      at: now,
      suppressions: suppressionsOf(tables, addresses),
      decision: { _tag: "Claimed", sticky: undefined, takeover: false, firstAttemptAt: now },
      evidence: undefined
    }
  }
  const known = tables.claims.get(keyHash)
  const held = known?.state === "held" && known.owner === asked.owner ? known : undefined
  const decision = held === undefined ? decide(tables, keyHash, asked, known, now) : decisionOfHolder(held)
  if (decision._tag !== "Claimed") return { at: now, suppressions: [], decision, evidence: undefined }
  const { firstAttemptAt, sticky } = decision
  tables.claims.set(keyHash, {
    payloadHash: (held ?? asked).payloadHash,
    state: "held",
    provider: held?.provider ?? sticky ?? asked.provider,
    ambiguous: sticky !== undefined,
    owner: asked.owner,
    leaseUntil: now + asked.leaseMs,
    firstAttemptAt,
    result: undefined
  })
  return {
    at: now,
    suppressions: suppressionsOf(tables, addresses),
    decision,
    evidence: sticky === undefined ? undefined : findEvidence(tables, keyHash, sticky)
  }
}

/** Look-up and lease before a retry (`begin_email_retry`). */
export const beginRetry = (tables: MailTables, entry: BeginRetry, now: number): BeganRetry => {
  const { addresses, keyHash, leaseMs, owner, provider } = entry
  const { claims, rows } = tables
  if (rows.some(({ entryId, id }) => id === entry.rowId || entryId === entry.rowId))
    return { _tag: "Recorded" }
  // Without a claim of the first call, every row of the key counts, and any payload matches.
  const claim: Claim = claims.get(keyHash) ?? {
    payloadHash: "",
    state: "deferred",
    provider,
    ambiguous: true,
    owner,
    leaseUntil: NO_LEASE,
    firstAttemptAt: rows.find((row) => row.keyHash === keyHash)?.createdAt ?? now,
    result: undefined
  }
  claims.set(keyHash, claim)
  const evidence = findEvidence(tables, keyHash, provider)
  if (evidence !== undefined) return { _tag: "Settled", evidence }
  if (now < claim.leaseUntil && claim.owner !== owner) return { _tag: "Busy" }
  claims.set(keyHash, { ...claim, owner, leaseUntil: now + leaseMs })
  const gone = erasedOf(tables, keyHash, addresses, now)
  const { firstAttemptAt } = claim
  return {
    _tag: "Go",
    suppressions: [
      ...suppressionsOf(tables, addresses),
      ...gone.map((email): Block => ({ email, reason: "erased" }))
    ],
    at: now,
    firstAttemptAt
  }
}

/** Notes the provider that the holder of a claim tries next; false where it holds the claim no longer. */
export const moveClaim = (
  { claims }: MailTables,
  entry: { readonly keyHash: KeyHash; readonly owner: string; readonly provider: Provider }
): boolean => {
  const claim = claims.get(entry.keyHash)
  if (claim === undefined || claim.owner !== entry.owner || claim.state !== "held") return false
  claims.set(entry.keyHash, { ...claim, provider: entry.provider })
  return true
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
export const settleClaim = ({ claims }: MailTables, entry: RecordSend, recorded: RecordedSend): void => {
  const { details, settle: end } = entry
  const claim = claims.get(details.keyHash)
  if (end === undefined || claim === undefined || claim.owner !== end.owner) return
  const ambiguous = claim.ambiguous || end.ambiguous
  if (end.result === undefined) {
    if (claim.leaseUntil !== NO_LEASE)
      claims.set(details.keyHash, { ...claim, ambiguous, leaseUntil: NO_LEASE })
  } else if (claim.state === "held") {
    claims.set(details.keyHash, {
      ...claim,
      // A caller that does not know of an earlier ambiguous attempt cannot release its key.
      state: claim.ambiguous && end.state === "refused" ? "ambiguous" : end.state,
      ambiguous,
      result: finalResult(end.result, entry, recorded),
      leaseUntil: NO_LEASE
    })
  }
}
