import { setTimeout as wait } from "node:timers/promises"

import { Client } from "pg"

import { startPeer } from "../process.ts"
import type { Memory } from "../senders/sender-process.ts"

/** What the dispatcher did for so many receivers, each with a backlog. */
export interface HookLine {
  readonly receivers: number
  readonly backlog: number
  readonly perSecond: number
  /** Bytes after a collection, while there was a backlog: the first sample and the largest. */
  readonly firstHeap: number
  readonly largestHeap: number
}

/** Each receiver is at an address of its own, and has a connection of its own. */
const FILL = [
  "truncate event_hooks cascade",
  `insert into event_hooks (url, secret)
    select 'http://127.' || n / 62500 || '.' || n / 250 % 250 || '.' || 1 + n % 250 || ':' || $1::int || '/', new_hook_secret()
    from generate_series(0, $2::int - 1) as n`,
  `insert into event_hook_deliveries (hook_id, message_id, type, subject, body, state, next_at)
    select h.id, 'msg_' || n, 'email.delivered', 'key:' || md5(n::text), jsonb_build_object('type', 'email.delivered', 'data',
      jsonb_build_object('sendId', gen_random_uuid(), 'to', array['user' || n || '@example.com'], 'tags', repeat('x', 300)))::text,
      'pending', clock_timestamp()
    from event_hooks h cross join generate_series(1, $1::int) as n`,
  "vacuum analyze event_hook_deliveries"
] as const

const fill = async (client: Client, port: number, receivers: number, each: number) => {
  const [empty, hooks, deliveries, analyze] = FILL
  await client.query(empty)
  await client.query(hooks, [port, receivers])
  await client.query(deliveries, [each])
  await client.query(analyze)
}

/** How often it is looked at how far the dispatcher is, milliseconds, and at which of these its heap is collected and counted: rarely. */
const LOOK_MS = 250
const HEAP_EACH = 12

/** What is measured: receivers, events for each of them, and for how long at most. */
export interface HookOptions {
  readonly receivers: number
  readonly each: number
  readonly ms: number
}

/** Runs a dispatcher until all is received, or the time is over. */
export const measureHooks = async (
  databaseUrl: string,
  { each, ms, receivers }: HookOptions
): Promise<HookLine> => {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  const receiver = await startPeer<{ readonly port: number }>("queue/hook-receiver.ts")
  try {
    await client.query("set statement_timeout = 0")
    await fill(client, receiver.ready.port, receivers, each)
    const dispatcher = await startPeer<object>("queue/hook-process.ts", [databaseUrl], {
      execArgv: ["--expose-gc"]
    })
    try {
      const heaps: Array<number> = []
      // The dispatcher is warm after the first tenth of its time.
      let from: { readonly at: number; readonly received: number } | undefined
      const start = performance.now()
      let [at, received] = [start, 0]
      for (let look = 0; received < receivers * each && at - start < ms; look++) {
        await wait(LOOK_MS)
        received = Number(await receiver.ask({}))
        at = performance.now()
        if (from === undefined && at - start > ms / 10) from = { at, received }
        if (look % HEAP_EACH === 0) heaps.push(((await dispatcher.ask({})) as Memory).heap)
      }
      const since = from === undefined || from.received === received ? { at: start, received: 0 } : from
      return {
        receivers,
        backlog: receivers * each,
        perSecond: (received - since.received) / ((at - since.at) / 1_000),
        firstHeap: heaps[0] ?? Number.NaN,
        largestHeap: Math.max(...heaps)
      }
    } finally {
      await dispatcher.stop()
    }
  } finally {
    await receiver.stop()
    await client.query("truncate event_hooks cascade")
    await client.end()
  }
}
