import { type Address, type Attachment, type Email } from "postal-mime"

import type { SubmittedMail } from "../../domain/mail/submitted-mail.ts"
import { type MailAnswer, readWithinLimits } from "./within-limits.ts"

/** What a hostile mail may cost: real ones nest a few levels deep. An attached message stays an attachment. */
const LIMITS = {
  maxNestingDepth: 50,
  maxHeadersSize: 1024 * 1024,
  forceRfc822Attachments: true,
  attachmentEncoding: "base64"
} as const

/** What is answered. `unreadable`: why the mail cannot be read. */
export type SubmissionAnswer = MailAnswer<SubmittedMail>

/** The addresses of a header, those of its groups, too. */
const flat = (addresses: ReadonlyArray<Address> = []) =>
  addresses
    .flatMap((one) => one.group ?? [one])
    .filter(({ address }) => address !== "")
    .map(({ address, name }) => ({ address, name }))

const base64Of = (content: Attachment["content"]): string =>
  typeof content === "string" ? content : Buffer.from(new Uint8Array(content)).toString("base64")

const mailOf = (email: Email): SubmittedMail => ({
  from: flat(email.from === undefined ? [] : [email.from])[0],
  replyTo: flat(email.replyTo),
  to: flat(email.to),
  cc: flat(email.cc),
  subject: email.subject ?? "",
  messageId: email.messageId,
  html: email.html || undefined,
  text: email.text || undefined,
  headers: email.headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
  parts: email.attachments.map(({ content, contentId, disposition, filename, mimeType, related }) => ({
    filename: filename ?? undefined,
    mediaType: mimeType.toLowerCase(),
    content: base64Of(content),
    contentId,
    inline: disposition === "inline" || related === true
  }))
})

/** Takes apart a mail that a program handed over, in a separate process, see `ReaderProcess`. */
export default (raw: Uint8Array): Promise<SubmissionAnswer> => readWithinLimits(raw, LIMITS, mailOf)
