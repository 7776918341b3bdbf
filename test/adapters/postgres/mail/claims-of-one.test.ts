import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"

const OWNER = "10000000-0000-4000-8000-000000000000"

const file = (kind: string, status = "uploaded") => `
  insert into files (id, customer_id, name, kind, size_bytes, pages, object_key, status)
  select x.id, '${OWNER}', 'name', '${kind}', 1, 1, 'key', '${status}' from made x`

const job = (status: string) => `
  insert into large_conversion_jobs (id, file_id, customer_id, status)
  select x.id, x.id, '${OWNER}', '${status}' from made x`

const MAIL = `
  insert into intake_mails (id, raw_key, raw_bytes, envelope_from, peer_trusted)
  select x.id, 'key', 1, '', true from made x`

/** What claims, how the table `made` (id, n) becomes what it claims from, and the rows that it took. */
const CLAIMS: ReadonlyArray<{
  readonly call: string
  readonly rows: ReadonlyArray<string>
  readonly taken: string
}> = [
  {
    call: "select from claim_received_mail(gen_random_uuid(), '1 minute', 'here')",
    rows: [MAIL],
    taken: "intake_mails where attempts > 0"
  },
  {
    call: "select from claim_reply(gen_random_uuid(), '1 minute', 'here')",
    rows: [
      MAIL,
      `insert into intake_replies (mail_id, kind, recipient, content)
        select x.id, 'error', 'a@x.test', '{}' from made x`
    ],
    taken: "intake_replies where attempts > 0"
  },
  {
    call: "select from claim_inline(gen_random_uuid(), '1 minute')",
    rows: [file("docx", "processing"), "update files set lease = null"],
    taken: "files where attempts > 0"
  },
  {
    call: "select from claim_flyer(gen_random_uuid(), '1 minute')",
    rows: [file("pdf"), `insert into flyer_jobs (file_id, customer_id) select x.id, '${OWNER}' from made x`],
    taken: "flyer_jobs where attempts > 0"
  },
  {
    call: "select from claim_assembly(gen_random_uuid(), '1 minute')",
    rows: [file("pdf"), job("assembling"), "update large_conversion_jobs set lease = null"],
    taken: "large_conversion_jobs where attempts > 0"
  },
  {
    call: "select from claim_chunk(gen_random_uuid(), 'worker')",
    rows: [
      file("pdf"),
      job("pending"),
      "insert into chunk_jobs (job_id, chunk_index, last_page) select x.id, 0, 1 from made x"
    ],
    taken: "chunk_jobs where attempts > 0"
  },
  {
    call: "select from claim_batch_polls('1 hour', 1)",
    rows: [
      file("pdf"),
      job("waiting_batch"),
      "insert into conversion_batch_jobs (job_id, state) select x.id, 'submitted' from made x"
    ],
    taken: "conversion_batch_jobs where next_poll_at > now()"
  },
  {
    call: "select from claim_email_alarm_notice()",
    rows: [
      `insert into email_alarm_notices (alarm, episode, kind, detail)
        select 'failovers', x.n, 'begun', 'detail' from made x`
    ],
    taken: "email_alarm_notices where attempts > 0"
  },
  {
    call: "select from claim_due_email_alerts(1)",
    rows: [
      "insert into email_log (id, status) select x.id, 'failed' from made x",
      "insert into email_alerts (send_id, due_at, details) select x.id, now(), '{}' from made x"
    ],
    taken: "email_alerts where attempts > 1"
  },
  {
    call: "select purge_email_claims(1)",
    rows: [
      `insert into email_send_claims
          (key_hash, payload_hash, state, provider, ambiguous, owner, first_attempt_at, last_attempt_at)
        select x.id, 'hash', 'accepted', 'provider_a', false, 'owner', now() - interval '2 days',
          now() - interval '2 days' from made x`
    ],
    taken: "generate_series(1, 20) where generate_series > (select count(*) from email_send_claims)"
  }
]

layer(layerPostgres)("one claim takes one", (it) => {
  for (const { call, rows, taken } of CLAIMS) {
    it.effect(`whatever the statistics say: ${call}`, () =>
      Effect.gen(function* () {
        const sql = yield* WriteSql
        const run = (statement: string) => sql.unsafe(statement).unprepared
        const counted = sql.withTransaction(
          Effect.gen(function* () {
            yield* run("create temporary table made (id uuid default gen_random_uuid(), n integer)")
            yield* run(`insert into customers (id, email) values ('${OWNER}', 'a@x.test')`)
            const add = (first: number, last: number) =>
              Effect.forEach(
                ["truncate made", `insert into made (n) select generate_series(${first}, ${last})`, ...rows],
                run
              )
            // The planner takes each table for one of a single row.
            yield* add(1, 1)
            yield* run("analyze")
            yield* add(2, 20)
            yield* run(call)
            const [found] = yield* sql.unsafe<{ readonly n: number }>(
              `select count(*)::integer as n from ${taken}`
            ).unprepared
            // Rolled back: nothing of it is in the way of the next.
            return yield* Effect.fail(found)
          })
        )
        assert.deepStrictEqual(yield* Effect.flip(counted), { n: 1 })
      })
    )
  }
})
