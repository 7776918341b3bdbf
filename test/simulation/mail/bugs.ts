import { Clock, Effect, Semaphore } from "effect"

import type { Mailer } from "../../../src/application/mail/mailer.ts"
import type { RetryHandler } from "../../../src/application/mail/retry.ts"
import { newUse } from "../../../src/domain/mail/claim.ts"
import { type MailProvider, ProviderFailure } from "../../../src/ports/mail/mail-provider.ts"
import type { BeganRetry, MailStore } from "../../../src/ports/mail/mail-store.ts"

/** How many retries a process handles at once. */
export const HANDLED_AT_ONCE = 3

/**
 * Defects that can be switched on, to see the oracle find them: a simulation that finds nothing proves nothing until it has
 * been seen to find something.
 */
export const BUGS = [
  /** A retry does not look for proof of acceptance. */
  "retry-without-evidence",
  /** Two calls with one key both get it. */
  "claims-not-exclusive",
  /** A dead process's key counts as fresh: the primary and the fallback may both see it. */
  "takeover-forgets",
  /** An ambiguous answer is taken for a refusal, and the fallback is asked. */
  "ambiguous-fails-over",
  /** A retry goes out on a key of its own. */
  "retry-on-new-key",
  /** The queue forgets a message when it hands it out. */
  "ack-before-work",
  /** An ambiguous send is reported as failed for certain. */
  "ambiguous-reported-certain",
  /** A recorded retry's message runs again when it comes back. */
  "recorded-runs-again",
  /** A cancel is answered although the mail is being sent. */
  "queue-cancels-what-is-sent",
  /** An ambiguous attempt ends its request at once, as certainly not sent. */
  "queue-ends-refused",
  /** Each process keeps the pace of a provider for itself. */
  "queue-paces-each-process",
  /** Requests go in the order in which they were queued, whatever their category. */
  "queue-goes-by-insertion",
  /** A request is sent before the transaction that queues it commits. */
  "queue-sends-uncommitted"
] as const
export type Bug = (typeof BUGS)[number]

const goOn = Effect.map(Clock.currentTimeMillis, (at): BeganRetry => ({
  _tag: "Go",
  torn: false,
  suppressions: [],
  at,
  firstAttemptAt: at
}))

/** The store with the bug in it, where it is one of the store's. */
export const breakStore = (bug: Bug | undefined, store: MailStore["Service"]): MailStore["Service"] => {
  switch (bug) {
    case "retry-without-evidence":
      return {
        ...store,
        findEvidence: () => Effect.succeed(undefined),
        beginRetry: (entry) =>
          Effect.flatMap(store.beginRetry(entry), (began) =>
            began._tag === "Settled" ? goOn : Effect.succeed(began)
          )
      }
    case "claims-not-exclusive":
      return {
        ...store,
        moveClaim: () => Effect.succeed(true),
        begin: (entry) =>
          Effect.map(store.begin(entry), (began) =>
            began.decision._tag === "InProgress" || began.decision._tag === "Replay"
              ? {
                  ...began,
                  leaving: true,
                  decision: newUse(entry.claim?.tag, 0)
                }
              : began
          )
      }
    case "takeover-forgets":
      return {
        ...store,
        begin: (entry) =>
          Effect.map(store.begin(entry), (began) =>
            began.decision._tag === "Claimed"
              ? {
                  ...began,
                  evidence: undefined,
                  decision: { ...began.decision, sticky: undefined, takeover: false }
                }
              : began
          )
      }
    case "recorded-runs-again":
      return {
        ...store,
        beginRetry: (entry) =>
          Effect.flatMap(store.beginRetry(entry), (began) =>
            began._tag === "Recorded" ? goOn : Effect.succeed(began)
          )
      }
    default:
      return store
  }
}

/** The provider with the bug in it. */
export const breakProvider = (bug: Bug | undefined, provider: MailProvider): MailProvider =>
  bug === "ambiguous-fails-over"
    ? {
        ...provider,
        send: (request) =>
          Effect.mapError(provider.send(request), (failure) =>
            failure.kind === "ambiguous"
              ? new ProviderFailure({
                  provider: failure.provider,
                  kind: "unavailable",
                  message: failure.message
                })
              : failure
          )
      }
    : provider

/** The retry handler with the bug in it. */
export const breakHandler = (
  bug: Bug | undefined,
  handler: RetryHandler["Service"]
): RetryHandler["Service"] => {
  switch (bug) {
    case "retry-on-new-key":
      return {
        handle: (message) =>
          handler.handle({ ...message, request: { ...message.request, key: `${message.request.key} again` } })
      }
    case "ack-before-work": {
      // As many at once as the consumer handles: without a limit the copies that each puts back multiply, and the run has no end.
      const places = Semaphore.makeUnsafe(HANDLED_AT_ONCE)
      return {
        handle: (message) => Effect.asVoid(Effect.forkDetach(places.withPermits(1)(handler.handle(message))))
      }
    }
    default:
      return handler
  }
}

/** What the mailer answers with the bug in it. */
export const breakMailer = (bug: Bug | undefined, mailer: Mailer["Service"]): Mailer["Service"] =>
  bug === "ambiguous-reported-certain"
    ? {
        send: (request) =>
          Effect.map(mailer.send(request), (result) =>
            result.status === "failed" ? { ...result, kind: "unavailable" } : result
          )
      }
    : mailer
