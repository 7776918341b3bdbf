import { Clock, Effect } from "effect"

import type { BeganSend, MailStore, RecordedSend, RecordSend } from "../../ports/mail/mail-store.ts"
import { withDeadline } from "../deadline.ts"
import type { Evidence } from "./claim.ts"
import { routeOf, type Provider } from "./failover.ts"
import { type Message, recipientKeys } from "./message.ts"
import { countDegraded } from "./metrics.ts"
import { claimLeaseMs, type MailerConfig } from "./sending.ts"

/** A wait this many times longer than its limit means that the process was frozen, not that the database was silent. */
const OVERSLEPT = 1.1

/**
 * The mailer's calls to its store: each bounded in time; a failed or late one never changes the outcome of the send (S6,
 * MAIL-4).
 */
export const makeStoreAccess = (store: MailStore["Service"], config: MailerConfig["Service"]) => {
  const leaseMs = claimLeaseMs(config)

  /** A call to the store that falls back to a default where it fails or is late (S6). */
  const orDegraded = <A, E, B>(
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

  /** Suppressions and claim; where the store does not answer, the send goes on. */
  const begin = (
    message: Message,
    keyHash: string,
    claim: { readonly owner: string; readonly payloadHash: string } | undefined,
    now: number
  ): Effect.Effect<BeganSend & { readonly answered: boolean }> => {
    const open = {
      answered: false,
      suppressions: [],
      evidence: undefined,
      decision: { _tag: "Claimed", sticky: undefined, takeover: false, firstAttemptAt: now }
    } as const
    if (!store.configured) return Effect.succeed(open)
    const route = routeOf({ ...config, pinned: message.provider, sticky: undefined })
    const entry = {
      keyHash,
      addresses: recipientKeys(message),
      claim: claim === undefined ? undefined : { ...claim, provider: route.first, leaseMs }
    }
    const answered = Effect.map(store.begin(entry), (began) => ({ ...began, answered: true }))
    const ask = orDegraded("begin", answered, open)
    // In a process that was frozen, the overdue timer fires before the answer is read: only a second time-out counts.
    return Effect.gen(function* () {
      const asked = yield* Clock.monotonicTimeNanos
      const first = yield* ask
      const waitedMs = Number((yield* Clock.monotonicTimeNanos) - asked) / 1e6
      return first.answered || claim === undefined || waitedMs < OVERSLEPT * config.dbTimeoutMs
        ? first
        : yield* ask
    })
  }

  /** Proof that the provider accepted a send with this key; none where the store does not answer. */
  const findEvidence = (keyHash: string, provider: Provider): Effect.Effect<Evidence | undefined> =>
    store.configured
      ? orDegraded("findEvidence", store.findEvidence({ keyHash, provider }), undefined)
      : Effect.succeed(undefined)

  /** Whether the call still holds its claim; true where the store does not answer. */
  const moveClaim = (claim: Parameters<typeof store.moveClaim>[0]): Effect.Effect<boolean> =>
    orDegraded("moveClaim", store.moveClaim(claim), true)

  /** The row as it was written; `undefined` where it was not, or not in time. */
  const record = (row: RecordSend): Effect.Effect<RecordedSend | undefined> =>
    store.configured ? orDegraded("record", store.record(row), undefined) : Effect.succeed(undefined)

  return { begin, findEvidence, moveClaim, record }
}
