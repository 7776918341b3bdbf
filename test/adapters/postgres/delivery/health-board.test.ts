import { assert, layer as suiteLayer } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import * as EmailStats from "../../../../src/adapters/postgres/delivery/email-stats.ts"
import { layer } from "../../../../src/adapters/postgres/delivery/health-board.ts"
import { layer as layerStore } from "../../../../src/adapters/postgres/mail/mail-store.ts"
import { QUIET } from "../../../../src/domain/delivery/alarm-rules.ts"
import { EmailStats as Stats } from "../../../../src/ports/delivery/email-log-query.ts"
import {
  HealthBoard,
  type ProcessReport,
  QUEUES,
  SILENT_AFTER_SECONDS
} from "../../../../src/ports/delivery/health-board.ts"
import { attempt, mail } from "../../../contracts/mail/mail-store/mails.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { makePostgresWorld } from "../../../support/worlds/mail-world.ts"

const layers = Layer.mergeAll(layer(12.5), layerStore, EmailStats.layer).pipe(
  Layer.provideMerge(layerPostgres)
)
const read = HealthBoard.use((board) => board.read)
const waiting = Effect.map(read, ({ queues }) =>
  Object.fromEntries(queues.flatMap((queue) => (queue.waiting > 0 ? [[queue.name, queue.waiting]] : [])))
)

suiteLayer(layers)("HealthBoard on Postgres", (it) => {
  it.effect("is calm where nothing is", () =>
    Effect.gen(function* () {
      const facts = yield* read
      assert.deepStrictEqual(
        facts.queues.map((queue) => [queue.name, queue.waiting, queue.oldestAt]),
        QUEUES.map((name) => [name, 0, null])
      )
      assert.deepInclude(facts, {
        alarms: [],
        past: [],
        batch: [],
        spentUsd: 0,
        budgetUsd: 12.5,
        newestMailAt: null,
        processes: []
      })
    })
  )

  it.effect(
    "a process is what it said last; silent after a while, and gone with its leave or after an hour",
    () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        const board = yield* HealthBoard
        const report = (process: string, lastError: string | null = null): ProcessReport => ({
          process,
          version: "1.2.3",
          roles: ["api"],
          beganAt: "2026-11-20T10:11:12.000Z",
          ready: lastError === null,
          checks: [{ name: "database", ok: lastError === null, lastError }],
          supervisors: [{ name: "clock", state: "running", restarts: 0, lastRunAt: null, lastError: null }]
        })
        const known = Effect.map(board.read, ({ processes }) =>
          processes.map(({ checks, isSilent, process }) => [process, checks[0]?.lastError, isSilent])
        )
        const older = (process: string, by: string) =>
          sql`update process_reports set noted_at = noted_at - ${by}::interval where process = ${process}`
        // Many at once, and one of them again and again.
        yield* Effect.forEach(["b:1", "a:2", "c:3", "a:2", "a:2"], (name) => board.note(report(name)), {
          concurrency: 5
        })
        yield* board.note(report("c:3", "gone\0 \uD800 ☃"))
        assert.deepStrictEqual(yield* known, [
          ["a:2", null, false],
          ["b:1", null, false],
          ["c:3", "gone\uFFFD \uFFFD ☃", false]
        ])
        const [first] = (yield* board.read).processes
        assert.deepInclude(first, report("a:2"))
        yield* older("b:1", `${SILENT_AFTER_SECONDS + 1} seconds`)
        yield* older("c:3", "61 minutes")
        assert.deepStrictEqual(yield* known, [
          ["a:2", null, false],
          ["b:1", null, true]
        ])
        yield* board.note(report("b:1"))
        assert.deepStrictEqual(yield* sql`select process from process_reports order by process`, [
          { process: "a:2" },
          { process: "b:1" }
        ])
        yield* board.leave("a:2")
        yield* board.leave("nobody")
        assert.deepStrictEqual(yield* known, [["b:1", null, false]])
        yield* board.leave("b:1")
      })
  )

  it.effect(
    "a deferral waits until its retry has a row, and a failed mail's alert until it is confirmed",
    () =>
      Effect.gen(function* () {
        const world = yield* makePostgresWorld
        const one = mail()
        yield* world.store.record(attempt(one, "deferred"))
        yield* world.store.record(attempt(mail(), "deferred"))
        assert.deepStrictEqual(yield* waiting, { retries: 2 })
        yield* world.store.record(attempt(one, "failed", { errorKind: "ambiguous" }))
        assert.deepStrictEqual(yield* waiting, { retries: 1 })
        yield* world.recordEvent({ provider: "provider_a", providerMessageId: "m-1", event: "bounced" })
        const { newestMailAt, queues } = yield* read
        assert.deepStrictEqual(yield* waiting, { retries: 1, alerts: 1 })
        assert.isAtMost(Date.parse(queues[0]!.oldestAt!), Date.parse(newestMailAt!))
        yield* world.advance(25 * 60 * 60_000)
        assert.notProperty(yield* waiting, "retries")
        yield* world.advance(25 * 60 * 60_000)
        const hours = yield* Stats.use(({ lastHours }) => lastHours)
        assert.deepStrictEqual(hours, [])
      })
  )

  it.effect(
    "mails of the send queue and events for other systems wait from the moment at which they are due",
    () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        const request = { to: "a@x.test", subject: "s", text: "t", category: "auth", source: "api:test" }
        const before = yield* waiting
        const count = (now: typeof before, name: string) => (now[name] ?? 0) - (before[name] ?? 0)
        yield* sql`select enqueue_email(${JSON.stringify(request)}::jsonb), enqueue_email(${JSON.stringify({
          ...request,
          sendAt: new Date(Date.now() + 3_600_000).toISOString()
        })}::jsonb)`
        yield* sql`with hook as (insert into event_hooks (url, secret, types) values ('https://x.test', 'whsec_cw==', '{email.*}') returning id)
        insert into event_hook_deliveries (hook_id, message_id, type, subject, body, state, next_at)
        select hook.id, 'm', 'email.sent', 'k', '{}', 'pending', now() + d from hook, unnest('{0 s, 1 hour}'::interval[]) as d`
        const after = yield* waiting
        assert.deepStrictEqual([count(after, "send_queue"), count(after, "event_hooks")], [1, 1])
      })
  )

  it.effect("figures: what waits, what is overdue, open jobs, and when events came last", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const figures = HealthBoard.use((board) => board.figures)
      const before = yield* figures
      const world = yield* makePostgresWorld
      const due = attempt(mail(), "deferred")
      yield* world.store.record(due)
      yield* sql`update email_log set retry_at = now() - interval '1 hour' where id = ${due.rowId}::uuid`
      yield* sql`insert into event_intakes (provider, heard_at) values ('provider_a', now() - interval '5 minutes')
        on conflict (provider) do update set heard_at = excluded.heard_at`
      const after = yield* figures
      const retries = ({ queues }: typeof after) => queues.find(({ name }) => name === "retries")?.waiting
      assert.deepStrictEqual(
        before.queues.map(({ name }) => name),
        [...QUEUES]
      )
      assert.strictEqual((retries(after) ?? 0) - (retries(before) ?? 0), 1)
      assert.strictEqual(after.overdueRetries - before.overdueRetries, 1)
      assert.deepStrictEqual(
        [after.jobs, after.chunks, after.batchJobs].map((counts) =>
          counts.map(({ count, state }) => `${state} ${count}`).join()
        ),
        [
          "pending 0,waiting_batch 0,processing 0,paused_budget 0,assembling 0",
          "pending 0,processing 0",
          "preparing 0,submitted 0"
        ]
      )
      const [event] = after.newestEvents
      assert.strictEqual(event?.provider, "provider_a")
      assert.isAtLeast(event?.ageSeconds ?? 0, 300)
    })
  )

  it.effect("names what fires since when, what is over, and what the models cost", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const change = (name: string, firing: boolean, episode: number, notice: string, detail: string) =>
        sql`select change_email_alarm(${name}, ${!firing}, ${firing ? episode - 1 : episode}::int, null,
          ${firing}, ${episode}::int, null, ${notice}::text, ${detail})`
      assert.isFalse(QUIET.firing)
      yield* change("failed_sends", true, 1, "begun", "3 sends failed")
      yield* change("failovers", true, 1, "begun", "9 sends failed over")
      yield* change("failovers", false, 1, "ended", "none failed over")
      yield* sql`insert into email_alarms (name, firing, episode, since, detail) values ('of_later', true, 1, now(), 'x')`
      yield* sql`insert into cost_ledger ${sql.insert({ source: "vision", backend: "x", cost_usd: "1.25", input_tokens: 1, output_tokens: 1 })}`
      const facts = yield* read
      assert.deepStrictEqual(
        facts.alarms.map(({ detail, name }) => [name, detail]),
        [["failed_sends", "3 sends failed"]]
      )
      assert.deepStrictEqual(
        facts.past.map(({ alarm, detail }) => [alarm, detail]),
        [["failovers", "9 sends failed over"]]
      )
      assert.strictEqual(facts.spentUsd, 1.25)
    })
  )

  it.effect("counts the last two days by hours", () =>
    Effect.gen(function* () {
      const world = yield* makePostgresWorld
      yield* world.store.record(attempt(mail(), "sent", { providerMessageId: "now", failedOver: true }))
      const hours = yield* Stats.use(({ lastHours }) => lastHours)
      const hour = new Date().toISOString().slice(0, 11)
      assert.isTrue(hours.every(({ day }) => /^\d{4}-\d\d-\d\dT\d\d$/.test(day)))
      assert.deepInclude(
        hours.find(({ day, status }) => day.startsWith(hour) && status === "sent"),
        { count: 1, failedOver: 1, provider: "provider_a" }
      )
    })
  )
})
