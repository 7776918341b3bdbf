import { spawn } from "node:child_process"

import { Effect } from "effect"

import { EmbeddedPostgresError } from "./error.ts"

/** An operating system account that a program runs as. */
export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/** Whether this process is root. PostgreSQL refuses to run as root, so that it then gets another account. */
export const isRoot = (): boolean => process.getuid?.() === 0

/**
 * The whole environment of PostgreSQL's programs. Ours is not inherited: it holds secrets, and any `PG…` variable in it would
 * change what they do. With `TZ` given, `initdb` need not search the time zone folders.
 */
const PROGRAM_ENVIRONMENT = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  LC_ALL: "C",
  TZ: "UTC"
}

/** Spawn options that make a program run as `account` (undefined: as ourselves), in a folder that everybody can enter. */
export const runAs = (account: Account | undefined) => ({
  cwd: "/",
  env: PROGRAM_ENVIRONMENT,
  ...(account === undefined ? {} : { uid: account.uid, gid: account.gid })
})

/** How a program ended; `code` is null where it could not be started or a signal ended it. */
export interface ProgramResult {
  readonly code: number | null
  readonly output: string
}

/** Runs a short program to its end; never fails. Interruption kills it. */
export const runProgram = (
  file: string,
  args: ReadonlyArray<string>,
  options: { readonly account?: Account | undefined; readonly input?: string } = {}
): Effect.Effect<ProgramResult> =>
  Effect.callback<ProgramResult>((resume) => {
    const child = spawn(file, args, { ...runAs(options.account), stdio: ["pipe", "pipe", "pipe"] })
    const chunks: Array<string> = []
    const finish = (code: number | null, more = "") =>
      resume(Effect.succeed({ code, output: (chunks.join("") + more).trim() }))
    child.stdout.setEncoding("utf8").on("data", (text: string) => chunks.push(text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => chunks.push(text))
    child.once("error", (error) => finish(null, error.message))
    child.once("close", (code, signal) => finish(code, signal === null ? "" : `ended by ${signal}`))
    // A program that ends before it has read its input breaks the pipe; its exit code says what matters.
    child.stdin.on("error", () => undefined)
    child.stdin.end(options.input ?? "")
    return Effect.sync(() => void child.kill("SIGKILL"))
  })

/** The account that Postlane makes for PostgreSQL where it runs as root. */
const OWN_ACCOUNT = "postlane"

/** Accounts without rights that nearly every system has, where none can be made. */
const OTHER_ACCOUNTS = ["postgres", "nobody"]

const find = Effect.fnUntraced(function* (name: string) {
  const { code, output } = yield* runProgram("id", [name])
  const [uid, gid] = [/\buid=(\d+)/.exec(output), /\bgid=(\d+)/.exec(output)]
  if (code !== 0 || uid === null || gid === null) return undefined
  return { name, uid: Number(uid[1]), gid: Number(gid[1]) } satisfies Account
})

/** The account that runs PostgreSQL for root: `postlane`, made where it is missing, else one that is there. */
export const systemAccount: Effect.Effect<Account, EmbeddedPostgresError> = Effect.gen(function* () {
  const own = yield* find(OWN_ACCOUNT)
  if (own !== undefined) return own
  const options = ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"]
  const made = yield* runProgram("useradd", [...options, "--shell", "/usr/sbin/nologin", OWN_ACCOUNT])
  for (const name of [OWN_ACCOUNT, ...OTHER_ACCOUNTS]) {
    const account = yield* find(name)
    if (account === undefined || account.uid === 0) continue
    if (name === OWN_ACCOUNT)
      yield* Effect.logInfo(`Made the system user ${name} for the embedded PostgreSQL`)
    else
      yield* Effect.logWarning(`Cannot make a system user for PostgreSQL; it runs as ${name}: ${made.output}`)
    return account
  }
  return yield* new EmbeddedPostgresError({
    problem: "start",
    message:
      "PostgreSQL refuses to run as root, and no system user could be made for it. " +
      "Run Postlane as a normal user, make one (useradd --system postlane), or set DB_URL to a PostgreSQL of your own."
  })
})

/** Whether `account` can enter a folder or run a file, as the operating system itself judges it. */
export const canPass = (account: Account, path: string): Effect.Effect<boolean> =>
  Effect.map(runProgram("test", ["-x", path], { account }), ({ code }) => code === 0)
