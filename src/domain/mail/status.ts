import { Schema } from "effect"

import type { Mood } from "../mood.ts"

/** How far a mail has come, or how it ended. */
interface StatusFacts {
  /** The greater rank stands, whatever the order of events (EVENT-10); {@link TERMINAL_RANK} where no write changes the row any more. */
  readonly rank: number
  readonly mood: Mood
  /** A provider accepted the mail. */
  readonly accepted: boolean
  /** It arrived: a mail that was opened or reported as spam was delivered, too. */
  readonly delivered: boolean
  /** Of a terminal one, what follows "A mail" in alerts, and "Mail to …" in digests. */
  readonly ended?: { readonly alert: string; readonly digest: string }
}

/** Rank of every terminal status: above every status that can still change. */
const TERMINAL_RANK = 100

/** `email_log.status` (EVENT-10), with all that is known of each. The database decides by the same record (`email_status_rank`). */
export const EMAIL_STATUSES = {
  deferred: { rank: 1, mood: "wait", accepted: false, delivered: false },
  sent: { rank: 2, mood: "", accepted: true, delivered: false },
  delivery_delayed: { rank: 3, mood: "wait", accepted: true, delivered: false },
  delivered: { rank: 4, mood: "good", accepted: true, delivered: true },
  opened: { rank: 5, mood: "good", accepted: true, delivered: true },
  clicked: { rank: 6, mood: "good", accepted: true, delivered: true },
  suppressed: {
    rank: TERMINAL_RANK,
    mood: "bad",
    accepted: false,
    delivered: false,
    ended: { alert: "was held back by the provider's own suppression list", digest: "was suppressed" }
  },
  failed: {
    rank: TERMINAL_RANK,
    mood: "bad",
    accepted: false,
    delivered: false,
    ended: { alert: "could not be delivered", digest: "failed" }
  },
  bounced: {
    rank: TERMINAL_RANK,
    mood: "bad",
    accepted: true,
    delivered: false,
    ended: { alert: "bounced", digest: "bounced" }
  },
  complained: {
    rank: TERMINAL_RANK,
    mood: "bad",
    accepted: true,
    delivered: true,
    ended: { alert: "was reported as spam", digest: "was reported as spam" }
  }
} as const satisfies Readonly<Record<string, StatusFacts>>

export type EmailStatus = keyof typeof EMAIL_STATUSES

/** Its codec. */
export const EmailStatus = Schema.Literals(Object.keys(EMAIL_STATUSES) as ReadonlyArray<EmailStatus>)

type Terminal<Status extends EmailStatus> = Status extends unknown
  ? (typeof EMAIL_STATUSES)[Status] extends { readonly ended: object }
    ? Status
    : never
  : never

/** The terminal statuses: no write changes them. */
export type TerminalStatus = Terminal<EmailStatus>

export const TERMINAL_STATUSES: ReadonlyArray<TerminalStatus> = EmailStatus.literals.filter(
  (status): status is TerminalStatus => "ended" in EMAIL_STATUSES[status]
)

/** The statuses for which a fact is true. */
export const statusesThat = (fact: "accepted" | "delivered"): ReadonlyArray<EmailStatus> =>
  EmailStatus.literals.filter((status) => EMAIL_STATUSES[status][fact])

/** The rank of a status. Equals `email_status_rank()` in SQL, which is generated from the same record. */
export const statusRank = (status: EmailStatus): number => EMAIL_STATUSES[status].rank

/** Whether the status says that the mail arrived, and nothing against it. */
export const isDelivered = (status: EmailStatus): boolean =>
  EMAIL_STATUSES[status].delivered && !isTerminal(status)

/** Whether the status is terminal. */
export const isTerminal = (status: EmailStatus): boolean => statusRank(status) === TERMINAL_RANK

/** The status after a write that asks for `next`: forward only, and never out of a terminal one (L2). */
export const advance = (current: EmailStatus, next: EmailStatus): EmailStatus =>
  statusRank(next) > statusRank(current) ? next : current

/** Whether a mail was accepted and ended without being delivered, which no status says (EVENT-16). */
export const isUndelivered = ({
  error,
  status
}: {
  readonly status: EmailStatus
  readonly error: string | null
}): boolean => error !== null && (status === "sent" || status === "delivery_delayed")

/**
 * The status that a delivery event asks for. Undefined for an unranked one: `bounce_transient`, `scheduled`, future ones; and for
 * `deferred`, which no provider reports.
 */
export const statusOfEvent = (event: string): EmailStatus | undefined =>
  EmailStatus.literals.find((status) => status === event && status !== "deferred")

/** The provider-reported failures: these alert once (EVENT-20). */
export const isProviderFailure = (event: string): boolean => {
  const status = statusOfEvent(event)
  return status !== undefined && isTerminal(status)
}
