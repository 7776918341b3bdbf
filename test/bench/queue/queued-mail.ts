import { HTML, next, recipient, SUBJECT } from "../senders/sender.ts"

/** The mail that every contender of a benchmark queues, as a request of the send queue. */
export const MAIL = { subject: SUBJECT, html: HTML, category: "transactional", source: "bench" } as const

/** A mail with a recipient. */
export interface QueuedMail {
  readonly to: string
  readonly subject: string
  readonly html: string
  readonly idempotencyKey: string
}

/** A key that no other mail has, whatever process makes it. */
const keyOf = (n: number) => `queued-${process.pid}-${n}`

/** So many mails that were not there before. */
export const newMails = (count: number): ReadonlyArray<QueuedMail> =>
  Array.from({ length: count }, () => {
    const n = next()
    return { ...MAIL, to: recipient(n), idempotencyKey: keyOf(n) }
  })
