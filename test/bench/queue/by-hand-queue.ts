import type { Pool, PoolClient } from "pg"

import { handPool } from "../senders/by-hand.ts"
import { resendClient } from "../senders/peers.ts"
import { FROM, next } from "../senders/sender.ts"
import type { OpenContender } from "./contender.ts"
import { newMails, type QueuedMail } from "./queued-mail.ts"

/**
 * What a user would write by hand: a table of jobs, and workers that each take one with `for update skip locked`, send it under its
 * key and log it, all in one transaction, so that a worker that dies leaves its job. The look-up of suppressions is part of the
 * statement that takes the job. One connection a worker, every statement prepared.
 */
const TABLE = `
create table if not exists hand_jobs (
  id bigint generated always as identity primary key, run_at timestamptz not null default now(), request jsonb not null
);
create index if not exists hand_jobs_run_at on hand_jobs (run_at, id);`

const TAKE = `delete from hand_jobs j
where j.id = (select x.id from hand_jobs x where x.run_at <= now() order by x.run_at, x.id limit 1 for update skip locked)
returning j.request, exists (select from email_suppressions s where s.email = j.request ->> 'to') as "isBlocked"`

/** Fills a table of logged mails; also for queues that others made. */
export const LOG = `insert into hand_mails (key, sender, recipients, subject, status, message_id)
select k, '${FROM}', array[r], s, 'sent', m from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as x(k, r, s, m)`

/** The rows of mails that were sent, as {@link LOG} takes them. */
export const logValues = (sent: ReadonlyArray<{ readonly mail: QueuedMail; readonly messageId: string }>) => [
  sent.map(({ mail }) => mail.idempotencyKey),
  sent.map(({ mail }) => mail.to),
  sent.map(({ mail }) => mail.subject),
  sent.map(({ messageId }) => messageId)
]

interface Taken {
  readonly request: QueuedMail
  readonly isBlocked: boolean
}

const insertJobs = (pool: Pool, count: number) =>
  pool.query("insert into hand_jobs (request) select x from jsonb_array_elements($1::jsonb) as x", [
    JSON.stringify(newMails(count))
  ])

/** One job to its end; false where there is none. */
const workOne = async (client: PoolClient, send: (mail: QueuedMail) => Promise<string>): Promise<boolean> => {
  await client.query("begin")
  const { rows } = await client.query<Taken>({ name: "take", text: TAKE })
  const [job] = rows
  if (job !== undefined && !job.isBlocked) {
    const messageId = await send(job.request)
    await client.query({ name: "log", text: LOG, values: logValues([{ mail: job.request, messageId }]) })
  }
  await client.query("commit")
  return job !== undefined
}

/** A table of jobs, by hand. */
export const handQueue: OpenContender = async ({ databaseUrl, providerUrl }, concurrency) => {
  const pool = await handPool(databaseUrl, concurrency)
  await pool.query(TABLE)
  const vendor = resendClient(providerUrl)
  const send = (mail: QueuedMail) => vendor.send({ ...mail, n: next() }, mail.idempotencyKey)
  const worker = async () => {
    const client = await pool.connect()
    try {
      while (await workOne(client, send));
    } finally {
      client.release()
    }
  }
  return {
    fill: async (count) => {
      await insertJobs(pool, count)
      await pool.query("vacuum analyze hand_jobs")
    },
    drain: async () => {
      await Promise.all(Array.from({ length: concurrency }, worker))
    },
    close: () => pool.end()
  }
}
