import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"

import type { Documents } from "../../../../src/adapters/memory/documents/state.ts"
import type { WriteSql } from "../../../../src/adapters/postgres/client.ts"

/** Rows as both have them, without moments and drawn ids; the keys are the model's. */
const REAL = {
  customers: `select id, credits_remaining as credits, lifetime_free_pages_used as "freePagesUsed",
    deleted_at is not null as deleted from customers`,
  holds: `select job_id as "jobId", customer_id as "customerId", credits, free_pages as "freePages", state, outcome
    from funds_holds`,
  charges: `select job_id as "jobId", customer_id as "customerId", credits, free_pages as "freePages" from credit_charges`,
  ledger: `select id, job_id as "jobId", source, cost_usd::float8 as "costUsd" from cost_ledger`,
  files: `select id, name, status, phase, pages, result_key as "resultKey", unreadable_pages as "unreadablePages",
    has_text as "hasText", left_out as "leftOut", job_id as "jobId", done, total, error, lease, attempts, deleted_at is not null as deleted from files`,
  queue: `select job_id as "jobId", file_id as "fileId", bulk_id as "bulkId" from convert_queue`,
  bulkOrders: `select id, customer_id as "customerId", attempts, ended_at is not null as ended, notified_at is not null as notified
    from bulk_orders`,
  bulkItems: `select bulk_id as "bulkId", place, file_id as "fileId", job_id as "jobId" from bulk_items`,
  jobs: `select id, file_id as "fileId", customer_id as "customerId", bulk_id as "bulkId", status, options,
    total_pages as "totalPages", total_chunks as "totalChunks", done_chunks as "doneChunks",
    total_cost_usd::float8 as "totalCostUsd", error, lease, attempts, finished_at is not null as finished
    from large_conversion_jobs`,
  chunks: `select job_id as "jobId", chunk_index as "chunkIndex", first_page as "firstPage", last_page as "lastPage", status,
    worker, lease, attempts, pages_done as "pagesDone", result_key as "resultKey", error from chunk_jobs`,
  flyers: `select id, status, comp_conversion_id as "compConversionId", result_key as "resultKey",
    unreadable_pages as "unreadablePages", error, lease, attempts from flyer_jobs`,
  batches: `select job_id as "jobId", state, outcome, close_reason as "closeReason", batch_job_arn as arn, model, records,
    accepted, fallback, shards, input_prefix as "inputPrefix", cost_usd::float8 as "costUsd", end_state as "endState", attempts,
    lease, preparer, term::int as term from conversion_batch_jobs`,
  mails: `select id, step, outcome, reason, identity, message_id as "messageId", sender, customer_id as "customerId", filename,
    pages, result_key as "resultKey", lease, attempts, failures, failing_part as "failingPart",
    former_lease as "formerLease", cleaned from intake_mails`,
  identities: `select identity, mail_id as "mailId" from intake_identities`,
  replies: `select mail_id as "mailId", recipient, content, status, as_link as "asLink", attempts, unknowns, lease, error
    from intake_replies`,
  mailConversions: `select id, total_pages as "totalPages", credits_charged as "creditsCharged", status, error_message as error
    from conversion_jobs`
} as const

type Name = keyof typeof REAL
export const NAMES = Object.keys(REAL).filter((name): name is Name => name in REAL)

/** The model's row with what the other one shows of a moment. */
const seen = (row: object): object => ({
  ...row,
  ...("deletedAt" in row ? { deleted: row.deletedAt !== null } : {}),
  ...("finishedAt" in row ? { finished: row.finishedAt !== null } : {}),
  ...("notifiedAt" in row && "endedAt" in row
    ? { ended: row.endedAt !== null, notified: row.notifiedAt !== null }
    : {})
})

const textOf = (row: object, keys: ReadonlyArray<string>): string =>
  JSON.stringify(
    keys.map((key) => {
      const value: unknown = Reflect.get(row, key)
      const isRecord = typeof value === "object" && value !== null && !Array.isArray(value)
      return [key, isRecord ? Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)) : (value ?? null)]
    })
  )

/** All of it in one round trip. */
const ALL = `select ${NAMES.map(
  (name) => `(select coalesce(jsonb_agg(x), '[]') from (${REAL[name]}) x) as "${name}"`
).join(", ")}`

/** The rows of each table. */
export type Tables = Readonly<Record<Name, ReadonlyArray<object>>>

/** The tables of PostgreSQL. */
export const tablesOf = (sql: WriteSql["Service"]): Effect.Effect<Tables, SqlError> =>
  Effect.map(sql.unsafe<Tables>(ALL), ([tables]) => tables!)

/** What is not the same in the tables of both. */
export const differencesOf = (tables: Tables, db: Documents): ReadonlyArray<string> =>
  NAMES.flatMap((name) => {
    const rows = tables[name]
    const model = db[name].where().map(seen)
    if (rows.length === 0) return model.length === 0 ? [] : [`${name}: only the model has rows`]
    const keys = Object.keys(rows[0] ?? {})
    const [a = [], b = []] = [rows, model].map((all) => all.map((row) => textOf(row, keys)).sort())
    const [real, modelled] = [new Set(a), new Set(b)]
    return [
      ...a.filter((text) => !modelled.has(text)).map((text) => `${name}: only PostgreSQL has ${text}`),
      ...b.filter((text) => !real.has(text)).map((text) => `${name}: only the model has ${text}`)
    ]
  })
