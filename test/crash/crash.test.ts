import { randomInt } from "node:crypto"
import { readFile } from "node:fs/promises"

import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"

import { layerDatabase, TestDatabase } from "../support/postgres/postgres.ts"
import { type Postlane, startPostlane } from "../support/processes/child.ts"
import { startTcpProxy } from "../support/processes/tcp-proxy.ts"
import { LONGEST_WAIT_MS } from "../support/time-limits.ts"
import { until } from "../support/until.ts"
import { startGate } from "./gate.ts"
import { judge, underWay } from "./oracle.ts"
import { crashRun } from "./run.ts"
import { makeWorld, query, relay, type World } from "./world.ts"

/** Of a process that is to be held up by nothing but what its test does to it: the machine may have no time for it. */
const UNHURRIED = { EMAIL_ATTEMPT_TIMEOUT_MS: "60000", EMAIL_DB_TIMEOUT_MS: "10000" }

const world: Effect.Effect<World, never, TestDatabase | Scope.Scope> = Effect.flatMap(
  TestDatabase,
  ({ url }) =>
    Effect.acquireRelease(
      Effect.promise(() => makeWorld(url)),
      ({ close }) => Effect.promise(close)
    )
)

const postlane = (env: Readonly<Record<string, string>>): Effect.Effect<Postlane, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => startPostlane(env)),
    ({ destroy }) => Effect.promise(destroy)
  )

const statusOf = (url: string): Promise<number> =>
  fetch(url).then(
    async (response) => {
      await response.body?.cancel()
      return response.status
    },
    () => 0
  )

describe.concurrent("processes that die", () => {
  it.live(
    "S1 S2 S4 S5 S9 D1 D3 L1: two processes under load, killed at random moments, break no promise",
    () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const seed = Number(process.env["CRASH_SEED"] ?? randomInt(1, 1_000_000))
        console.log(`crash test: CRASH_SEED=${seed}`)
        const { counts, violations } = yield* Effect.promise(() =>
          crashRun({ seed, rounds: 3, freeze: false, databaseUrl: url })
        )
        assert.deepStrictEqual(violations, [], `CRASH_SEED=${seed}`)
        assert.isAbove(counts["copies from provider_a"] ?? 0, 10, "the load was none")
        assert.isAtLeast(counts["kills"] ?? 0, 1)
      }).pipe(Effect.provide(layerDatabase))
  )

  it.live(
    "S1 S2 S9: a process that wakes after its claim went to another neither sends again nor fails over",
    () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const { env, resend, ses, ...rest } = yield* world
        const gate = yield* startGate(resend.url)
        // Its claim outlasts it by what its limits make of it.
        const slept = yield* postlane({
          ...env,
          EMAIL_DB_TIMEOUT_MS: "2000",
          PROVIDERA_BASE_URL: gate.url
        })
        const awake = yield* postlane({ ...env, ...UNHURRIED })
        const key = "frozen"
        const answers = yield* Effect.promise(async () => {
          const first = relay(slept.url, key, {}, LONGEST_WAIT_MS)
          await gate.arrived
          slept.signal("SIGSTOP")
          gate.refuse()
          const second = await until("the claim of the frozen process is taken over", async () => {
            const answer = await relay(awake.url, key, {}, LONGEST_WAIT_MS)
            if (answer.status === 200) return answer
            assert.strictEqual(answer.body.code, "IDEMPOTENCY_IN_PROGRESS", JSON.stringify(answer))
            return undefined
          })
          slept.signal("SIGCONT")
          return [second, await first]
        })
        const [second, first] = answers
        assert.deepInclude(second?.body, { status: "sent", provider: "provider_a" })
        assert.include([200, 409], first?.status, JSON.stringify(first))
        yield* Effect.promise(() => until("everything is at rest", async () => (await underWay(url)) === 0))
        const { counts, violations } = yield* Effect.promise(() =>
          judge({
            world: { env, resend, ses, ...rest },
            databaseUrl: url,
            answers: new Map([[key, answers.filter(({ status }) => status === 200)]]),
            databaseHeld: true,
            froze: true
          })
        )
        assert.deepStrictEqual(violations, [])
        assert.strictEqual(counts["copies from provider_a"], 1)
        assert.strictEqual(counts["copies from provider_b"], 0)
      }).pipe(Effect.scoped, Effect.provide(layerDatabase))
  )

  it.live(
    "S2 S9: a process that reads a proof of non-acceptance after its claim went to another does not fail over, and answers what the claim says",
    () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const { env, resend, ses } = yield* world
        const gate = yield* startGate(resend.url)
        const slept = yield* postlane({ ...env, ...UNHURRIED, PROVIDERA_BASE_URL: gate.url })
        const awake = yield* postlane({ ...env, ...UNHURRIED })
        const [second, first] = yield* Effect.promise(async () => {
          const call = relay(slept.url, "late", {}, LONGEST_WAIT_MS)
          await gate.arrived
          slept.signal("SIGSTOP")
          gate.refuse()
          // As if the claim's lease had ended meanwhile by the database's clock.
          await query(url, "update email_send_claims set lease_until = clock_timestamp()")
          const takeOver = await relay(awake.url, "late", {}, LONGEST_WAIT_MS)
          slept.signal("SIGCONT")
          return [takeOver, await call] as const
        })
        assert.deepInclude(second.body, { status: "sent", provider: "provider_a" })
        assert.deepStrictEqual(first.body, second.body)
        const copies = yield* Effect.promise(() =>
          Promise.all(
            [resend.log, ses.log].map(async (file) => (await readFile(file, "utf8")).split("\n").length - 1)
          )
        )
        assert.deepStrictEqual(copies, [1, 0])
      }).pipe(Effect.scoped, Effect.provide(layerDatabase))
  )

  it.live(
    "S5 D3 L1: SIGTERM under load ends the process with code 0 long before its attempts would end, nothing in flight lost",
    () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const { env, resend } = yield* world
        yield* Effect.promise(() => resend.script(["ok", "500-accepted"], "hang-accepted"))
        const ATTEMPT_MS = 600_000
        const child = yield* postlane({
          ...env,
          EMAIL_ATTEMPT_TIMEOUT_MS: String(ATTEMPT_MS),
          EMAIL_DB_TIMEOUT_MS: "5000",
          EMAIL_DEFER_DELAYS_SECONDS: "1,60,60"
        })
        const quick = yield* Effect.promise(() => relay(child.url, "quick", {}, LONGEST_WAIT_MS))
        assert.strictEqual(quick.body.status, "sent")
        // The last one: its retry may come before another call does.
        const retried = yield* Effect.promise(() => relay(child.url, "retried", {}, LONGEST_WAIT_MS))
        assert.strictEqual(retried.body.status, "deferred")
        yield* Effect.promise(() =>
          until("the retry is under way", async () => {
            const rows = await query(
              url,
              "select from email_defer_queue where state = 'pending' and acquired_at is not null"
            )
            return rows.length === 1
          })
        )
        const keys = Array.from({ length: 20 }, (_, index) => `in-flight-${index}`)
        const calls = keys.map((key) => relay(child.url, key, {}, LONGEST_WAIT_MS))
        yield* Effect.promise(() =>
          until("all calls hold a claim", async () => {
            const rows = await query(url, "select from email_send_claims where state = 'held'")
            return rows.length === keys.length
          })
        )
        const asked = Date.now()
        child.signal("SIGTERM")
        const ended = yield* Effect.promise(() => child.ended)
        const tookMs = Date.now() - asked
        assert.deepStrictEqual(ended, { code: 0, signal: null }, child.errors())
        assert.isBelow(tookMs, ATTEMPT_MS)

        const answers = yield* Effect.promise(() => Promise.all(calls))
        const claims = yield* Effect.promise(() =>
          query<{ readonly state: string }>(url, "select distinct state from email_send_claims")
        )
        assert.deepStrictEqual(claims.map(({ state }) => state).sort(), ["accepted", "deferred"])
        for (const { body, status } of answers) {
          // A caller that could not be answered in time gets an unknown outcome, or is cut off.
          if (status === 503) assert.strictEqual(body.code, "SHUTTING_DOWN")
          else if (status !== 0) assert.strictEqual(body.status, "deferred")
        }
        const left = yield* Effect.promise(() =>
          query<{ readonly held: number; readonly waiting: number; readonly rows: number }>(
            url,
            `select (select count(*)::int from email_defer_queue where acquired_at is not null and state = 'pending') as held,
              (select count(distinct element::jsonb -> 'details' -> 'idempotencyKey')::int
                from email_defer_queue where state = 'pending') as waiting,
              (select count(distinct idempotency_key)::int from email_log) as rows`
          )
        )
        assert.deepStrictEqual(left, [{ held: 0, waiting: keys.length + 1, rows: keys.length + 2 }])
      }).pipe(Effect.scoped, Effect.provide(layerDatabase))
  )

  it.live(
    "S6: sends go on while the database is cut off or silent, /ready says so, and rows are written once it is back",
    () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const { env } = yield* world
        const proxy = yield* startTcpProxy(Number(new URL(url).port))
        const throughProxy = new URL(url)
        throughProxy.port = String(proxy.port)
        const child = yield* postlane({
          ...env,
          EMAIL_ATTEMPT_TIMEOUT_MS: "60000",
          DB_URL: throughProxy.href
        })
        const sends = async (key: string) => {
          const { body } = await relay(child.url, key, {}, LONGEST_WAIT_MS)
          assert.deepInclude(body, { ok: true, status: "sent" }, key)
          const rows = await query(
            url,
            `select from email_log where idempotency_key = '${key}' and status = 'sent'`
          )
          return rows.length
        }
        let serial = 0
        /** A database that has no time is gone on without as well: only the next send may have its row. */
        const writes = (when: string) =>
          Effect.promise(() =>
            until(`a send ${when} has its row`, async () => (await sends(`${when} ${(serial += 1)}`)) === 1)
          )
        const isReady = (status: number) =>
          Effect.promise(() =>
            until(`/ready is ${status}`, async () => (await statusOf(`${child.url}/ready`)) === status)
          )

        yield* isReady(200)
        yield* writes("before")
        yield* proxy.setRefusing(true)
        assert.strictEqual(yield* Effect.promise(() => sends("while it refuses")), 0)
        yield* isReady(503)
        assert.strictEqual(yield* Effect.promise(() => statusOf(`${child.url}/health`)), 200)
        yield* proxy.setRefusing(false)
        yield* isReady(200)
        yield* writes("after")
        yield* proxy.freeze
        const silent = ["one", "two", "three", "four"].map((which) => `${which} while it is silent`)
        yield* Effect.promise(() => Promise.all(silent.map(sends)))
        yield* isReady(200)
        yield* writes("after the silence")
      }).pipe(Effect.scoped, Effect.provide(layerDatabase))
  )
})
