import { makeWorkerUtils, Logger, run } from "graphile-worker"

import { handPool } from "../senders/by-hand.ts"
import { resendClient } from "../senders/peers.ts"
import { next } from "../senders/sender.ts"
import { LOG, logValues } from "./by-hand-queue.ts"
import { counted, type OpenContender } from "./contender.ts"
import { newMails, type QueuedMail } from "./queued-mail.ts"

const silent = new Logger(() => () => undefined)

/**
 * graphile-worker, tuned as its documentation says: jobs are fetched together into a local queue, and ends are written together. The
 * handler sees one job.
 */
export const graphileWorker: OpenContender = async ({ databaseUrl, providerUrl }, concurrency) => {
  const pool = await handPool(databaseUrl)
  const vendor = resendClient(providerUrl)
  const utils = await makeWorkerUtils({ connectionString: databaseUrl, logger: silent })
  await utils.migrate()
  let done: () => void = () => undefined
  const work = async (payload: unknown) => {
    const mail = payload as QueuedMail
    const blocked = await pool.query({
      name: "look-up",
      text: "select reason from email_suppressions where email = any ($1)",
      values: [[mail.to]]
    })
    if (blocked.rowCount !== 0) return
    const messageId = await vendor.send({ ...mail, n: next() }, mail.idempotencyKey)
    await pool.query({ name: "log", text: LOG, values: logValues([{ mail, messageId }]) })
    done()
  }
  return {
    fill: async (count) => {
      await utils.addJobs(newMails(count).map((payload) => ({ identifier: "mail", payload })))
      await pool.query("vacuum analyze graphile_worker._private_jobs")
    },
    drain: async (count) => {
      const { all, one } = counted(count)
      done = one
      const runner = await run({
        connectionString: databaseUrl,
        logger: silent,
        noHandleSignals: true,
        taskList: { mail: work },
        preset: {
          worker: {
            concurrentJobs: concurrency,
            maxPoolSize: 12,
            localQueue: { size: 4 * concurrency },
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0
          }
        }
      })
      await all
      // Waits for the ends that are not written yet.
      await runner.stop()
    },
    close: async () => {
      await utils.release()
      await pool.end()
    }
  }
}
