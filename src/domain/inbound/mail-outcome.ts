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
