import type { KnownMail, ListMark, ListedMail } from "../../ports/delivery/event-poll.ts"
import type { DeliveryEvent } from "./delivery-event.ts"

/** Most pages of one run (document 1, "Poll rules"). */
export const MAX_PAGES = 5

/** A mail that was sent no longer ago than this is never backfill, milliseconds. */
const BACKFILL_AGE_MS = 60 * 60 * 1000

const FAILURES: ReadonlySet<string> = new Set(["bounced", "complained", "failed", "suppressed"])

/**
 * Whether a listed mail is to be recorded: it is new to the log, its last event changed, or an alert about it has not gone
 * out (its claim was released: "the next poll re-alerts once config is fixed").
 */
export const isNews = (mail: ListedMail, known: KnownMail | undefined): boolean =>
  known === undefined ||
  known.lastEvent !== mail.lastEvent ||
  (known.alertDue && FAILURES.has(mail.lastEvent))

/**
 * Where the account's history begins: an hour before the log's oldest row (before `now`, in an empty log). No run walks down
 * to mails of before; what the first one has pages left for is recorded.
 */
export const historyBefore = (now: number, oldest: number | undefined): number =>
  Math.min(now, oldest ?? Number.POSITIVE_INFINITY) - BACKFILL_AGE_MS

/**
 * Whether a mail is from before logging began: it has no row, was sent more than an hour ago, and before the log's oldest
 * row (in an empty log: always). Without a time it counts as new, and alerts.
 */
export const isBackfill = (
  mail: ListedMail,
  given: {
    readonly known: KnownMail | undefined
    readonly now: number
    readonly oldest: number | undefined
  }
): boolean =>
  given.known === undefined &&
  mail.sentAt !== undefined &&
  mail.sentAt < given.now - BACKFILL_AGE_MS &&
  mail.sentAt < (given.oldest ?? Number.POSITIVE_INFINITY)

/**
 * The event that a listed mail stands for. The list says when a mail was sent, not when it came to its last event: that is
 * known to be before the list was asked for. It gives no bounce type, so that a bounce never suppresses (P1).
 */
export const eventOf = (mail: ListedMail, askedAt: number): DeliveryEvent => ({
  provider: "provider_a",
  providerMessageId: mail.id,
  event: mail.lastEvent,
  occurredAt: askedAt,
  recipients: mail.recipients,
  from: mail.from,
  subject: mail.subject,
  reason: undefined,
  keyHash: undefined,
  bounceType: undefined,
  suppress: undefined,
  alertable: true,
  tags: {},
  raw: mail.raw
})

/**
 * Whether these mails, newest first, reach down to the mark: it is among them, or one is older than it and in the log. An
 * older one that the log does not know was not read when the mark was set, whatever its time says; a mark that is a moment
 * is reached by any older one.
 */
export const reaches = (
  mails: ReadonlyArray<ListedMail>,
  mark: ListMark | undefined,
  isKnown: (id: string) => boolean
): boolean =>
  mark !== undefined &&
  mails.some(
    ({ id, sentAt }) =>
      id === mark.id ||
      (sentAt !== undefined &&
        mark.sentAt !== undefined &&
        sentAt < mark.sentAt &&
        (mark.id === undefined || isKnown(id)))
  )

/** The mark of the newest mail. No time is later than `askedAt`: one that lies must not hide the mails of years. */
export const newestOf = (mails: ReadonlyArray<ListedMail>, askedAt: number): ListMark | undefined => {
  const first = mails[0]
  return first === undefined
    ? undefined
    : { id: first.id, sentAt: first.sentAt === undefined ? undefined : Math.min(first.sentAt, askedAt) }
}
