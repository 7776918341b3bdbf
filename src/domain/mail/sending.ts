import { Context } from "effect"

import type { SendDetails } from "./deferred-send.ts"
import type { FailureKind, Provider } from "./failover.ts"
import type { Message, MessageDefaults } from "./message.ts"
import type { SendResult } from "./send-result.ts"

/** A send under way: what does not change between its look-up and its row. */
export interface Sending {
  readonly message: Message
  readonly details: SendDetails
  readonly rowId: string
  readonly wireKey: { readonly key: string; readonly keyHash: string }
  /** The owner that settles the claim; absent where the key was generated here. */
  readonly owner: string | undefined
  /** Whether the store confirmed that this call holds the claim. */
  readonly holdsClaim: boolean
  /** By the monotonic clock, nanoseconds. */
  readonly startedAt: bigint
  readonly firstAttemptAt: number
  /** The only provider that may see the key, since an earlier attempt on it was ambiguous. */
  readonly sticky: Provider | undefined
  readonly suppressedRecipients: ReadonlyArray<string>
}

/** How a send ended, before its row is written. */
export type Ending =
  | {
      readonly _tag: "Sent"
      readonly provider: Provider
      readonly messageId: string
      readonly failedOver: boolean
    }
  | { readonly _tag: "Deferred"; readonly provider: Provider; readonly failedOver: boolean }
  | { readonly _tag: "Suppressed"; readonly error: string }
  | {
      readonly _tag: "Failed"
      readonly provider: Provider | null
      readonly kind: FailureKind
      readonly error: string
      readonly failedOver: boolean
    }

/** The result of a send, from its ending. */
export const resultOf = (
  ending: Ending,
  common: Pick<SendResult, "sendId" | "failedOver" | "idempotencyKey" | "suppressedRecipients">
): SendResult => {
  switch (ending._tag) {
    case "Sent":
      return {
        ok: true,
        status: "sent",
        provider: ending.provider,
        providerMessageId: ending.messageId,
        ...common
      }
    case "Deferred":
      return { ok: true, status: "deferred", provider: ending.provider, providerMessageId: null, ...common }
    case "Suppressed":
      return {
        ok: false,
        status: "suppressed",
        error: ending.error,
        provider: null,
        providerMessageId: null,
        ...common
      }
    case "Failed":
      return {
        ok: false,
        status: "failed",
        error: ending.error,
        kind: ending.kind,
        provider: ending.provider,
        providerMessageId: null,
        ...common
      }
  }
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
>()("postlane/domain/MailerConfig") {}

/** How long a queue may take to make a deferral durable, milliseconds. */
export const ENQUEUE_TIMEOUT_MS = 5_000

/**
 * How long a claim is held before its process counts as dead: the time limits of all steps of a call (look-up, two
 * attempts, record of the fail-over, evidence, deferral, log write) and a margin, milliseconds.
 */
export const claimLeaseMs = (config: {
  readonly attemptTimeoutMs: number
  readonly dbTimeoutMs: number
}): number => 2 * config.attemptTimeoutMs + 4 * config.dbTimeoutMs + ENQUEUE_TIMEOUT_MS + 5_000
