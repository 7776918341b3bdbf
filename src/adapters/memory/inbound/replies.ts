import type { Duration } from "effect"

import type { LeaseId } from "../../../domain/ids.ts"
import type { ClaimedReply, IntakeStore } from "../../../ports/inbound/intake-store.ts"
import type { ReplyRow } from "../documents/rows.ts"
import { type Documents, micros } from "../documents/state.ts"
import { by } from "../documents/table.ts"

type Held = Pick<ClaimedReply, "id" | "lease">
type Retry = Parameters<IntakeStore["Service"]["retryReply"]>[1]

/** The key of a mail's reply: a mail has one of each kind. */
const keyOf = ({ content, mailId }: Pick<ReplyRow, "mailId" | "content">): string =>
  `${mailId} ${content.kind}`

/** `queue_reply`: once for each kind. */
export const queueReply = (
  db: Documents,
  reply: Pick<ReplyRow, "mailId" | "recipient" | "content" | "asLink">
): void => {
  if (db.replies.get(keyOf(reply)) !== undefined) return
  const now = db.moment()
  db.replies.insert({
    ...reply,
    id: db.newId(),
    status: "queued",
    attempts: 0,
    unknowns: 0,
    lease: null,
    notBefore: now,
    error: null,
    createdAt: now,
    endedAt: null
  })
}

/** `claim_reply`: the one that is due for longest; replies of a mail go out in their order. */
export const claimReply = (
  db: Documents,
  lease: LeaseId,
  hold: Duration.Duration,
  home: string
): ClaimedReply | undefined => {
  const now = db.moment()
  const queued = db.replies.where(({ status }) => status === "queued")
  const isFirst = (reply: ReplyRow) =>
    !queued.some((other) => other.mailId === reply.mailId && other.createdAt < reply.createdAt)
  const [next] = queued
    .filter((reply) => reply.notBefore <= now && isFirst(reply) && db.mails.get(reply.mailId)?.home === home)
    .sort(by(({ notBefore }) => notBefore))
  const mail = db.mails.get(next?.mailId)
  if (next === undefined || mail === undefined) return undefined
  const attempts = next.attempts + 1
  db.replies.update(keyOf(next), { lease, attempts, notBefore: now + micros(hold) })
  const { asLink, content, createdAt, id, mailId, recipient, unknowns } = next
  return {
    id,
    lease,
    mailId,
    recipient,
    content,
    asLink,
    attempts,
    unknowns,
    createdAt: Math.floor(createdAt / 1000),
    messageId: mail.messageId ?? undefined,
    references: mail.references ?? undefined,
    subject: mail.subject ?? undefined,
    filename: mail.filename ?? undefined,
    result: mail.resultKey === null ? undefined : { key: mail.resultKey, bytes: mail.resultBytes ?? 0 }
  }
}

/** The reply, while this lease holds it. */
const heldReply = (db: Documents, { id, lease }: Held): ReplyRow | undefined =>
  db.replies.find((reply) => reply.id === id && reply.lease === lease && reply.status === "queued")

/** `end_reply`. */
export const endReply = (
  db: Documents,
  held: Held,
  status: "sent" | "failed",
  error: string | null
): boolean => {
  const reply = heldReply(db, held)
  if (reply === undefined) return false
  db.replies.update(keyOf(reply), { status, error, lease: null, endedAt: db.moment() })
  return true
}

/** `retry_reply`. */
export const retryReply = (db: Documents, held: Held, { after, asLink, error, unknown }: Retry): boolean => {
  const reply = heldReply(db, held)
  if (reply === undefined) return false
  db.replies.update(keyOf(reply), {
    lease: null,
    notBefore: db.moment() + micros(after),
    error,
    asLink: reply.asLink || asLink,
    unknowns: reply.unknowns + (unknown ? 1 : 0)
  })
  return true
}

/** The replies of a mail. */
export const repliesOf = (db: Documents, id: string): ReadonlyArray<ReplyRow> =>
  db.replies.where(({ mailId }) => mailId === id)
