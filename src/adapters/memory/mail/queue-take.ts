import { LeaseId } from "../../../domain/ids.ts"
import { append, least } from "../../../domain/lists.ts"
import { rateOf } from "../../../domain/mail/rate.ts"
import type { PaceLimit, TakenMail, TakeQueued } from "../../../ports/mail/send-queue.ts"
import {
  AHEAD_MS,
  dueRows,
  laneOf,
  type Pace,
  type QueueRow,
  type QueueTables,
  SILENT_MS
} from "./queue-tables.ts"
import type { MailTables } from "./tables.ts"

/** Everything that the queue decides by. */
export interface Tables {
  readonly mail: MailTables
  readonly queue: QueueTables
  readonly newId: () => string
}

/** See `email_tokens`. */
export const tokens = ({ queue }: Tables, limit: PaceLimit, now: number) => {
  const known = queue.paces.get(limit.provider)
  const pace: Pace = known ?? {
    freeAt: now + SILENT_MS,
    reservedAt: now + SILENT_MS,
    heldUntil: undefined,
    rate: undefined,
    taken: 0
  }
  queue.paces.set(limit.provider, pace)
  const spacing = 1000 / rateOf(limit, pace.rate)
  const held = pace.heldUntil ?? now
  const firstAt = Math.max(now, held, Math.min(pace.freeAt, pace.reservedAt))
  const isReserved = firstAt < Math.max(now, held, pace.freeAt)
  const count =
    firstAt >= now + AHEAD_MS ? 0 : isReserved ? 1 : Math.ceil((now + AHEAD_MS - firstAt) / spacing)
  return { pace, spacing, firstAt, count }
}

/** `oldest` of them whatever their category, the rest by category and then by time. */
const picked = (rows: ReadonlyArray<QueueRow>, count: number, oldest: number): ReadonlyArray<QueueRow> => {
  const first = rows.slice(0, oldest)
  const rest = rows.filter((row) => !first.includes(row)).sort((a, b) => laneOf(a) - laneOf(b))
  return [...first, ...rest].slice(0, count)
}

const takeRow = (
  tables: Tables,
  row: QueueRow,
  entry: TakeQueued,
  waitMs: number,
  now: number
): TakenMail => {
  const lease = LeaseId.make(tables.newId())
  if (row.state === "sending") row.deaths += 1
  row.passedLease = row.lease
  row.state = "sending"
  row.lease = lease
  row.dueAt = now + entry.leaseMs + waitMs
  row.firstTakenAt ??= now
  return {
    id: row.id,
    lease,
    idempotencyKey: row.key,
    waitMs,
    request: row.request,
    deferral: row.deferral,
    tried: row.tried,
    deaths: row.deaths,
    refusals: row.refusals,
    ageMs: now - Math.max(row.firstTakenAt, row.sendAt),
    expiresInMs: row.expiresAt === undefined ? undefined : row.expiresAt - now
  }
}

export const take = (tables: Tables, entry: TakeQueued, now: number) => {
  const mails: Array<TakenMail> = []
  let nextAt = Number.POSITIVE_INFINITY
  for (const limit of entry.paces) {
    const names = limit.provider === entry.primary ? ["", limit.provider] : [limit.provider]
    const waiting = [...tables.queue.rows.values()].flatMap(({ dueAt, provider }) =>
      dueAt !== undefined && names.includes(provider) ? [dueAt] : []
    )
    const due = dueRows(tables.queue, names, now)
    if (due.length === 0) {
      nextAt = Math.min(nextAt, least(waiting.filter((at) => at > now)))
      continue
    }
    const left = entry.limit - mails.length
    if (limit.rate === 0) {
      append(
        mails,
        picked(due, left, Math.floor(left / 8)).map((row) => takeRow(tables, row, entry, 0, now))
      )
      continue
    }
    const { count, firstAt, pace, spacing } = tokens(tables, limit, now)
    const most = Math.min(count, left)
    const oldest = Math.floor((pace.taken + most) / 8) - Math.floor(pace.taken / 8)
    const rows = picked(due, most, oldest)
    append(
      mails,
      rows.map((row, place) => takeRow(tables, row, entry, firstAt + place * spacing - now, now))
    )
    if (rows.length > 0) {
      pace.freeAt = Math.min(Math.max(pace.freeAt, firstAt), now + SILENT_MS) + rows.length * spacing
      pace.reservedAt = firstAt + (rows.length + 3) * spacing
      pace.taken += rows.length
    }
    nextAt = Math.min(nextAt, Math.max(now, firstAt + rows.length * spacing))
  }
  return { mails, nextMs: Number.isFinite(nextAt) ? Math.max(0, nextAt - now) : undefined }
}
