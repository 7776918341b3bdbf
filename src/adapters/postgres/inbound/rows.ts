import { Schema } from "effect"

import { CustomerId, type LeaseId, MailId } from "../../../domain/ids.ts"
import { ReplyContent } from "../../../domain/inbound/reply-content.ts"
import type { ClaimedMail, ClaimedReply } from "../../../ports/inbound/intake-store.ts"
import { statements } from "../statement.ts"
import { Absent, Int8, IsoTime, Millis, TextOrNull } from "../values.ts"

/** Every function is idempotent by its ids. */
export const ask = statements({ repeatable: true })

/** Where a mail names none. */
const NO_FILENAME = "document.pdf"

/** The columns of `intake_mails` that are read. */
export const MailRow = Schema.Struct({
  id: MailId,
  rawKey: Schema.String,
  rawBytes: Int8,
  envelopeFrom: Schema.String,
  peerTrusted: Schema.Boolean,
  attempts: Schema.Int,
  failures: Schema.Int,
  sender: Absent(Schema.String),
  customerId: Schema.NullOr(CustomerId),
  filename: TextOrNull,
  fileBytes: Schema.NullOr(Schema.Int),
  pages: Schema.NullOr(Schema.Int),
  ignored: Schema.Array(Schema.String),
  sourceKey: TextOrNull
})

export const mailOf = (
  { customerId, fileBytes, filename, ignored, pages, sourceKey, ...mail }: typeof MailRow.Type,
  lease: LeaseId
): ClaimedMail => ({
  ...mail,
  lease,
  job:
    customerId === null || sourceKey === null
      ? undefined
      : {
          customerId,
          filename: filename ?? NO_FILENAME,
          fileBytes: fileBytes ?? 0,
          pages: pages ?? 0,
          ignored,
          sourceKey
        }
})

/** A row that `claim_reply` returns. */
export const ReplyRow = Schema.Struct({
  id: Schema.String,
  mailId: MailId,
  recipient: Schema.String,
  content: ReplyContent,
  asLink: Schema.Boolean,
  attempts: Schema.Int,
  unknowns: Schema.Int,
  createdAt: Millis,
  messageId: Absent(Schema.String),
  threadReferences: Absent(Schema.String),
  subject: Absent(Schema.String),
  filename: Absent(Schema.String),
  resultKey: TextOrNull,
  resultBytes: Schema.NullOr(Int8)
})

export const replyOf = (
  { resultBytes, resultKey, threadReferences, ...reply }: typeof ReplyRow.Type,
  lease: LeaseId
): ClaimedReply => ({
  ...reply,
  lease,
  references: threadReferences,
  result: resultKey === null ? undefined : { key: resultKey, bytes: resultBytes ?? 0 }
})

const Plan = Schema.Literals(["free", "paid"])

/** The answer of `admit_mail` and `complete_mail`; plan and balance are there where funds are short. */
export const FundsRow = Schema.Struct({
  answer: Schema.Literals(["admitted", "completed", "insufficient", "stale"]),
  plan: Schema.NullOr(Plan),
  balance: Schema.NullOr(Schema.Int)
})

export const CustomerRow = Schema.Struct({
  id: CustomerId,
  email: Schema.String,
  plan: Plan,
  balance: Schema.Int
})

/** A row of `kept_mail_results`. */
export const KeptRow = Schema.Struct({
  id: MailId,
  name: Schema.String,
  pages: Schema.Int,
  unreadablePages: Schema.Array(Schema.Int),
  hasText: Schema.Boolean,
  creditsCharged: Schema.Int,
  convertedAt: IsoTime,
  reply: Schema.Literals(["queued", "sent", "failed"]),
  expiresAt: Millis
})
