import { least } from "../../../domain/lists.ts"
import { QUEUE_ORDER } from "../../../domain/mail/queue.ts"
import type { Category } from "../../../domain/mail/suppression/policy.ts"
import type { QueueOverview, UpcomingMail } from "../../../ports/mail/send-queue.ts"
import type { QueueRow, QueueTables } from "./queue-tables.ts"

const iso = (at: number): string => new Date(at).toISOString()

const live = ({ rows }: QueueTables): ReadonlyArray<QueueRow & { readonly dueAt: number }> =>
  [...rows.values()].filter((row): row is QueueRow & { readonly dueAt: number } => row.dueAt !== undefined)

/** `email_queue_overview`. */
export const overviewOf = (tables: QueueTables, now: number): QueueOverview => ({
  categories: QUEUE_ORDER.flatMap((category) => {
    const rows = live(tables).filter((row) => row.category === category)
    if (rows.length === 0) return []
    const due = rows.filter(({ dueAt, state }) => state === "queued" && dueAt <= now)
    return [
      {
        category,
        due: due.length,
        later: rows.filter(({ dueAt, state }) => state === "queued" && dueAt > now).length,
        sending: rows.filter(({ state }) => state === "sending").length,
        deferred: rows.filter(({ state }) => state === "deferred").length,
        oldestDueAt: due.length === 0 ? null : iso(least(due.map(({ dueAt }) => dueAt)))
      }
    ]
  }),
  paused: [...tables.pauses]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([scope, { actor, pausedAt }]) => ({
      scope,
      actor,
      pausedAt: iso(pausedAt)
    })),
  pace: [...tables.paces]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([provider, { heldUntil, rate, taken }]) => ({
      provider,
      ratePerSecond: rate ?? null,
      heldUntil: heldUntil !== undefined && heldUntil > now ? iso(heldUntil) : null,
      taken
    }))
})

const listOf = (value: unknown): ReadonlyArray<string> =>
  (Array.isArray(value) ? value : [value]).filter((one) => typeof one === "string")

/** What is sent next, by time. */
export const upcomingOf = (
  tables: QueueTables,
  category: Category | undefined,
  limit: number
): ReadonlyArray<UpcomingMail> =>
  live(tables)
    .filter((row) => category === undefined || row.category === category)
    .sort((a, b) => a.dueAt - b.dueAt)
    .slice(0, limit)
    .map((row) => ({
      id: row.id,
      idempotencyKey: row.key,
      state: row.state,
      sendAt: row.sendAt,
      attempts: row.attempts,
      nextAttemptAt: row.state === "sending" ? null : row.dueAt,
      error: row.error,
      category: row.category,
      to: listOf(Reflect.get(row.request ?? {}, "to")),
      subject: String(Reflect.get(row.request ?? {}, "subject"))
    }))
