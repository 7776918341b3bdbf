import { Context, Data, Schema, type Effect } from "effect"

import type { Provider } from "../../domain/mail/failover.ts"
import type { MailProvider } from "./mail-provider.ts"

/** The outbox could not be read or written. */
export class OutboxError extends Data.TaggedError("OutboxError")<{
  readonly operation: "put" | "list" | "get"
  readonly cause: unknown
}> {}

/**
 * What a simulated provider does with one request. `accepted` and `lost` say whether a copy leaves where the caller cannot
 * tell: after an ambiguous answer, or when no answer ever comes (`hang`). `slow` accepts after a second.
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

/** What a vendor's test address stands for. */
export type SimulatedEventType = "delivered" | "bounced" | "complained" | "suppressed"

/** What a provider would report about a message, before it is put into a vendor's words. */
export interface SimulatedEvent {
  readonly provider: Provider
  readonly type: SimulatedEventType
  readonly messageId: string
  /** The test addresses that asked for it: bare, lower-case. */
  readonly recipients: ReadonlyArray<string>
  /** Every recipient of the message, bare and lower-case. */
  readonly allRecipients: ReadonlyArray<string>
  /** Bare address. */
  readonly from: string
  readonly subject: string
  /** Names and values as the sender wrote them, `postlane_key` among them. */
  readonly tags: Readonly<Record<string, string>>
  /** The one that the send named. */
  readonly configurationSet?: string | undefined
  /** ISO 8601. */
  readonly at: string
}

/** What is known of a message in the outbox. */
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
  /** The provider's id of it. */
  readonly messageId?: string | undefined
  readonly tags?: Readonly<Record<string, string>> | undefined
  /** What the vendors' test addresses among its recipients stand for. */
  readonly marks?: ReadonlyArray<SimulatedEventType> | undefined
}

/** A message to put into the outbox; `raw` is a whole RFC 5322 message. */
interface OutboxMessage extends Omit<OutboxEntry, "id" | "at" | "cc" | "bcc"> {
  /** Letters, digits, `-` and `_`; given again, the message replaces the first of that id. Made here where it is absent. */
  readonly id?: string | undefined
  readonly cc?: ReadonlyArray<string> | undefined
  readonly bcc?: ReadonlyArray<string> | undefined
  readonly raw: string | Uint8Array
}

/** Messages that left nowhere: kept on disk, shared by every process on one data folder. */
export interface Outbox {
  /** Whole or not at all, whatever kills the process. */
  readonly put: (message: OutboxMessage) => Effect.Effect<OutboxEntry, OutboxError>
  /** Newest first. */
  readonly list: (options?: {
    readonly limit?: number | undefined
  }) => Effect.Effect<ReadonlyArray<OutboxEntry>, OutboxError>
  readonly has: (id: string) => Effect.Effect<boolean, OutboxError>
  /** The raw message; `undefined` where there is none of that id. */
  readonly get: (id: string) => Effect.Effect<Uint8Array | undefined, OutboxError>
}

/** The simulated providers of an embedded installation, and where their mail goes. */
export class SimulatedMail extends Context.Service<
  SimulatedMail,
  {
    readonly outbox: Outbox
    readonly provider: (provider: Provider) => MailProvider
    /**
     * What the provider does with the next requests of this process, in order, in place of an earlier script; afterwards
     * `otherwise`, which is `ok` unless it is given.
     */
    readonly script: (
      provider: Provider,
      outcomes: ReadonlyArray<SimulatedOutcome>,
      otherwise?: SimulatedOutcome
    ) => Effect.Effect<void>
  }
>()("postlane/ports/SimulatedMail") {}
