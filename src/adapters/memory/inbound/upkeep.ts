import { createHash } from "node:crypto"

import { Duration } from "effect"

import type { CustomerId, MailId } from "../../../domain/ids.ts"
import type { KeptResult } from "../../../ports/inbound/intake-store.ts"
import { releaseHold } from "../accounts/funds.ts"
import type { MailRow, ReplyRow } from "../documents/rows.ts"
import { type Documents, micros } from "../documents/state.ts"
import { by } from "../documents/table.ts"
import { repliesOf } from "./replies.ts"

const MAX_KEPT = 100

/** The reply that carries a mail's result. */
const resultReply = (db: Documents, { id }: MailRow): ReplyRow | undefined =>
  repliesOf(db, id).find(({ content }) => content.kind === "success")

/** Since when a result is available by link: since its mail ended, or since its reply failed. */
const linkedSince = (mail: MailRow, reply: ReplyRow): number =>
  (reply.status === "failed" ? reply.endedAt : mail.endedAt) ?? 0

/** `mails_to_clean`: ended mails with ended replies; `everything`: the result is removed, too. */
export const toClean = (db: Documents, limit: number, linkLives: Duration.Duration, home: string) => {
  const since = db.moment() - micros(linkLives)
  const isKept = (mail: MailRow): boolean => {
    const reply = resultReply(db, mail)
    if (mail.resultKey === null || reply === undefined) return false
    const hasLink = reply.asLink && (mail.endedAt ?? 0) >= since
    return hasLink || (reply.status === "failed" && (reply.endedAt ?? 0) >= since)
  }
  return db.mails
    .where((mail) => mail.step === "ended" && mail.cleaned !== "all" && mail.home === home)
    .map((mail) => ({ mail, everything: !isKept(mail) }))
    .filter(({ everything, mail }) => mail.cleaned === null || everything)
    .filter(({ mail }) => repliesOf(db, mail.id).every(({ status }) => status !== "queued"))
    .sort(by(({ mail }) => mail.endedAt ?? 0))
    .slice(0, limit)
    .map(({ everything, mail }) => ({ id: mail.id, everything }))
}

/** Mails that have been due for longer than that, and that no process works on. */
export const waitingSince = (db: Documents, age: Duration.Duration): number => {
  const before = db.moment() - micros(age)
  return db.mails.where(
    ({ heartbeatAt, lease, notBefore, step }) =>
      step !== "ended" && notBefore < before && (lease === null || (heartbeatAt ?? 0) < before)
  ).length
}

/** The ids without a mail that still has objects. */
export const withoutObjects = (db: Documents, ids: ReadonlyArray<MailId>): ReadonlyArray<MailId> =>
  ids.filter((id) => {
    const mail = db.mails.get(id)
    return mail === undefined || mail.cleaned === "all"
  })

const removeMail = (db: Documents, id: MailId): void => {
  removeTraces(db, id)
  db.mails.remove(id)
}

/** The replies and the identities of a mail go with it. */
const removeTraces = (db: Documents, id: string): void => {
  for (const { content } of repliesOf(db, id)) db.replies.remove(`${id} ${content.kind}`)
  for (const { identity } of db.identities.where(({ mailId }) => mailId === id))
    db.identities.remove(identity)
}

/** `purge_intake`: mails and strangers that ended long ago. */
export const purge = (db: Documents): void => {
  const now = db.moment()
  const mailsBefore = now - micros(Duration.days(90))
  const strangersBefore = now - micros(Duration.days(2))
  for (const { id } of db.mails.where(
    ({ cleaned, endedAt, step }) => step === "ended" && cleaned === "all" && (endedAt ?? now) < mailsBefore
  ))
    removeMail(db, id)
  for (const { sender } of db.strangers.where(({ repliedAt }) => repliedAt < strangersBefore))
    db.strangers.remove(sender)
}

/** `kept_mail_results`: results of a customer's mails that are available by link, newest first. */
export const keptResults = (
  db: Documents,
  customerId: CustomerId,
  linkLives: Duration.Duration
): ReadonlyArray<KeptResult> => {
  const now = db.moment()
  return db.mails
    .where(
      (mail) =>
        mail.customerId === customerId &&
        mail.outcome === "success" &&
        mail.resultKey !== null &&
        mail.cleaned !== "all"
    )
    .sort(by(({ endedAt }) => -(endedAt ?? 0)))
    .flatMap((mail) => {
      const reply = resultReply(db, mail)
      const log = db.mailConversions.get(mail.id)
      if (reply?.content.kind !== "success" || log === undefined) return []
      const since = linkedSince(mail, reply)
      if ((!reply.asLink && reply.status === "sent") || since <= now - micros(linkLives)) return []
      return [
        {
          id: mail.id,
          name: mail.filename ?? "document.pdf",
          pages: log.totalPages,
          unreadablePages: reply.content.unreadablePages ?? [],
          hasText: reply.content.hasText ?? true,
          creditsCharged: log.creditsCharged,
          convertedAt: new Date(Math.floor((mail.endedAt ?? 0) / 1000)).toISOString(),
          reply: reply.status,
          expiresAt: Math.floor((since + micros(linkLives)) / 1000)
        }
      ]
    })
    .slice(0, MAX_KEPT)
}

/** The result of a mail, for its link. */
export const result = (db: Documents, id: string) => {
  const mail = db.mails.get(id)
  return mail?.outcome === "success" && mail.resultKey !== null && mail.cleaned !== "all"
    ? { key: mail.resultKey, filename: mail.filename ?? "document.pdf" }
    : undefined
}

/** `erased_alias`. */
export const erasedAlias = (email: string): string =>
  `erased:${createHash("sha256").update(email).digest("hex")}`

/** The columns of a mail after its person was erased. */
const ERASED = {
  step: "ended",
  reason: "the person was erased",
  turn: "",
  envelopeFrom: "",
  identity: null,
  messageId: null,
  sender: null,
  contentSha256: null,
  subject: null,
  references: null,
  filename: null,
  ignored: [],
  sourceKey: null,
  resultKey: null,
  lease: null,
  cleaned: null
} as const

/** `erase_intake_person`: mails from or to an address, and of its customer. False where there was nothing. */
export const eraseFromMails = (db: Documents, email: string): boolean => {
  const customerId = db.customers.find((one) => one.email === email)?.id
  const mails = db.mails.where(
    (mail) =>
      mail.sender === email ||
      mail.envelopeFrom.toLowerCase() === email ||
      (customerId !== undefined && mail.customerId === customerId) ||
      repliesOf(db, mail.id).some(({ recipient }) => recipient === email)
  )
  for (const { endedAt, id, outcome } of mails) {
    removeTraces(db, id)
    releaseHold(db, id, "cancelled")
    db.mails.update(id, { ...ERASED, outcome: outcome ?? "error", endedAt: endedAt ?? db.moment() })
  }
  const logs = db.mailConversions.where(
    (log) => log.sender === email || (customerId !== undefined && log.customerId === customerId)
  )
  for (const { id } of logs)
    db.mailConversions.update(id, { sender: erasedAlias(email), filename: "", error: null })
  const wasStranger = db.strangers.remove(email) !== undefined
  return mails.length > 0 || logs.length > 0 || wasStranger
}
