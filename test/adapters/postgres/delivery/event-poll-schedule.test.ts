import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { layerSqlClient, WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { migrate, splitStatements } from "../../../../src/adapters/postgres/migrator.ts"
import { layerClients, layerEmptyDatabase, layerPostgres } from "../../../support/postgres/postgres.ts"

const MIGRATIONS = fileURLToPath(new URL("../../../../migrations", import.meta.url))

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
const jobs = WriteSql.use((sql) => sql`select jobname, schedule from cron.job`)
const posted = WriteSql.use((sql) => sql`select * from net.posted`)

/** What pg_cron does every 15 minutes. */
const runJob = WriteSql.use((sql) =>
  Effect.gen(function* () {
    const [job] = yield* sql<{ command: string }>`select command from cron.job`
    yield* sql.unsafe(job!.command).unprepared
  })
)
const addSecret = (name: string, value: string) =>
  WriteSql.use((sql) => sql`insert into vault.decrypted_secrets values (${name}, ${value})`)

describe("the schedule of the poll", () => {
  it.live("is left out of a plain PostgreSQL, or one that has only a part of what it takes", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const schedule = sql<{ done: boolean }>`select schedule_event_poll() as done`
      assert.deepStrictEqual(yield* schedule, [{ done: false }])
      for (const statement of splitStatements(PLATFORM)) {
        assert.deepStrictEqual(yield* schedule, [{ done: false }])
        yield* sql.unsafe(statement).unprepared
      }
      assert.deepStrictEqual(yield* schedule, [{ done: true }])
    }).pipe(Effect.provide(layerPostgres))
  )

  it.live("is made by the migration, once, and posts with the vault's secret", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      yield* setUp
      yield* migrate(MIGRATIONS)
      yield* sql`select schedule_event_poll()`
      const named = (yield* jobs).filter((job) => job["jobname"] === "provider-a-events-poll")
      assert.deepStrictEqual(named, [{ jobname: "provider-a-events-poll", schedule: "*/15 * * * *" }])
      yield* sql`delete from cron.job where jobname <> 'provider-a-events-poll'`

      assert.match(String((yield* Effect.flip(runJob)).reason.cause), /the vault holds no/)
      yield* addSecret("functions_url", "https://functions.test/functions/v1/")
      yield* Effect.flip(runJob)
      assert.deepStrictEqual(yield* posted, [])

      yield* addSecret("proxy_shared_secret", `quote ' and "`)
      yield* runJob
      assert.deepStrictEqual(yield* posted, [
        {
          url: "https://functions.test/functions/v1/provider-a-events-fetcher",
          body: {},
          headers: { "content-type": "application/json", "x-proxy-secret": `quote ' and "` },
          timeout: 120_000
        }
      ])
    }).pipe(Effect.provide(layerEmpty))
  )

  it.live("takes the address from a setting where the vault has none", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      yield* setUp
      yield* sql`select schedule_event_poll()`
      yield* addSecret("proxy_shared_secret", "s")
      yield* sql.withTransaction(
        Effect.andThen(sql`set local postlane.functions_url = 'https://other.test'`, runJob)
      )
      assert.strictEqual((yield* posted)[0]?.["url"], "https://other.test/provider-a-events-fetcher")
    }).pipe(Effect.provide(layerPostgres))
  )

  it("holds no secret in the job itself", () => {
    const text = readFileSync(`${MIGRATIONS}/0003_delivery.sql`, "utf8")
    assert.match(text, /vault\.decrypted_secrets s where s\.name = 'proxy_shared_secret'/)
  })
})
