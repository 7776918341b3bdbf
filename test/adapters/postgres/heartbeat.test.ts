import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import { JOB_STATUSES } from "../../../src/domain/conversion/job.ts"
import { MAIL_STEPS } from "../../../src/ports/inbound/incoming-mails.ts"
import { anyId } from "../../support/any-id.ts"
import { layerPostgres } from "../../support/postgres/postgres.ts"

/** Each kind of leased work: its row, every state that it may be in, and those in which somebody works on it. */
const KINDS = [
  {
    kind: "assembly",
    table: "large_conversion_jobs",
    states: Object.keys(JOB_STATUSES),
    alive: ["assembling"],
    set: "status = $1"
  },
  {
    kind: "inline",
    table: "files",
    states: ["uploaded", "processing", "chunked_processing", "completed", "failed"],
    alive: ["processing"],
    set: "status = $1"
  },
  {
    kind: "flyer",
    table: "flyer_jobs",
    states: ["pending", "processing", "completed", "failed"],
    alive: ["processing"],
    set: "status = $1"
  },
  {
    kind: "mail",
    table: "intake_mails",
    states: MAIL_STEPS,
    alive: ["received", "converting"],
    set: "step = $1, outcome = case when $1 = 'ended' then 'error' end"
  }
] as const

/** Rows as they are written: no trigger takes them for those of other programs. */
const asWritten = <A, E>(rows: Effect.Effect<A, E, WriteSql>) =>
  WriteSql.use((sql) =>
    sql.withTransaction(Effect.andThen(sql`set local session_replication_role = 'replica'`, rows))
  )

layer(layerPostgres)("leased work", (it) => {
  /** One row of each kind under one id, and the funds that are set aside for it and for the conversion of the file. */
  const begun = asWritten(
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const [id, owner, job] = [anyId(), anyId(), anyId()]
      yield* sql`insert into customers (id, email) values (${owner}::uuid, ${`${owner}@x.test`})`
      yield* sql`insert into files (id, customer_id, name, kind, size_bytes, pages, object_key, job_id)
      values (${id}::uuid, ${owner}::uuid, 'a.docx', 'docx', 1, 1, 'k', ${job}::uuid)`
      yield* sql`insert into large_conversion_jobs (id, file_id, customer_id) values (${id}::uuid, ${id}::uuid, ${owner}::uuid)`
      yield* sql`insert into flyer_jobs (id, file_id, customer_id) values (${id}::uuid, ${id}::uuid, ${owner}::uuid)`
      yield* sql`insert into intake_mails (id, raw_key, raw_bytes, envelope_from, peer_trusted)
      values (${id}::uuid, 'k', 1, 'a@x.test', true)`
      yield* sql`insert into funds_holds (job_id, customer_id, credits, free_pages, expires_at)
      select x, ${owner}::uuid, 1, 0, now() from unnest(array[${id}::uuid, ${job}::uuid]) as x`
      return { id, job }
    })
  )

  it.effect.each(KINDS)(
    "DOC-13, F1: a heartbeat keeps $kind and its funds for its holder, while it is under way, and for nobody else",
    ({ alive, kind, set, states, table }) =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        const { id, job } = yield* begun
        const lease = anyId()
        const beat = Effect.fnUntraced(function* (by: string) {
          yield* sql`update funds_holds set expires_at = clock_timestamp() + interval '1 minute'`
          const [row] = yield* sql<{ readonly alive: boolean }>`
            select heartbeat(${kind}, ${id}::uuid, ${by}::uuid, interval '90 minutes') as alive`
          const [kept] = yield* sql<{ readonly funds: boolean }>`
            select expires_at > clock_timestamp() + interval '1 hour' as funds from funds_holds
            where job_id = ${kind === "inline" ? job : id}::uuid`
          return [row!.alive, kept!.funds]
        })
        const found: Array<string> = []
        for (const state of states) {
          yield* asWritten(
            sql.unsafe(`update ${table} set ${set}, lease = $2::uuid where id = $3::uuid`, [state, lease, id])
          )
          assert.deepStrictEqual(yield* beat(anyId()), [false, false], state)
          const [isAlive, hasFunds] = yield* beat(lease)
          assert.strictEqual(isAlive, hasFunds, state)
          if (isAlive) found.push(state)
        }
        assert.deepStrictEqual(found, [...alive])
      })
  )

  it.effect("DOC-13: a file that is deleted is converted no further", () =>
    Effect.gen(function* () {
      const sql = yield* WriteSql
      const { id } = yield* begun
      const lease = anyId()
      yield* asWritten(
        sql`update files set status = 'processing', lease = ${lease}::uuid where id = ${id}::uuid`
      )
      const beat = sql`select heartbeat('inline', ${id}::uuid, ${lease}::uuid, interval '1 minute') as alive`
      assert.deepStrictEqual(yield* beat, [{ alive: true }])
      yield* sql`update files set deleted_at = now() where id = ${id}::uuid`
      assert.deepStrictEqual(yield* beat, [{ alive: false }])
    })
  )
})
