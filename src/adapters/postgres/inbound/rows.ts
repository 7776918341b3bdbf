import { Schema } from "effect"

import { ReplyContent } from "../../../domain/inbound/reply-content.ts"
import type { ClaimedMail, ClaimedReply, KeptResult } from "../../../ports/inbound/intake-store.ts"

/** The columns of `intake_mails` that are read. */
export const MailRow = Schema.Struct({
  id: Schema.String,
  raw_key: Schema.String,
  raw_bytes: Schema.BigInt,
  envelope_from: Schema.String,
  peer_trusted: Schema.Boolean,
  attempts: Schema.Int,
  failures: Schema.Int,
  sender: Schema.NullOr(Schema.String),
  customer_id: Schema.NullOr(Schema.String),
  filename: Schema.NullOr(Schema.String),
  file_bytes: Schema.NullOr(Schema.Int),
  pages: Schema.NullOr(Schema.Int),
  ignored: Schema.Array(Schema.String),
  source_key: Schema.NullOr(Schema.String)
})

export const mailOf = (row: typeof MailRow.Type, lease: string): ClaimedMail => ({
  id: row.id,
  lease,
  rawKey: row.raw_key,
  rawBytes: Number(row.raw_bytes),
  envelopeFrom: row.envelope_from,
  peerTrusted: row.peer_trusted,
  attempts: row.attempts,
  failures: row.failures,
  sender: row.sender ?? undefined,
  job:
    row.customer_id === null || row.source_key === null
      ? undefined
      : {
          customerId: row.customer_id,
          filename: row.filename ?? "document.pdf",
          fileBytes: row.file_bytes ?? 0,
          pages: row.pages ?? 0,
          ignored: row.ignored,
          sourceKey: row.source_key
        }
})

/** A row that `claim_reply` returns. */
export const ReplyRow = Schema.Struct({
  id: Schema.String,
  mail_id: Schema.String,
  recipient: Schema.String,
  content: ReplyContent,
  as_link: Schema.Boolean,
  attempts: Schema.Int,
  unknowns: Schema.Int,
  created_at: Schema.Date,
  message_id: Schema.NullOr(Schema.String),
  thread_references: Schema.NullOr(Schema.String),
  subject: Schema.NullOr(Schema.String),
  filename: Schema.NullOr(Schema.String),
  result_key: Schema.NullOr(Schema.String),
  result_bytes: Schema.NullOr(Schema.BigInt)
})

export const replyOf = (row: typeof ReplyRow.Type, lease: string): ClaimedReply => ({
  id: row.id,
  lease,
  mailId: row.mail_id,
  recipient: row.recipient,
  content: row.content,
  asLink: row.as_link,
  attempts: row.attempts,
  unknowns: row.unknowns,
  createdAt: row.created_at.getTime(),
  messageId: row.message_id ?? undefined,
  references: row.thread_references ?? undefined,
  subject: row.subject ?? undefined,
  filename: row.filename ?? undefined,
  result: row.result_key === null ? undefined : { key: row.result_key, bytes: Number(row.result_bytes ?? 0n) }
})

const Plan = Schema.Literals(["free", "paid"])

/** The answer of `admit_mail` and `complete_mail`; plan and balance are there where funds are short. */
export const FundsRow = Schema.Struct({
  answer: Schema.Literals(["admitted", "completed", "insufficient", "stale"]),
  plan: Schema.NullOr(Plan),
  balance: Schema.NullOr(Schema.Int)
})

export const CustomerRow = Schema.Struct({
  id: Schema.String,
  email: Schema.String,
  plan: Plan,
  balance: Schema.Int
})

/** A row of `kept_mail_results`. */
export const KeptRow = Schema.Struct({
  id: Schema.String,
  name: Schema.NullOr(Schema.String),
  pages: Schema.Int,
  unreadable_pages: Schema.Array(Schema.Int),
  has_text: Schema.Boolean,
  credits: Schema.Int,
  converted_at: Schema.Date,
  reply: Schema.Literals(["queued", "sent", "failed"]),
  expires_at: Schema.Date
})

export const keptOf = (row: typeof KeptRow.Type): KeptResult => ({
  id: row.id,
  name: row.name ?? "document.pdf",
  pages: row.pages,
  unreadablePages: row.unreadable_pages,
  hasText: row.has_text,
  creditsCharged: row.credits,
  convertedAt: row.converted_at.toISOString(),
  reply: row.reply,
  expiresAt: row.expires_at.getTime()
})
