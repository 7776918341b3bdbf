import { Context, type Effect, type Redacted } from "effect"

import type { FailureKind } from "../../domain/mail/failover.ts"
import type { SendStatus } from "../../domain/mail/send-result.ts"
import type { CampaignSendStatus } from "../../domain/outreach/campaign-status.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** A delivery event of a campaign send. */
export interface CampaignEvent {
  readonly providerMessageId: string
  readonly event: string
  /** Milliseconds since the epoch. */
  readonly occurredAt: number | undefined
  /** The bus's id of the event: distinguishes two that have no time. */
  readonly eventId: string | undefined
  /** The row that the send's tag names. */
  readonly sendId: string | undefined
  readonly campaign: string | undefined
  readonly subject: string | undefined
  /** Bare lower-case addresses. */
  readonly recipients: ReadonlyArray<string>
  /** The recipients that a bounce or a complaint is about. */
  readonly affected: ReadonlyArray<string>
}

/** The mail to be sent. */
export interface OutreachEntry {
  /** Bare and lower-case. */
  readonly email: string
  readonly name: string | undefined
  readonly campaign: string
  readonly subject: string
  readonly idempotencyKey: string
}

/** Whether it may be sent. */
export type OutreachBegin =
  /** `mailKey` is the mail's idempotency key: a new one where an earlier deferral ended without a mail. */
  | { readonly _tag: "Begun"; readonly id: string; readonly mailKey: string }
  | { readonly _tag: "Unsubscribed" }
  /** The same mail went out before, or may have, longer ago than its key is remembered. */
  | {
      readonly _tag: "Settled"
      readonly id: string
      readonly status: CampaignSendStatus
      readonly providerMessageId: string | null
    }

/** How a begun send ended. */
export interface OutreachEnd {
  readonly id: string
  readonly outcome: SendStatus
  readonly providerMessageId: string | null
  readonly error: string | null
  readonly errorKind: FailureKind | null
}

/** The tables `email_sends`, `prospects` and `unsubscribes`, as outreach sends and their events use them. */
export class CampaignBook extends Context.Service<
  CampaignBook,
  {
    /**
     * Records an event; false where it was recorded before or changes nothing. The end state does not depend on the order
     * of events.
     */
    readonly record: (event: CampaignEvent) => Effect.Effect<boolean, StoreUnavailable>
    /** Checks that the address is not unsubscribed and makes the send's row, in one step. */
    readonly begin: (entry: OutreachEntry) => Effect.Effect<OutreachBegin, StoreUnavailable>
    /** Records how it ended; a repeated call changes nothing. */
    readonly finish: (end: OutreachEnd) => Effect.Effect<void, StoreUnavailable>
    /** Settles deferred sends that have ended in the send log; returns how many. */
    readonly settle: Effect.Effect<number, StoreUnavailable>
  }
>()("postlane/ports/CampaignBook") {}

/** The addresses that get no outreach, and the key that signs unsubscribe links. */
export class Unsubscribes extends Context.Service<
  Unsubscribes,
  {
    /** 32 random bytes that never change. */
    readonly key: Effect.Effect<Redacted.Redacted<Uint8Array>, StoreUnavailable>
    /** Takes an address (bare, lower-case) off all outreach and all marketing; a repeated call changes nothing. */
    readonly add: (entry: {
      readonly email: string
      /** Of the mail that led to it, if one did. */
      readonly campaign: string | undefined
    }) => Effect.Effect<void, StoreUnavailable>
  }
>()("postlane/ports/Unsubscribes") {}
