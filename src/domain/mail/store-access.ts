import { Clock, Effect } from "effect"

import type { BeganSend, MailStore, RecordedSend, RecordSend } from "../../ports/mail/mail-store.ts"
import { withDeadline } from "../deadline.ts"
import type { Evidence } from "./claim.ts"
import { routeOf, type Provider } from "./failover.ts"
import { type Message, recipientKeys } from "./message.ts"
import { countDegraded } from "./metrics.ts"
import { claimLeaseMs, type MailerConfig } from "./sending.ts"

/** A wait this many times as long as it was meant to be was a freeze of the process, not a silence of the database. */
const OVERSLEPT = 1.1

/**
 * The mailer's calls to its store: each bounded, none able to change a send's outcome by failing or being late (S6; document
 * 1, "Hooks and degraded modes").
 */
export const makeStoreAccess = (store: MailStore["Service"], config: MailerConfig["Service"]) => {
  const leaseMs = claimLeaseMs(config)

  /** A call to the store that may fail or be late, and never changes the outcome for it (S6). */
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

  /** Suppressions and claim; where the store does not answer, the send is free to go. */
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
    // A process that was frozen meanwhile hears its overdue timer before the answer: it may only believe a second silence.
    return Effect.gen(function* () {
      const asked = yield* Clock.monotonicTimeNanos
      const first = yield* ask
      const waitedMs = Number((yield* Clock.monotonicTimeNanos) - asked) / 1e6
      return first.answered || claim === undefined || waitedMs < OVERSLEPT * config.dbTimeoutMs
        ? first
        : yield* ask
    })
  }

  /** Proof that the provider accepted the key; none where the store does not answer. */
  const findEvidence = (keyHash: string, provider: Provider): Effect.Effect<Evidence | undefined> =>
    store.configured
      ? orDegraded("findEvidence", store.findEvidence({ keyHash, provider }), undefined)
      : Effect.succeed(undefined)

  /** Whether the call still holds its claim; a store that does not answer changes nothing. */
  const moveClaim = (claim: Parameters<typeof store.moveClaim>[0]): Effect.Effect<boolean> =>
    orDegraded("moveClaim", store.moveClaim(claim), true)

  /** The row as it was written; `undefined` where it was not, or not in time. */
  const record = (row: RecordSend): Effect.Effect<RecordedSend | undefined> =>
    store.configured ? orDegraded("record", store.record(row), undefined) : Effect.succeed(undefined)

  return { begin, findEvidence, moveClaim, record }
}
