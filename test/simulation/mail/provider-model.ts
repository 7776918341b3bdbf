import { Effect } from "effect"

import type { KeyHash, KeyTag } from "../../../src/domain/ids.ts"
import { addressKey } from "../../../src/domain/mail/address.ts"
import { type FailureKind, IDEMPOTENCY_WINDOW_MS } from "../../../src/domain/mail/failover.ts"
import { dedupes, type Provider } from "../../../src/domain/mail/provider.ts"
import { type MailProvider, ProviderFailure } from "../../../src/ports/mail/mail-provider.ts"
import type { Chance, SimClock } from "../kernel.ts"
import { call, CallTrace, type Road, type SimProcess } from "../process.ts"

/** One request that left a process for a provider, whatever became of the answer. */
export interface Attempt {
  readonly provider: Provider
  readonly key: string
  readonly keyHash: KeyHash
  /** What the request carried. */
  readonly keyTag: KeyTag | null
  readonly process: string
  readonly startedAt: number
  /** When the database let this call send its key; -Infinity where it gave no answer: the call has no claim. */
  readonly askedAt: number
  /** The answer that the caller got; `none` where it got none (timed out, dead). */
  outcome: "accepted" | FailureKind | "none"
  /** When the caller got its answer. */
  heardAt: number | undefined
  /** Whether a copy left because of this request. */
  delivered: boolean
  /** When it did, at the provider: a request may be on its way for long. */
  deliveredAt: number | undefined
  /** To, Cc and Bcc, bare. */
  readonly recipients: ReadonlyArray<string>
  readonly to: ReadonlyArray<string>
  readonly subject: string
}

/** Whether nobody who asked can know what became of it. */
export const isDoubtful = ({ outcome }: Attempt): boolean => outcome === "ambiguous" || outcome === "none"

interface Body {
  readonly subject: string
  readonly to: ReadonlyArray<string>
  readonly others: ReadonlyArray<string>
  readonly keyHash: KeyHash
  readonly keyTag: KeyTag | null
}

/** A provider's account that everybody shares: an append-only log of what it was asked and of the copies that left. */
export interface ProviderModel {
  readonly provider: Provider
  readonly attempts: Array<Attempt>
  readonly connect: (process: SimProcess) => MailProvider
}

/** How often a provider refuses, breaks or answers in riddles. */
export interface Mood {
  readonly rejects: number
  readonly unavailable: number
  readonly breaksBefore: number
  readonly breaksAfter: number
}

/** What a provider keeps of the keys that it has accepted; provider_a's memory is the account's, not the installation's. */
export type KeyMemory = Map<
  string,
  { readonly messageId: string; readonly at: number; readonly body: string }
>

export const makeProviderModel = (options: {
  readonly provider: Provider
  readonly chance: Chance
  /** The time of the world outside the processes. */
  readonly clock: SimClock
  readonly mood: () => Mood
  readonly road: () => Road
  /** Whether the account's rate refuses a request now. */
  readonly isOverRate?: () => boolean
  readonly memory?: KeyMemory
  /** When the attempt begins. */
  readonly onAttempt: (attempt: Attempt) => void
  readonly onAccepted: (attempt: Attempt, messageId: string) => Effect.Effect<void>
}): ProviderModel => {
  const { chance, clock, isOverRate = () => false, memory: accepted = new Map(), provider } = options
  const attempts: Array<Attempt> = []
  let serial = 0
  const fail = (kind: FailureKind, message: string) => new ProviderFailure({ provider, kind, message })
  const keyIsKnown = () =>
    new ProviderFailure({
      provider,
      kind: "rejected",
      message: "409 invalid_idempotent_request",
      knowsKey: true
    })

  const apply = (attempt: Attempt, body: string) =>
    Effect.gen(function* () {
      const mood = options.mood()
      const now = clock.currentTimeMillisUnsafe()
      const known = dedupes(provider) ? accepted.get(attempt.key) : undefined
      const remembered = known !== undefined && now - known.at < IDEMPOTENCY_WINDOW_MS ? known : undefined
      if (isOverRate()) return yield* fail("unavailable", "429 rate_limit_exceeded, retry-after: 1")
      if (remembered !== undefined && remembered.body !== body) {
        return yield* keyIsKnown()
      }
      if (chance.bool(mood.unavailable)) return yield* fail("unavailable", "503")
      if (remembered === undefined && chance.bool(mood.rejects)) return yield* fail("rejected", "422")
      if (chance.bool(mood.breaksBefore)) return yield* fail("ambiguous", "500")
      const messageId = remembered?.messageId ?? `${provider}-${attempt.process}-${serial++}`
      if (remembered === undefined) {
        attempt.delivered = true
        attempt.deliveredAt = now
        accepted.set(attempt.key, { messageId, at: now, body })
        yield* options.onAccepted(attempt, messageId)
      }
      if (chance.bool(mood.breaksAfter)) return yield* fail("ambiguous", "504 after acceptance")
      return { messageId }
    })

  return {
    provider,
    attempts,
    connect: (process) => ({
      provider,
      prepare: (message, { key, keyHash, tag }) => ({
        provider,
        key,
        body: {
          to: message.to.map(addressKey),
          others: [...message.cc, ...message.bcc].map(addressKey),
          keyHash,
          keyTag: tag ?? null,
          subject: message.subject
        }
      }),
      withoutRecipients: (request, blocked) => {
        const body = request.body as unknown as Body
        const to = body.to.filter((address) => !blocked.has(address))
        if (to.length === 0) return undefined
        const others = body.others.filter((address) => !blocked.has(address))
        return { ...request, body: { ...body, to, others } }
      },
      send: (request) =>
        Effect.gen(function* () {
          // What is left of a killed process's fibers asks nobody: no such request ever left.
          if (process.dead) return yield* Effect.never
          const body = request.body as unknown as Body
          const attempt: Attempt = {
            provider,
            key: request.key,
            keyHash: body.keyHash,
            keyTag: body.keyTag,
            process: process.id,
            startedAt: clock.currentTimeMillisUnsafe(),
            askedAt: (yield* CallTrace).askedAt,
            outcome: "none",
            heardAt: undefined,
            delivered: false,
            deliveredAt: undefined,
            recipients: [...body.to, ...body.others],
            to: body.to,
            subject: body.subject
          }
          attempts.push(attempt)
          options.onAttempt(attempt)
          const heard = (outcome: Attempt["outcome"]) =>
            Effect.sync(() => {
              attempt.outcome = outcome
              attempt.heardAt = clock.currentTimeMillisUnsafe()
            })
          return yield* call(
            process,
            chance,
            options.road(),
            apply(attempt, JSON.stringify(request.body)),
            () => fail("ambiguous", "connection reset")
          ).pipe(
            Effect.tap(() => heard("accepted")),
            Effect.tapError(({ kind }) => heard(kind))
          )
        })
    })
  }
}
