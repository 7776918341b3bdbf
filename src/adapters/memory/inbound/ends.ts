import { Duration } from "effect"

import type { ClaimedMail, IntakeStore, MailEnd, Shortage } from "../../../ports/inbound/intake-store.ts"
import { releaseHold, settleHold, widenHold } from "../accounts/funds.ts"
import type { MailRow } from "../documents/rows.ts"
import { type Documents, micros } from "../documents/state.ts"
import { shortageOf } from "./mails.ts"
import { queueReply } from "./replies.ts"

type Held = Pick<ClaimedMail, "id" | "lease">
type Result = Parameters<IntakeStore["Service"]["finish"]>[1]

const HOUR = micros(Duration.hours(1))
const DAY = micros(Duration.days(1))

/** Replies that only explain how to send a file. */
const HINTS: ReadonlySet<string> = new Set(["no-attachment", "unsupported-file", "misaddressed"])

/** The mail that this lease holds, or ended. */
const ownMail = (db: Documents, { id, lease }: Held): MailRow | undefined => {
  const mail = db.mails.get(id)
  return mail?.lease === lease ? mail : undefined
}

/** Whether as many hints went to the recipient within an hour as may. */
const isBraked = (db: Documents, { brake, recipient }: NonNullable<MailEnd["reply"]>): boolean => {
  const since = db.moment() - HOUR
  return (
    brake !== undefined &&
    brake <=
      db.replies.where(
        (reply) => reply.recipient === recipient && HINTS.has(reply.content.kind) && reply.createdAt > since
      ).length
  )
}

/** `first_today`: whether an address without an account gets a reply; one a day. */
const firstToday = (db: Documents, sender: string): boolean => {
  const now = db.moment()
  const known = db.strangers.get(sender)
  if (known !== undefined && known.repliedAt > now - DAY) return false
  if (known === undefined) db.strangers.insert({ sender, repliedAt: now })
  else db.strangers.update(sender, { repliedAt: now })
  return true
}

/** Logs a conversion that had begun, once. */
const logFailure = (db: Documents, mail: MailRow, end: MailEnd, error: string): void => {
  if (db.mailConversions.get(mail.id) !== undefined) return
  db.mailConversions.insert({
    id: mail.id,
    customerId: end.customerId ?? mail.customerId,
    sender: mail.sender ?? end.reply?.recipient ?? null,
    filename: end.filename ?? mail.filename,
    fileBytes: end.fileBytes ?? mail.fileBytes ?? 0,
    totalPages: mail.pages ?? 0,
    standardPages: 0,
    complexPages: 0,
    creditsCharged: 0,
    status: "error",
    error
  })
}

/** `end_mail`: without a result; nothing is charged. Safe to repeat. */
export const endMail = (db: Documents, held: Held, end: MailEnd): boolean => {
  const mail = ownMail(db, held)
  if (mail === undefined || mail.step === "ended") return mail !== undefined
  const { reply } = end
  const braked = reply !== undefined && isBraked(db, reply)
  releaseHold(db, mail.id, end.outcome)
  const suffix = braked ? ` (not answered: ${reply.brake} such replies within an hour)` : ""
  db.mails.update(mail.id, {
    step: "ended",
    outcome: end.outcome,
    reason: `${end.reason}${suffix}`,
    customerId: end.customerId ?? mail.customerId,
    filename: end.filename ?? mail.filename,
    fileBytes: end.fileBytes ?? mail.fileBytes,
    endedAt: db.moment()
  })
  if (end.jobError !== undefined) logFailure(db, mail, end, end.jobError)
  if (reply !== undefined && !braked && (reply.stranger !== true || firstToday(db, reply.recipient)))
    queueReply(db, { mailId: mail.id, recipient: reply.recipient, content: reply.content, asLink: false })
  return true
}

/** `complete_mail`: the charge, the result's reply and the log entry, all or nothing. */
export const finishMail = (db: Documents, held: Held, result: Result): "completed" | "stale" | Shortage => {
  const mail = ownMail(db, held)
  if (mail === undefined || mail.step === "received") return "stale"
  if (mail.step === "ended") return mail.outcome === "success" ? "completed" : "stale"
  const { asLink, complexPages, recipient, reply, resultBytes, resultKey, standardPages } = result
  const pages = standardPages + complexPages
  if (!widenHold(db, mail.id, pages) || settleHold(db, mail.id, pages) !== "settled")
    return shortageOf(db, mail.customerId, mail.id)
  const unreadable = reply.kind === "success" ? (reply.unreadablePages?.length ?? 0) : 0
  const totalPages = pages + unreadable
  const endedAt = db.moment()
  db.mails.update(mail.id, {
    step: "ended",
    outcome: "success",
    pages: totalPages,
    resultKey,
    resultBytes,
    endedAt
  })
  db.mailConversions.insert({
    id: mail.id,
    customerId: mail.customerId,
    sender: mail.sender,
    filename: mail.filename,
    fileBytes: mail.fileBytes,
    totalPages,
    standardPages,
    complexPages,
    creditsCharged: pages,
    status: "success",
    error: null
  })
  const { balance } = shortageOf(db, mail.customerId)
  const content = reply.kind === "success" ? { ...reply, creditsCharged: pages, balance } : reply
  queueReply(db, { mailId: mail.id, recipient, content, asLink })
  return "completed"
}
