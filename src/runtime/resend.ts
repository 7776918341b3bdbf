/** `postlane/resend`: for code that calls `resend.emails.send`. Only the import changes. */
import { makeResend, type ResendDropIn } from "../adapters/drop-ins/resend.ts"
import type { DropInOptions } from "../adapters/drop-ins/send.ts"
import { sendEmail } from "./library.ts"

export type {
  ResendAnswer,
  ResendBatchOptions,
  ResendEmail,
  ResendError,
  ResendRequestOptions
} from "../adapters/drop-ins/resend.ts"
export type { DropInOptions, Send } from "../adapters/drop-ins/send.ts"

/** In place of Resend's class. The key is `provider_a`'s, where `PROVIDERA_API_KEY` does not name one. */
export class Resend implements ResendDropIn {
  readonly emails: ResendDropIn["emails"]
  readonly batch: ResendDropIn["batch"]
  constructor(apiKey?: string, options: DropInOptions = {}) {
    const { batch, emails } = makeResend(options.send ?? sendEmail, options, apiKey)
    this.emails = emails
    this.batch = batch
  }
}
