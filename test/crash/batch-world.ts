import { createHash, randomUUID } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"

import { type Child, runChild } from "../support/processes/child.ts"
import type { makeBatchService } from "./batch-service-fake.ts"
import { PRICE, USAGE } from "./batch-times.ts"
import { CHUNK_PAGES, objectsIn, PAGES, wordsOf } from "./conversion-world.ts"
import { query } from "./world.ts"

/** A conversion that waits for the batch, of a customer who can pay for it exactly. */
export const parkJob = async (url: string): Promise<string> => {
  const [owner, file, job] = [randomUUID(), randomUUID(), randomUUID()]
  const options = `'{"highFidelity":true}'`
  for (const statement of [
    `insert into customers (id, email, plan_type, credits_remaining)
      values ('${owner}', '${owner}@x.test', 'paid', ${PAGES})`,
    `insert into files (id, customer_id, name, kind, size_bytes, pages, object_key)
      values ('${file}', '${owner}', 'a.pdf', 'pdf', 1, ${PAGES}, 'files/${file}/source')`,
    `select request_conversion('${job}', '${file}', '${owner}', ${options}, interval '90 minutes')`,
    `select create_conversion_job('${job}', 'waiting_batch', ${CHUNK_PAGES}, ${options})`
  ]) {
    await query(url, statement)
  }
  return job
}

export type Act = "hurry" | "cancel" | "late"

/** What befalls a waiting conversion, by the database. */
export const act = (url: string, jobId: string, what: Act) =>
  query(
    url,
    {
      hurry: `select make_conversion_job_interactive('${jobId}')`,
      cancel: `select cancel_conversion_job('${jobId}')`,
      late: `update conversion_batch_jobs set deadline_at = now() - interval '1 minute', next_poll_at = now()
        where job_id = '${jobId}'`
    }[what]
  )

export const rowState = async (url: string, jobId: string): Promise<string | undefined> => {
  const rows = await query<{ readonly state: string }>(
    url,
    `select state from conversion_batch_jobs where job_id = '${jobId}'`
  )
  return rows[0]?.state
}

/** Neither the conversion nor its batch is under way any more. */
export const isAtRest = async (url: string, jobId: string): Promise<boolean> => {
  const rows = await query<{ readonly rest: boolean }>(
    url,
    `select j.status in ('completed', 'failed', 'cancelled')
        and exists (select from conversion_batch_jobs b where b.job_id = j.id and b.state = 'closed') as rest
      from large_conversion_jobs j where j.id = '${jobId}'`
  )
  return rows[0]?.rest === true
}

/** Every row of a conversion, byte for byte; each with the transaction that wrote it last. */
export const rowsOf = (url: string, jobId: string): Promise<unknown> => {
  const all = (table: string, of: string) =>
    `(select jsonb_agg(to_jsonb(t) || jsonb_build_object('xmin', t.xmin::text) order by t.id) from ${table} t where ${of})`
  const mine = `job_id = '${jobId}'`
  const file = `id = (select file_id from large_conversion_jobs where id = '${jobId}')`
  const customer = `id = (select customer_id from large_conversion_jobs where id = '${jobId}')`
  return query(
    url,
    `select ${[
      all("conversion_batch_jobs", mine),
      all("cost_ledger", mine),
      all("large_conversion_jobs", `id = '${jobId}'`),
      all("chunk_jobs", mine),
      all("files", file),
      all("funds_holds", mine),
      all("credit_charges", mine),
      all("customers", customer)
    ]
      .map((one, at) => `${one} as r${at}`)
      .join(", ")}`
  )
}

/** Objects of a conversion's batch, and what they hold. */
export const batchObjects = async (folder: string, jobId: string): Promise<ReadonlyMap<string, string>> => {
  const keys = (await objectsIn(join(folder, "batch"))).filter((key) => key.startsWith(`batch/${jobId}/`))
  const entries = await Promise.all(
    keys.map(async (key) => {
      const bytes = await readFile(join(folder, "batch", key))
      return [key, createHash("sha256").update(bytes).digest("hex")] as const
    })
  )
  return new Map(entries)
}

interface Ended {
  readonly status: string
  readonly result: string | null
  readonly credits: number | null
  readonly left: number
  readonly cost: number | null
  readonly booked: number
  readonly batches: number
  readonly batchTokens: number
  readonly others: number
  readonly held: number
  readonly rows: number
  readonly outcome: string | null
  readonly endState: string | null
  readonly primed: boolean
  readonly metadata: Readonly<Record<string, unknown>> | null
}

const near = (a: number | null, b: number): boolean => a !== null && Math.abs(a - b) < 1e-9

/** A result; where there is none, what there is. */
const readResult = (folder: string, key: string): Promise<string> =>
  readFile(join(folder, "files", key), "utf8").catch(
    async (cause: unknown) => `${String(cause)}, of ${(await objectsIn(join(folder, "files"))).join(" ")}`
  )

/** What is wrong with a conversion that has ended, by the rows, its result and what the batch service did. */
export const judge = async (
  url: string,
  folder: string,
  jobId: string,
  service: ReturnType<typeof makeBatchService>,
  expected: "completed" | "cancelled"
): Promise<ReadonlyArray<string>> => {
  const ledger = (of: string) =>
    `(select coalesce(sum(${of}), 0)::float8 from cost_ledger l where l.job_id = j.id)`
  const [job] = await query<Ended>(
    url,
    `select j.status, f.result_key as result, x.credits, u.credits_remaining as left,
        j.total_cost_usd::float8 as cost, ${ledger("cost_usd")} as booked,
        ${ledger("(source = 'batch')::int")} as batches,
        ${ledger("case when source = 'batch' then input_tokens end")} as "batchTokens",
        ${ledger("case when source <> 'batch' then input_tokens end")} as others,
        (select count(*)::int from funds_holds h where h.job_id = j.id and h.state = 'held') as held,
        (select count(*)::int from conversion_batch_jobs b where b.job_id = j.id) as rows,
        b.outcome, b.end_state as "endState", j.options ? '_batchPrimed' as primed,
        (select l.metadata from cost_ledger l where l.job_id = j.id and l.source = 'batch' limit 1) as metadata
      from large_conversion_jobs j join files f on f.id = j.file_id join customers u on u.id = j.customer_id
      left join conversion_batch_jobs b on b.job_id = j.id
      left join credit_charges x on x.job_id = j.id
      where j.id = '${jobId}'`
  )
  if (job === undefined) return ["it is gone"]
  const jobs = service.jobsOf(jobId)
  const answered = jobs.reduce((sum, { returned }) => sum + returned, 0)
  const completed = expected === "completed"
  const read = completed && job.result !== null ? await readResult(folder, job.result) : ""
  const words = Array.from({ length: PAGES }, (_, page) => wordsOf(page))
  const spent = (tokens: number) =>
    (tokens * PRICE.inputUsdPerMtok +
      (tokens / USAGE.inputTokens) * USAGE.outputTokens * PRICE.outputUsdPerMtok) /
    1_000_000
  const served = job.outcome === "collected" ? answered : 0
  const metadata = {
    accepted: served,
    batch: true,
    batchMultiplier: 0.5,
    endState: jobs[0]?.status,
    fallback: PAGES - served,
    returned: answered
  }
  const billed = Object.entries(metadata).every(([name, value]) => job.metadata?.[name] === value)
  const facts: ReadonlyArray<readonly [string, boolean]> = [
    [`C4 it ended ${job.status}`, job.status === expected],
    [
      `C1 its pages are not each there once: ${read.slice(0, 2_000)}`,
      !completed || read.trimEnd().split("\n").join() === words.join()
    ],
    [`F2 ${job.credits} pages were charged`, job.credits === (completed ? PAGES : null)],
    [`F1 ${job.left} credits are left`, job.left === (completed ? 0 : PAGES)],
    ["F1 funds are held", job.held === 0],
    [`B1 it has ${job.rows} batch rows`, job.rows === 1],
    [`B2 ${jobs.length} batch jobs were made`, jobs.length <= 1],
    [`B2 a batch job goes on: ${JSON.stringify(jobs)}`, jobs.every(({ status }) => status !== "InProgress")],
    [`B2 ${job.batches} bills for ${answered} records`, job.batches === (answered > 0 ? 1 : 0)],
    ["K1 the bill does not tell how it came about", answered === 0 || billed],
    [`K1 ${job.batchTokens} tokens are billed`, job.batchTokens === answered * USAGE.inputTokens],
    [
      `K1 ${job.booked} $ are booked`,
      near(job.booked, spent(answered * USAGE.inputTokens) / 2 + spent(job.others))
    ],
    [`K1 it cost ${job.cost}, ${job.booked} are booked`, near(job.cost, job.booked)],
    ["B5 results without use, or use without results", job.primed === (job.outcome === "collected")],
    [
      `B3 ${job.others} tokens on demand, ${served} pages from the batch`,
      !completed || job.others === (PAGES - served) * USAGE.inputTokens
    ]
  ]
  return facts.filter(([, holds]) => !holds).map(([what]) => `job ${jobId}: ${what} (${JSON.stringify(job)})`)
}

/** A process of the lane that is up. */
export const startBatchWorker = async (
  role: "leader" | "worker",
  env: { readonly DB_URL: string; readonly OBJECTS: string; readonly ARM: string; readonly BEDROCK: string }
): Promise<Child> => {
  const child = runChild("test/crash/batch-worker.ts", [], { ROLE: role, ...env })
  await child.line((line) => (line === "ready" ? line : undefined))
  return child
}
