import type { FailureKind, Provider } from "../../domain/mail/failover.ts"
import type { SendStatus } from "../../domain/mail/send-result.ts"
import type { EmailStatus } from "../../domain/mail/status.ts"
import type { Category, UNKNOWN_CATEGORY } from "../../domain/mail/suppression-policy.ts"

/** What an event says of a mail, and when. */
export interface Account {
  readonly event: string
  readonly at: number
  readonly raw: unknown
}

/** A row of `email_log`. Times are milliseconds since the epoch. */
export interface LogRow {
  readonly id: string
  readonly category: Category | typeof UNKNOWN_CATEGORY
  readonly source: string | null
  readonly from: string | null
  readonly to: ReadonlyArray<string>
  readonly others: ReadonlyArray<string>
  /** Recipients that were dropped because they are suppressed. */
  readonly dropped: ReadonlyArray<string>
  /** Distinct recipients; null where only events wrote the row. */
  readonly recipientCount: number | null
  readonly subject: string | null
  /** What the library reported; null where only events wrote the row. */
  readonly outcome: SendStatus | null
  readonly status: EmailStatus
  readonly provider: Provider | null
  readonly providerMessageId: string | null
  readonly lastEvent: string | null
  readonly lastEventAt: number | null
  readonly raw: unknown
  readonly error: string | null
  readonly errorKind: FailureKind | null
  readonly failedOver: boolean
  readonly costUsd: number | null
  /** The cost of a deferral if it turns out to have been accepted. */
  readonly acceptedCostUsd: number | null
  readonly idempotencyKey: string | null
  readonly keyHash: string | null
  readonly alertedAt: number | null
  /** `reason:address` for each automatic suppression that the row's events asked for. */
  readonly suppressionMarks: ReadonlyArray<string>
  /** The id that the library asked for, where an event had made the row before. */
  readonly entryId: string | null
  /** Only where the poll has seen the mail: the latest event from a webhook (`told`), and the latest listed by the poll. */
  readonly accounts: { readonly told: Account | null; readonly listed: Account } | null
  readonly createdAt: number
}

/** A delivery event as `record_email_event` takes it; addresses are bare and lower-case. */
export interface EventEntry {
  readonly provider: Provider
  readonly providerMessageId: string
  readonly event: string
  /** Milliseconds since the epoch; absent: from when it was observed. */
  readonly occurredAt?: number | undefined
  readonly recipients?: ReadonlyArray<string> | undefined
  readonly subject?: string | undefined
  readonly from?: string | undefined
  readonly reason?: string | undefined
  readonly raw?: unknown
  readonly keyHash?: string | undefined
  readonly bounceType?: string | undefined
  /** The recipients that the provider names as bounced or complaining. */
  readonly suppress?: ReadonlyArray<string> | undefined
  /** False: never alerts (outreach). */
  readonly alertable?: boolean | undefined
  /** The category that the event's tags name. */
  readonly category?: string | undefined
  /** True: the state of the mail in the provider's list, read at `occurredAt`. */
  readonly listed?: boolean | undefined
  /** True: an event that makes its row keeps the alert's claim without an alert. */
  readonly backfill?: boolean | undefined
}

/** What became of an event. */
export interface RecordedEvent {
  readonly sendId: string
  readonly status: EmailStatus
  /** This call claimed the row's one alert. */
  readonly alert: boolean
  readonly backfilled: boolean
  /** The row's where the library wrote it, else that of the event's tags. */
  readonly category: string | undefined
  readonly source: string | undefined
}
