import type { KeyTag, LogRowId } from "../ids.ts"
import type { Provider } from "../mail/provider.ts"

/** A provider's delivery event, normalised for `record_email_event` (EVENT-1 to EVENT-4). */
export interface DeliveryEvent {
  readonly provider: Provider
  readonly providerMessageId: string
  /** `sent`, `delivered`, `bounced`, `bounce_transient`, …: the vendor's type without its prefix; open-ended. */
  readonly event: string
  /** Milliseconds since the epoch; absent where the provider gave no time. */
  readonly occurredAt: number | undefined
  /** Bare lower-case addresses. */
  readonly recipients: ReadonlyArray<string>
  readonly from: string | undefined
  readonly subject: string | undefined
  /** Failure reason for `email_log.error`. */
  readonly reason: string | undefined
  /** The `postlane_key` tag, where the event carries it; provider accounts may be shared, so that it may be another installation's. */
  readonly keyTag: KeyTag | undefined
  /** Vendor's bounce type (`Permanent`, …), where the event is a bounce and says so. */
  readonly bounceType: string | undefined
  /** Recipients that the provider names as bounced or complaining (`provider_b`); absent where it names none. */
  readonly suppress: ReadonlyArray<string> | undefined
  /** False for outreach: never alerts, still suppresses. */
  readonly alertable: boolean
  /** Tags as the sender wrote them (decoded). */
  readonly tags: Readonly<Record<string, string>>
  /** The whole event, for `email_log.raw`. */
  readonly raw: unknown
}

/** The result of recording an event. */
export interface RecordedEvent {
  readonly sendId: LogRowId
  readonly status: string
  /** This call claimed the one alert of the row: its caller must raise it, or release the claim. */
  readonly alert: boolean
  /** The row's category where the library wrote the row; else the one that the event's tags name. */
  readonly category: string | undefined
  readonly source: string | undefined
}

/** What an alert is about (EVENT-25). */
export interface FailedSend {
  readonly sendId: LogRowId
  readonly provider: Provider
  readonly providerMessageId: string
  readonly event: string
  readonly recipients: ReadonlyArray<string>
  readonly subject: string | undefined
  readonly category: string | undefined
  /** `source` of the send; absent where it was sent outside the library. */
  readonly source: string | undefined
  readonly reason: string | undefined
  /** ISO 8601. */
  readonly occurredAt: string | undefined
  /** The channels that have accepted its alert before; absent where it is raised for the first time. */
  readonly taken?: ReadonlyArray<string>
}

/** A parsed notification of a provider: an event to record, or one to ignore. */
export type IncomingEvent =
  | { readonly _tag: "Event"; readonly event: DeliveryEvent }
  | {
      readonly _tag: "Ignored"
      readonly reason: string
      /** True where the notification should have been an event: the answer carries a warning (EVENT-2). */
      readonly warn: boolean
    }

export const recordable = (event: DeliveryEvent): IncomingEvent => ({ _tag: "Event", event })

export const ignored = (reason: string): IncomingEvent => ({ _tag: "Ignored", reason, warn: false })

export const ignoredWithWarning = (reason: string): IncomingEvent => ({ _tag: "Ignored", reason, warn: true })
