import { createHmac, randomUUID } from "node:crypto"
import { copyFile, mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

import { Effect, Redacted } from "effect"

import { migrateDatabase } from "../../../src/runtime/compose/database/database-start.ts"
import { type Attacked, startAttacked } from "../../hostile/server.ts"
import { startTestServer } from "../../support/postgres/postgres-server.ts"
import { startTcpProxy } from "../../support/processes/tcp-proxy.ts"
import type { FakeHttp } from "../../support/vendors/fake-http.ts"
import { fakeResend } from "../../support/vendors/fake-resend.ts"
import { ADMIN_TOKEN, arrived, checked, statusOf, without } from "../installation.ts"
import type { Check, Place, Reference } from "../reference.ts"
import { comes } from "../services.ts"
import { must } from "../tools.ts"

const PORCUPINE = "v1.3.1"
const SECRET = "outside-proxy-secret"
const SIGNING = `whsec_${Buffer.alloc(24, 9).toString("base64")}`

const KEYS = 60
const CALLERS = 4
const CALLS = 6
const MAILS = 25
const READERS = 2

/** A call as the models read it. */
interface Call {
  readonly client: number
  readonly ask: string
  readonly answer: string
  readonly id: string
  readonly begin: number
  /** 0: never answered. */
  readonly end: number
}

interface History {
  readonly model: "relay" | "status"
  readonly name: string
  readonly calls: ReadonlyArray<Call>
}

const now = (): number => Math.round(performance.now() * 1_000)

/** Two processes on one database, which goes away now and then, before one vendor. */
interface World {
  readonly servers: readonly [Attacked, Attacked]
  readonly resend: FakeHttp
  readonly cut: (ms: number) => Promise<void>
}

interface Told {
  readonly status: number
  readonly body: {
    readonly ok?: boolean
    readonly sendId?: string
    readonly code?: string
    readonly kind?: string
  }
}

/** An answer in the words of the model. */
const answerOf = ({ body, status }: Told): { readonly answer: string; readonly id: string } => {
  if (status === 200 && body.ok === true) return { answer: "accepted", id: body.sendId ?? "" }
  if (body.code === "IDEMPOTENCY_CONFLICT") return { answer: "conflict", id: "" }
  if (body.code === "IDEMPOTENCY_IN_PROGRESS") return { answer: "busy", id: "" }
  if (body.code === "UNAVAILABLE") return { answer: "busy", id: "" }
  if (body.code === "EMAIL_FAILED")
    return { answer: body.kind === "ambiguous" ? "ambiguous" : "unsent", id: "" }
  return { answer: `${status} ${JSON.stringify(body)}`, id: "" }
}

const send = async ({ url }: Attacked, key: string, request: string): Promise<Told | undefined> => {
  const mail = { to: "ann@x.test", text: "t", category: "transactional", source: "api:outside" }
  const body = JSON.stringify({ ...mail, subject: request, idempotencyKey: key, requireClaim: true })
  try {
    const answer = await fetch(`${url}/internal/send-email`, {
      method: "POST",
      headers: { "x-proxy-secret": SECRET, "content-type": "application/json" },
      body,
      signal: AbortSignal.timeout(60_000)
    })
    return { status: answer.status, body: (await answer.json()) as Told["body"] }
  } catch {
    return undefined
  }
}

/** Callers of both processes at once, with one key and two requests. */
const relayHistory = async ({ servers }: World, key: string): Promise<History> => {
  const calls: Array<Call> = []
  const caller = async (client: number) => {
    for (let n = 0; n < CALLS; n++) {
      const ask = `${key} ${(client * 7 + n * 3) % 5 === 0 ? "other" : "same"}`
      const begin = now()
      const told = await send(servers[(client + n) % 2 === 0 ? 0 : 1], key, ask)
      calls.push(
        told === undefined
          ? { client, ask, answer: "none", id: "", begin, end: 0 }
          : { client, ask, ...answerOf(told), begin, end: now() }
      )
      await sleep(n * 20)
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, (_, client) => caller(client)))
  return { model: "relay", name: key, calls }
}

/** What the vendor does with requests, one after the other. */
const FAULTS = ["ok", "504", "422", "reset-accepted", "503", "429", "500", "ok", "reset-before"] as const

const EVENTS = ["delivery_delayed", "delivered", "opened", "clicked", "bounced", "complained"]

/** Tells a process of an event, as the vendor does. */
const tell = async ({ url }: Attacked, messageId: string, to: string, event: string): Promise<boolean> => {
  const at = String(Math.floor(Date.now() / 1000))
  const id = `msg_${randomUUID()}`
  const data = { email_id: messageId, from: "a@postlane.test", to: [to], subject: "s" }
  const more = event === "bounced" ? { bounce: { type: "Permanent", subType: "General", message: "m" } } : {}
  const body = JSON.stringify({
    type: `email.${event}`,
    created_at: new Date().toISOString(),
    data: { ...data, created_at: new Date().toISOString(), ...more }
  })
  const key = Buffer.from(SIGNING.slice("whsec_".length), "base64")
  const mac = createHmac("sha256", key).update(`${id}.${at}.${body}`).digest("base64")
  try {
    const answer = await fetch(`${url}/functions/v1/provider-a-webhook`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "svix-id": id,
        "svix-timestamp": at,
        "svix-signature": `v1,${mac}`
      },
      body,
      signal: AbortSignal.timeout(60_000)
    })
    return answer.ok
  } catch {
    return false
  }
}

/** The events of one mail in any order at both processes, and readers of both beside them. */
const statusHistory = async ({ resend, servers }: World, n: number): Promise<History> => {
  const to = `reader-${n}@x.test`
  const mail = { to, subject: to, text: "t", category: "transactional", source: "api:outside" }
  await fetch(`${servers[0].url}/internal/send-email`, {
    method: "POST",
    headers: { "x-proxy-secret": SECRET, "content-type": "application/json" },
    body: JSON.stringify({ ...mail, idempotencyKey: to })
  })
  const messageId = await comes(
    "the mail is accepted",
    () => resend.accepted.find(({ payload }) => JSON.stringify(payload).includes(to))?.id
  )
  await comes(
    "the log has it",
    async () => (await statusOf(servers[0], to).catch(() => undefined)) === "sent"
  )
  const calls: Array<Call> = []
  let isOver = false
  const reader = async (client: number) => {
    for (let looks = 0; !isOver || looks < 5; looks++) {
      const begin = now()
      const answer = await statusOf(servers[(client + looks) % 2 === 0 ? 0 : 1], to).catch(() => undefined)
      if (answer !== undefined) calls.push({ client, ask: "read", answer, id: "", begin, end: now() })
    }
  }
  const teller = async (client: number) => {
    for (let at = 0; at < 3; at++) {
      // Some mails end well, and some do not.
      const last = n % 3 === 0 ? EVENTS.length : 4
      const event = EVENTS[(n * 5 + client * 3 + at * 7) % last] ?? "delivered"
      const begin = now()
      const isTold = await tell(servers[(client + at) % 2 === 0 ? 0 : 1], messageId, to, event)
      const end = isTold ? now() : 0
      calls.push({ client, ask: event, answer: isTold ? "told" : "none", id: "", begin, end })
    }
  }
  const readers = Array.from({ length: READERS }, (_, client) => reader(10 + client))
  await Promise.all([teller(0), teller(1), teller(2)])
  isOver = true
  await Promise.all(readers)
  return { model: "status", name: to, calls }
}

/** Histories, while the vendor and the database do what they may do. */
const histories = async (world: World): Promise<ReadonlyArray<History>> => {
  const { resend } = world
  const found: Array<History> = []
  for (let n = 0; n < KEYS; n += 3) {
    await resend.script([...FAULTS.slice(n % FAULTS.length), ...FAULTS.slice(0, n % 4)])
    const cutting = n % 2 === 0 ? world.cut(100 + ((n * 37) % 400)) : Promise.resolve()
    found.push(...(await Promise.all([n, n + 1, n + 2].map((one) => relayHistory(world, `key-${one}-x`)))))
    await cutting
  }
  await resend.script([])
  for (const server of world.servers)
    await comes("it reads the log again", () =>
      statusOf(server, "nobody@x.test").then(
        () => true,
        () => false
      )
    )
  for (let n = 0; n < MAILS; n++) {
    const writing = statusHistory(world, n)
    if (n % 4 === 3) await world.cut(200)
    found.push(await writing)
  }
  return found
}

/** The program that holds histories to the models. */
const checker = async ({ cache, root }: Pick<Place, "cache" | "root">): Promise<string> => {
  const home = join(cache, `porcupine_${PORCUPINE}`)
  await mkdir(home, { recursive: true })
  await copyFile(join(root, "test/outside/porcupine/check.go"), join(home, "main.go"))
  await writeFile(
    join(home, "go.mod"),
    `module outside\n\ngo 1.24\n\nrequire github.com/anishathalye/porcupine ${PORCUPINE}\n`
  )
  await must("go", ["mod", "tidy"], { cwd: home })
  await must("go", ["build", "-o", "check", "."], { cwd: home })
  return join(home, "check")
}

const judged = async (place: Place, found: ReadonlyArray<History>): Promise<ReadonlyArray<Check>> => {
  const file = join(place.work, "histories.json")
  await writeFile(file, JSON.stringify(found))
  const lines = (await must(await checker(place), [file])).trim().split("\n")
  const results = lines.map(
    (line) => JSON.parse(line) as { readonly model: string; readonly name: string; readonly result: string }
  )
  return (["relay", "status"] as const).map((model) => {
    const own = results.filter((one) => one.model === model)
    const wrong = own
      .filter(({ result }) => result !== "Ok")
      .map(
        ({ name, result }) =>
          `${name}: ${result} ${JSON.stringify(found.find((one) => one.name === name)?.calls)}`
      )
    return without(`${own.length} histories of the ${model} are linearizable`, wrong)
  })
}

/** Copies of a key's mails, at every provider. */
const copiesOf = async ({ resend, servers }: World, key: string): Promise<number> => {
  const byVendor = resend.accepted.filter(({ payload }) => JSON.stringify(payload).includes(`${key} `)).length
  const byOther = await Promise.all(servers.map(async (server) => (await arrived(server, key)).length))
  return byOther.reduce((sum, one) => sum + one, byVendor)
}

const open = Effect.gen(function* () {
  const postgres = yield* Effect.acquireRelease(
    Effect.promise(() => startTestServer()),
    ({ stop }) => Effect.promise(stop)
  )
  yield* migrateDatabase({ url: Redacted.make(postgres.url) })
  const url = new URL(postgres.url)
  const proxy = yield* startTcpProxy(Number(url.port))
  url.port = String(proxy.port)
  const resend = fakeResend()
  yield* Effect.acquireRelease(
    Effect.promise(() => resend.listen()),
    () => Effect.promise(() => resend.close())
  )
  const start = Effect.acquireRelease(
    Effect.promise(() =>
      startAttacked({
        ADMIN_TOKEN,
        PROXY_SHARED_SECRET: SECRET,
        PROVIDERA_API_KEY: "re_outside",
        PROVIDERA_BASE_URL: resend.url,
        PROVIDERA_WEBHOOK_SECRET: SIGNING,
        DB_URL: url.href,
        DB_SECRET_KEY: "unused",
        // No retry within a history: a key stays with its first answer.
        EMAIL_DEFER_DELAYS_SECONDS: "600,600,600"
      })
    ),
    ({ stop }) => Effect.promise(stop)
  )
  const cut = async (ms: number) => {
    await Effect.runPromise(proxy.setRefusing(true))
    await sleep(ms)
    await Effect.runPromise(proxy.setRefusing(false))
  }
  return { servers: [yield* start, yield* start] as const, resend, cut } satisfies World
})

const trial: Reference["run"] = (place) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(open, (world) =>
        Effect.promise(async () => {
          const found = await histories(world)
          const doubled: Array<string> = []
          for (const { model, name } of found) {
            const copies = model === "relay" ? await copiesOf(world, name) : 0
            if (copies > 1) doubled.push(`${name}: ${copies} copies`)
          }
          const told = new Set(found.flatMap(({ calls }) => calls.map(({ answer }) => answer)))
          const wanted = ["accepted", "unsent", "conflict", "busy", "told"]
          return [
            ...(await judged(place, found)),
            without("no key is sent twice", doubled),
            // What was planted was met.
            checked(
              "callers got every kind of answer",
              wanted.every((one) => told.has(one)),
              [...told].join(", ")
            )
          ]
        })
      )
    )
  )

/** A checker of linearizability over what callers of two processes saw. */
export const porcupine: Reference = {
  name: "porcupine",
  version: PORCUPINE,
  checks:
    "calls of the relay under one key, and a mail's status, at two processes whose database and vendor fail: as one after the other",
  needs: ["go"],
  install: async (place) => void (await checker(place)),
  run: trial
}
