import { copyFile, open, rm, stat, statfs, truncate } from "node:fs/promises"

import { Duration, Effect } from "effect"

import { fileWork } from "./error.ts"

/** The log file is cut at this size and its old text kept once, so that both together never take more than about twice that. */
const LOG_BYTES_MAX = 10 * 1024 * 1024

const CHECK_EVERY = Duration.minutes(1)

/** How much of the log is read to find why the server ended. */
const TAIL_BYTES = 64 * 1024

/** With less than this free, PostgreSQL cannot write its next 16 MB log segment. */
const FREE_BYTES_MIN = 32 * 1024 * 1024

const sizeOf = (path: string) =>
  stat(path).then(
    ({ size }) => size,
    () => 0
  )

/**
 * Cuts the log where it has grown too big. The server writes by itself at the file's end, so that the file is copied and
 * emptied, not renamed: an orphaned server continues to log, and a stalled Postlane never stalls the server.
 */
export const boundLog = (path: string) =>
  fileWork(`cut ${path}`, async () => {
    if ((await sizeOf(path)) < LOG_BYTES_MAX) return
    // On a full disk the old text is given up: an emptied log is what helps there.
    await copyFile(path, `${path}.1`).catch(() => rm(`${path}.1`, { recursive: true, force: true }))
    await truncate(path)
  })

/** Keeps the log bounded for as long as it runs. */
export const keepLogBounded = (path: string): Effect.Effect<never> =>
  boundLog(path).pipe(
    Effect.catch((error) => Effect.logWarning(error.message)),
    Effect.delay(CHECK_EVERY),
    Effect.forever
  )

/** The log's size now: what follows is of the server that starts next. */
export const logEnd = (path: string): Effect.Effect<number> => Effect.promise(() => sizeOf(path))

const readFrom = async (path: string, start: number): Promise<string> => {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const from = Math.max(size < start ? 0 : start, size - TAIL_BYTES)
    const buffer = Buffer.alloc(size - from)
    await file.read(buffer, 0, buffer.length, from)
    return buffer.toString("utf8")
  } finally {
    await file.close()
  }
}

const complaint = (text: string): string | undefined => {
  const lines = text.split("\n").filter((line) => line !== "")
  const severe = lines.filter((line) => /\b(?:PANIC|FATAL|ERROR): /.test(line))
  const panic = severe.findLast((line) => line.includes("PANIC:"))
  // The loader's message about a missing library has no severity.
  const plain = lines.findLast((line) => !/\b[A-Z]+: {2}/.test(line))
  return (panic ?? severe.at(-1) ?? plain)?.replace(/^.*?\b(?:PANIC|FATAL|ERROR):\s+/, "")
}

const diskState = async (cluster: string): Promise<string | undefined> => {
  const { bavail, bsize } = await statfs(cluster)
  const free = bavail * bsize
  if (free >= FREE_BYTES_MIN) return undefined
  return `the disk of ${cluster} is full (${Math.floor(free / 1024 / 1024)} MB free): free some space`
}

const orUndefined = (text: Promise<string | undefined>) => text.catch(() => undefined)

/** Why the server ended, for a person: `ending`, whether the disk is full, and its last error after byte `from` of the log. */
export const whyEnded = (ending: string, cluster: string, log: string, from: number): Effect.Effect<string> =>
  Effect.promise(async () => {
    const disk = await orUndefined(diskState(cluster))
    const last = await orUndefined(readFrom(log, from).then(complaint))
    return [ending, disk, last].filter((part) => part !== undefined).join("; ")
  })
