import { Effect } from "effect"

import { EmbeddedPostgresError } from "./error.ts"
import { runProgram } from "./run-program.ts"
import type { Account } from "./run-program.ts"

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
