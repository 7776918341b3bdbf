import { Schema } from "effect"

/** `email_log.status` (EVENT-10). */
export const EmailStatus = Schema.Literals([
  "deferred",
  "sent",
  "delivery_delayed",
  "delivered",
  "opened",
  "clicked",
  "suppressed",
  "failed",
  "bounced",
  "complained"
])
export type EmailStatus = typeof EmailStatus.Type

/** The statuses that move forward, lowest first. */
const RANKED_STATUSES = [
  "deferred",
  "sent",
  "delivery_delayed",
  "delivered",
  "opened",
  "clicked"
] as const satisfies ReadonlyArray<EmailStatus>

/** The terminal statuses: no write changes them. */
export const TERMINAL_STATUSES = [
  "suppressed",
  "failed",
  "bounced",
  "complained"
] as const satisfies ReadonlyArray<EmailStatus>

/** Rank of every terminal status: above every status that can still change. */
const TERMINAL_RANK = 100

/** The rank of a status: 1 (`deferred`) to 6 (`clicked`), or {@link TERMINAL_RANK}. Equals `email_status_rank()` in SQL. */
export const statusRank = (status: EmailStatus): number => {
  const at = (RANKED_STATUSES as ReadonlyArray<EmailStatus>).indexOf(status)
  return at === -1 ? TERMINAL_RANK : at + 1
}

/** Whether the status says that the mail arrived, and nothing against it. */
export const isDelivered = (status: EmailStatus): boolean =>
  statusRank(status) >= statusRank("delivered") && !isTerminal(status)

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

/** Event names that move a row; every other name (`bounce_transient`, `scheduled`, future ones) is unranked. */
const STATUS_OF_EVENT: ReadonlyMap<string, EmailStatus> = new Map(
  [...RANKED_STATUSES.slice(1), ...TERMINAL_STATUSES].map((status) => [status, status])
)

/** The status that a delivery event asks for, or `undefined` for an unranked one. */
export const statusOfEvent = (event: string): EmailStatus | undefined => STATUS_OF_EVENT.get(event)

/** The provider-reported failures: these alert once (EVENT-20). */
export const isProviderFailure = (event: string): boolean => {
  const status = statusOfEvent(event)
  return status !== undefined && isTerminal(status)
}
