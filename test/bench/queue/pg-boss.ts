import { handPool } from "../senders/by-hand.ts"
import { resendClient } from "../senders/peers.ts"
import { next } from "../senders/sender.ts"
import { LOG, logValues } from "./by-hand-queue.ts"
import { counted, type OpenContender } from "./contender.ts"
import { newMails, type QueuedMail } from "./queued-mail.ts"

const QUEUE = "mail"

interface Job {
  readonly data: QueuedMail
}

/** What is used of pg-boss: the types that it is published with do not compile. */
interface Boss {
  readonly on: (event: "error", listener: (error: Error) => void) => void
  readonly start: () => Promise<unknown>
  readonly createQueue: (name: string) => Promise<void>
  readonly insert: (name: string, jobs: ReadonlyArray<Job>) => Promise<unknown>
  readonly work: (
    name: string,
    options: {
      readonly batchSize: number
      readonly localConcurrency: number
      readonly burstWhenBatchFull: boolean
      readonly pollingIntervalSeconds: number
    },
    handler: (jobs: ReadonlyArray<Job>) => Promise<void>
  ) => Promise<string>
  readonly offWork: (name: string, options: { readonly wait: boolean }) => Promise<void>
  readonly stop: () => Promise<void>
}

const PACKAGE: string = "pg-boss"

const openBoss = async (databaseUrl: string): Promise<Boss> => {
  const { PgBoss } = (await import(PACKAGE)) as {
    readonly PgBoss: new (options: { readonly connectionString: string }) => Boss
  }
  return new PgBoss({ connectionString: databaseUrl })
}

/**
 * pg-boss, in batches: two workers, so that one sends while the other fetches, which go on without a pause while their batches are
 * full. The look-up and the rows of a batch are one statement each.
 */
export const pgBoss: OpenContender = async ({ databaseUrl, providerUrl }, concurrency) => {
  const pool = await handPool(databaseUrl)
  const vendor = resendClient(providerUrl)
  const boss = await openBoss(databaseUrl)
  boss.on("error", (error) => {
    throw error
  })
  await boss.start()
  await boss.createQueue(QUEUE)
  let done: () => void = () => undefined
  const work = async (jobs: ReadonlyArray<Job>) => {
    const { rows } = await pool.query<{ readonly email: string }>({
      name: "look-up",
      text: "select email from email_suppressions where email = any ($1)",
      values: [jobs.map(({ data }) => data.to)]
    })
    const blocked = new Set(rows.map(({ email }) => email))
    const sent = await Promise.all(
      jobs
        .filter(({ data }) => !blocked.has(data.to))
        .map(async ({ data }) => ({
          mail: data,
          messageId: await vendor.send({ ...data, n: next() }, data.idempotencyKey)
        }))
    )
    await pool.query({ name: "log", text: LOG, values: logValues(sent) })
    for (const _ of jobs) done()
  }
  return {
    fill: async (count) => {
      await boss.insert(
        QUEUE,
        newMails(count).map((data) => ({ data }))
      )
      await pool.query("vacuum analyze pgboss.job")
    },
    drain: async (count) => {
      const { all, one } = counted(count)
      done = one
      await boss.work(
        QUEUE,
        {
          batchSize: concurrency,
          localConcurrency: 2,
          burstWhenBatchFull: true,
          pollingIntervalSeconds: 0.5
        },
        work
      )
      await all
      await boss.offWork(QUEUE, { wait: true })
    },
    close: async () => {
      await boss.stop()
      await pool.end()
    }
  }
}
