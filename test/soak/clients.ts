import { setTimeout as sleep } from "node:timers/promises"

import type { Chance } from "../simulation/kernel.ts"
import { count, type Journal } from "./journal.ts"
import type { World } from "./world.ts"

/** What every client of the load works with. */
export interface Client {
  readonly world: World
  readonly journal: Journal
  readonly chance: Chance
  /** No new work is begun. */
  readonly stops: AbortSignal
  /** Nobody waits any more. */
  readonly givesUp: AbortSignal
}

/** How long a call waits for its answer. */
const PATIENCE_MS = 20_000

/** The route of a path, without ids and queries. */
const routeOf = (path: string): string =>
  path.split("?", 1)[0]!.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "{id}")

/** A stopping process turns requests away; what else a server cannot do now is no matter of restarts. */
const noteRefusal = async (
  journal: Journal,
  response: Response,
  path: string,
  askedAt: number
): Promise<void> => {
  const text = await response.text()
  const code = /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? "without a code"
  const at = code === "INTERNAL" ? ` ${routeOf(path)}` : ""
  count(journal.counts, `answers ${response.status} ${code}${at}`)
  if (code === "INTERNAL")
    journal.internal.push(`${new Date(askedAt).toISOString()} ${routeOf(path)}: ${text.slice(0, 300)}`)
  if (code === "SHUTTING_DOWN") journal.refused.push(askedAt)
}

/** One call to the API where it is now; undefined where there is no answer. */
export const call = async (
  { givesUp, journal, world }: Client,
  path: string,
  init: RequestInit = {}
): Promise<Response | undefined> => {
  const url = world.processes.slot("api").current?.url
  if (url === undefined) return undefined
  const askedAt = Date.now()
  try {
    const signal = AbortSignal.any([AbortSignal.timeout(PATIENCE_MS), givesUp])
    const response = await fetch(`${url}${path}`, { ...init, signal })
    journal.answered.push([askedAt, Date.now()])
    if (response.status >= 500) await noteRefusal(journal, response.clone(), path, askedAt)
    return response
  } catch (cause) {
    const isLate = cause instanceof Error && cause.name === "TimeoutError"
    count(
      journal.counts,
      isLate ? "requests without an answer in 20 s" : "requests cut, or refused a connection"
    )
    if (!isLate) journal.refused.push(askedAt)
    return undefined
  }
}

/** Calls until there is an answer that `settles`, and reads it. */
export const callUntil = async (
  client: Client,
  path: string,
  init: RequestInit,
  settles: (status: number) => boolean
): Promise<{ readonly status: number; readonly text: string } | undefined> => {
  while (!client.givesUp.aborted) {
    const response = await call(client, path, init)
    const text = await response?.text().catch(() => undefined)
    if (response !== undefined && text !== undefined && settles(response.status))
      return { status: response.status, text }
    await sleep(client.chance.int(200, 700))
  }
  return undefined
}

/** Begins `work` about every `everyMs`, with so much under way at once at most; ends when all of it has ended. */
export const steadily = async (
  client: Client,
  everyMs: number,
  most: number,
  work: (serial: number) => Promise<void>
): Promise<void> => {
  const pending = new Set<Promise<void>>()
  for (let serial = 0; !client.stops.aborted; serial++) {
    const one = work(serial).finally(() => pending.delete(one))
    pending.add(one)
    await sleep(client.chance.int(everyMs / 2, everyMs * 1.5))
    if (pending.size >= most) await Promise.race(pending)
  }
  await Promise.all(pending)
}
