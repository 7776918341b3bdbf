import { readFile, rm } from "node:fs/promises"
import { basename, join } from "node:path"

import { Duration, Effect, Option } from "effect"

import { readIfThere } from "./data-folder.ts"
import { fileWork } from "./error.ts"
import { runProgram } from "./run-program.ts"

/** How long PostgreSQL gets to stop the clean way: connections ended, checkpoint written. */
const CLEAN_STOP = Duration.seconds(8)

/** How long an immediate shutdown may then take before it is killed; it recovers at the next start. */
const HARD_STOP = Duration.seconds(2)

const POLL = Duration.millis(20)

/** Content of `postmaster.pid`: the server's process id and status (`starting`, `ready`, `stopping`). */
interface Postmaster {
  readonly pid: number
  readonly status: string
}

const pidFile = (cluster: string): string => join(cluster, "postmaster.pid")

/** Reads `postmaster.pid`; its lines are those of PostgreSQL's `src/include/utils/pidfile.h`. */
export const readPostmaster = (cluster: string) =>
  Effect.map(
    readIfThere(pidFile(cluster)),
    Option.map((text): Postmaster => {
      const lines = text.split("\n")
      return { pid: Number(lines[0]), status: (lines[7] ?? "").trim() }
    })
  )

/** Whether a process lives. A process of another user counts (`EPERM`). */
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return cause instanceof Error && "code" in cause && cause.code === "EPERM"
  }
}

/** The command line of a process, in words; empty when the process is gone or a zombie. */
const commandLine = (pid: number): Effect.Effect<ReadonlyArray<string>> =>
  process.platform === "linux"
    ? Effect.promise(() =>
        readFile(`/proc/${pid}/cmdline`, "utf8").then(
          (text) => text.split("\0"),
          () => []
        )
      )
    : Effect.map(runProgram("ps", ["-ww", "-o", "command=", "-p", String(pid)]), ({ output }) =>
        output.split(/\s+/)
      )

/** Whether process `pid` is a PostgreSQL server on `cluster`: the id alone may belong to any program by now. */
const servesCluster = Effect.fnUntraced(function* (pid: number, cluster: string) {
  if (!Number.isInteger(pid) || pid <= 1 || !isAlive(pid)) return false
  const words = yield* commandLine(pid)
  return basename(words[0] ?? "") === "postgres" && words.includes(cluster)
})

/** Signals a process; one that is gone meanwhile needs no signal. */
const signal = (pid: number, name: NodeJS.Signals): Effect.Effect<void> =>
  Effect.sync(() => {
    try {
      process.kill(pid, name)
    } catch (cause) {
      if (isAlive(pid)) throw cause
    }
  })

/** Stops a server in steps: clean, immediate, killed. `gone` ends when it has ended. */
export const stopBySteps = (pid: number, gone: Effect.Effect<unknown>): Effect.Effect<void> =>
  Effect.gen(function* () {
    yield* signal(pid, "SIGINT")
    if (Option.isSome(yield* Effect.timeoutOption(gone, CLEAN_STOP))) return
    yield* Effect.logWarning(`PostgreSQL (process ${pid}) did not stop in time: stopping it at once`)
    yield* signal(pid, "SIGQUIT")
    if (Option.isSome(yield* Effect.timeoutOption(gone, HARD_STOP))) return
    yield* signal(pid, "SIGKILL")
    yield* gone
  })

/**
 * Makes the cluster free for a new server. A server that an earlier Postlane left behind (it was killed) is stopped, so that
 * the new one is our own child and nothing of the dead process is still running in it. A `postmaster.pid` whose process
 * is gone, or is another program by now, is removed: PostgreSQL itself would refuse to start because of the latter. Should
 * processes of a dead server linger, PostgreSQL still notices by its shared memory.
 */
export const clearLeftovers = Effect.fnUntraced(function* (cluster: string) {
  const found = Option.getOrUndefined(yield* readPostmaster(cluster))
  if (found === undefined) return
  if (yield* servesCluster(found.pid, cluster)) {
    yield* Effect.logWarning(`Stopping the PostgreSQL (process ${found.pid}) that an earlier run left behind`)
    const gone = Effect.suspend(() => servesCluster(found.pid, cluster)).pipe(
      Effect.delay(POLL),
      Effect.repeat({ while: (serves) => serves })
    )
    yield* stopBySteps(found.pid, gone)
  }
  yield* fileWork(`remove the stale ${pidFile(cluster)}`, () => rm(pidFile(cluster), { force: true }))
})
