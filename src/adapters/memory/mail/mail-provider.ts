import { Clock, Duration, Effect } from "effect"

import type { ProviderRequest } from "../../../domain/mail/deferred-send.ts"
import {
  type FailureKind,
  dedupes,
  IDEMPOTENCY_WINDOW_MS,
  type Provider
} from "../../../domain/mail/failover.ts"
import {
  canonicalBody,
  plainBodyOf,
  type PlainRequestBody,
  preparePlain,
  withoutPlainRecipients
} from "../../../domain/mail/plain-request.ts"
import { type Accepted, type MailProvider, ProviderFailure } from "../../../ports/mail/mail-provider.ts"
import type { SimulatedOutcome } from "../../../ports/mail/simulated-mail.ts"

/** A delivered copy. */
export interface MemoryCopy {
  readonly messageId: string
  readonly key: string
  readonly body: PlainRequestBody
  /** Milliseconds of the Effect clock. */
  readonly at: number
}

/** A provider in memory, and a record of what it received and delivered. */
interface MemoryProvider {
  readonly provider: MailProvider
  /** Every delivered copy, oldest first. */
  readonly copies: Effect.Effect<ReadonlyArray<MemoryCopy>>
  /** Number of requests that arrived, with any outcome. */
  readonly received: Effect.Effect<number>
}

/** A decision for each request; `attempt` counts the requests at this provider, from 1. */
type PerRequest<A> = (request: ProviderRequest, attempt: number) => Effect.Effect<A>

const failing = (provider: Provider) => (kind: FailureKind, message: string, code?: string) =>
  new ProviderFailure({
    provider,
    kind,
    message: `${provider} in memory: ${message}`,
    code,
    ...(code === "invalid_idempotent_request" ? { knowsKey: true } : {})
  })

/**
 * A provider that lives in one process, on Effect's clock: for tests, properties and simulations. It dedupes like the
 * provider that it simulates: `provider_a` by key for 24 hours, `provider_b` not at all. `slow` is `ok` here: the delay
 * comes from `latency`, half of it before the request is processed and half before its answer.
 */
export const makeMemoryProvider = (options: {
  readonly provider: Provider
  /** Default: `ok`. */
  readonly outcome?: PerRequest<SimulatedOutcome>
  /** Default: none. */
  readonly latency?: PerRequest<Duration.Duration>
}): MemoryProvider => {
  const { provider } = options
  const copies: Array<MemoryCopy> = []
  const remembered = new Map<string, { readonly payload: string; readonly copy: MemoryCopy }>()
  let received = 0

  const fail = failing(provider)
  const accept = Effect.fnUntraced(function* (request: ProviderRequest, body: PlainRequestBody) {
    const now = yield* Clock.currentTimeMillis
    const payload = canonicalBody(request)
    const earlier = dedupes(provider) ? remembered.get(request.key) : undefined
    if (earlier !== undefined && now - earlier.copy.at < IDEMPOTENCY_WINDOW_MS) {
      if (earlier.payload === payload) return { messageId: earlier.copy.messageId } satisfies Accepted
      return yield* fail("rejected", "same key, another payload", "invalid_idempotent_request")
    }
    const copy: MemoryCopy = {
      messageId: `${provider}-${copies.length + 1}`,
      key: request.key,
      body,
      at: now
    }
    copies.push(copy)
    remembered.set(request.key, { payload, copy })
    return { messageId: copy.messageId } satisfies Accepted
  })

  const send: MailProvider["send"] = Effect.fnUntraced(function* (request) {
    const body = yield* Effect.mapError(Effect.fromResult(plainBodyOf(request)), (problem) =>
      fail("rejected", problem)
    )
    received += 1
    const attempt = received
    const outcome = options.outcome === undefined ? "ok" : yield* options.outcome(request, attempt)
    const pause =
      options.latency === undefined
        ? Effect.void
        : Effect.sleep(Duration.times(yield* options.latency(request, attempt), 0.5))
    yield* pause
    if (outcome === "rejected" || outcome === "unavailable") {
      yield* pause
      return yield* fail(outcome, "the script refuses this request")
    }
    const leaves = outcome !== "ambiguous-lost" && outcome !== "hang-lost"
    const accepted = leaves ? yield* accept(request, body) : undefined
    if (outcome === "hang-accepted" || outcome === "hang-lost") return yield* Effect.never
    yield* pause
    return accepted === undefined || outcome === "ambiguous-accepted"
      ? yield* fail("ambiguous", "the script loses the request or the answer")
      : accepted
  })

  return {
    provider: {
      provider,
      prepare: (message, key) => preparePlain(provider, message, key),
      withoutRecipients: withoutPlainRecipients,
      send
    },
    copies: Effect.sync(() => [...copies]),
    received: Effect.sync(() => received)
  }
}
