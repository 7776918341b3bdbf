import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as wait } from "node:timers/promises"

import { Client } from "pg"

import { ENQUEUE } from "../../../src/adapters/postgres/mail/own-transaction.ts"
import { percentile } from "../measure.ts"
import { startPeer } from "../process.ts"
import type { Targets } from "../senders/sender.ts"
import { MAIL, newMails } from "./queued-mail.ts"

/** How long a mail takes from its commit to the provider, milliseconds. */
export interface DoorLine {
  readonly by: "same process" | "another process"
  readonly p50: number
  readonly p99: number
}

const now = () => performance.timeOrigin + performance.now()

/** A provider that notes when a key arrives. */
const openDoor = async () => {
  const arrived = new Map<string, number>()
  const server = createServer((request, response) => {
    arrived.set(String(request.headers["idempotency-key"]), now())
    request.on("data", () => undefined)
    request.on("end", () => {
      response.writeHead(200, { "content-type": "application/json" }).end(`{"id":"door-${arrived.size}"}`)
      server.emit("arrived")
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrival: async (key: string) => {
      for (let at = arrived.get(key); ; at = arrived.get(key)) {
        if (at !== undefined) return at
        await once(server, "arrived")
      }
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

const lineOf = (by: DoorLine["by"], taken: ReadonlyArray<number>): DoorLine => {
  const sorted = taken.toSorted((a, b) => a - b)
  return { by, p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) }
}

interface Committed {
  readonly key: string
  readonly at: number
}

/**
 * Mails one by one, queued by the sender's own process and by a transaction of another one. The pauses between them are random, up to
 * `pauseMs`, since a sender that nobody wakes looks now and then.
 */
export const measureDoor = async (
  { databaseUrl, smtpPort }: Targets,
  { mails, pauseMs }: { readonly mails: number; readonly pauseMs: number }
): Promise<ReadonlyArray<DoorLine>> => {
  const door = await openDoor()
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  const sender = await startPeer<object>("queue/door-process.ts", [
    JSON.stringify({ databaseUrl, providerUrl: door.url, smtpPort } satisfies Targets)
  ])
  const ownTransaction = async (): Promise<Committed> => {
    const [mail] = newMails(1)
    await client.query("begin")
    await client.query({ name: "enqueue", text: ENQUEUE, values: [JSON.stringify({ ...MAIL, ...mail })] })
    await client.query("commit")
    return { key: mail?.idempotencyKey ?? "", at: now() }
  }
  const timed = async (by: DoorLine["by"], queue: () => Promise<Committed>) => {
    const taken: Array<number> = []
    for (let each = -2; each < mails; each++) {
      await wait(Math.random() * pauseMs)
      const { at, key } = await queue()
      // The sender may be quicker than the answer to the commit.
      const ms = Math.max(0, (await door.arrival(key)) - at)
      if (each >= 0) taken.push(ms)
    }
    return lineOf(by, taken)
  }
  try {
    return [
      await timed("same process", async () => (await sender.ask({})) as Committed),
      await timed("another process", ownTransaction)
    ]
  } finally {
    await sender.stop()
    await client.end()
    door.close()
  }
}
