import { randomUUID } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"

import { Effect, Redacted } from "effect"

import { layerSingle, WriteSql } from "../../src/adapters/postgres/client.ts"
import { MAX_CHUNK_ATTEMPTS } from "../../src/domain/conversion/job.ts"
import { type Child, runChild } from "../support/processes/child.ts"

/** So short that a lease is over in a second. */
export const HEARTBEAT_MS = 200

/** Pages of a chunk, and of each document; the last chunk is a short one. */
export const CHUNK_PAGES = 5
export const PAGES = 33

/** What stands on a page, and nowhere else. */
export const wordsOf = (page: number): string => `these words are on page number ${page} alone`

/** Runs statements on a connection of its own. */
const onDatabase = <A, E>(url: string, run: (sql: WriteSql["Service"]) => Effect.Effect<A, E>): Promise<A> =>
  Effect.runPromise(WriteSql.use(run).pipe(Effect.provide(layerSingle({ url: Redacted.make(url) }))))

/** Conversions, asked for and with their jobs, of one customer who can pay for them exactly. */
export const addJobs = (url: string, count: number): Promise<void> =>
  onDatabase(url, (sql) =>
    Effect.gen(function* () {
      const owner = randomUUID()
      yield* sql`insert into customers (id, email, plan_type, credits_remaining)
        values (${owner}::uuid, 'owner@x.test', 'paid', ${count * PAGES})`
      for (let n = 0; n < count; n++) {
        const [file, job] = [randomUUID(), randomUUID()]
        yield* sql`insert into files (id, customer_id, name, kind, size_bytes, pages, object_key)
          values (${file}::uuid, ${owner}::uuid, 'a.pdf', 'pdf', 1, ${PAGES}, ${`files/${file}/source`})`
        yield* sql`select request_conversion(
          ${job}::uuid, ${file}::uuid, ${owner}::uuid, '{"highFidelity":true}', interval '90 minutes')`
        yield* sql`select create_conversion_job(
          ${job}::uuid, 'pending', ${CHUNK_PAGES}::integer, '{"highFidelity":true}')`
      }
    })
  )

/** Jobs that have not ended. */
export const liveJobs = (url: string): Promise<number> =>
  onDatabase(url, (sql) =>
    Effect.map(
      sql<{ readonly count: number }>`select count(*)::int as count from large_conversion_jobs
        where status not in ('completed', 'failed', 'cancelled')`,
      ([row]) => row?.count ?? -1
    )
  )

/** The lease of a chunk that this worker is in the middle of; undefined where there is none. */
export const chunkUnderWay = (url: string, worker: string): Promise<string | undefined> =>
  onDatabase(url, (sql) =>
    Effect.map(
      sql<{ readonly lease: string }>`select lease from chunk_jobs
        where worker = ${worker} and status = 'processing' and pages_done between 1 and 3 limit 1`,
      ([row]) => row?.lease
    )
  )

/** The objects that the rows name. */
export const objectsNamed = (url: string): Promise<ReadonlyArray<string>> =>
  onDatabase(url, (sql) =>
    Effect.map(
      sql<{
        readonly key: string
      }>`select result_key as key from chunk_jobs union all select result_key from files`,
      (rows) => rows.map(({ key }) => key).sort()
    )
  )

/** Whether the cost of an attempt is booked. */
export const isBooked = (url: string, lease: string): Promise<boolean> =>
  onDatabase(url, (sql) =>
    Effect.map(sql`select from cost_ledger where id = ${lease}::uuid`, (rows) => rows.length === 1)
  )

/** Every row that a worker writes, but for what the models cost. */
export const rowsOf = (url: string): Promise<unknown> =>
  onDatabase(
    url,
    (sql) => sql`select
      (select jsonb_agg(c order by c.id) from chunk_jobs c) as chunks,
      (select jsonb_agg(to_jsonb(j) - 'total_cost_usd' order by j.id) from large_conversion_jobs j) as jobs,
      (select jsonb_agg(f order by f.id) from files f) as files,
      (select jsonb_agg(x order by x.id) from credit_charges x) as charges,
      (select jsonb_agg(h order by h.id) from funds_holds h) as holds,
      (select jsonb_agg(u order by u.id) from customers u) as customers`
  )

/** Every whole object, by its key. */
export const objectsIn = async (folder: string): Promise<ReadonlyArray<string>> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.parentPath.includes(".unfinished"))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()

interface Ended {
  readonly id: string
  readonly status: string
  readonly result: string | null
  readonly pages: number | null
  readonly cost: number
  readonly booked: number
  readonly held: number
  /** Most claims of one of its chunks, or of its assembly. */
  readonly attempts: number
}

/** Whether each worker that took a piece of a job died over it, so that nobody takes it again: on a slow machine, three deaths in a row hit one. */
const isGivenUp = ({ attempts, held, pages, status }: Ended): boolean =>
  status === "failed" && attempts >= MAX_CHUNK_ATTEMPTS && held === 0 && pages === null

/** What is wrong once everything has ended: a page that is not there once and in its place, a charge that is not one. */
export const judge = async (url: string, folder: string): Promise<ReadonlyArray<string>> => {
  const { credits, jobs } = await onDatabase(url, (sql) =>
    Effect.gen(function* () {
      const ended = yield* sql<Ended>`select j.id, j.status, f.result_key as result, x.credits as pages,
          j.total_cost_usd::float8 as cost,
          (select coalesce(sum(l.cost_usd), 0)::float8 from cost_ledger l where l.job_id = j.id) as booked,
          (select count(*)::int from funds_holds h where h.job_id = j.id and h.state = 'held') as held,
          greatest(j.attempts, (select max(c.attempts) from chunk_jobs c where c.job_id = j.id)) as attempts
        from large_conversion_jobs j join files f on f.job_id = j.id
        left join credit_charges x on x.job_id = j.id`
      const left = yield* sql<{
        readonly credits: number
      }>`select credits_remaining as credits from customers`
      return { jobs: ended, credits: left[0]?.credits }
    })
  )
  const wanted = Array.from({ length: PAGES }, (_, page) => wordsOf(page))
  const givenUp = jobs.filter(isGivenUp)
  const violations = await Promise.all(
    jobs.map(async (job) => {
      const { booked, cost, held, id, pages, result, status } = job
      if (givenUp.includes(job)) return []
      if (status !== "completed" || result === null) return [`C4 job ${id} is ${status}`]
      const lines = (await readFile(join(folder, result), "utf8")).trimEnd().split("\n")
      return [
        ...(lines.join() === wanted.join() ? [] : [`C1 job ${id} has the pages ${lines.join(", ")}`]),
        ...(pages === PAGES ? [] : [`F2 job ${id} was charged ${pages}`]),
        ...(cost === booked ? [] : [`K1 job ${id} cost ${cost}, of which ${booked} is booked`]),
        ...(held === 0 ? [] : [`F1 job ${id} holds funds`])
      ]
    })
  )
  return [
    ...violations.flat(),
    ...(credits === givenUp.length * PAGES
      ? []
      : [`F1 ${credits} credits are left, and ${givenUp.length} jobs were given up`])
  ]
}

/** A worker that is up. Each page, and the model for it, takes it up to `pageMs`. */
export const startWorker = async (
  url: string,
  folder: string,
  name: string,
  pageMs: number
): Promise<Child> => {
  const child = runChild("test/crash/conversion-worker.ts", [], {
    DB_URL: url,
    OBJECTS: folder,
    WORKER: name,
    PAGE_MS: String(pageMs)
  })
  await child.line((line) => (line === "ready" ? line : undefined))
  return child
}
