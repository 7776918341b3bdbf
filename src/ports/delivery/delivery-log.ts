import { Context, Data, type Effect, type Result } from "effect"

import type {
  DeliveryEvent,
  FailedSend,
  RecordedEvent,
  IncomingEvent
} from "../../domain/delivery/delivery-event.ts"
import type { Provider } from "../../domain/mail/failover.ts"

/** The log could not take an event or what became of an alert. */
export class DeliveryLogError extends Data.TaggedError("DeliveryLogError")<{
  readonly operation: "record" | "heard" | "releaseAlert" | "confirmAlert" | "claimDueAlert"
  readonly cause: unknown
}> {}

/** What became of an event, and whether it was a backfill that keeps its alert's claim. */
export interface LoggedEvent extends RecordedEvent {
  readonly backfilled: boolean
}

/** How an event was learned of. */
export interface RecordOptions {
  /** An event that makes its row is from before logging began: it keeps the alert's claim without an alert. */
  readonly backfill?: boolean
  /**
   * The poll found it in the provider's list, which knows neither its moment nor its reason: an account that came by itself
   * stands. It says nothing about the webhook.
   */
  readonly polled?: boolean
}

/** The writer of delivery events (document 1, `record_email_event`). */
export class DeliveryLog extends Context.Service<
  DeliveryLog,
  {
    /** Folds the event into its row; one that comes again changes nothing (L3). */
    readonly record: (
      event: DeliveryEvent,
      options?: RecordOptions
    ) => Effect.Effect<LoggedEvent, DeliveryLogError>
    /** Notes that a webhook brought an event of this provider, to the minute: what the alarm on silence goes by. */
    readonly heard: (provider: Provider) => Effect.Effect<void, DeliveryLogError>
    /** Gives back the claim of an alert that did not go out; false where there is none. */
    readonly releaseAlert: (sendId: string) => Effect.Effect<boolean, DeliveryLogError>
    /**
     * Notes that the alert went out or is not wanted, also where its claim was given back meanwhile: nothing raises it
     * again. False where it was confirmed already.
     */
    readonly confirmAlert: (sendId: string) => Effect.Effect<boolean, DeliveryLogError>
    /**
     * Claims the alert that is due for longest: three minutes after a claim that was neither confirmed nor released, and a
     * minute (then twice the time with every claim, up to an hour) after a release that no event followed. Of several
     * callers at once each alert goes to one. `undefined` where none is due.
     */
    readonly claimDueAlert: Effect.Effect<FailedSend | undefined, DeliveryLogError>
  }
>()("postlane/ports/DeliveryLog") {}

/**
 * A webhook body that is not what the provider signed (`signature`), or signed and no JSON (`body`); or nobody is let in, since
 * there is no signing secret (`secret`).
 */
export class WebhookRefused extends Data.TaggedError("WebhookRefused")<{
  readonly about: "secret" | "signature" | "body"
  readonly reason: string
}> {}

/** What the providers' notices say. Pure; nothing is recorded here. */
export class DeliveryIntake extends Context.Service<
  DeliveryIntake,
  {
    /** The raw body of `provider_a`'s webhook: verified, then parsed. */
    readonly webhook: (
      body: Uint8Array,
      headers: Readonly<Record<string, unknown>>
    ) => Result.Result<IncomingEvent, WebhookRefused>
    /** The parsed body of `provider_b`'s event bus, one envelope or a list. */
    readonly bus: (body: unknown) => ReadonlyArray<IncomingEvent>
  }
>()("postlane/ports/DeliveryIntake") {}
