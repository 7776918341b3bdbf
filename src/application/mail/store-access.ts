import { Effect } from "effect"

import type { KeyHash } from "../../domain/ids.ts"
import { type Evidence, newUse } from "../../domain/mail/claim.ts"
import { type SendDetails, tagOf, withoutDropped } from "../../domain/mail/deferred-send.ts"
import type { Moved } from "../../domain/mail/failover.ts"
import { type Message, recipientKeys } from "../../domain/mail/message.ts"
import type { DeferralEnd, SendResult } from "../../domain/mail/send-result.ts"
import type {
  BeganSend,
  ClaimEntry,
  MailStore,
  RecordedSend,
  RecordSend
} from "../../ports/mail/mail-store.ts"
import { withDeadline } from "../deadline.ts"
import { uptime } from "../uptime.ts"
import { countDegraded } from "./metrics.ts"
import type { MailerConfig } from "./sending.ts"
import { heard, storeNow, type StoreTime } from "./store-time.ts"
import type { Trace } from "./trace.ts"

/** What the calls to the store need. */
interface Access {
  readonly store: MailStore["Service"]
  readonly config: MailerConfig["Service"]
}

/** A wait this many times longer than its limit means that the process was frozen, not that the database was silent. */
const OVERSLEPT = 1.1

/** A call to the store that falls back to a default where it fails or is late: it never changes the send's outcome (S6, MAIL-4). */
const orDegraded = <A, E, B>(
  { config }: Access,
  operation: Parameters<typeof countDegraded>[0],
  call: Effect.Effect<A, E>,
  otherwise: B
): Effect.Effect<A | B> =>
  withDeadline(call, {
    duration: config.dbTimeoutMs,
    onTimeout: () => Effect.fail(`no answer within ${config.dbTimeoutMs} ms`)
  }).pipe(
    Effect.catchCause((cause) =>
      Effect.logWarning(`mail store: ${operation} failed, the send goes on`, cause).pipe(
        Effect.andThen(countDegraded(operation)),
        Effect.as(otherwise)
      )
    )
  )

/** The look-up's result, and what the store's clock showed: nothing where it did not answer. */
type Began = Omit<BeganSend, "at"> & { readonly time: StoreTime | undefined }

/** Suppressions and claim; without a time where the store does not answer. */
export const begin = Effect.fnUntraced(function* (
  access: Access,
  message: Message,
  asked: { readonly keyHash: KeyHash; readonly claim: ClaimEntry | undefined },
  now: number
): Effect.fn.Return<Began> {
  const { config, store } = access
  const open: Began = {
    time: undefined,
    suppressions: [],
    evidence: undefined,
    leaving: true,
    decision: newUse(asked.claim?.tag, now)
  }
  if (!store.configured) return open
  const lookUp = orDegraded(
    access,
    "begin",
    Effect.flatMap(store.begin({ ...asked, addresses: recipientKeys(message) }), ({ at, ...began }) =>
      Effect.map(heard(at), (time): Began => ({ ...began, time }))
    ),
    open
  )
  // In a process that was frozen, the overdue timer fires before the answer is read: only a second time-out counts.
  const startedAt = yield* uptime
  const began = yield* lookUp
  if (began.time !== undefined || asked.claim === undefined) return began
  return (yield* uptime) - startedAt < OVERSLEPT * config.dbTimeoutMs ? began : yield* lookUp
})

/** Proof that a provider accepted a send of this use of the key; none where the store does not answer. */
export const findEvidence = (
  access: Access,
  {
    details,
    firstAttemptAt,
    time
  }: {
    readonly details: SendDetails
    readonly firstAttemptAt: number
    readonly time: StoreTime | undefined
  }
): Effect.Effect<Evidence | undefined> =>
  access.store.configured
    ? Effect.flatMap(storeNow(time), (now) =>
        orDegraded(
          access,
          "findEvidence",
          access.store.findEvidence({
            keyHash: details.keyHash,
            tag: tagOf(details),
            ageMs: Math.max(0, now - firstAttemptAt)
          }),
          undefined
        )
      )
    : Effect.succeed(undefined)

/** Logs that a delivery event, or the row of another attempt, settled a send. */
export const noteEvidence = ({ provider, providerMessageId }: Evidence): Effect.Effect<void> =>
  Effect.logInfo("a send is settled by evidence: an earlier attempt on its key was accepted").pipe(
    Effect.annotateLogs({ provider, providerMessageId })
  )

/** How a deferral ended since; undefined where it has not, or the store does not answer. */
export const deferralEnd = (
  access: Access,
  entry: Parameters<MailStore["Service"]["deferralEnd"]>[0]
): Effect.Effect<DeferralEnd | undefined> =>
  orDegraded(access, "deferralEnd", access.store.deferralEnd(entry), undefined)

/** Notes in the claim that a request to `provider` leaves now. */
export const moveClaim = (
  access: Access,
  claim: Parameters<MailStore["Service"]["moveClaim"]>[0]
): Effect.Effect<Moved> =>
  orDegraded(
    access,
    "moveClaim",
    Effect.map(access.store.moveClaim(claim), (holds): Moved => (holds ? "stored" : "passed")),
    "unknown"
  )

/** The row as it was written; `undefined` where it was not, or not in time (MAIL-81). */
export const record = (access: Access, row: RecordSend): Effect.Effect<RecordedSend | undefined> =>
  access.store.configured
    ? orDegraded(access, "record", access.store.record(row), undefined)
    : Effect.succeed(undefined)

/** The row of a result. */
export const rowOf = (
  { costUsd, primary }: MailerConfig["Service"],
  result: SendResult,
  details: SendDetails,
  { attempts, retryAt, waitsForKey, withheld }: Trace,
  settle: RecordSend["settle"]
): RecordSend => ({
  rowId: result.sendId,
  details: withoutDropped(details, withheld),
  outcome: result.status,
  provider: result.provider,
  providerMessageId: result.providerMessageId,
  failedOver: result.failedOver,
  error: result.ok ? null : result.error,
  errorKind: result.status === "failed" ? result.kind : null,
  costUsd: result.ok ? costUsd[result.provider ?? primary] : null,
  attempts,
  retryAt,
  waitsForKey,
  settle
})
