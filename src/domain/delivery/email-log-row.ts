import type { Schema } from "effect"

import type { FailureKind } from "../mail/failover.ts"
import type { SendStatus } from "../mail/send-result.ts"
import type { EmailStatus } from "../mail/status.ts"

/** One row of `email_log`, with the columns' names as keys (MAIL-70, EVENT-60). Times are ISO 8601 in UTC with microseconds. */
export interface EmailLogRow {
  readonly id: string
  readonly created_at: string
  readonly updated_at: string
  /** A category of a send, or `unknown` where only delivery events wrote the row. */
  readonly category: string
  readonly source: string | null
  readonly from_address: string | null
  readonly to_addresses: ReadonlyArray<string>
  /** Cc and Bcc. */
  readonly other_addresses: ReadonlyArray<string>
  /** Recipients dropped because they are suppressed. */
  readonly dropped_addresses: ReadonlyArray<string>
  readonly subject: string | null
  readonly outcome: SendStatus | null
  readonly status: EmailStatus
  readonly last_event: string | null
  readonly last_event_at: string | null
  readonly error: string | null
  readonly error_kind: FailureKind | null
  readonly failed_over: boolean
  /** USD. */
  readonly cost_usd: number | null
  readonly idempotency_key: string | null
  readonly provider: string | null
  readonly provider_message_id: string | null
  /** When the failure alert was claimed. */
  readonly alerted_at: string | null
  /** The latest provider event, unchanged. */
  readonly raw: Schema.Json
}

/** Rows of the send log of one UTC day, category, provider and status. */
export interface EmailStat {
  /** `YYYY-MM-DD`. */
  readonly day: string
  /** A category of a send, or `unknown` where only delivery events wrote the rows. */
  readonly category: string
  /** Null where no provider was tried. */
  readonly provider: string | null
  readonly status: EmailStatus
  readonly count: number
  readonly failedOver: number
  /** Accepted, and ended without being delivered, which no status says (EVENT-16). */
  readonly undelivered: number
  /** USD. */
  readonly costUsd: number
}
