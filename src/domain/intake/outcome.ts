import { Schema } from "effect"

/** How a mail ended. The last six get no reply; `unregistered` gets one a day. */
export const MailOutcome = Schema.Literals([
  "success",
  "error",
  "insufficient",
  "unregistered",
  "no_attachment",
  "unsupported",
  "too_large",
  "duplicate",
  "automatic",
  "unverified",
  "no_sender",
  "limited"
])
export type MailOutcome = typeof MailOutcome.Type

/** Mails an hour that one sender may send; the contract asks for 100 at least. Beyond, they are not answered. */
export const MAX_MAILS_AN_HOUR = 500
