import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

import { type Postlane, startPostlane } from "../support/processes/child.ts"

/** After a start that failed, since the database or the pooler is away. */
const START_AGAIN_MS = 300

/** One of the six places, where one process runs at a time. */
export interface Slot {
  readonly name: string
  readonly env: Readonly<Record<string, string>>
  current: Postlane | undefined
  smtpPort: number | undefined
  isFrozen: boolean
  starts: number
}

/** What the supervisor of the soak does with its processes. */
export interface Processes {
  readonly slots: ReadonlyArray<Slot>
  readonly slot: (name: string) => Slot
  /** Starts every slot, and from then on whatever ends. */
  readonly start: () => Promise<void>
  readonly kill: (slot: Slot) => Promise<void>
  readonly freeze: (slot: Slot, ms: number) => Promise<void>
  /** Starts a new process, sends the load to it, and ends the old one in peace. */
  readonly roll: (slot: Slot) => Promise<void>
  readonly stop: () => Promise<void>
}

export const makeProcesses = (
  roles: ReadonlyArray<readonly [name: string, roles: string]>,
  envOf: (name: string) => Readonly<Record<string, string>>,
  logs: string
): Processes => {
  const slots = roles.map(([name, own]): Slot => ({
    name,
    env: { POSTLANE_ROLES: own, ...envOf(name) },
    current: undefined,
    smtpPort: undefined,
    isFrozen: false,
    starts: 0
  }))
  let isStopping = false
  const running = new Set<Postlane>()

  /** A process that is up; its log goes to a file. */
  const begin = async (slot: Slot): Promise<Postlane | undefined> => {
    slot.starts += 1
    const log = join(logs, `${slot.name}-${String(slot.starts).padStart(4, "0")}.log`)
    const child = await startPostlane(slot.env, true).catch((error: unknown) => {
      appendFileSync(log, `${String(error)}\n`)
      return undefined
    })
    if (child === undefined) return undefined
    running.add(child)
    void follow(slot, child, log)
    return child
  }

  /** Keeps the log of a process, and starts the next one when it has ended. */
  const follow = async (slot: Slot, child: Postlane, log: string): Promise<void> => {
    // With the time of the soak: its own may be stepped.
    const keep = (line: string) => appendFileSync(log, `${Date.now()} ${line}\n`)
    child.line((line) => keep(line)).catch(() => undefined)
    const end = await child.ended
    running.delete(child)
    appendFileSync(log, `${child.errors()}\n${JSON.stringify(end)}\n`)
    if (slot.current === child) await keepUp(slot)
  }

  const put = (slot: Slot, child: Postlane): void => {
    slot.current = child
    slot.isFrozen = false
    slot.smtpPort = undefined
    child
      .line((line) => /"smtpPort":(\d+)/.exec(line)?.[1])
      .then((port) => (slot.smtpPort = Number(port)))
      .catch(() => undefined)
  }

  const keepUp = async (slot: Slot): Promise<void> => {
    slot.current = undefined
    while (!isStopping) {
      const child = await begin(slot)
      if (child !== undefined) return put(slot, child)
      await sleep(START_AGAIN_MS)
    }
  }

  return {
    slots,
    slot: (name) => slots.find((one) => one.name === name)!,
    start: async () => void (await Promise.all(slots.map(keepUp))),
    kill: async ({ current }) => current?.destroy(),
    freeze: async (slot, ms) => {
      const { current } = slot
      if (current === undefined) return
      slot.isFrozen = true
      current.signal("SIGSTOP")
      await sleep(ms)
      current.signal("SIGCONT")
      if (slot.current === current) slot.isFrozen = false
    },
    roll: async (slot) => {
      const old = slot.current
      const child = await begin(slot)
      if (child === undefined) return
      put(slot, child)
      old?.signal("SIGTERM")
      await old?.ended
    },
    stop: async () => {
      isStopping = true
      await Promise.all([...running].map(({ destroy }) => destroy()))
    }
  }
}
