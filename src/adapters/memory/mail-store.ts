import { Effect, Layer, Clock, Context } from "effect"

import type { FailedSend } from "../../domain/delivery/delivery-event.ts"
import { append } from "../../domain/lists.ts"
import { type Claim, decideClaim } from "../../domain/mail/claim.ts"
import type { Provider } from "../../domain/mail/failover.ts"
import type { SendResult } from "../../domain/mail/send-result.ts"
import type { Suppression } from "../../domain/mail/suppression-policy.ts"
import {
  MailStore,
  type BeganRetry,
  type BeganSend,
  type BeginRetry,
  type BeginSend,
  type RecordedSend,
  type RecordSend
} from "../../ports/mail/mail-store.ts"
import { StoreUnavailable } from "../../ports/store-unavailable.ts"
import type { EventEntry, LogRow, RecordedEvent } from "./mail-log-row.ts"
import { makeMailLog } from "./mail-log.ts"

let warned = false

const warnOnce = Effect.suspend(() => {
  if (warned) return Effect.void
  warned = true
  return Effect.logWarning(
    "No database is configured (DB_URL with its password): mail is sent without logging or suppression"
  )
})

/**
 * No database is configured: every send goes out unlogged and unchecked, and one warning is logged per process, for any
 * number of mailers (MAIL-5).
 */
export const layerNone: Layer.Layer<MailStore> = Layer.effect(
  MailStore,
  Effect.gen(function* () {
    yield* warnOnce
    const none = (operation: string) =>
      Effect.fail(
        new StoreUnavailable({ operation, reason: "no database is configured", isRetryable: false })
      )
    return MailStore.of({
      configured: false,
      begin: () => none("begin"),
      moveClaim: () => none("moveClaim"),
      findEvidence: () => none("findEvidence"),
      beginRetry: () => none("beginRetry"),
      record: () => none("record")
    })
  })
)

/** The state of several mail stores ("processes") that share one database, in memory. */
export interface MailDatabase {
  /** The port; several processes can share it. */
  readonly store: MailStore["Service"]
  /** What a webhook or the poll does (`record_email_event`). */
  readonly recordEvent: (entry: EventEntry) => Effect.Effect<RecordedEvent>
  /** Releases an alert's claim (`release_email_alert`). */
  readonly releaseAlert: (sendId: string) => Effect.Effect<boolean>
  /** Notes that an alert went out (`confirm_email_alert`). */
  readonly confirmAlert: (sendId: string) => Effect.Effect<boolean>
  /** Claims the alert that is due for longest (`claim_due_email_alerts`). */
  readonly claimDueAlert: Effect.Effect<FailedSend | undefined>
  /** Rows in order of creation. */
  readonly rows: () => ReadonlyArray<LogRow>
  readonly suppressions: () => ReadonlyArray<Suppression>
  /** Adds one by hand, as an operator does. */
  readonly suppress: (suppression: Suppression) => void
  readonly unsuppress: (email: string) => number
  /** What `erase_person` does to the suppressions of an address: they leave the list, and still block. */
  readonly erase: (email: string) => void
  readonly claim: (keyHash: string) => Claim | undefined
}

/** The result that the first caller gets: with the row's own id, and `sent` where an event proved a deferral accepted. */
const told = (given: SendResult, { outcome, rowId }: RecordSend, recorded: RecordedSend): SendResult => {
  const result = recorded.sendId === rowId ? given : { ...given, sendId: recorded.sendId }
  return outcome === "deferred" && result.status === "deferred" && recorded.providerMessageId !== null
    ? { ...result, status: "sent", providerMessageId: recorded.providerMessageId }
    : result
}

/** A claim without a lease. */
const NO_LEASE = Number.NEGATIVE_INFINITY

/** A new, empty database. Times come from the caller's `Clock`. */
export const makeMailDatabase = (): MailDatabase => {
  const claims = new Map<string, Claim>()
  const log = makeMailLog((keyHash, now) => {
    const claim = claims.get(keyHash)
    return claim === undefined
      ? undefined
      : { firstAttemptAt: claim.firstAttemptAt, leased: now < claim.leaseUntil }
  })

  const erased: Array<Suppression> = []

  /** `email_suppressions_of`: the one look-up, for every path. */
  const suppressionsOf = (addresses: ReadonlyArray<string>) =>
    [...log.suppressions, ...erased].filter(({ email }) => addresses.includes(email))

  const takeOut = (email: string): ReadonlyArray<Suppression> => {
    const gone = log.suppressions.filter((one) => one.email === email)
    const kept = log.suppressions.filter((one) => one.email !== email)
    log.suppressions.splice(0, log.suppressions.length, ...kept)
    return gone
  }

  const begin = (entry: BeginSend, now: number): BeganSend => {
    const { claim: asked, keyHash } = entry
    if (asked === undefined) {
      return {
        suppressions: suppressionsOf(entry.addresses),
        decision: { _tag: "Claimed", sticky: undefined, takeover: false, firstAttemptAt: now },
        evidence: undefined
      }
    }
    const known = claims.get(keyHash)
    const mine = known !== undefined && known.state === "held" && known.owner === asked.owner
    const evidenceOf = (provider: Provider) => {
      const providerMessageId = log.findEvidence(keyHash, provider, now)
      return providerMessageId === undefined ? undefined : { provider, providerMessageId }
    }
    // The same owner retries when its first answer was lost: it already holds the key.
    const decision = mine
      ? ({
          _tag: "Claimed",
          sticky: known.ambiguous ? known.provider : undefined,
          takeover: known.ambiguous,
          firstAttemptAt: known.firstAttemptAt
        } as const)
      : decideClaim(
          known,
          asked,
          {
            evidence: known === undefined ? undefined : evidenceOf(known.provider),
            trail: log.findTrail(keyHash, now)
          },
          now
        )
    if (decision._tag !== "Claimed") return { suppressions: [], decision, evidence: undefined }
    claims.set(keyHash, {
      payloadHash: mine ? known.payloadHash : asked.payloadHash,
      state: "held",
      provider: mine ? known.provider : (decision.sticky ?? asked.provider),
      ambiguous: decision.sticky !== undefined,
      owner: asked.owner,
      leaseUntil: now + asked.leaseMs,
      firstAttemptAt: decision.firstAttemptAt,
      result: undefined
    })
    return {
      suppressions: suppressionsOf(entry.addresses),
      decision,
      evidence: decision.sticky === undefined ? undefined : evidenceOf(decision.sticky)
    }
  }

  const beginRetry = (entry: BeginRetry, now: number): BeganRetry => {
    const { keyHash, owner, provider } = entry
    if (log.rows.some(({ entryId, id }) => id === entry.rowId || entryId === entry.rowId))
      return { _tag: "Recorded" }
    // Without a claim of the first call, every row of the key counts, and any payload matches.
    const claim: Claim = claims.get(keyHash) ?? {
      payloadHash: "",
      state: "deferred",
      provider,
      ambiguous: true,
      owner,
      leaseUntil: NO_LEASE,
      firstAttemptAt: log.rows.find((row) => row.keyHash === keyHash)?.createdAt ?? now,
      result: undefined
    }
    claims.set(keyHash, claim)
    const messageId = log.findEvidence(keyHash, provider, now)
    if (messageId !== undefined) {
      return { _tag: "Settled", evidence: { provider, providerMessageId: messageId } }
    }
    if (now < claim.leaseUntil && claim.owner !== owner) return { _tag: "Busy" }
    claims.set(keyHash, { ...claim, owner, leaseUntil: now + entry.leaseMs })
    return { _tag: "Go", suppressions: suppressionsOf(entry.addresses) }
  }

  const settle = (entry: RecordSend, recorded: RecordedSend) => {
    const { details, settle: end } = entry
    const claim = claims.get(details.keyHash)
    if (end === undefined || claim === undefined || claim.owner !== end.owner) return
    if (end.result === undefined) {
      if (claim.leaseUntil === NO_LEASE) return
      claims.set(details.keyHash, {
        ...claim,
        ambiguous: claim.ambiguous || end.ambiguous,
        leaseUntil: NO_LEASE
      })
    } else if (claim.state === "held") {
      claims.set(details.keyHash, {
        ...claim,
        // A caller that does not know of an earlier ambiguous attempt cannot release its key.
        state: claim.ambiguous && end.state === "refused" ? "ambiguous" : end.state,
        ambiguous: claim.ambiguous || end.ambiguous,
        result: told(end.result, entry, recorded),
        leaseUntil: NO_LEASE
      })
    }
  }

  const moveClaim = (entry: { keyHash: string; owner: string; provider: Provider }): boolean => {
    const claim = claims.get(entry.keyHash)
    if (claim === undefined || claim.owner !== entry.owner || claim.state !== "held") return false
    claims.set(entry.keyHash, { ...claim, provider: entry.provider })
    return true
  }

  const atNow = <A>(f: (now: number) => A) => Effect.map(Clock.currentTimeMillis, f)

  return {
    store: MailStore.of({
      configured: true,
      begin: (entry) => atNow((now) => begin(entry, now)),
      moveClaim: (entry) => Effect.sync(() => moveClaim(entry)),
      findEvidence: ({ keyHash, provider }) =>
        atNow((now) => {
          const providerMessageId = log.findEvidence(keyHash, provider, now)
          return providerMessageId === undefined ? undefined : { provider, providerMessageId }
        }),
      beginRetry: (entry) => atNow((now) => beginRetry(entry, now)),
      record: (entry) =>
        atNow((now) => {
          const recorded = log.record(entry, now)
          settle(entry, recorded)
          return recorded
        })
    }),
    recordEvent: (entry) => atNow((now) => log.recordEvent(entry, now)),
    releaseAlert: (sendId) => atNow((now) => log.releaseAlert(sendId, now)),
    confirmAlert: (sendId) => atNow((now) => log.confirmAlert(sendId, now)),
    claimDueAlert: atNow(log.claimDueAlert),
    rows: () => [...log.rows],
    suppressions: () => [...log.suppressions],
    suppress: (suppression) => {
      const known = log.suppressions.some(
        ({ email, reason }) => email === suppression.email && reason === suppression.reason
      )
      if (!known) log.suppressions.push(suppression)
    },
    unsuppress: (email) => takeOut(email).length,
    erase: (email) => append(erased, takeOut(email)),
    claim: (keyHash) => claims.get(keyHash)
  }
}

/** The database behind {@link layer}, for tests and simulations that feed events and read rows. */
export class MemoryMailDatabase extends Context.Service<MemoryMailDatabase, MailDatabase>()(
  "postlane/adapters/memory/MemoryMailDatabase"
) {}

/** A mail store in memory, with its database beside it. */
export const layer: Layer.Layer<MailStore | MemoryMailDatabase> = Layer.effectContext(
  Effect.sync(() => {
    const database = makeMailDatabase()
    return Context.make(MemoryMailDatabase, database).pipe(Context.add(MailStore, database.store))
  })
)
