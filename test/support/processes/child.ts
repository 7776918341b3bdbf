import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { basename, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

import { TEMPORARY } from "../temporary.ts"

const root = fileURLToPath(new URL("../../../", import.meta.url))

/** How a process ended. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A process of ours. */
export interface Child {
  /** The lines of its output so far. */
  readonly lines: ReadonlyArray<string>
  /** What it wrote to its error output so far. */
  readonly errors: () => string
  readonly ended: Promise<Ended>
  readonly signal: (signal: NodeJS.Signals) => void
  /** The first line, past or future, that `find` makes something of; fails when the process ends without one. */
  readonly line: <A>(find: (line: string) => A | undefined) => Promise<A>
  /** Ends it, however it stands. */
  readonly destroy: () => Promise<void>
}

/** A nursery that is large from the start: most processes do little but start, which takes a fifth of its processor time off. */
const NURSERY = ["--min-semi-space-size=16"]

const running = new Set<ChildProcess>()
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL")
})

/** What the global setup bundles. No two of the same name: the bundles stand in one folder. */
export const BUNDLED = [
  ...["cli", "serve", "start", "migrate", "library", "client", "resend", "nodemailer"].map(
    (name) => `src/runtime/entries/${name}.ts`
  ),
  ...["bare-server", "by-hand-server", "fake-provider", "fake-smtp", "relay-server", "sender-process"].map(
    (name) => `test/bench/senders/${name}.ts`
  ),
  "test/bench/batch/batch-memory-process.ts",
  "test/bench/conversion/layout-process.ts",
  "test/bench/conversion/pdf-process.ts",
  "test/bench/database.ts",
  "test/bench/delivery/convert-process.ts",
  "test/crash/batch-worker.ts",
  "test/crash/conversion-worker.ts",
  "test/adapters/embedded-postgres/program.ts",
  "test/adapters/postgres/lease-holder.ts",
  "test/adapters/postgres/mail/defer-queue-holder.ts",
  "test/adapters/simulated/claim-child.ts",
  "test/adapters/simulated/race-child.ts",
  "test/adapters/sqs/message-holder.ts",
  "test/delivery/alert-child.ts",
  "test/runtime/closed-output-child.ts",
  "test/support/vendors/fake-resend.ts",
  "test/support/vendors/fake-ses.ts"
]

/**
 * What Node runs for a TypeScript file of this project: its bundle, where there is one, which starts in half of the processor time.
 * A path that begins with `./` is run as it stands: a program's advice names other commands in a checkout than in a package.
 */
export const programOf = (file: string): string => {
  const bundles = process.env["POSTLANE_TEST_PROGRAMS"]
  return bundles === undefined || !BUNDLED.includes(file)
    ? join(root, file)
    : join(bundles, basename(file).replace(/\.ts$/, ".js"))
}

/**
 * Runs a TypeScript file of this project in a Node process of its own, in an environment of exactly `env`. Compiled code is
 * kept from one start to the next, which makes a start three times as fast.
 */
export const runChild = (
  file: string,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>
): Child => {
  const child = spawn(process.execPath, [...NURSERY, programOf(file), ...args], {
    cwd: root,
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "postlane-tests"),
      ...env
    },
    stdio: ["ignore", "pipe", "pipe"]
  })
  running.add(child)
  const lines: Array<string> = []
  const waiters = new Set<(line: string) => void>()
  let errors = ""
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()))
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line)
    for (const waiter of waiters) waiter(line)
  })
  const ended = once(child, "close").then((): Ended => {
    running.delete(child)
    return { code: child.exitCode, signal: child.signalCode }
  })
  return {
    lines,
    errors: () => errors,
    ended,
    signal: (signal) => void child.kill(signal),
    line: (find) =>
      new Promise((resolve, reject) => {
        const look = (line: string) => {
          const found = find(line)
          if (found === undefined) return
          waiters.delete(look)
          resolve(found)
        }
        waiters.add(look)
        for (const line of lines) look(line)
        void ended.then((end) => reject(new Error(`${file} ended: ${JSON.stringify(end)} ${errors}`)))
      }),
    destroy: async () => {
      child.kill("SIGKILL")
      await ended
    }
  }
}

/** A line of Postlane's log, as far as it is looked at. */
export interface LogLine {
  readonly level: string
  readonly message: string
  readonly url?: string
}

/** The log lines of a process, in their order; a line that a kill cut short is left out. */
export const logOf = (child: Child): ReadonlyArray<LogLine> =>
  child.lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as LogLine]
    } catch {
      return []
    }
  })

/** A Postlane process that has come up. */
export interface Postlane extends Child {
  readonly url: string
}

/** `npm run serve` with these settings on a free port; `built`: the command that is published, which starts faster. */
export const startPostlane = async (
  env: Readonly<Record<string, string>>,
  built = false
): Promise<Postlane> => {
  const [file, args] = built
    ? ["dist/runtime/entries/cli.js", ["serve"]]
    : ["src/runtime/entries/serve.ts", []]
  const child = runChild(file, args, { PORT: "0", SMTP_PORT: "0", SUBMISSION_PORT: "0", ...env })
  const url = await child.line((line) => /"url":"([^"]+)"/.exec(line)?.[1])
  return { ...child, url }
}

/** A fake provider in a process of its own. */
export interface Fake extends Child {
  readonly url: string
  /** The file of its acceptances. */
  readonly log: string
  /** The next requests get these outcomes, later ones `afterwards` (see `Outcome` in `test/support/vendors/fake-http.ts`). */
  readonly script: (outcomes: ReadonlyArray<string>, afterwards?: string) => Promise<void>
  /** Answers the requests that are held by `slow`. */
  readonly release: () => Promise<void>
}

/** `keep`: how much its log holds of each acceptance. */
export const startFake = async (
  vendor: "resend" | "ses",
  folder: string,
  keep: "all" | "keys" = "keys"
): Promise<Fake> => {
  const log = join(folder, `${vendor}.jsonl`)
  const child = runChild(`test/support/vendors/fake-${vendor}.ts`, ["--log", log, "--keep", keep], {})
  const port = await child.line((line) => /"port":(\d+)/.exec(line)?.[1])
  const url = `http://127.0.0.1:${port}`
  const control = async (path: string, body: object) => {
    const response = await fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) })
    await response.body?.cancel()
  }
  return {
    ...child,
    url,
    log,
    script: (outcomes, afterwards = "ok") => control("/__script", { outcomes, afterwards }),
    release: () => control("/__release", {})
  }
}

/** A new folder, and its removal. PostgreSQL's system user can enter it where we are root: else its data would stand elsewhere. */
export const makeFolder = async () => {
  const path = await mkdtemp(join(TEMPORARY, "postlane-crash-"))
  await chmod(path, 0o755)
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}
