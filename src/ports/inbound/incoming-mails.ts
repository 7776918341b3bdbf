import { Context, type Effect } from "effect"

import type { CustomerId, MailId } from "../../domain/ids.ts"
import type { MailOutcome } from "../../domain/inbound/mail-outcome.ts"
import type { ReplyContent } from "../../domain/inbound/reply-content.ts"
import type { InvalidCursor } from "../cursor.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** Steps of a mail. */
export const MAIL_STEPS = ["received", "converting", "ended"] as const
type MailStep = (typeof MAIL_STEPS)[number]

/** Most rows of a page. */
export const MAX_MAIL_PAGE = 200

/** A reply to a mail. */
interface IncomingReplyRow {
  readonly kind: ReplyContent["kind"]
  readonly recipient: string
  readonly status: "queued" | "sent" | "failed"
  readonly attempts: number
  readonly asLink: boolean
  readonly error: string | null
  readonly createdAt: string
  readonly endedAt: string | null
}

/** A mail to the convert address. */
export interface IncomingMailRow {
  readonly id: string
  /** When it arrived. */
  readonly createdAt: string
  /** The sender, if verified. */
  readonly sender: string | null
  readonly envelopeFrom: string
  readonly subject: string | null
  readonly rawBytes: number
  readonly step: MailStep
  readonly outcome: MailOutcome | null
  /** Why it ended so, in words. */
  readonly reason: string | null
  readonly customerId: string | null
  readonly filename: string | null
  readonly fileBytes: number | null
  readonly pages: number | null
  readonly creditsCharged: number
  readonly attempts: number
  /** What it waits for, and since when. */
  readonly failingPart: string | null
  readonly failingSince: string | null
  /** When it is due. */
  readonly notBefore: string
  readonly endedAt: string | null
  /** Oldest first. */
  readonly replies: ReadonlyArray<IncomingReplyRow>
}

/** Which mails; absent: any. */
export interface IncomingMailFilter {
  readonly step?: MailStep | undefined
  readonly outcome?: MailOutcome | undefined
  /** Key of an address: the verified sender, or the envelope's. */
  readonly sender?: string | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

type Ask<A> = Effect.Effect<A, StoreUnavailable>

/** Mails to the convert address as people see them: what became of each, and what can be done about it (INBOUND-17). */
export class IncomingMails extends Context.Service<
  IncomingMails,
  {
    /** Newest first. */
    readonly page: (
      filter: IncomingMailFilter
    ) => Effect.Effect<
      { readonly rows: ReadonlyArray<IncomingMailRow>; readonly nextCursor: string | null },
      InvalidCursor | StoreUnavailable
    >
    /** Mails of a customer, newest first. */
    readonly ofCustomer: (customerId: CustomerId, limit: number) => Ask<ReadonlyArray<IncomingMailRow>>
    /**
     * A mail that waits is due now, with all its attempts; of one that has ended, the replies that did not go out are. `ended`: it has
     * none. Undefined: there is no such mail.
     */
    readonly retry: (id: MailId) => Ask<"retried" | "ended" | undefined>
    /** Ends a mail that has not ended: what is set aside for it is released, and a customer gets this reply about their file. */
    readonly setAside: (
      id: MailId,
      options: { readonly reason: string; readonly reply: string }
    ) => Ask<"set_aside" | "ended" | undefined>
  }
>()("postlane/ports/IncomingMails") {}
