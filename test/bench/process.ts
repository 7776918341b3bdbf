import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"

import { programOf } from "../support/processes/child.ts"

/** A process of the benchmark: it says `ready` once, then answers one question at a time. */
export interface Peer<Ready> {
  readonly ready: Ready
  readonly child: ChildProcess
  readonly ask: (question: object) => Promise<unknown>
  readonly stop: () => Promise<void>
}

interface Reply {
  readonly value?: unknown
  readonly error?: string
}

const nextReply = async (child: ChildProcess, what: string): Promise<unknown> => {
  const abort = new AbortController()
  const ended = once(child, "exit", abort).then(([code]) => {
    throw new Error(`${what} ended with code ${code}`)
  })
  try {
    const [reply] = (await Promise.race([once(child, "message", abort), ended])) as [Reply]
    if (reply.error !== undefined) throw new Error(`${what}: ${reply.error}`)
    return reply.value
  } finally {
    abort.abort()
    await ended.catch(() => undefined)
  }
}

/** Forks `module` (below this folder) and waits until it is ready. */
export const startPeer = async <Ready>(
  module: string,
  args: ReadonlyArray<string> = [],
  options: { readonly execArgv?: ReadonlyArray<string>; readonly env?: NodeJS.ProcessEnv } = {}
): Promise<Peer<Ready>> => {
  const child = fork(programOf(`test/bench/${module}`), args, {
    execArgv: [...(options.execArgv ?? [])],
    env: { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"], ...(options.env ?? process.env) },
    stdio: ["ignore", "ignore", "inherit", "ipc"]
  })
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, "exit")
    child.kill("SIGTERM")
    await ended
  }
  try {
    const ready = (await nextReply(child, module)) as Ready
    return {
      ready,
      child,
      stop,
      ask: (question) => {
        child.send(question)
        return nextReply(child, module)
      }
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The migrated database that is named, or the embedded one until it is stopped. */
export const startDatabase = async (
  url: string | undefined
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> => {
  if (url !== undefined) return { url, stop: () => Promise.resolve() }
  const { ready, stop } = await startPeer<{ readonly url: string }>("database.ts")
  return { url: ready.url, stop }
}

/** The other side of {@link startPeer}: tells that it is ready and answers what it is asked. */
export const servePeer = (ready: unknown, answer: (question: never) => unknown): void => {
  process.on("message", (question) => {
    Promise.resolve(answer(question as never)).then(
      (value) => process.send?.({ value }),
      (error: unknown) =>
        process.send?.({ error: error instanceof Error ? (error.stack ?? "") : String(error) })
    )
  })
  // The parent is gone.
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"))
  process.send?.({ value: ready })
}
