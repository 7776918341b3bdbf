import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

import type { Query } from "./query.ts"

/** Receivers of event hooks: one answers at once, one after seconds, and one never. */
export const RECEIVERS = ["quick", "slow", "silent"] as const
type Receiver = (typeof RECEIVERS)[number]

/** Those that answer. */
export const ANSWERING: ReadonlyArray<Receiver> = ["quick", "slow"]

const SLOW_MS = 2_500

/** Receivers, and the ids of the events that each has answered. */
export interface Receivers {
  readonly url: string
  readonly received: ReadonlyMap<Receiver, ReadonlySet<string>>
  readonly close: () => void
}

const answer = (response: ServerResponse) => void response.writeHead(204).end()

export const startReceivers = async (): Promise<Receivers> => {
  const received = new Map(RECEIVERS.map((name) => [name, new Set<string>()]))
  const server = createServer((request, response) => {
    const name = RECEIVERS.find((one) => request.url === `/${one}`)
    request.resume().on("end", () => {
      if (name === undefined || name === "silent") return
      received.get(name)?.add(String(request.headers["webhook-id"]))
      if (name === "quick") answer(response)
      else setTimeout(answer, SLOW_MS, response).unref()
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

/** Adds the hooks, as an admin would. */
export const addHooks = (query: Query, { url }: Receivers) =>
  query(
    `insert into event_hooks (url, secret) select $1::text || '/' || x, new_hook_secret() from unnest($2::text[]) as x`,
    [url, [...RECEIVERS]]
  )

/** An event for a receiver, as the tables have it. */
export interface HookDelivery {
  readonly receiver: Receiver
  readonly messageId: string
  readonly state: "pending" | "delivered" | "dead"
  /** Of the mail that it is about; null where it is about something else. */
  readonly sendId: string | null
}

export const deliveriesOf = (query: Query): Promise<ReadonlyArray<HookDelivery>> =>
  query<HookDelivery>(
    `select substring(h.url from '[a-z]+$') as receiver, d.message_id as "messageId", d.state,
      d.body::jsonb -> 'data' ->> 'sendId' as "sendId"
    from event_hook_deliveries d join event_hooks h on h.id = d.hook_id`
  )
