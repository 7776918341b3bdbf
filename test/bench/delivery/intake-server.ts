import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

import { programOf } from "../../support/processes/child.ts"
import { type ProcessFigures, processFigures } from "../process-figures.ts"

const ROOT = fileURLToPath(new URL("../../..", import.meta.url))

/** A process of `npm run serve` on a database, with an outbox. */
export interface IntakeServer {
  readonly port: number
  /** What its process has taken so far; undefined where the system does not tell. */
  readonly figures: () => ProcessFigures | undefined
  readonly stop: () => Promise<void>
}

/** Starts it, and waits until it takes mail. */
export const startIntakeServer = async (databaseUrl: string, folder: string): Promise<IntakeServer> => {
  const child = spawn(process.execPath, [programOf("src/runtime/entries/serve.ts")], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      PORT: "0",
      SMTP_PORT: "0",
      SUBMISSION_PORT: "0",
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
    figures: () => (child.pid === undefined ? undefined : processFigures(child.pid))
  }
}
