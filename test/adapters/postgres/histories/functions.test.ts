import { existsSync } from "node:fs"

import { assert, it } from "@effect/vitest"
import { Effect } from "effect"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { deskLane, playDesk, SCENARIOS as DESK } from "./desk.ts"
import { documentsLane, playDocuments, SCENARIOS as DOCUMENTS } from "./documents.ts"
import type { Lane } from "./lane.ts"
import { mailLane, playMail, SCENARIOS as MAIL } from "./mail.ts"
import { playUpkeep, SCENARIOS as UPKEEP, upkeepLane } from "./upkeep.ts"

/** Functions that histories do not reach, by the test that holds them to a rule or a model, one call after another. */
const ELSEWHERE: Readonly<Record<string, ReadonlyArray<string>>> = {
  "test/adapters/postgres/delivery/event-hook-recording.test.ts": [
    "hook_event_of_mail",
    "hook_type_of_event",
    "hook_wants",
    "lock_hook_subjects",
    "tell_hooks_of_request",
    "tell_hooks_of_events",
    "tell_hooks_of_sends",
    "write_hook_deliveries"
  ],
  "test/adapters/postgres/delivery/event-hook-requests.test.ts": ["tell_hooks", "tell_hooks_of_request"],
  "test/contracts/delivery/event-hooks.ts": [
    "adopt_settings_hook",
    "claim_event_hook_deliveries",
    "end_event_hook_tries",
    "new_hook_secret",
    "redeliver_event_hook",
    "rotate_event_hook",
    "tend_event_hooks",
    "test_event_hook"
  ],
  "test/contracts/mail/mail-store/claims.ts": ["report_deferral_end"],
  "test/contracts/mail/mail-store/reports.ts": ["mail_of_report"],
  "test/contracts/accounts/request-keys.ts": ["hold_request_key"],
  "test/adapters/postgres/accounts/request-keys.test.ts": ["erase_request_keys"],
  "test/contracts/mail/sender-tokens.ts": ["create_sender_token", "revoke_sender_token", "use_sender_token"],
  "test/contracts/accounts/customers.ts": ["add_customer", "grant_credits", "debit_credits"],
  "test/adapters/postgres/accounts/account-funds.test.ts": ["deduct_credits", "use_free_pages"],
  "test/contracts/mail/lease-store.ts": ["take_lease", "renew_lease", "release_lease", "lease_is_held"],
  "test/adapters/postgres/migrator.test.ts": ["secure_function", "secure_table"],
  "test/contracts/outreach/campaign-book.ts": ["settle_outreach_sends"],
  "test/adapters/postgres/delivery/function-schedules.test.ts": ["request_function", "schedule_functions"],
  "test/contracts/delivery/delivery-log.ts": ["note_event_intake", "record_email_event"],
  "test/adapters/postgres/mail/mail-store.test.ts": [
    "record_email_send",
    "move_row_by_attempt",
    "email_tag_pad",
    "email_use_tag"
  ],
  "test/adapters/postgres/delivery/alarm-board.test.ts": [
    "event_hook_health",
    "note_unclaimed_email_sends",
    "note_clock_difference"
  ],
  "test/adapters/postgres/mail/suppression-list.test.ts": [
    "address_hash",
    "address_in_lower_case",
    "lift_unsubscribe"
  ],
  // Not counted as calls: they become a part of the expression.
  "test/adapters/postgres/mail/erased-rows.test.ts": ["erased_alias"],
  "test/adapters/postgres/mail/claim-ends.test.ts": ["email_claim_is_over"],
  "test/adapters/postgres/mail/erased-retries.test.ts": ["json_or_null"],
  "test/adapters/postgres/conversion/rows-by-hand.test.ts": ["assembled_elsewhere", "converted_elsewhere"],
  "test/adapters/postgres/conversion/turns.test.ts": ["chunk_knows_its_owner"],
  "test/contracts/mail/send-queue.ts": [
    "begin_queued_emails",
    "begin_queued_retry",
    "checked_request",
    "email_queue_lanes",
    "email_queue_overview",
    "email_rate",
    "email_tokens",
    "end_queued_emails",
    "enqueue_emails",
    "first_due_email",
    "hear_email_provider",
    "lease_queued_emails",
    "lock_queued_emails",
    "pick_queued_emails",
    "put_back_queued_email",
    "queue_email",
    "queued_addresses_fault",
    "queued_moment",
    "queued_request_fault",
    "queued_request_hash",
    "renew_queued_emails",
    "take_email_token",
    "take_queued_emails"
  ],
  "test/adapters/postgres/send-queue/own-transaction.test.ts": [
    "cancel_email",
    "enqueue_email",
    "is_queued_request"
  ],
  "test/adapters/postgres/send-queue/plain-requests.test.ts": ["is_plain_request"],
  "test/adapters/postgres/send-queue/refusals.test.ts": ["email_providers"],
  "test/adapters/postgres/send-queue/people.test.ts": [
    "cancel_queued_email",
    "reschedule_queued_email",
    "erase_queued_person",
    "request_without_person",
    "pause_email_queue"
  ],
  "test/adapters/postgres/housekeeping.test.ts": [
    "purge_email_claims",
    "purge_email_queue",
    "purge_access",
    "suppress_lost_email_rows"
  ],
  "test/contracts/accounts/accounts.ts": ["delete_file_of_closed_account"],
  "test/runtime/entries/start.test.ts": ["check_that_mail_can_be_written"],
  "test/contracts/batch/batch-store/close.ts": ["batch_rows_to_purge"],
  "test/contracts/batch/batch-store/prepare.ts": ["batch_service_full", "next_batch_job_within"],
  "test/contracts/inbound/intake-store/afterwards.ts": ["purge_intake"],
  "test/adapters/postgres/inbound/incoming-mails.test.ts": ["retry_incoming_mail", "set_mail_aside"]
}

type Sql = WriteSql["Service"]

const functions = (sql: Sql) =>
  Effect.map(
    sql<{ readonly name: string }>`select distinct p.proname as name from pg_proc p
      where p.pronamespace = 'public'::regnamespace
        and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`,
    (rows) => rows.map(({ name }) => name)
  )

/** Counts calls on the connections of a lane; the functions that were called by now. */
const called = (sql: Sql) =>
  Effect.gen(function* () {
    yield* sql`select pg_stat_force_next_flush()`
    const rows = yield* sql<{
      readonly name: string
    }>`select distinct funcname as name from pg_stat_user_functions`
    return rows.map(({ name }) => name)
  })

const counted = <S>({ connections }: Lane<S>) =>
  Effect.forEach(connections, ({ sql }) => sql.unsafe("set track_functions = 'all'").unprepared)

it.live(
  "each function of the migrations is called by the histories, or held to its rule by a test that is named",
  () =>
    Effect.scoped(
      Effect.gen(function* () {
        const named = new Map(
          Object.entries(ELSEWHERE).flatMap(([test, names]) => names.map((name) => [name, test] as const))
        )
        const all = yield* Effect.provide(Effect.flatMap(WriteSql, functions), layerPostgres)
        const [documents, mail, desk] = [yield* documentsLane, yield* mailLane, yield* deskLane]
        const upkeep = yield* upkeepLane
        for (const count of [counted(documents), counted(mail), counted(desk), counted(upkeep)]) yield* count
        const reached = new Set<string>()
        const missing = () => all.filter((name) => !reached.has(name) && !named.has(name)).toSorted()
        for (let round = 0; round < 15 && (round === 0 || missing().length > 0); round++) {
          for (const scene of Object.keys(DOCUMENTS) as Array<keyof typeof DOCUMENTS>)
            yield* playDocuments(documents, round, scene)
          for (const scene of Object.keys(MAIL) as Array<keyof typeof MAIL>)
            yield* playMail(mail, round, scene)
          for (const scene of Object.keys(DESK) as Array<keyof typeof DESK>)
            yield* playDesk(desk, round, scene)
          for (const scene of Object.keys(UPKEEP) as Array<keyof typeof UPKEEP>)
            yield* playUpkeep(upkeep, round, scene)
          for (let seed = 0; seed < 6; seed++) yield* playDocuments(documents, round * 6 + seed, "any")
          for (const lane of [documents, mail, desk, upkeep])
            for (const { sql } of lane.connections) for (const name of yield* called(sql)) reached.add(name)
        }
        assert.deepStrictEqual(missing(), [])
        assert.deepStrictEqual(
          [...named.keys()].filter((name) => !all.includes(name)),
          [],
          "is no function any more"
        )
        for (const test of Object.keys(ELSEWHERE)) assert.isTrue(existsSync(test), test)
      })
    )
)
