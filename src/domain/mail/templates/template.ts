/**
 * The mails that Postlane writes itself: what each says, as data. The renderer (`MailTemplates` in
 * `../../../ports/mail/mail-provider.ts`) decides how they look. Every value here may come from strangers; the renderer
 * escapes it.
 */
import type { DoubtfulPages } from "../../../reader/model/doubt.ts"
import type { LeftOut } from "../../../reader/model/left-out.ts"

/** A link and its text. */
export interface TemplateLink {
  readonly text: string
  readonly url: string
}

/** One row of a table of figures: what, and how many; `failures` highlights it. */
export interface DigestCount {
  readonly label: string
  readonly count: number
  readonly failures: number
}

/** A thing that happened, for the digest's list. */
export interface DigestEvent {
  /** ISO 8601. */
  readonly at: string
  readonly actor: string
  /** In words, e.g. `Removed the suppression of a@x.test`. */
  readonly what: string
  readonly failed: boolean
}

/** Every mail, by `kind`. Times are ISO 8601, money US dollars. */
export type MailTemplate =
  // Mails of the product
  | { readonly kind: "contact"; readonly name: string; readonly email: string; readonly message: string }
  | {
      readonly kind: "feedback"
      readonly email: string | undefined
      readonly rating: number | undefined
      readonly message: string
      readonly page: string | undefined
    }
  | {
      readonly kind: "share"
      readonly sender: string
      readonly fileName: string
      readonly message: string | undefined
      readonly url: string
      /** When the link stops working. */
      readonly expiresAt: string
    }
  | {
      readonly kind: "team-invite"
      readonly inviter: string
      readonly team: string
      readonly url: string
      readonly expiresAt: string
    }
  | { readonly kind: "account-deleted"; readonly email: string; readonly deletedAt: string }
  | {
      readonly kind: "receipt"
      readonly customer: string
      readonly receiptId: string
      readonly paidAt: string
      readonly lines: ReadonlyArray<{ readonly text: string; readonly amountUsd: number }>
      readonly totalUsd: number
    }
  | {
      readonly kind: "magic-link"
      readonly promo: string
      readonly url: string
      /** How long the link works, minutes. */
      readonly minutes: number
    }
  | {
      /** Asked for on the sign-in page. */
      readonly kind: "sign-in"
      readonly url: string
      /** How long the link works, minutes. */
      readonly minutes: number
    }
  | {
      readonly kind: "admin-invite"
      readonly inviter: string
      /** Whether they may only look. */
      readonly readOnly: boolean
      /** The sign-in page. */
      readonly url: string
    }
  | {
      readonly kind: "outreach"
      readonly subject: string
      readonly paragraphs: ReadonlyArray<string>
      readonly action: TemplateLink | undefined
      /** The sender's postal address and why the reader gets this. */
      readonly footer: string
      readonly unsubscribeUrl: string
    }
  | {
      readonly kind: "audit-digest"
      readonly cadence: "daily" | "weekly"
      readonly from: string
      readonly to: string
      readonly counts: ReadonlyArray<DigestCount>
      readonly events: ReadonlyArray<DigestEvent>
      /** How many more events there were than are listed. */
      readonly more: number
      readonly links: ReadonlyArray<TemplateLink>
    }
  // For admins
  | {
      /** A mail that failed at the provider. */
      readonly kind: "alert"
      /** What became of the mail, e.g. `bounced`. */
      readonly what: string
      readonly recipients: ReadonlyArray<string>
      readonly subject: string | undefined
      /** The provider's, in its own words. */
      readonly reason: string | undefined
      readonly category: string | undefined
      readonly source: string | undefined
      readonly provider: string
      readonly messageId: string
      readonly sendId: string
      readonly at: string | undefined
      /** The mail's page. */
      readonly url: string
      /** Where it is seen whether its addresses are suppressed; absent where what became of it suppresses none. */
      readonly suppressionsUrl: string | undefined
    }
  | {
      readonly kind: "alarm"
      readonly title: string
      /** What was measured. */
      readonly detail: string
      /** What to do about it; absent: the alarm is over. */
      readonly remedy: string | undefined
      /** The overview. */
      readonly url: string
    }
  | {
      /** Asked for on the page of notifications. */
      readonly kind: "alert-test"
      /** The admin. */
      readonly actor: string
      /** The page of notifications. */
      readonly url: string
    }
  // Replies of convert-by-email (INBOUND-9)
  | { readonly kind: "unregistered"; readonly address: string; readonly registerUrl: string }
  | { readonly kind: "no-attachment"; readonly convertAddress: string }
  | { readonly kind: "misaddressed"; readonly convertAddress: string }
  | { readonly kind: "unsupported-file"; readonly fileName: string; readonly found: string }
  | {
      readonly kind: "insufficient-credits"
      readonly fileName: string
      /** Pages as estimated, one credit each. */
      readonly needed: number
      readonly balance: number
      readonly plan: "free" | "paid"
      readonly buyUrl: string
    }
  | {
      readonly kind: "processing-started"
      readonly fileName: string
      readonly pages: number | undefined
      /** Names of further attachments, which are not converted. */
      readonly ignored: ReadonlyArray<string>
    }
  | {
      readonly kind: "success"
      readonly fileName: string
      readonly pages: number
      readonly creditsCharged: number
      readonly balance: number
      readonly ignored: ReadonlyArray<string>
      /** Pages from 1 that could not be read: each has a note in its place and was not charged. */
      readonly unreadablePages: ReadonlyArray<number>
      /** Pages from 1 that were read from their pictures, but not well. */
      readonly poorlyReadPages?: ReadonlyArray<number>
      /** Doubtful pages, by reason. */
      readonly doubtfulPages?: ReadonlyArray<DoubtfulPages>
      /** What the PDF holds that was not converted; absent: nothing. */
      readonly leftOut?: LeftOut
      /** Whether the result contains any text. */
      readonly hasText: boolean
      /** Where the result is too big to attach. */
      readonly resultUrl: string | undefined
    }
  | {
      readonly kind: "error"
      readonly fileName: string
      /** For the customer, in words; no internals. */
      readonly reason: string
    }
  | {
      readonly kind: "bulk-completed"
      readonly bulkId: string
      readonly items: ReadonlyArray<{
        readonly fileName: string
        readonly outcome: "completed" | "failed" | "cancelled"
        /** How many pages no model converted though high fidelity was asked for. */
        readonly noModelPages: number
        readonly url: string | undefined
      }>
    }

/** The name of each mail. */
export type MailTemplateKind = MailTemplate["kind"]

/** A finished mail: plain text and HTML with the same content. */
export interface RenderedMail {
  readonly subject: string
  readonly html: string
  readonly text: string
}
