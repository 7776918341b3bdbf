import type { Mailbox } from "../mail/address.ts"
import type { IncomingMail } from "./incoming-mail.ts"
import { malformation } from "./mail-headers.ts"
import type { MailOutcome } from "./mail-outcome.ts"
import { type AuthenticityRules, authenticityOf, senderOf } from "./sender-authenticity.ts"

/** The author of a mail, or how the mail ends without an answer because the author is not certain. */
type Judgement =
  | { readonly sender: Mailbox }
  | { readonly sender: undefined; readonly outcome: MailOutcome; readonly reason: string }

/** Why nothing that a mail says counts. */
export const UNTRUSTED_PEER = "it did not come from a trusted mail hop"

/** Judges by the headers alone, when a mail arrives and again when it is read (INBOUND-4). */
export const judgeSender = (
  mail: Pick<IncomingMail, "headers" | "from">,
  delivery: { readonly envelopeFrom: string; readonly peerTrusted: boolean },
  rules: AuthenticityRules
): Judgement => {
  const end = (outcome: MailOutcome, reason: string): Judgement => ({ sender: undefined, outcome, reason })
  if (!delivery.peerTrusted) return end("unverified", UNTRUSTED_PEER)
  const sender = senderOf(mail)
  if (sender === undefined) return end("no_sender", "it names no sender, or several")
  const authenticity = authenticityOf(mail, sender, delivery, rules)
  if (!authenticity.verified) return end("unverified", authenticity.reason)
  const malformed = malformation(mail)
  return malformed === undefined ? { sender } : end("malformed", malformed)
}
