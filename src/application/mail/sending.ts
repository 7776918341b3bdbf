import { Context, Effect, Layer } from "effect"
import { Digest, sha256 } from "effect/crypto/Digest"
import { SecureRandom } from "effect/crypto/SecureRandom"

import { LogRowId } from "../../domain/ids.ts"
import type { DeferredSend, SendDetails } from "../../domain/mail/deferred-send.ts"
import type { FailureKind } from "../../domain/mail/failover.ts"
import type { Message, MessageDefaults } from "../../domain/mail/message.ts"
import type { Provider } from "../../domain/mail/provider.ts"
import type { SendResult } from "../../domain/mail/send-result.ts"
import type { BlockReason } from "../../domain/mail/suppression/policy.ts"
import { DeferQueue } from "../../ports/mail/defer-queue.ts"
import { MailProviders, type ProviderFailure } from "../../ports/mail/mail-provider.ts"
import { MailStore } from "../../ports/mail/mail-store.ts"
import { noAnswer, type StoreUnavailable } from "../../ports/store-unavailable.ts"
import { withDeadline } from "../deadline.ts"
import { makeAttemptRunner } from "./attempt.ts"
import { layerCircuits, ProviderCircuits } from "./circuits.ts"
import { layerKeyMemory, ProcessKeyMemory } from "./key-memory.ts"
import { RetryWatch } from "./retry-watch.ts"
import type { StoreTime } from "./store-time.ts"
import type { Trace } from "./trace.ts"
import { UnsubscribeLinks } from "./unsubscribe-links.ts"
import { makeUseTag } from "./use-tag.ts"

/** What a call holds of its key, as it knows it. */
interface Hold {
  /** By the monotonic clock, milliseconds: when the lease was granted, at the earliest. */
  since: number
  /** The claim says that a request may have left. */
  leaving: boolean
  /** The last answer of a provider, where it was a failure. */
  ownKind: FailureKind | undefined
  /** An earlier attempt on the key was ambiguous, or unknown here. */
  doubtful: boolean
  /** The key is in doubt at two providers: it ends with this call, unless evidence settles it. */
  torn: boolean
  /** The retry is queued and the caller has the answer `deferred`: only an acceptance changes that. */
  isDeferred?: true
  /** The call ends without having asked its last provider, which hangs. */
  unasked?: true
  /** Where the store says that somebody else has left the key open since. */
  openAt?: Provider
  /** Recipients who must not get the mail, by a look-up that was later than the call's first; absent where there was none. */
  blocked?: ReadonlyMap<string, BlockReason>
}

/** How a send holds its key, and who decides with it. */
export interface Terms {
  /** Of the claim, milliseconds. */
  readonly leaseMs: number
  /** How much of the lease an attempt needs at most, where it is prolonged meanwhile. */
  readonly neededMs: number
  /** By the monotonic clock, milliseconds: when the lease was last prolonged by somebody else. */
  readonly renewedAt: number
  /** Whether a refusal may go on to this provider now. */
  readonly mayFailOver: (provider: Provider) => Effect.Effect<boolean>
  /**
   * How long a refused retry of a queued request waits, seconds; undefined once its time is over. Absent for other sends: their deferrals have
   * a row in the log.
   */
  readonly refusedWait?: (failure: ProviderFailure, sinceFirstMs: number) => number | undefined
}

/** A caller who wants an answer in some time, whatever the provider does. */
export interface Impatience {
  /** By the monotonic clock, milliseconds: when to answer `deferred`. */
  readonly until: number
  readonly answer: (result: SendResult) => void
}

/** A send under way: what does not change between its look-up and its row. */
export interface Sending {
  readonly rowId: LogRowId
  /** Without the suppressed recipients. */
  readonly message: Message
  readonly details: SendDetails
  /** The claim that this call settles; absent where the key was generated here. */
  readonly claim: { readonly owner: string; readonly payloadHash: string } | undefined
  /** Whether the store confirmed that this call holds the claim. */
  readonly holdsClaim: boolean
  readonly hold: Hold
  readonly firstAttemptAt: number
  /** What the store's clock showed when it answered; absent where it did not. */
  readonly time: StoreTime | undefined
  /** The only provider that may see the key, since an earlier attempt on it was ambiguous. */
  readonly sticky: Provider | undefined
  /** Its retries would be those of every call on this use of the key that has no result yet. */
  readonly sharesRetries: boolean
  /** The row by which the key had ended before this call. */
  readonly after: LogRowId | undefined
  /** Absent where the caller waits for as long as it takes. */
  readonly impatience: Impatience | undefined
  readonly trace: Trace
}

/** The settings of sending (MAIL-4, MAIL-20, MAIL-24, MAIL-51). */
export class MailerConfig extends Context.Service<
  MailerConfig,
  {
    readonly primary: Provider
    /** Ignored where it equals the primary. */
    readonly fallback: Provider | undefined
    readonly defaults: MessageDefaults
    /** One attempt, milliseconds: 15,000. */
    readonly attemptTimeoutMs: number
    /** The suppression look-up with the claim, and the log write, milliseconds each: 2,500. */
    readonly dbTimeoutMs: number
    /** Waits before the three retries, seconds: 120, 600, 900. */
    readonly deferDelaysSeconds: readonly [number, number, number]
    /** List price of a message, USD. */
    readonly costUsd: Readonly<Record<Provider, number>>
  }
>()("postlane/application/MailerConfig") {}

/** What a process that sends keeps in memory. */
export const layerProcess = Layer.merge(layerKeyMemory, layerCircuits)

/** How long a queue may take to make a deferral durable, milliseconds. */
export const ENQUEUE_TIMEOUT_MS = 5_000

/** The time limits that the others follow from, milliseconds. */
export interface TimeLimits {
  readonly attemptTimeoutMs: number
  readonly dbTimeoutMs: number
}

/**
 * How long a send takes at most, by the time limits of its steps: look-up, two attempts, record of the fail-over, evidence, deferral,
 * log write; milliseconds.
 */
export const longestSendMs = ({ attemptTimeoutMs, dbTimeoutMs }: TimeLimits): number =>
  2 * attemptTimeoutMs + 4 * dbTimeoutMs + ENQUEUE_TIMEOUT_MS

/** How long a claim is held before its process counts as dead: as long as a call takes, and a margin, milliseconds. */
export const claimLeaseMs = (config: TimeLimits): number => longestSendMs(config) + 5_000

/** How long a retry takes at most: look-up, an attempt, evidence, the next deferral, its row twice, milliseconds. */
export const longestRetryMs = ({ attemptTimeoutMs, dbTimeoutMs }: TimeLimits): number =>
  attemptTimeoutMs + 4 * dbTimeoutMs + ENQUEUE_TIMEOUT_MS

const encoder = new TextEncoder()

/** What the first attempts and the retries work with. */
export const makeSendParts = Effect.gen(function* () {
  const config = yield* MailerConfig
  const digest = yield* Digest
  const random = yield* SecureRandom
  const terms: Terms = {
    leaseMs: claimLeaseMs(config),
    neededMs: Number.POSITIVE_INFINITY,
    renewedAt: Number.NEGATIVE_INFINITY,
    mayFailOver: () => Effect.succeed(true)
  }
  return {
    config,
    terms,
    store: yield* MailStore,
    queue: yield* DeferQueue,
    providers: yield* MailProviders,
    runner: yield* makeAttemptRunner(config.attemptTimeoutMs),
    memory: yield* ProcessKeyMemory,
    circuits: yield* ProviderCircuits,
    /** Sends without look-up and claim of which the store does not know. */
    unclaimed: { pending: 0 },
    retryWatch: yield* RetryWatch,
    makeLink: yield* UnsubscribeLinks,
    scope: yield* Effect.scope,
    useTag: yield* makeUseTag,
    sha256Hex: (text: string): Effect.Effect<string> => digest.digestHex(sha256, encoder.encode(text)),
    newId: (): Effect.Effect<string> => random.uuidV7()
  }
})
export type SendParts = Effect.Success<typeof makeSendParts>

/** A row id made from a text: the same text gives the same id. */
export const derivedRowId = ({ sha256Hex }: SendParts, text: string): Effect.Effect<LogRowId> =>
  Effect.map(sha256Hex(text), (hex) =>
    LogRowId.make(
      [
        hex.slice(0, 8),
        hex.slice(8, 12),
        `8${hex.slice(13, 16)}`,
        `8${hex.slice(17, 20)}`,
        hex.slice(20, 32)
      ].join("-")
    )
  )

/** The services that {@link makeSendParts} asks for, its scope aside. */
export type SendServices = MailerConfig | MailStore | DeferQueue | MailProviders | Digest | SecureRandom

/** Queues a retry, or puts back the one that is held, in bounded time. */
export const enqueueRetry = (
  { queue }: SendParts,
  message: DeferredSend,
  delaySeconds: number,
  operation: "enqueue" | "putBack" = "enqueue"
): Effect.Effect<void, StoreUnavailable> =>
  withDeadline(queue[operation](message, delaySeconds), {
    duration: ENQUEUE_TIMEOUT_MS,
    onTimeout: () => Effect.fail(noAnswer(operation, `${ENQUEUE_TIMEOUT_MS} ms`))
  })
