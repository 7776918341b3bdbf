import { type EmailStatus, isProviderFailure } from "../../domain/mail/status.ts"
import type { Account, EventEntry, LogRow } from "./mail-log-row.ts"

const isLater = (one: Account, than: Account | null): boolean =>
  than === null || one.at > than.at || (one.at === than.at && one.event > than.event)

/** The last event with its account, after this one. Of an event both received and listed, the received account is kept. */
export const accountOf = (row: LogRow, entry: EventEntry, now: number): Partial<LogRow> => {
  const shown =
    row.lastEvent === null || row.lastEventAt === null
      ? null
      : { event: row.lastEvent, at: row.lastEventAt, raw: row.raw }
  const known = row.accounts ?? { told: shown, listed: null }
  const latest = entry.listed === true ? known.listed : known.told
  const at = entry.occurredAt ?? (latest?.event === entry.event ? undefined : now)
  if (at === undefined) return {}
  const account = { event: entry.event, at, raw: entry.raw ?? null }
  if (!isLater(account, latest)) return {}
  const told = entry.listed === true ? known.told : account
  const listed = entry.listed === true ? account : known.listed
  const last =
    listed !== null && (told === null || (told.event !== listed.event && isLater(listed, told)))
      ? listed
      : (told ?? account)
  return {
    accounts: listed === null ? null : { told, listed },
    lastEvent: last.event,
    lastEventAt: last.at,
    raw: last.raw
  }
}

/** The reason of the failure that is the row's status, also where only a later event of the same type brings it. */
export const errorOf = (row: LogRow, entry: EventEntry, status: EmailStatus): string | null => {
  if (!isProviderFailure(entry.event) || status !== entry.event) return row.error
  return status === row.status ? (row.error ?? entry.reason ?? null) : (entry.reason ?? row.error)
}
