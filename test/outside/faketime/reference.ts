import { existsSync } from "node:fs"
import { chmod, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

import { Effect, Redacted } from "effect"

import { migrateDatabase } from "../../../src/runtime/compose/database/database-start.ts"
import { type Attacked, startAttacked } from "../../hostile/server.ts"
import { startTestServer } from "../../support/postgres/postgres-server.ts"
import type { FakeHttp } from "../../support/vendors/fake-http.ts"
import { fakeResend } from "../../support/vendors/fake-resend.ts"
import { ADMIN_TOKEN, arrived, checked, statusesOf, without } from "../installation.ts"
import type { Check, Reference } from "../reference.ts"
import { comes } from "../services.ts"
import { run } from "../tools.ts"

const SECRET = "outside-proxy-secret"
const MAILS = 6

/** Where Debian's package has the library, for this machine's architecture. */
const library = async (): Promise<string | undefined> => {
  const { stdout } = await run("sh", ["-c", "ls /usr/lib/*/faketime/libfaketimeMT.so.1 2>/dev/null"])
  const path = stdout.trim().split("\n")[0]
  return path !== undefined && existsSync(path) ? path : undefined
}

/** A clock that runs as the machine's does, off by what its file says, at any time anew. */
const makeClock = async (path: string, preload: string) => {
  const set = (offset: string) => writeFile(path, `${offset}\n`)
  await set("+0")
  await chmod(path, 0o644)
  return {
    set,
    env: {
      LD_PRELOAD: preload,
      FAKETIME_TIMESTAMP_FILE: path,
      FAKETIME_NO_CACHE: "1",
      // A step of the time of day is none of the monotonic clock.
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      DONT_FAKE_MONOTONIC: "1"
    }
  }
}

interface Sent {
  readonly ok?: boolean
  readonly status?: string
}

const send = async ({ url }: Attacked, key: string): Promise<Sent> => {
  const mail = { subject: key, text: "t", category: "transactional", source: "api:outside" }
  const answer = await fetch(`${url}/internal/send-email`, {
    method: "POST",
    headers: { "x-proxy-secret": SECRET, "content-type": "application/json" },
    body: JSON.stringify({ ...mail, to: `${key}@x.test`, idempotencyKey: key }),
    signal: AbortSignal.timeout(120_000)
  })
  return (await answer.json()) as Sent
}

interface World {
  readonly resend: FakeHttp
  readonly servers: ReadonlyArray<Attacked>
}

const keysOf = (name: string): ReadonlyArray<string> =>
  Array.from({ length: MAILS }, (_, n) => `${name}-${n}-x`)

/** Mails whose answers are lost: deferred, each. */
const defer = async ({ resend }: World, from: Attacked, name: string): Promise<ReadonlyArray<string>> => {
  const keys = keysOf(name)
  await resend.script(keys.map(() => "504"))
  const wrong: Array<string> = []
  for (const key of keys) {
    const answer = await send(from, key)
    if (answer.status !== "deferred") wrong.push(`${key} ${JSON.stringify(answer)}`)
  }
  await resend.script([])
  return wrong
}

/** Waits until the log has each of them sent; those that it never says so of. */
const ends = async ({ resend, servers }: World, name: string): Promise<ReadonlyArray<string>> => {
  const wrong: Array<string> = []
  for (const key of keysOf(name)) {
    // By any of its rows: the database's clock may have the retry's before the first one's.
    const statuses = await comes(
      `${key} ends`,
      async () => {
        const found = await statusesOf(servers[0]!, `${key}@x.test`)
        return found.some((status) => status !== "deferred") ? found : undefined
      },
      90
    ).catch(() => ["never"])
    const byVendor = resend.accepted.filter(({ payload }) => JSON.stringify(payload).includes(`"${key}"`))
    const byOther = await Promise.all(servers.map(async (server) => (await arrived(server, key)).length))
    const copies = byOther.reduce((sum, one) => sum + one, byVendor.length)
    if (!statuses.includes("sent") || copies !== 1)
      wrong.push(`${key}: ${statuses.join(", ")}, ${copies} copies`)
  }
  return wrong
}

const settingsOf = (url: string, resend: FakeHttp, roles?: string): Readonly<Record<string, string>> => ({
  ADMIN_TOKEN,
  PROXY_SHARED_SECRET: SECRET,
  PROVIDERA_API_KEY: "re_outside",
  PROVIDERA_BASE_URL: resend.url,
  DB_URL: url,
  DB_SECRET_KEY: "unused",
  EMAIL_DEFER_DELAYS_SECONDS: "3,3,3",
  ...(roles === undefined ? {} : { POSTLANE_ROLES: roles })
})

/** Two processes, of which one has a clock that is wrong, and makes all the retries. */
const oneProcess = async (work: string, preload: string): Promise<ReadonlyArray<Check>> => {
  const postgres = await startTestServer()
  const resend = fakeResend()
  await resend.listen()
  const closing = [postgres.stop, () => resend.close()]
  try {
    await Effect.runPromise(migrateDatabase({ url: Redacted.make(postgres.url) }))
    const clock = await makeClock(join(work, "process.clock"), preload)
    const right = await startAttacked(settingsOf(postgres.url, resend, "api,intake"))
    closing.push(right.stop)
    const wrong = await startAttacked({ ...settingsOf(postgres.url, resend), ...clock.env })
    closing.push(wrong.stop)
    const world = { resend, servers: [right, wrong] }
    const checks: Array<Check> = []
    for (const [name, offset] of [
      ["ahead", "+25h"],
      ["behind", "-25h"],
      ["years", "+800d"]
    ] as const) {
      await clock.set(offset)
      const notDeferred = await defer(world, right, name)
      const notSent = await ends(world, name)
      const own = await send(wrong, `own-${name}-x`)
      checks.push(
        without(`a lost answer is deferred, beside a clock that is ${name}`, notDeferred),
        without(`what that clock's process retries ends sent, once: ${name}`, notSent),
        checked(`it sends, too: ${name}`, own.ok === true, JSON.stringify(own))
      )
      // In the middle of a deferral the clock steps.
      await defer(world, right, `${name}-step`)
      await sleep(500)
      await clock.set("+0")
      checks.push(without(`and where it steps in between: ${name}`, await ends(world, `${name}-step`)))
    }
    await clock.set("+25h")
    const isTold = await comes(
      "the process says that its clock is off",
      () => wrong.lines.some((line) => line.includes("CLOCK_OFF")),
      100
    ).catch(() => false)
    return [...checks, checked("a process whose clock is off says so", isTold)]
  } finally {
    for (const close of closing.toReversed()) await close()
  }
}

/** A database whose own clock steps by an hour. */
const database = async (work: string, preload: string): Promise<ReadonlyArray<Check>> => {
  const clock = await makeClock(join(work, "database.clock"), preload)
  const before = { ...process.env }
  Object.assign(process.env, clock.env)
  const postgres = await startTestServer().finally(() => {
    for (const name of Object.keys(clock.env))
      if (before[name] === undefined) Reflect.deleteProperty(process.env, name)
      else process.env[name] = before[name]
  })
  const resend = fakeResend()
  await resend.listen()
  const closing = [postgres.stop, () => resend.close()]
  try {
    await Effect.runPromise(migrateDatabase({ url: Redacted.make(postgres.url) }))
    const server = await startAttacked(settingsOf(postgres.url, resend))
    closing.push(server.stop)
    const world = { resend, servers: [server] }
    const checks: Array<Check> = []
    for (const [name, offset] of [
      ["an hour back", "-1h"],
      ["right again", "+0"],
      ["an hour ahead", "+1h"]
    ] as const) {
      const key = name.replaceAll(" ", "-")
      const notDeferred = await defer(world, server, key)
      await clock.set(offset)
      const next = await send(server, `after-${key}-x`)
      checks.push(
        without(`a lost answer is deferred before the database's clock is ${name}`, notDeferred),
        checked(`it sends when the clock is ${name}`, next.ok === true, JSON.stringify(next)),
        without(`what was deferred ends sent, once: ${name}`, await ends(world, key))
      )
    }
    return checks
  } finally {
    for (const close of closing.toReversed()) await close()
  }
}

/** Clocks that are wrong, and that step. */
export const faketime: Reference = {
  name: "faketime",
  version: "as installed",
  checks:
    "deferred mails beside a process whose clock is a day or years off and steps, and on a database whose clock steps: each ends sent, once",
  needs: ["faketime"],
  install: async () => {},
  run: async ({ work }) => {
    const preload = await library()
    if (preload === undefined)
      return [{ name: "it has its library", outcome: "artefact", detail: "no libfaketimeMT.so.1: not tried" }]
    await chmod(work, 0o755)
    return [...(await oneProcess(work, preload)), ...(await database(work, preload))]
  }
}
