import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { fileURLToPath } from "node:url"

import { freePort } from "../free-port.ts"
import { median } from "../measure.ts"

const ROOT = fileURLToPath(new URL("../../..", import.meta.url))

/** Seconds from `npm start` to the first 200 of `/ready`. */
const startOnce = async (folder: string): Promise<number> => {
  const port = await freePort()
  const started = performance.now()
  const child = spawn("npm", ["start"], {
    cwd: ROOT,
    // npm and the server under it end together.
    detached: true,
    stdio: "ignore",
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      PORT: String(port),
      POSTLANE_DATA_DIR: folder
    }
  })
  const ended = once(child, "exit")
  const ready = () =>
    fetch(`http://127.0.0.1:${port}/ready`).then(
      async (response) => {
        await response.arrayBuffer()
        return response.ok
      },
      () => false
    )
  try {
    while (!(await ready())) {
      if (child.exitCode !== null) throw new Error(`npm start ended with code ${child.exitCode}`)
      await wait(10)
    }
    return (performance.now() - started) / 1000
  } finally {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGTERM")
    await ended
  }
}

/** Seconds to readiness, medians. */
export interface StartTimes {
  readonly newFolder: number
  readonly warmFolder: number
}

/** Starts on a new data folder, and again on the same one. */
export const measureStarts = async (rounds: number): Promise<StartTimes> => {
  const fresh: Array<number> = []
  const warm: Array<number> = []
  for (let each = 0; each < rounds; each++) {
    const folder = await mkdtemp(join(tmpdir(), "postlane-bench-start-"))
    await chmod(folder, 0o755)
    try {
      fresh.push(await startOnce(folder))
      warm.push(await startOnce(folder))
    } finally {
      // PostgreSQL, whose supervisor has ended, may still be writing its last files.
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    }
  }
  return { newFolder: median(fresh), warmFolder: median(warm) }
}
