import PostalMime, { type Email, type PostalMimeOptions } from "postal-mime"

import { beyondLimits } from "../../application/inbound/mail-limits.ts"

/** A mail that was read, or why it cannot be. */
export type MailAnswer<Mail> =
  | { readonly kind: "read"; readonly mail: Mail }
  | { readonly kind: "unreadable"; readonly message: string }

/** Parses a mail whose size and form are within the limits of mails. Total. */
export const readWithinLimits = async <Mail>(
  raw: Uint8Array,
  limits: PostalMimeOptions,
  mailOf: (email: Email) => Mail
): Promise<MailAnswer<Mail>> => {
  const beyond = beyondLimits(raw)
  if (beyond !== undefined) return { kind: "unreadable", message: beyond }
  try {
    return { kind: "read", mail: mailOf(await PostalMime.parse(raw, limits)) }
  } catch (cause) {
    return { kind: "unreadable", message: cause instanceof Error ? cause.message : "it is not a mail" }
  }
}
