import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { basename } from "node:path"

import { Effect } from "effect"

import type { Env } from "../settings/settings.ts"

/** How often a process checks whether its parent is gone. */
const LOOK_EVERY = "1 second"

const SHELL = /^-?(?:ba|da|a|k|z)?sh$/

interface Ancestor {
  readonly name: string
  readonly parent: number
}

/** The name and the parent of a process; undefined where the system does not report them. */
const ancestorOf = (pid: number): Ancestor | undefined => {
  try {
    if (process.platform === "linux") {
      // `pid (name) state parent …`, where the name may hold brackets.
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
      const end = stat.lastIndexOf(")")
      const [, parent] = stat.slice(end + 2).split(" ")
      return { name: stat.slice(stat.indexOf("(") + 1, end), parent: Number(parent) }
    }
    const line = execFileSync("ps", ["-o", "ppid=,comm=", "-p", String(pid)], { encoding: "utf8" })
    const [parent = "", ...name] = line.trim().split(/\s+/)
    return { name: basename(name.join(" ")), parent: Number(parent) }
  } catch {
    return undefined
  }
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

/** What npm says that it runs: the script `start`, or a command of a package. */
const STARTED_BY_NPM = new Set(["start", "npx"])

/**
 * The processes that `npm start` or `npx postlane start` put above this one: npm, and the shell that npm runs scripts in. Npm hands a signal to its shell
 * and not to what runs in it, so that a killed npm leaves the server behind. Empty where something else started this process:
 * that parent may exit first on purpose.
 */
export const startersOf = (env: Env, ppid: number): ReadonlyArray<number> => {
  if (!STARTED_BY_NPM.has(env["npm_lifecycle_event"] ?? "")) return []
  const parent = ancestorOf(ppid)
  return parent !== undefined && SHELL.test(parent.name) ? [ppid, parent.parent] : [ppid]
}

/** Ends once one of these is gone; never ends for an empty list. */
export const starterGone = (starters: ReadonlyArray<number>): Effect.Effect<void> => {
  if (starters.length === 0) return Effect.never
  const [parent] = starters
  const isGone = Effect.sync(() => process.ppid !== parent || !starters.every(isAlive))
  return Effect.gen(function* () {
    while (!(yield* isGone)) yield* Effect.sleep(LOOK_EVERY)
  })
}
