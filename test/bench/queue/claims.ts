import { Client } from "pg"

import { percentile } from "../measure.ts"

/** How long it takes to take what is due, however much waits. */
export interface ClaimLine {
  /** Requests that are due, and requests that are due later. */
  readonly due: number
  readonly later: number
  /** Requests that one claim takes at most. */
  readonly limit: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** What one claim reads: rows of the queue, and pages of the database. */
  readonly rows: number
  readonly pages: number
}

const PACES = JSON.stringify([
  { provider: "provider_a", rate: 0, least: 0, most: 0, primary: true },
  { provider: "provider_b", rate: 0, least: 0, most: 0, primary: false }
])

const TAKE = "select * from take_queued_emails($1::jsonb, $2::integer, interval '12 seconds')"

const insert = (client: Client, count: number, due: string) =>
  client.query(
    `insert into email_send_queue (idempotency_key, key_hash, request_hash, category, lane, send_at, due_at, request)
    select 'claim-' || n, md5(n::text) || md5(n::text), md5(n::text) || md5(n::text), 'transactional', 3, t.due, t.due,
      jsonb_build_object('to', 'user' || n % 50000 || '@example.com', 'subject', 'Your order has shipped',
        'html', repeat('<p>It left our house this morning and is on its way to you.</p>', 8), 'category', 'transactional',
        'source', 'bench')
    from generate_series(1, $1::int) as n cross join lateral (select ${due} as due) as t`,
    [count]
  )

/** Makes the queue hold so many requests that are due, and so many that are due later, and nothing else. */
export const fillQueue = async (
  client: Client,
  { due, later }: Pick<ClaimLine, "due" | "later">
): Promise<void> => {
  await client.query("set statement_timeout = 0")
  await client.query("truncate email_send_queue")
  await insert(client, due, "clock_timestamp() - make_interval(secs => 3600 - 0.001 * n)")
  await insert(client, later, "clock_timestamp() + make_interval(hours => 1, secs => n)")
  await client.query("vacuum analyze email_send_queue")
}

/** By this transaction, and by earlier ones of the session whose counts were not passed on yet. */
const readSoFar = async (client: Client): Promise<number> => {
  const { rows } = await client.query<{ readonly rows: string }>(
    `select (seq_tup_read + idx_tup_fetch)::text as rows from pg_stat_xact_user_tables where relname = 'email_send_queue'`
  )
  return Number(rows[0]?.rows)
}

interface Plan {
  readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: object }>
}

const explainClaim = async (client: Client, limit: number) => {
  await client.query("begin")
  const before = await readSoFar(client)
  const plan = await client.query<Plan>(`explain (analyze, buffers, format json) ${TAKE}`, [PACES, limit])
  const rows = (await readSoFar(client)) - before
  await client.query("rollback")
  const top: object = plan.rows[0]?.["QUERY PLAN"][0]?.Plan ?? {}
  const pagesOf = (name: string) => Number(Reflect.get(top, name))
  return { rows, pages: pagesOf("Shared Hit Blocks") + pagesOf("Shared Read Blocks") }
}

/** Counts what one claim reads, and takes it back. The first one of a session also reads what its plans are made of. */
export const countClaim = async (
  client: Client,
  limit: number
): Promise<{ readonly rows: number; readonly pages: number }> => {
  await explainClaim(client, limit)
  return explainClaim(client, limit)
}

/** Times claims that are committed, as a sender makes them, one after the other. */
const timeClaims = async (client: Client, limit: number, times: number) => {
  const taken: Array<number> = []
  for (let each = 0; each < times; each++) {
    const from = performance.now()
    await client.query({ name: "take", text: TAKE, values: [PACES, limit] })
    taken.push(performance.now() - from)
  }
  const sorted = taken.toSorted((a, b) => a - b)
  return { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) }
}

/** Sizes of the queue at which a claim is timed. */
export interface ClaimOptions {
  readonly sizes: ReadonlyArray<{ readonly due: number; readonly later: number }>
  readonly times: number
  readonly limits: ReadonlyArray<number>
}

/** Fills the queue to each size, and takes from it. */
export const measureClaims = async (
  databaseUrl: string,
  { limits, sizes, times }: ClaimOptions
): Promise<ReadonlyArray<ClaimLine>> => {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const lines: Array<ClaimLine> = []
    for (const { due, later } of sizes) {
      for (const limit of limits) {
        await fillQueue(client, { due, later })
        // The plans of the functions are made.
        await timeClaims(client, limit, 3)
        lines.push({
          due,
          later,
          limit,
          ...(await countClaim(client, limit)),
          ...(await timeClaims(client, limit, times))
        })
      }
    }
    await client.query("truncate email_send_queue")
    return lines
  } finally {
    await client.end()
  }
}
