import { Context, Data, type Effect, type Result } from "effect"

import type {
  DeliveryEvent,
  FailedSend,
  RecordedEvent,
  IncomingEvent
} from "../../domain/delivery/delivery-event.ts"
import type { KeyTag, LogRowId } from "../../domain/ids.ts"
import type { Provider, WebhookName } from "../../domain/mail/provider.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** The result of recording an event, and whether it was backfill that keeps its alert's claim. */
export interface LoggedEvent extends RecordedEvent {
  readonly backfilled: boolean
}

/** How an event arrived. */
export interface RecordOptions {
  /** Where the event creates its row, it is backfill: it keeps the alert's claim without an alert (EVENT-32). */
  readonly backfill?: boolean
  /**
   * The poll found it in the provider's list, which has neither its time nor its reason: an event that the webhook brought
   * is not overwritten. It is no sign that the webhook works.
   */
  readonly polled?: boolean
}

/** A mail that a delivery report names. `recipients`: which of the reported addresses are recipients of it; absent while its row is not written. */
export interface MailOfReport {
  readonly recipients: ReadonlyArray<string> | undefined
}

/** The writer of delivery events (`record_email_event`, EVENT-10 to EVENT-14). */
export class DeliveryLog extends Context.Service<
  DeliveryLog,
  {
    /** Merges the event into its row; a repeated event changes nothing (L3). */
    readonly record: (
      event: DeliveryEvent,
      options?: RecordOptions
    ) => Effect.Effect<LoggedEvent, StoreUnavailable>
    /** Records, to the minute, that a webhook delivered an event of this provider: input of the alarm on silence. */
    readonly heard: (provider: Provider) => Effect.Effect<void, StoreUnavailable>
    /**
     * The mail of the relay whose use of a key has this tag, which its Message-ID has to fit; undefined where this installation sent none.
     * An address that a person had before they were erased still counts.
     */
    readonly mailOfReport: (
      mail: { readonly messageId: string; readonly keyTag: KeyTag },
      addresses: ReadonlyArray<string>
    ) => Effect.Effect<MailOfReport | undefined, StoreUnavailable>
    /** The span of the send that wrote the row; undefined where it was not traced. */
    readonly traceparent: (sendId: LogRowId) => Effect.Effect<string | undefined, StoreUnavailable>
    /**
     * Releases the claim of an alert that did not go out; false without such a claim. Where some channels have accepted it (`taken`), it
     * is no event's any more: only {@link claimDueAlert} gives it out, for the others, `MAX_CHANNEL_TRIES` times in all.
     */
    readonly releaseAlert: (
      sendId: LogRowId,
      taken?: ReadonlyArray<string>
    ) => Effect.Effect<boolean, StoreUnavailable>
    /**
     * Confirms that the alert went out or is not wanted, even if its claim was released in the meantime: nothing raises it
     * again. False where it was confirmed already.
     */
    readonly confirmAlert: (sendId: LogRowId) => Effect.Effect<boolean, StoreUnavailable>
    /**
     * Claims the alert that has been due longest: three minutes after a claim that was neither confirmed nor released, and
     * a minute (doubled with every claim, up to an hour) after a release that no event followed. Of several callers at
     * once, one gets each alert. `undefined` where none is due.
     */
    readonly claimDueAlert: Effect.Effect<FailedSend | undefined, StoreUnavailable>
  }
>()("postlane/ports/DeliveryLog") {}

/**
 * A webhook body that is not what the provider signed (`signature`), or of a caller without the credentials (`credentials`), or is
 * genuine but not JSON (`body`); or every request is refused because no secret is set (`secret`).
 */
export class WebhookRefused extends Data.TaggedError("WebhookRefused")<{
  readonly about: "secret" | "signature" | "credentials" | "body"
  readonly reason: string
}> {}

/** Reads one provider's webhook. */
export interface WebhookReader {
  /** Whether the headers may be genuine: asked before the body is read. */
  readonly admits: (headers: Readonly<Record<string, unknown>>) => Result.Result<void, WebhookRefused>
  /** The raw body: verified, then parsed. */
  readonly read: (
    body: Uint8Array,
    headers: Readonly<Record<string, unknown>>
  ) => Result.Result<IncomingEvent, WebhookRefused>
}

/** Parses the providers' notifications. Pure; nothing is recorded here. */
export class DeliveryIntake extends Context.Service<
  DeliveryIntake,
  {
    readonly webhooks: Readonly<Record<WebhookName, WebhookReader>>
    /** The parsed body of `provider_b`'s event bus, one envelope or a list. */
    readonly bus: (body: unknown) => ReadonlyArray<IncomingEvent>
  }
>()("postlane/ports/DeliveryIntake") {}
