import { POLLED_PROVIDER } from "../mail/provider.ts"
import { isProviderFailure } from "../mail/status.ts"
import type { DeliveryEvent } from "./delivery-event.ts"
import type { KnownMail, ListMark, ListedMail } from "./listed-mail.ts"

/** Most pages of one run (EVENT-30). */
export const MAX_PAGES = 5

/** A mail that was sent no longer ago than this is never backfill, milliseconds. */
const BACKFILL_AGE_MS = 60 * 60 * 1000

/**
 * Whether a listed mail is to be recorded (EVENT-31): it is new to the log, its last event changed, or an alert about it
 * has not gone out (its claim was released: the next poll raises it again).
 */
export const isNews = (mail: ListedMail, known: KnownMail | undefined): boolean =>
  known === undefined ||
  known.lastEvent !== mail.lastEvent ||
  (known.alertDue && isProviderFailure(mail.lastEvent))

/** Whether no webhook brought this event: a mail without a row, or a failure that is not the row's last event (EVENT-33). */
export const isMissed = (
  { event }: Pick<DeliveryEvent, "event">,
  known: Pick<KnownMail, "lastEvent"> | undefined
): boolean => known === undefined || (event !== "sent" && known.lastEvent !== event)

/**
 * Mails older than this are history: an hour before the log's oldest row (before `now`, in an empty log). No run pages on
 * to older mails; those on pages that the first run reads anyway are recorded.
 */
export const historyBefore = (now: number, oldest: number | undefined): number =>
  Math.min(now, oldest ?? Number.POSITIVE_INFINITY) - BACKFILL_AGE_MS

/**
 * Whether a mail is backfill (EVENT-32): it has no row, was sent more than an hour ago, and before the log's oldest row (in
 * an empty log: always). Without a time it counts as new, and alerts.
 */
export const isBackfill = (
  mail: Pick<ListedMail, "sentAt">,
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
 * The event of a listed mail. The list has the time of sending, not of the last event, which is only known to precede the
 * request of the list. It gives no bounce type, so that a bounce never suppresses (P1).
 */
export const eventOf = (mail: ListedMail, askedAt: number): DeliveryEvent => ({
  provider: POLLED_PROVIDER,
  providerMessageId: mail.id,
  event: mail.lastEvent,
  occurredAt: askedAt,
  recipients: mail.recipients,
  from: mail.from,
  subject: mail.subject,
  reason: undefined,
  keyTag: undefined,
  bounceType: undefined,
  suppress: undefined,
  alertable: true,
  tags: {},
  raw: mail.raw
})

/**
 * Whether these mails, newest first, reach down to the mark: it is among them, or one is older than it and in the log. An
 * older mail that is not in the log was not read when the mark was set, whatever its time says. A mark that is only a time
 * is reached by any older mail.
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

/** The mark of the newest mail. Its time is capped at `askedAt`: a wrong time in the future must not hide the mails of years. */
export const newestOf = (mails: ReadonlyArray<ListedMail>, askedAt: number): ListMark | undefined => {
  const first = mails[0]
  return first === undefined
    ? undefined
    : { id: first.id, sentAt: first.sentAt === undefined ? undefined : Math.min(first.sentAt, askedAt) }
}
