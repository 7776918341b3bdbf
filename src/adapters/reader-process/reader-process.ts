import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"

import { Effect, Layer } from "effect"

import { type Reader, ReaderEnded, ReaderProcess } from "../../ports/reader-process.ts"
import type { FromChild } from "./reader-child.ts"

/** From a build the file has the ending that this one has. */
const CHILD = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./reader-child.ts" : "./reader-child.js", import.meta.url)
)

/** An idle process is ended after this, milliseconds. */
const IDLE_MS = 30_000

/** One that takes more than this share of its memory before it has a task is replaced. */
const KEPT_SHARE = 0.5

/** The longest that a task may take by the clock unless its reader says otherwise, milliseconds: a machine may be swamped. */
const STALL_MS = 10 * 60_000

const MB = 1024 * 1024

/** A process, and how many tasks it has left. */
interface Child {
  readonly process: ChildProcess
  tasksLeft: number
  idle: NodeJS.Timeout | undefined
}

/**
 * A full heap aborts the process, which some systems report as 128 + 6; its own watchdog and the system kill it for resident
 * memory.
 */
const isOutOfMemory = (code: number | null, signal: NodeJS.Signals | null): boolean =>
  signal === "SIGABRT" || signal === "SIGKILL" || code === 134 || code === 137

/** Why a process ended: `SIGVTALRM` is its own watchdog's, for processor time. */
const reasonOf = (code: number | null, signal: NodeJS.Signals | null): ReaderEnded["reason"] => {
  if (signal === "SIGVTALRM") return "timeout"
  return isOutOfMemory(code, signal) ? "memory" : "crashed"
}

const kill = (child: Child): void => {
  clearTimeout(child.idle)
  child.process.removeAllListeners()
  // One that is killed may still report an error.
  child.process.on("error", () => undefined)
  child.process.kill("SIGKILL")
}

const start = ({ cpuMs, heapMb, program, residentMb, tasks }: Reader): Child => ({
  process: fork(CHILD, [program.href, String(residentMb * MB), String(cpuMs)], {
    // A reader of hostile input has no use for the secrets that the environment may hold.
    env: { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "" },
    execArgv: [`--max-old-space-size=${heapMb}`],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"]
  }),
  tasksLeft: tasks,
  idle: undefined
})

/** Starts a process. Most failures to start are events of the process; lack of memory is thrown. */
const started = (reader: Reader): Child | ReaderEnded => {
  try {
    return start(reader)
  } catch (cause) {
    return new ReaderEnded({ reason: "unavailable", cause })
  }
}

/** Processes that wait for their next task, by their reader. */
class Idle {
  readonly #waiting = new Map<string, Array<Child>>()

  take(key: string): Child | undefined {
    const child = this.#waiting.get(key)?.pop()
    clearTimeout(child?.idle)
    child?.process.removeAllListeners()
    child?.process.ref()
    return child
  }

  put(key: string, child: Child): void {
    const drop = () => {
      const rest = (this.#waiting.get(key) ?? []).filter((one) => one !== child)
      this.#waiting.set(key, rest)
      kill(child)
    }
    child.process.removeAllListeners()
    child.process.once("exit", drop).once("error", drop)
    child.process.unref()
    child.process.channel?.unref()
    child.idle = setTimeout(drop, IDLE_MS).unref()
    this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), child])
  }

  end(): void {
    for (const child of [...this.#waiting.values()].flat()) kill(child)
    this.#waiting.clear()
  }
}

/** One task of one process; whatever ends it but an answer ends the process. */
const ask = (
  child: Child,
  task: unknown,
  stallMs: number
): Effect.Effect<FromChild & { readonly kind: "answered" }, ReaderEnded> =>
  Effect.callback((resume) => {
    const end = (error: ReaderEnded) => {
      clearTimeout(alarm)
      kill(child)
      resume(Effect.fail(error))
    }
    const alarm = setTimeout(() => end(new ReaderEnded({ reason: "stalled" })), stallMs)
    child.process.on("message", (message: FromChild) => {
      if (message.kind === "failed") return end(new ReaderEnded({ reason: "crashed", cause: message.cause }))
      clearTimeout(alarm)
      resume(Effect.succeed(message))
    })
    child.process.on("error", (cause) => end(new ReaderEnded({ reason: "unavailable", cause })))
    child.process.on("exit", (code, signal) => end(new ReaderEnded({ reason: reasonOf(code, signal) })))
    child.process.send(task as object, (cause) => {
      // Its exit event, which says more, follows; where it never started, its error event does.
      if (cause !== null && child.process.exitCode === null && child.process.pid === undefined) {
        end(new ReaderEnded({ reason: "unavailable", cause }))
      }
    })
    return Effect.sync(() => {
      clearTimeout(alarm)
      kill(child)
    })
  })

/** Readers in child processes. No threads: one with a full heap may end the whole program. */
export const layer: Layer.Layer<ReaderProcess> = Layer.effect(
  ReaderProcess,
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => new Idle()),
      (idle) => Effect.sync(() => idle.end())
    ),
    (idle) =>
      ReaderProcess.of({
        run: (reader, task) =>
          Effect.suspend(() => {
            const key = JSON.stringify([reader.program.href, reader.heapMb, reader.residentMb, reader.cpuMs])
            const child = idle.take(key) ?? started(reader)
            if (child instanceof ReaderEnded) return Effect.fail(child)
            return Effect.map(ask(child, task, reader.stallMs ?? STALL_MS), ({ answer, residentBytes }) => {
              child.tasksLeft -= 1
              if (child.tasksLeft > 0 && residentBytes < reader.residentMb * MB * KEPT_SHARE)
                idle.put(key, child)
              else kill(child)
              return answer
            })
          })
      })
  )
)
