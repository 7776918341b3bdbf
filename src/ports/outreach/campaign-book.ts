import { Context, Data, type Effect, type Redacted } from "effect"

import type { FailureKind } from "../../domain/mail/failover.ts"
import type { SendStatus } from "../../domain/mail/send-result.ts"
import type { CampaignSendStatus } from "../../domain/outreach/campaign-status.ts"

/** The book cannot be read or written now. */
export class CampaignBookUnavailable extends Data.TaggedError("CampaignBookUnavailable")<{
  readonly cause: unknown
}> {}

/** A delivery event of a campaign send. */
export interface CampaignEvent {
  readonly providerMessageId: string
  readonly event: string
  /** Milliseconds since the epoch. */
  readonly occurredAt: number | undefined
  /** The bus's own id of the event: tells two apart that have no time. */
  readonly eventId: string | undefined
  /** The row that the send's tag names. */
  readonly sendId: string | undefined
  readonly campaign: string | undefined
  readonly subject: string | undefined
  /** Bare lower-case addresses. */
  readonly recipients: ReadonlyArray<string>
  /** Whom a bounce or a complaint is about. */
  readonly affected: ReadonlyArray<string>
}

/** What is about to be sent. */
interface OutreachEntry {
  /** Bare and lower-case. */
  readonly email: string
  readonly name: string | undefined
  readonly campaign: string
  readonly subject: string
  readonly idempotencyKey: string
}

/** Whether it may be sent. */
type OutreachBegin =
  /** `mailKey` is the idempotency key that the mail goes out under: a new one where an earlier deferral ended without a mail. */
  | { readonly _tag: "Begun"; readonly id: string; readonly mailKey: string }
  | { readonly _tag: "Unsubscribed" }
  /** This very mail went out before, or may have, longer ago than its key is remembered. */
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

/** The tables `email_sends`, `prospects` and `unsubscribes`, as sending and its events work with them. */
export class CampaignBook extends Context.Service<
  CampaignBook,
  {
    /** Books an event; false where it was booked before or says nothing. The end state depends on no order of events. */
    readonly record: (event: CampaignEvent) => Effect.Effect<boolean, CampaignBookUnavailable>
    /** Asks whether the address is unsubscribed and makes the send's row, in one step. */
    readonly begin: (entry: OutreachEntry) => Effect.Effect<OutreachBegin, CampaignBookUnavailable>
    /** Notes how it ended; again, it changes nothing. */
    readonly finish: (end: OutreachEnd) => Effect.Effect<void, CampaignBookUnavailable>
    /** Brings deferred sends whose end the send log knows to that end; how many. */
    readonly settle: Effect.Effect<number, CampaignBookUnavailable>
  }
>()("postlane/ports/CampaignBook") {}

/** The table cannot be read or written now. */
export class UnsubscribesUnavailable extends Data.TaggedError("UnsubscribesUnavailable")<{
  readonly cause: unknown
}> {}

/** Who gets no outreach, and the key that signs the links with which people say so. */
export class Unsubscribes extends Context.Service<
  Unsubscribes,
  {
    /** 32 random bytes that never change. */
    readonly key: Effect.Effect<Redacted.Redacted<Uint8Array>, UnsubscribesUnavailable>
    /** Takes an address (bare, lower-case) off all outreach; again, it changes nothing. */
    readonly add: (entry: {
      readonly email: string
      readonly campaign: string
    }) => Effect.Effect<void, UnsubscribesUnavailable>
  }
>()("postlane/ports/Unsubscribes") {}
