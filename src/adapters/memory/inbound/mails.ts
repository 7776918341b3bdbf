import { Duration } from "effect"

import type { CustomerId, LeaseId } from "../../../domain/ids.ts"
import type { ClaimedMail, IntakeStore, Shortage } from "../../../ports/inbound/intake-store.ts"
import { amountOf, availableFunds, placeHold, refreshHold } from "../accounts/funds.ts"
import { inTurn, wasServed } from "../conversion/turns.ts"
import type { MailRow } from "../documents/rows.ts"
import { type Documents, micros } from "../documents/state.ts"
import { by } from "../documents/table.ts"
import { queueReply } from "./replies.ts"

type Store = IntakeStore["Service"]
type Only = NonNullable<Parameters<Store["claim"]>[4]>
type Held = Pick<ClaimedMail, "id" | "lease">

const HOUR = micros(Duration.hours(1))

/** A customer's own; all others take one turn together. */
const turnOf = (db: Documents, sender: string | undefined): string => {
  const customer =
    sender === undefined
      ? undefined
      : db.customers.find(({ deletedAt, email }) => email === sender && deletedAt === null)
  return customer?.id ?? ""
}

/** `receive_mail`: enters a mail; safe to repeat. */
export const receive = (
  db: Documents,
  { ended, verifiedSender, ...mail }: Parameters<Store["receive"]>[0]
): void => {
  if (db.mails.get(mail.id) !== undefined) return
  const now = db.moment()
  db.mails.insert({
    ...mail,
    step: ended === undefined ? "received" : "ended",
    outcome: ended?.outcome ?? null,
    reason: ended?.reason ?? null,
    turn: turnOf(db, verifiedSender),
    claimedAt: null,
    identity: null,
    messageId: null,
    sender: verifiedSender ?? null,
    contentSha256: null,
    subject: null,
    references: null,
    customerId: null,
    filename: null,
    fileBytes: null,
    pages: null,
    ignored: [],
    sourceKey: null,
    resultKey: null,
    resultBytes: null,
    lease: null,
    heartbeatAt: null,
    attempts: 0,
    ...UNFAILED,
    notBefore: now,
    receivedAt: now,
    endedAt: ended === undefined ? null : now,
    cleaned: null
  })
}

/** A step that nothing has failed in, and no worker was taken from. */
const UNFAILED = {
  formerLease: null,
  failures: 0,
  failingPart: null,
  failingSince: null,
  failedAt: null
} as const

const claimed = (mail: MailRow, lease: LeaseId): ClaimedMail => ({
  id: mail.id,
  lease,
  rawKey: mail.rawKey,
  rawBytes: mail.rawBytes,
  envelopeFrom: mail.envelopeFrom,
  peerTrusted: mail.peerTrusted,
  attempts: mail.attempts,
  failures: mail.failures,
  sender: mail.sender ?? undefined,
  job:
    mail.customerId === null || mail.sourceKey === null
      ? undefined
      : {
          customerId: mail.customerId,
          filename: mail.filename ?? "document.pdf",
          fileBytes: mail.fileBytes ?? 0,
          pages: mail.pages ?? 0,
          ignored: mail.ignored,
          sourceKey: mail.sourceKey
        }
})

/** When each turn was served last; of one that never was, nothing. */
const served = (db: Documents): ReadonlyMap<string, number> => {
  const last = new Map<string, number>()
  for (const { claimedAt, turn } of db.mails.where((mail) => mail.claimedAt !== null))
    last.set(turn, Math.max(last.get(turn) ?? 0, claimedAt ?? 0))
  return last
}

/**
 * `claim_converting_mail`: the mail that this lease holds, else the mails of the customer that is next in turn. A customer with a
 * mail in conversion comes last, or not at all for a worker that serves idle customers only.
 */
const ofNextCustomer = (
  db: Documents,
  isFree: (mail: MailRow) => boolean,
  lease: LeaseId,
  home: string,
  { mostPages = Infinity, ofIdle = false }: Only = {}
): Array<MailRow> => {
  const converting = db.mails.where(({ step }) => step === "converting")
  const mine = converting.filter((mail) => mail.lease === lease)
  if (mine.length > 0) return mine
  const waiting = Map.groupBy(
    converting.filter((mail) => mail.home === home && isFree(mail) && (mail.pages ?? 0) <= mostPages),
    ({ customerId }): string => customerId ?? ""
  )
  const isBusy = (owner: string) =>
    converting.some((mail) => mail.customerId === owner && mail.lease !== null && !isFree(mail))
  const turns = inTurn(db, "mail", waiting.keys())
  const owner = turns.find((one) => !isBusy(one)) ?? (ofIdle ? undefined : turns[0])
  if (owner === undefined) return []
  wasServed(db, "mail", owner)
  return waiting.get(owner) ?? []
}

/**
 * `claim_received_mail`, `claim_converting_mail`: the mail that this lease holds, else the one that has been due longest or has a
 * silent worker; for a first step, of the turn that was served longest ago.
 */
export const claim = (
  db: Documents,
  step: "received" | "converting",
  lease: LeaseId,
  stale: Duration.Duration,
  home: string,
  only?: Only
): ClaimedMail | undefined => {
  const now = db.moment()
  const isFree = (mail: MailRow) =>
    mail.lease === lease ||
    (mail.notBefore <= now && (mail.lease === null || (mail.heartbeatAt ?? now) < now - micros(stale)))
  const turns = step === "received" ? served(db) : new Map<string, number>()
  const [next] = (
    step === "converting"
      ? ofNextCustomer(db, isFree, lease, home, only)
      : db.mails.where((mail) => mail.step === step && mail.home === home && isFree(mail))
  ).sort(
    by(
      (mail) => (mail.lease === lease ? 0 : 1),
      ({ turn }) => turns.get(turn) ?? -1,
      ({ notBefore }) => notBefore
    )
  )
  if (next === undefined) return undefined
  const isMine = next.lease === lease
  const mail = db.mails.update(next.id, {
    formerLease: isMine ? next.formerLease : (next.lease ?? next.formerLease),
    lease,
    heartbeatAt: now,
    claimedAt: isMine || step !== "received" ? next.claimedAt : now,
    attempts: isMine ? next.attempts : next.attempts + 1
  })
  return claimed(mail, lease)
}

/** The mail, while this lease holds it. */
const heldMail = (db: Documents, { id, lease }: Held): MailRow | undefined => {
  const mail = db.mails.get(id)
  return mail !== undefined && mail.step !== "ended" && mail.lease === lease ? mail : undefined
}

/** `heartbeat` of a mail. */
export const heartbeat = (db: Documents, held: Held, window: Duration.Duration): boolean => {
  const mail = heldMail(db, held)
  if (mail === undefined) return false
  db.mails.update(mail.id, { heartbeatAt: db.moment() })
  refreshHold(db, mail.id, window)
  return true
}

/** `hand_back_mail`: to be claimed again later. */
export const handBack = (
  db: Documents,
  held: Held,
  { after, counts }: Parameters<Store["handBack"]>[1]
): boolean => {
  const mail = heldMail(db, held)
  if (mail === undefined) return false
  db.mails.update(mail.id, {
    lease: null,
    heartbeatAt: null,
    notBefore: db.moment() + micros(after),
    attempts: counts ? mail.attempts : Math.max(mail.attempts - 1, 0)
  })
  return true
}

/** `defer_mail`: a dependency failed. A worker that reports after its lease was taken over did not crash: its attempt does not count. */
export const defer = (
  db: Documents,
  { id, lease }: Held,
  { after, gap, limit, part, window }: Parameters<Store["defer"]>[1]
): "deferred" | "over" | "stale" => {
  const mail = db.mails.get(id)
  if (mail === undefined || mail.step === "ended") return "stale"
  const uncounted = Math.max(mail.attempts - 1, 0)
  if (mail.lease !== lease) {
    if (mail.formerLease === lease) db.mails.update(id, { attempts: uncounted, formerLease: null })
    return "stale"
  }
  const now = db.moment()
  const goesOn = mail.failingPart === part && mail.failedAt !== null && mail.failedAt > now - micros(gap)
  const failingSince = goesOn ? (mail.failingSince ?? now) : now
  if (failingSince < now - micros(limit)) return "over"
  db.mails.update(id, {
    lease: null,
    heartbeatAt: null,
    notBefore: now + micros(after),
    attempts: uncounted,
    failures: mail.failures + 1,
    failingPart: part,
    failedAt: now,
    failingSince
  })
  refreshHold(db, id, window)
  return "deferred"
}

/** Whether another mail has one of the signatures, or the identity. */
const isDuplicate = (
  db: Documents,
  id: string,
  { identity, signatures }: Parameters<Store["identify"]>[1]
): boolean =>
  signatures.some((signature) => (db.identities.get(signature)?.mailId ?? id) !== id) ||
  db.mails.find((mail) => mail.identity === identity && mail.id !== id) !== undefined

/** Mails of its sender within the hour before it. */
const recentOf = (db: Documents, { id, receivedAt }: MailRow, sender: string): number =>
  db.mails.where(
    (mail) =>
      mail.sender === sender &&
      mail.receivedAt > receivedAt - HOUR &&
      mail.receivedAt <= receivedAt &&
      mail.id !== id &&
      mail.outcome !== "duplicate" &&
      mail.outcome !== "limited"
  ).length

/** `identify_mail`: claims what makes two deliveries one mail, before any work for it. */
export const identify = (
  db: Documents,
  held: Held,
  identity: Parameters<Store["identify"]>[1],
  limitAnHour: number
): "claimed" | "duplicate" | "limited" | "stale" => {
  const mail = heldMail(db, held)
  if (mail?.step !== "received") return "stale"
  const { id } = mail
  const messageId = identity.messageId ?? null
  const { contentSha256, sender } = identity
  const ended = { step: "ended", lease: null, endedAt: db.moment() } as const
  if (isDuplicate(db, id, identity)) {
    const reason = "the same mail was delivered before"
    db.mails.update(id, { ...ended, outcome: "duplicate", reason, sender, messageId })
    return "duplicate"
  }
  for (const signature of new Set(identity.signatures))
    if (db.identities.get(signature) === undefined) db.identities.insert({ identity: signature, mailId: id })
  db.mails.update(id, {
    identity: identity.identity,
    messageId,
    sender,
    contentSha256,
    subject: identity.subject ?? null,
    references: identity.references ?? null
  })
  if (recentOf(db, mail, sender) < limitAnHour) return "claimed"
  const reason = `more than ${limitAnHour} mails of the sender within an hour`
  db.mails.update(id, { ...ended, outcome: "limited", reason })
  return "limited"
}

/** What a customer could spend, where it does not suffice. */
export const shortageOf = (db: Documents, customerId: CustomerId | null, butFor?: string): Shortage => {
  const funds = customerId === null ? undefined : availableFunds(db, customerId, butFor)
  return funds === undefined ? { plan: "free", balance: 0 } : { plan: funds.plan, balance: amountOf(funds) }
}

/** `admit_mail`: sets the funds aside, queues the acknowledgement, and lets the conversion begin. */
export const admit = (
  db: Documents,
  held: Held,
  admission: Parameters<Store["admit"]>[1]
): "admitted" | "stale" | Shortage => {
  const mail = heldMail(db, held)
  if (mail === undefined) return "stale"
  if (mail.step === "converting") return "admitted"
  const { acknowledgement, recipient, window, ...job } = admission
  const { customerId, pages } = job
  if (!placeHold(db, { customerId, jobId: mail.id, pages }, window)) return shortageOf(db, customerId)
  db.mails.update(mail.id, {
    ...job,
    ...UNFAILED,
    step: "converting",
    lease: null,
    heartbeatAt: null,
    attempts: 0,
    notBefore: db.moment()
  })
  queueReply(db, { mailId: mail.id, recipient, content: acknowledgement, asLink: false })
  return "admitted"
}
