import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

import { programOf } from "../../support/processes/child.ts"

const ROOT = fileURLToPath(new URL("../../..", import.meta.url))

/** A process of `npm run serve` on a database, with an outbox. */
export interface IntakeServer {
  readonly port: number
  /** Most memory that it had resident so far, all its threads together, bytes; undefined where the system does not tell. */
  readonly peakBytes: () => Promise<number | undefined>
  /** Of the processor so far, all its threads together; undefined where the system does not tell. */
  readonly cpuSeconds: () => Promise<number | undefined>
  readonly stop: () => Promise<void>
}

/** Ticks of a second in /proc (USER_HZ, the same on every Linux that Node runs on). */
const TICKS = 100

/** Starts it, and waits until it takes mail. */
export const startIntakeServer = async (databaseUrl: string, folder: string): Promise<IntakeServer> => {
  const child = spawn(process.execPath, [programOf("src/runtime/serve.ts")], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      PORT: "0",
      SMTP_PORT: "0",
      POSTLANE_EMBEDDED: "1",
      DB_URL: databaseUrl,
      POSTLANE_DATA_DIR: folder
    }
  })
  const kill = () => void child.kill("SIGKILL")
  process.once("exit", kill)
  const ended = once(child, "exit").finally(() => process.off("exit", kill))
  const stop = async () => {
    child.kill("SIGTERM")
    await ended
  }
  const listens = new Promise<number>((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const port = /"smtpPort":(\d+)/.exec(line)?.[1]
      if (port !== undefined) resolve(Number(port))
    })
  })
  const port = await Promise.race([
    listens,
    ended.then(([code]) => Promise.reject(new Error(`the server ended with code ${String(code)}`)))
  ])
  return {
    port,
    stop,
    cpuSeconds: async () => {
      const stat = await readFile(`/proc/${child.pid}/stat`, "utf8").catch(() => "")
      // Behind the name in parentheses: utime and stime are fields 14 and 15 of all.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      return stat === "" ? undefined : (Number(fields[11]) + Number(fields[12])) / TICKS
    },
    peakBytes: async () => {
      const status = await readFile(`/proc/${child.pid}/status`, "utf8").catch(() => "")
      const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]
      return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
    }
  }
}
