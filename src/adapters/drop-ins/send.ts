import type { SendRequest } from "../../domain/mail/message.ts"
import type { SendResult } from "../../domain/mail/send-result.ts"
import type { Category } from "../../domain/mail/suppression/policy.ts"

/** Sends one mail: `sendEmail`, or anything that keeps its promise (MAIL-2). */
export type Send = (
  request: SendRequest,
  options?: {
    readonly env?: Readonly<Record<string, unknown>> | undefined
    readonly apiKey?: string | undefined
    readonly retry?: boolean | undefined
  }
) => Promise<SendResult>

/** What our request names and the other library's does not. */
export interface DropInOptions {
  /** What kind of mail this is; `transactional` unless it says otherwise. */
  readonly category?: Category | undefined
  /** Where the mail comes from, for the log. */
  readonly source?: string | undefined
  /** Settings by name; on Node `process.env` by default. */
  readonly env?: Readonly<Record<string, unknown>> | undefined
  /** This process makes the retries of deferred mail as well, as with `sendEmail`. */
  readonly retry?: boolean | undefined
  /** Sends in place of `sendEmail`. */
  readonly send?: Send | undefined
}
