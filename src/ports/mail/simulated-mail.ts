import { Context, Schema, type Effect } from "effect"

import type { Provider } from "../../domain/mail/failover.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"
import type { MailProvider } from "./mail-provider.ts"

/**
 * The behaviour of a simulated provider for one request. `accepted` and `lost` decide whether a copy goes out where the
 * caller cannot know: after an ambiguous answer, or when no answer ever comes (`hang`). `slow` accepts after a second.
 */
export const SimulatedOutcome = Schema.Literals([
  "ok",
  "rejected",
  "unavailable",
  "ambiguous-accepted",
  "ambiguous-lost",
  "hang-accepted",
  "hang-lost",
  "slow"
])
export type SimulatedOutcome = typeof SimulatedOutcome.Type

/** The event that a vendor's test address triggers. */
export type SimulatedEventType = "delivered" | "bounced" | "complained" | "suppressed"

/** A provider's report about a message, before it has the vendor's format. */
export interface SimulatedEvent {
  readonly provider: Provider
  readonly type: SimulatedEventType
  readonly messageId: string
  /** The test addresses that triggered it: bare, lower-case. */
  readonly recipients: ReadonlyArray<string>
  /** Every recipient of the message, bare and lower-case. */
  readonly allRecipients: ReadonlyArray<string>
  /** Bare address. */
  readonly from: string
  readonly subject: string
  /** Names and values as the sender wrote them, `postlane_key` among them. */
  readonly tags: Readonly<Record<string, string>>
  /** The configuration set of the send. */
  readonly configurationSet?: string | undefined
  /** ISO 8601. */
  readonly at: string
}

/** The metadata of a message in the outbox. */
export interface OutboxEntry {
  readonly id: string
  /** Who put it there: a provider, or another producer's name. */
  readonly via: string
  /** Header values, decoded. */
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly cc: ReadonlyArray<string>
  /** In no header of the message. */
  readonly bcc: ReadonlyArray<string>
  readonly subject: string
  /** ISO 8601. */
  readonly at: string
  /** The provider's id of the message. */
  readonly messageId?: string | undefined
  readonly tags?: Readonly<Record<string, string>> | undefined
  /** The events that the test addresses among its recipients trigger. */
  readonly marks?: ReadonlyArray<SimulatedEventType> | undefined
}

/** A message to put into the outbox; `raw` is a whole RFC 5322 message. */
interface OutboxMessage extends Omit<OutboxEntry, "id" | "at" | "cc" | "bcc"> {
  /** Letters, digits, `-` and `_`; a repeated id replaces the earlier message. Generated where it is absent. */
  readonly id?: string | undefined
  readonly cc?: ReadonlyArray<string> | undefined
  readonly bcc?: ReadonlyArray<string> | undefined
  readonly raw: string | Uint8Array
}

/** Messages of simulated sends: kept on disk, shared by all processes on one data folder. */
export interface Outbox {
  /** Atomic, even if the process is killed. */
  readonly put: (message: OutboxMessage) => Effect.Effect<OutboxEntry, StoreUnavailable>
  /** Newest first. */
  readonly list: (options?: {
    readonly limit?: number | undefined
  }) => Effect.Effect<ReadonlyArray<OutboxEntry>, StoreUnavailable>
  readonly has: (id: string) => Effect.Effect<boolean, StoreUnavailable>
  /** The raw message; `undefined` where there is none of that id. */
  readonly get: (id: string) => Effect.Effect<Uint8Array | undefined, StoreUnavailable>
}

/** The simulated providers of an embedded installation, and their outbox. */
export class SimulatedMail extends Context.Service<
  SimulatedMail,
  {
    readonly outbox: Outbox
    readonly provider: (provider: Provider) => MailProvider
    /**
     * Scripts the provider's behaviour for the next requests of this process, in order; replaces an earlier script.
     * Afterwards `otherwise`, by default `ok`.
     */
    readonly script: (
      provider: Provider,
      outcomes: ReadonlyArray<SimulatedOutcome>,
      otherwise?: SimulatedOutcome
    ) => Effect.Effect<void>
  }
>()("postlane/ports/SimulatedMail") {}
