import { type Load, measure } from "../measure.ts"
import { servePeer } from "../process.ts"
import { ENQUEUEING } from "../queue/enqueue.ts"
import { ROWS } from "../rows.ts"
import { SCALED } from "../scale/work.ts"
import type { Sender, Targets } from "./sender.ts"

/** What this process is asked: a round of a row, or how much memory it holds. */
export type Question =
  | { readonly row: string; readonly load: Load; readonly targets: Targets }
  | { readonly memory: true }

/** Bytes; the heap is counted after a collection. */
export interface Memory {
  readonly rss: number
  readonly heap: number
}

const senders = new Map<string, Promise<Sender>>()

const ownCpu = () => {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Runs rounds of rows; each row is opened once for each number of callers. */
servePeer({}, async (question: Question): Promise<unknown> => {
  if ("memory" in question) {
    globalThis.gc?.()
    const { rss, heapUsed } = process.memoryUsage()
    return { rss, heap: heapUsed } satisfies Memory
  }
  const { row: name, load, targets } = question
  const row = [...ROWS, ...SCALED, ...ENQUEUEING].find((each) => each.name === name)
  if (row === undefined) throw new Error(`no such row: ${name}`)
  const key = `${name} ${load.concurrency}`
  const opening = senders.get(key) ?? row.open(targets, load.concurrency)
  senders.set(key, opening)
  const sender = await opening
  return measure(load, sender.send, sender.cpuMicros ?? ownCpu)
})

process.once("SIGTERM", () => {
  void Promise.all([...senders.values()].map(async (opening) => (await opening).close())).then(() =>
    process.exit(0)
  )
})
