import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

import { processFigures } from "../process-figures.ts"
import { handPool } from "../senders/by-hand.ts"
import type { OpenContender } from "./contender.ts"
import { MAIL } from "./queued-mail.ts"

const run = promisify(execFile)
const SOURCE = fileURLToPath(new URL("river", import.meta.url))

/** True where Go is at hand: River is a library of Go. */
export const hasGo = (): Promise<boolean> =>
  run("go", ["version"]).then(
    () => true,
    () => false
  )

/** River, in a program of Go that is built now. */
export const river: OpenContender = async ({ databaseUrl, providerUrl }, concurrency) => {
  const pool = await handPool(databaseUrl)
  await pool.end()
  const folder = await mkdtemp(join(tmpdir(), "postlane-river-"))
  const program = join(folder, "river")
  await run("go", ["build", "-o", program, "."], { cwd: SOURCE })
  const child = spawn(program, [databaseUrl, providerUrl, String(concurrency), JSON.stringify(MAIL)], {
    stdio: ["pipe", "pipe", "inherit"]
  })
  const lines = createInterface(child.stdout)
  const answer = async () => {
    const abort = new AbortController()
    const ended = once(child, "exit", abort).then(() => {
      throw new Error("the program of River has ended")
    })
    await Promise.race([once(lines, "line", abort), ended]).finally(() => abort.abort())
    await ended.catch(() => undefined)
  }
  await answer()
  const ask = async (what: "fill" | "drain", count: number) => {
    child.stdin.write(`${what} ${count}\n`)
    await answer()
  }
  return {
    fill: (count) => ask("fill", count),
    drain: (count) => ask("drain", count),
    cpuMicros: () => (processFigures(child.pid ?? 0)?.cpuSeconds ?? 0) * 1e6,
    close: async () => {
      const ended = once(child, "exit")
      child.stdin.end()
      await ended
      await rm(folder, { recursive: true, force: true })
    }
  }
}
