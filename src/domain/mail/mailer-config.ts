import { Context } from "effect"

import type { MessageDefaults } from "./message.ts"
import type { Provider } from "./provider.ts"

/** The settings that sending depends on (document 1, "Configuration" and "Limits"). */
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
 * How long a claim is held before its process counts as dead: every bounded step of a call (look-up, two attempts, note of
 * the fail-over, evidence, deferral, log write) and a margin, milliseconds.
 */
export const claimLeaseMs = (config: {
  readonly attemptTimeoutMs: number
  readonly dbTimeoutMs: number
}): number => 2 * config.attemptTimeoutMs + 4 * config.dbTimeoutMs + ENQUEUE_TIMEOUT_MS + 5_000
