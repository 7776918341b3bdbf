import { Context, Schema, type Effect, type Stream } from "effect"

import type { Provider } from "../../domain/mail/provider.ts"
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

/** The requests that a script is for: those that have all that it names. */
export const SimulatedTarget = Schema.Struct({
  /** A recipient's address. */
  to: Schema.optionalKey(Schema.String),
  /** The idempotency key. */
  key: Schema.optionalKey(Schema.String),
  category: Schema.optionalKey(Schema.String)
})
export type SimulatedTarget = typeof SimulatedTarget.Type

/** An event of a simulated provider: a vendor's test address triggers it, or somebody who tries what follows from it. */
export const SimulatedEventType = Schema.Literals([
  "delivered",
  "delivery_delayed",
  "bounced",
  "complained",
  "opened",
  "suppressed"
])
export type SimulatedEventType = typeof SimulatedEventType.Type

/** A provider's report about a message, before it has the vendor's format. */
export interface SimulatedEvent {
  /** `smtp` reports by mail, to `BOUNCE_ADDRESS`. */
  readonly provider: Provider
  readonly type: SimulatedEventType
  readonly messageId: string
  /** The recipients that it is about: bare, lower-case. */
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
  /** The producer of the mail: a provider, or another name. */
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
  /** The idempotency key of the send. */
  readonly key?: string | undefined
  readonly category?: string | undefined
  /** What sent it, such as `api:receipts`. */
  readonly source?: string | undefined
  readonly tags?: Readonly<Record<string, string>> | undefined
  /** Length of the whole message, bytes. */
  readonly bytes?: number | undefined
  /** How many files are attached, without the pictures within its HTML. */
  readonly files?: number | undefined
  /** The configuration set of the send. */
  readonly configurationSet?: string | undefined
  /** The events that it had: those that the test addresses among its recipients trigger, and those that were simulated later. */
  readonly marks?: ReadonlyArray<SimulatedEventType> | undefined
  /** The beginning of its words, for the search. */
  readonly text?: string | undefined
  /** True once the mail was opened. */
  readonly read?: true | undefined
}

/** Which messages a list has. */
export interface OutboxFilter {
  readonly limit?: number | undefined
  /** Only those older than the message of this id. */
  readonly before?: string | undefined
  /** Only those newer than the message of this id: of more than `limit`, the ones next to it. */
  readonly after?: string | undefined
  /** As people write it (`parseOutboxSearch`). */
  readonly search?: string | undefined
  /** A bare address, in lower case, that is sender or recipient. */
  readonly address?: string | undefined
}

/** Some messages of the outbox, and where the look at it ended. */
export interface OutboxPage {
  readonly entries: ReadonlyArray<OutboxEntry>
  /** The id of the last message that was looked at, where there are older ones; undefined where all were. */
  readonly lookedUntil: string | undefined
  /** How many messages were looked at. */
  readonly looked: number
  /** How many there are in the outbox, whatever is looked for. */
  readonly total: number
}

/** A message to put into the outbox; `raw` is a whole RFC 5322 message. */
interface OutboxMessage extends Omit<OutboxEntry, "id" | "at" | "cc" | "bcc" | "read" | "bytes"> {
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
  /** Newest first; a filter looks at the newest {@link MAX_SEARCHED}. */
  readonly list: (filter?: OutboxFilter) => Effect.Effect<ReadonlyArray<OutboxEntry>, StoreUnavailable>
  /** A page of them, and the place at which it ended. */
  readonly page: (filter: OutboxFilter) => Effect.Effect<OutboxPage, StoreUnavailable>
  readonly entry: (id: string) => Effect.Effect<OutboxEntry | undefined, StoreUnavailable>
  /** Whether it was ever put there: also where it was removed since, within the window of idempotency keys. */
  readonly has: (id: string) => Effect.Effect<boolean, StoreUnavailable>
  /** The raw message; `undefined` when the id is unknown. */
  readonly get: (id: string) => Effect.Effect<Uint8Array | undefined, StoreUnavailable>
  /** Notes that somebody opened the message, or an event that it had. */
  readonly mark: (id: string, mark: "read" | SimulatedEventType) => Effect.Effect<void, StoreUnavailable>
  /** False where there was none of that id. */
  readonly remove: (id: string) => Effect.Effect<boolean, StoreUnavailable>
  /** Removes the message of this id and all older ones, so that one that has just arrived stays; returns how many. */
  readonly clear: (newest: string) => Effect.Effect<number, StoreUnavailable>
  /** An element after each change, by any process; changes of the same moment may share one. */
  readonly changes: Stream.Stream<void, StoreUnavailable>
}

/** Most messages that a filter looks at. */
export const MAX_SEARCHED = 2_000

/** The simulated providers of an embedded installation, and their outbox. */
export class SimulatedMail extends Context.Service<
  SimulatedMail,
  {
    readonly outbox: Outbox
    readonly provider: (provider: Provider) => MailProvider
    /**
     * Scripts the provider's behaviour for the next requests of all processes on the data folder, in order; replaces an earlier
     * script for the same target. Afterwards `otherwise`, by default `ok`; a script with a target then leaves the request to the
     * one without.
     */
    readonly script: (
      provider: Provider,
      outcomes: ReadonlyArray<SimulatedOutcome>,
      otherwise?: SimulatedOutcome,
      target?: SimulatedTarget
    ) => Effect.Effect<void, StoreUnavailable>
    /**
     * Has the message's provider report an event about these recipients, all of them by default: the way that its own reports
     * take. False where no provider sent it, or one that reports nothing.
     */
    readonly report: (
      entry: OutboxEntry,
      type: SimulatedEventType,
      recipients?: ReadonlyArray<string>
    ) => Effect.Effect<boolean, StoreUnavailable>
  }
>()("postlane/ports/SimulatedMail") {}
