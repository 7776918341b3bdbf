import { Schema } from "effect"

/** How a mail ended. From `duplicate` on they get no reply; `unregistered` gets one a day. */
export const MailOutcome = Schema.Literals([
  "success",
  "error",
  "insufficient",
  "unregistered",
  "no_attachment",
  "unsupported",
  "too_large",
  "misaddressed",
  "duplicate",
  "automatic",
  "unverified",
  "no_sender",
  "limited",
  "suppressed",
  "malformed"
])
export type MailOutcome = typeof MailOutcome.Type

/** Replies an hour to one customer that only tell how to send a file: whoever answers them by a program gets no more. */
export const MAX_HINTS_AN_HOUR = 20

/** Mails an hour that one sender may send; the contract asks for 100 at least. Beyond, they are not answered. */
export const MAX_MAILS_AN_HOUR = 500
