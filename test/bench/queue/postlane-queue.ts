import { setTimeout as wait } from "node:timers/promises"

import { Context, Effect, Exit, Fiber, Layer, Redacted, Scope } from "effect"
import { Client } from "pg"

import { layer as clients } from "../../../src/adapters/postgres/client.ts"
import { Mailer } from "../../../src/application/mail/mailer.ts"
import { Enqueue } from "../../../src/application/send-queue/enqueue.ts"
import { QueueSender } from "../../../src/application/send-queue/sender.ts"
import { mail } from "../../../src/runtime/compose/mail/mail-server.ts"
import { nodeProviders } from "../../../src/runtime/compose/mail/node-providers.ts"
import { nodeCredentials } from "../../../src/runtime/compose/node-credentials.ts"
import { nodeCrypto } from "../../../src/runtime/compose/node-crypto.ts"
import { readSettings } from "../../../src/runtime/edge/plain-send-email.ts"
import { mailSettings } from "../senders/postlane.ts"
import { next, recipient, type Targets } from "../senders/sender.ts"
import type { OpenContender } from "./contender.ts"
import { MAIL, newMails } from "./queued-mail.ts"

/** The mail of a server, without pace, on the connections that a server has. */
export const openServerMail = async (targets: Targets, concurrency: number) => {
  const scope = Scope.makeUnsafe()
  const settings = await Effect.runPromise(
    readSettings(
      {
        ...mailSettings(targets, "provider_a"),
        PROVIDERA_RATE_PER_SECOND: "0",
        PROVIDERB_RATE_PER_SECOND: "0",
        EMAIL_QUEUE_CONCURRENCY: String(concurrency)
      },
      false
    )
  )
  const credentials = nodeCredentials(settings)
  const parts = {
    providers: nodeProviders(settings, credentials),
    credentials,
    crypto: nodeCrypto
  }
  const context = await Effect.runPromise(
    Scope.provide(
      Layer.build(Layer.provide(mail(settings, parts), clients({ url: Redacted.make(targets.databaseUrl) }))),
      scope
    )
  )
  return {
    enqueue: Context.get(context, Enqueue),
    mailer: Context.get(context, Mailer),
    sender: Context.get(context, QueueSender),
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

const FILL = `select count(enqueue_email($1::jsonb || jsonb_build_object(
  'to', 'user' || (n % 50000) || '@example.com', 'idempotencyKey', $2 || '-' || n))) from generate_series(1, $3::int) as n`

/** Of the mails above: all are of one category, and name no provider. */
const IS_LEFT = `select from email_send_queue where provider = '' and lane = 3 and due_at is not null order by due_at limit 1`

/** How often the queue is looked at, milliseconds. */
const LOOK_MS = 20

/** A connection that fills the send queue's table; `name` is part of the keys. */
export const fillQueue = async ({ databaseUrl }: Pick<Targets, "databaseUrl">, name: string) => {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query("set statement_timeout = 0")
  return {
    client,
    fill: async (count: number) => {
      await client.query(FILL, [JSON.stringify(MAIL), `${name}-${process.pid}-${next()}`, count])
      await client.query("vacuum analyze email_send_queue")
    },
    close: () => client.end()
  }
}

/** The send queue. */
export const postlaneQueue: OpenContender = async (targets, concurrency) => {
  const server = await openServerMail(targets, concurrency)
  const { client, close, fill } = await fillQueue(targets, "queue")
  return {
    fill,
    drain: async () => {
      const sending = Effect.runFork(server.sender.run)
      while ((await client.query({ name: "left", text: IS_LEFT })).rowCount !== 0) await wait(LOOK_MS)
      await Effect.runPromise(Fiber.interrupt(sending))
    },
    close: async () => {
      await close()
      await server.close()
    }
  }
}

/** Keyed sends of callers that wait for each, on the same services. */
export const directSends: OpenContender = async (targets, concurrency) => {
  const server = await openServerMail(targets, concurrency)
  return {
    fill: () => Promise.resolve(),
    drain: async (count) => {
      const mails = [...newMails(count)]
      const caller = async () => {
        for (let one = mails.pop(); one !== undefined; one = mails.pop()) {
          const result = await Effect.runPromise(
            server.mailer.send({ ...MAIL, ...one, to: recipient(next()) })
          )
          if (result.status !== "sent") throw new Error(JSON.stringify(result))
        }
      }
      await Promise.all(Array.from({ length: concurrency }, caller))
    },
    close: server.close
  }
}
