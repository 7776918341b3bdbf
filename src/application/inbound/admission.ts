import { Effect, Result } from "effect"
import { Digest, sha256 } from "effect/crypto/Digest"

import { type AttachmentChoice, chooseAttachment } from "../../domain/inbound/attachment-choice.ts"
import { automaticReason, silenceReason } from "../../domain/inbound/automatic-mail.ts"
import { headerValues } from "../../domain/inbound/incoming-mail.ts"
import { judgeSender, UNTRUSTED_PEER } from "../../domain/inbound/judge-sender.ts"
import {
  identityText,
  isWrittenTo,
  messageIdOf,
  referencesOf,
  signatureTexts
} from "../../domain/inbound/mail-headers.ts"
import { estimatePages } from "../../domain/inbound/page-class.ts"
import type { ReplyContent } from "../../domain/inbound/reply-content.ts"
import { addressKey } from "../../domain/mail/address.ts"
import { ConvertPipeline } from "../../ports/inbound/convert-pipeline.ts"
import {
  type ClaimedMail,
  type Customer,
  IntakeStore,
  type Shortage
} from "../../ports/inbound/intake-store.ts"
import { MailReader, type PdfContent, type ReadableMail } from "../../ports/inbound/mails.ts"
import { MailObjects } from "../../ports/object-store.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import {
  type About,
  endIfUnreachable,
  endInError,
  endInsufficient,
  endMail,
  isFinal,
  MAX_ATTEMPTS,
  MAIL_HOLD_WINDOW
} from "./ending.ts"
import { IntakeConfig, sourceKey, MAX_HINTS_AN_HOUR, MAX_MAILS_AN_HOUR } from "./intake-config.ts"
import { countEnded } from "./metrics.ts"

const encoder = new TextEncoder()

/** Message to a customer when their mail was set aside. */
const UNREADABLE =
  "The mail could not be worked on, and nothing in it was converted. Please send the file again in a new mail."

/** The sender, when their mail is admitted. Undefined: the mail has ended without an answer, and the reason is logged. */
const senderOrEnd = Effect.fnUntraced(function* (
  mail: ClaimedMail,
  parsed: ReadableMail,
  choice: AttachmentChoice<PdfContent>
) {
  const { authenticity, ownAddresses } = yield* IntakeConfig
  const judged = judgeSender(parsed, mail, authenticity)
  if (judged.sender === undefined) {
    yield* endMail(mail, judged)
    return undefined
  }
  const { sender } = judged
  const isOrder = choice._tag === "Pdf" || choice._tag === "TooLarge"
  const silence = silenceReason(parsed, mail.envelopeFrom, sender, { isOrder, ownAddresses })
  if (silence === undefined) return sender
  yield* endMail(mail, { outcome: "automatic", reason: silence })
  return undefined
})

/** The hash of the file to convert; without one, of all attachments. */
const contentHash = Effect.fnUntraced(function* (parsed: ReadableMail, choice: AttachmentChoice<PdfContent>) {
  const digest = yield* Digest
  if (choice._tag === "Pdf") return choice.part.sha256
  const hashes = parsed.parts.map(({ sha256: hash }) => hash)
  return yield* digest.digestHex(sha256, encoder.encode(hashes.join(",")))
})

/** Claims the mail's identity before any work on it; false where this delivery is a duplicate and ends here. */
const isOurs = Effect.fnUntraced(function* (
  mail: ClaimedMail,
  parsed: ReadableMail,
  rawSha256: string,
  sender: string,
  choice: AttachmentChoice<PdfContent>
) {
  const store = yield* IntakeStore
  const digest = yield* Digest
  const contentSha256 = yield* contentHash(parsed, choice)
  const identity = identityText(parsed.headers, sender, contentSha256, rawSha256)
  const hash = (text: string) => digest.digestHex(sha256, encoder.encode(text))
  const answer = yield* store.identify(
    mail,
    {
      identity: yield* hash(identity),
      signatures: yield* Effect.forEach(signatureTexts(parsed.headers, sender), hash),
      messageId: messageIdOf(parsed.headers),
      sender,
      contentSha256,
      subject: parsed.subject ?? headerValues(parsed, "subject")[0],
      references: referencesOf(parsed.headers)
    },
    MAX_MAILS_AN_HOUR
  )
  if (answer === "duplicate" || answer === "limited") {
    yield* countEnded(answer)
    yield* Effect.logInfo(`a mail ended: ${answer}`).pipe(
      Effect.annotateLogs({ mail: mail.id, outcome: answer })
    )
  }
  return answer === "claimed"
})

/** Stores the PDF, counts its pages, puts the funds on hold and queues the conversion. */
const admitPdf = Effect.fnUntraced(function* (
  mail: ClaimedMail,
  customer: Customer,
  { filename, ignored, part }: AttachmentChoice<PdfContent> & { readonly _tag: "Pdf" }
) {
  const store = yield* IntakeStore
  const objects = yield* MailObjects
  const pipeline = yield* ConvertPipeline
  const about: About = {
    customerId: customer.id,
    recipient: customer.email,
    filename,
    fileBytes: part.bytes
  }
  if (yield* endIfUnreachable(mail, about, { begun: false })) return
  const key = sourceKey(mail.id, mail.lease)
  yield* objects.put(key, part.pdf, { contentType: "application/pdf" })
  const counted = yield* Effect.result(pipeline.countPages(key))
  if (Result.isFailure(counted)) {
    const { message, reason } = counted.failure
    if (isFinal(mail, reason)) return yield* endInError(mail, about, message)
    return yield* counted.failure
  }
  const real = counted.success
  const expected = real ?? estimatePages(part.bytes)
  const admit = Effect.fnUntraced(function* (
    left: Shortage
  ): Effect.fn.Return<Shortage | undefined, StoreUnavailable> {
    if (left.balance <= 0) return left
    const answer = yield* store.admit(mail, {
      customerId: customer.id,
      filename,
      fileBytes: part.bytes,
      // An estimate may be too high, so it never refuses a mail: it holds at most the balance (INBOUND-11).
      pages: real ?? Math.min(expected, left.balance),
      ignored,
      sourceKey: key,
      recipient: customer.email,
      acknowledgement: { kind: "processing-started", fileName: filename, pages: expected, ignored },
      window: MAIL_HOLD_WINDOW
    })
    if (typeof answer !== "object") return undefined
    // Other work took some of the funds meanwhile.
    return real === undefined && answer.balance < left.balance ? yield* admit(answer) : answer
  })
  const short = yield* admit(customer)
  if (short !== undefined) yield* endInsufficient(mail, about, real ?? 1, short)
})

/** Answers a customer's mail. */
const answerCustomer = Effect.fnUntraced(function* (
  mail: ClaimedMail,
  customer: Customer,
  choice: AttachmentChoice<PdfContent>,
  writtenToUs: boolean
) {
  const { convertAddress } = yield* IntakeConfig
  const { email: recipient, id: customerId } = customer
  const hint = (content: ReplyContent) => ({ recipient, content, brake: MAX_HINTS_AN_HOUR })
  switch (choice._tag) {
    case "None":
      return yield* endMail(mail, {
        outcome: "no_attachment",
        reason: "it has no attachment",
        customerId,
        reply: hint({ kind: "no-attachment", convertAddress })
      })
    case "Sealed":
      return yield* endMail(mail, {
        outcome: "unsupported",
        reason: `it is ${choice.found}`,
        customerId,
        reply: hint({
          kind: "unsupported-file",
          fileName: "Your mail",
          found: `${choice.found}, which cannot be opened here`
        })
      })
    case "Unsupported":
      return yield* endMail(mail, {
        outcome: "unsupported",
        reason: `the attachment is ${choice.found}`,
        customerId,
        filename: choice.filename,
        reply: hint({ kind: "unsupported-file", fileName: choice.filename, found: choice.found })
      })
    case "TooLarge":
      return yield* endMail(mail, {
        outcome: "too_large",
        reason: `the attachment has ${choice.bytes} bytes`,
        customerId,
        filename: choice.filename,
        fileBytes: choice.bytes,
        reply: {
          recipient,
          content: {
            kind: "error",
            fileName: choice.filename,
            reason: "The file is larger than 25 MB, which is the most that can be converted by email."
          }
        }
      })
    case "Pdf":
      if (!writtenToUs) {
        return yield* endMail(mail, {
          outcome: "misaddressed",
          reason: "neither To nor Cc names the convert address",
          customerId,
          filename: choice.filename,
          reply: hint({ kind: "misaddressed", convertAddress })
        })
      }
      return yield* admitPdf(mail, customer, choice)
  }
})

/**
 * Ends a mail that cannot be read, that crashed its worker too often, or that could not be processed for too long; a customer gets an
 * error reply.
 */
export const abandonMail = Effect.fnUntraced(function* (mail: ClaimedMail, reason: string) {
  const store = yield* IntakeStore
  const customer = mail.sender === undefined ? undefined : yield* store.customer(mail.sender)
  yield* endMail(mail, {
    outcome: "error",
    reason,
    customerId: customer?.id,
    reply:
      customer === undefined
        ? undefined
        : {
            recipient: customer.email,
            content: { kind: "error", fileName: "Your file", reason: UNREADABLE },
            brake: MAX_HINTS_AN_HOUR
          }
  })
})

/** Answers a stranger, once a day, unless a program wrote the mail, or it was written to others and somebody's filter passed it on. */
const answerStranger = Effect.fnUntraced(function* (
  mail: ClaimedMail,
  address: string,
  { automatic, writtenToUs }: { readonly automatic: string | undefined; readonly writtenToUs: boolean }
) {
  const { registerUrl } = yield* IntakeConfig
  const unanswered = automatic ?? (writtenToUs ? undefined : "neither To nor Cc names the convert address")
  yield* endMail(mail, {
    outcome: "unregistered",
    reason: `the sender has no account${unanswered === undefined ? "" : ` (not answered: ${unanswered})`}`,
    reply:
      unanswered === undefined
        ? { recipient: address, content: { kind: "unregistered", address, registerUrl }, stranger: true }
        : undefined
  })
})

/** The first half of INBOUND-8: from the raw mail to a reply that says why not, or to a conversion that may begin. */
export const admitMail = Effect.fnUntraced(function* (mail: ClaimedMail) {
  const store = yield* IntakeStore
  const reader = yield* MailReader
  const { convertAddresses } = yield* IntakeConfig
  if (mail.attempts > MAX_ATTEMPTS) return yield* abandonMail(mail, `its worker died ${MAX_ATTEMPTS} times`)
  if (!mail.peerTrusted) {
    // The peer is untrusted, so its headers prove nothing: the mail is not read (INBOUND-2).
    return yield* endMail(mail, { outcome: "unverified", reason: UNTRUSTED_PEER })
  }
  const read = yield* Effect.result(reader.read(mail.rawKey, mail.rawBytes))
  if (Result.isFailure(read)) {
    const { failure } = read
    return yield* failure._tag === "UnreadableMail" ? abandonMail(mail, failure.message) : failure
  }
  const { mail: parsed, rawSha256 } = read.success
  const choice = chooseAttachment(parsed.parts)
  const sender = yield* senderOrEnd(mail, parsed, choice)
  if (sender === undefined) return
  const key = addressKey(sender)
  if (!(yield* isOurs(mail, parsed, rawSha256, key, choice))) return
  const customer = yield* store.customer(key)
  const writtenToUs = isWrittenTo(parsed, sender, convertAddresses)
  yield* customer === undefined
    ? answerStranger(mail, key, {
        automatic: automaticReason(parsed, mail.envelopeFrom, sender),
        writtenToUs
      })
    : answerCustomer(mail, customer, choice, writtenToUs)
}, Effect.scoped)
