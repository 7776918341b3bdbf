import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { layerSqlClient, WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { splitStatements } from "../../../../src/adapters/postgres/migration-files.ts"
import { migrate } from "../../../../src/adapters/postgres/migrator.ts"
import { MIGRATIONS } from "../../../../src/runtime/process/package.ts"
import { layerClients, layerEmptyDatabase, layerPostgres } from "../../../support/postgres/postgres.ts"

const layerEmpty = layerSqlClient.pipe(
  Layer.provideMerge(layerClients()),
  Layer.provideMerge(layerEmptyDatabase),
  Layer.provideMerge(NodeServices.layer)
)

/** The parts of pg_cron, pg_net and the vault that are used, with their signatures; they record their calls. */
const PLATFORM = `
  create schema cron;
  create table cron.job (jobid bigserial primary key, jobname text unique, schedule text, command text);
  create function cron.schedule(job_name text, schedule text, command text) returns bigint language sql as $$
    insert into cron.job (jobname, schedule, command) values ($1, $2, $3)
    on conflict (jobname) do update set schedule = excluded.schedule, command = excluded.command
    returning jobid
  $$;
  create schema net;
  create table net.posted (url text, body jsonb, headers jsonb, timeout integer);
  create function net.http_post(
    url text, body jsonb default '{}', params jsonb default '{}', headers jsonb default '{}',
    timeout_milliseconds integer default 5000
  ) returns bigint language sql as $$
    insert into net.posted values ($1, $2, $4, $5);
    select 1::bigint
  $$;
  create schema vault;
  create table vault.decrypted_secrets (name text, decrypted_secret text);
`

const setUp = WriteSql.use((sql) =>
  Effect.forEach(splitStatements(PLATFORM), (statement) => sql.unsafe(statement).unprepared)
)
const jobs = WriteSql.use(
  (sql) =>
    sql<{
      jobname: string
      schedule: string
      command: string
    }>`select jobname, schedule, command from cron.job order by jobname`
)
const posted = WriteSql.use((sql) => sql`select * from net.posted`)

/** What pg_cron does at a job's time. */
const run = (name: string) =>
  Effect.gen(function* () {
    const sql = yield* WriteSql
    const job = (yield* jobs).find(({ jobname }) => jobname === name)
    yield* sql.unsafe(job!.command).unprepared
  })
const addSecret = (name: string, value: string) =>
  WriteSql.use((sql) => sql`insert into vault.decrypted_secrets values (${name}, ${value})`)

/** Job, schedule, what it posts to and how long it waits, milliseconds. */
const JOBS = [
  ["audit-digest-daily", "0 14 * * *", "audit-digest?cadence=daily", 60_000],
  ["audit-digest-weekly", "0 14 * * 1", "audit-digest?cadence=weekly", 60_000],
  ["provider-a-events-poll", "*/15 * * * *", "provider-a-events-fetcher", 120_000]
] as const

describe("the schedules of a hosted platform", () => {
  it.live("are left out of a plain PostgreSQL, or one that has only a part of what they take", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const schedule = sql<{ done: boolean }>`select schedule_functions() as done`
      assert.deepStrictEqual(yield* schedule, [{ done: false }])
      for (const statement of splitStatements(PLATFORM)) {
        assert.deepStrictEqual(yield* schedule, [{ done: false }])
        yield* sql.unsafe(statement).unprepared
      }
      assert.deepStrictEqual(yield* schedule, [{ done: true }])
    }).pipe(Effect.provide(layerPostgres))
  )

  it.live("are made by the migration, once, and post with the vault's secret, which no job holds", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      yield* setUp
      yield* migrate(MIGRATIONS)
      yield* sql`select schedule_functions()`
      assert.deepStrictEqual(
        (yield* jobs).map(({ jobname, schedule }) => [jobname, schedule]),
        JOBS.map(([name, schedule]) => [name, schedule])
      )

      for (const [name] of JOBS) {
        assert.match(String((yield* Effect.flip(run(name))).reason.cause), /the vault holds no/)
      }
      yield* addSecret("functions_url", "https://functions.test/functions/v1/")
      for (const [name] of JOBS) yield* Effect.flip(run(name))
      assert.deepStrictEqual(yield* posted, [])

      yield* addSecret("proxy_shared_secret", `quote ' and "`)
      for (const [name] of JOBS) yield* run(name)
      assert.deepStrictEqual(
        [...(yield* posted)],
        JOBS.map(([, , path, timeout]) => ({
          url: `https://functions.test/functions/v1/${path}`,
          body: {},
          headers: { "content-type": "application/json", "x-proxy-secret": `quote ' and "` },
          timeout
        }))
      )
      for (const { command } of yield* jobs) assert.notInclude(command, "quote")
    }).pipe(Effect.provide(layerEmpty))
  )

  it.live("take the address from a setting where the vault has none", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      yield* setUp
      yield* sql`select schedule_functions()`
      yield* addSecret("proxy_shared_secret", "s")
      yield* sql.withTransaction(
        Effect.andThen(
          sql`set local postlane.functions_url = 'https://other.test'`,
          run("provider-a-events-poll")
        )
      )
      assert.strictEqual((yield* posted)[0]?.["url"], "https://other.test/provider-a-events-fetcher")
    }).pipe(Effect.provide(layerPostgres))
  )
})
