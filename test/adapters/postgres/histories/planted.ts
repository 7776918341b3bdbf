import { Effect } from "effect"

import type { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import type { SCENARIOS as DESK_SCENARIOS } from "./desk.ts"
import type { SCENARIOS } from "./documents.ts"
import type { SCENARIOS as MAIL_SCENARIOS } from "./mail.ts"
import type { SCENARIOS as QUEUE_SCENARIOS } from "./queue.ts"
import type { SCENARIOS as UPKEEP_SCENARIOS } from "./upkeep.ts"

/** A bug in a function of the migrations, and in those that guard the same: `from` becomes `to`, wherever it stands in them. */
export interface Planted<Scene> {
  readonly about: string
  /** Where it shows: a search of all scenes takes some twenty times as long. */
  readonly scene: Scene
  readonly function: string | ReadonlyArray<string>
  readonly from: string | RegExp
  readonly to: string
}

const LOCK = / for (?:no key )?update(?: skip locked)?(?=[;\s])|perform pg_advisory_xact_lock\([^;]*;/g

const withoutLocks = <Scene>(
  scene: Scene,
  name: Planted<Scene>["function"],
  about: string
): Planted<Scene> => ({
  about,
  scene,
  function: name,
  from: LOCK,
  to: ""
})

export const PLANTED_IN_THE_QUEUE: ReadonlyArray<Planted<keyof typeof QUEUE_SCENARIOS>> = [
  withoutLocks("one key queued", "pick_queued_emails", "two senders take one request"),
  {
    about: "a request is cancelled that a sender has taken",
    scene: "one key queued",
    function: "cancel_email",
    from: "and x.state = 'queued' returning",
    to: "returning"
  },
  {
    about: "the end of a request is written under a lease that was taken away",
    scene: "under way",
    function: "lock_queued_emails",
    from: "q.lease = x.lease as held",
    to: "true as held"
  }
]

export const PLANTED_IN_DOCUMENTS: ReadonlyArray<Planted<keyof typeof SCENARIOS>> = [
  withoutLocks("waiting", ["claim_in_turn", "claim_chunk_of"], "two workers claim one chunk"),
  withoutLocks("assembling", "claim_assembly", "two workers assemble one job"),
  {
    about: "a chunk is completed under a lease that was taken away",
    scene: "handed on",
    function: "complete_chunk",
    from: "c.lease is distinct from p_lease",
    to: "false"
  },
  withoutLocks("scarce", "place_hold", "funds are set aside twice"),
  withoutLocks("asking", "request_conversion", "a file is converted twice at once"),
  withoutLocks("inline", "claim_inline", "two files of one owner are converted at once"),
  {
    about: "the message of one order is sent by two",
    scene: "order done",
    function: "claim_bulk_message",
    from: "for no key update of b skip locked",
    to: ""
  },
  withoutLocks("received", "claim_received_mail", "two workers claim one mail"),
  withoutLocks("admitted", "claim_reply", "two workers claim one reply"),
  {
    about: "a mail whose signature another one carried is taken for new",
    scene: "reading",
    function: "identify_mail",
    from: "raise unique_violation;",
    to: ""
  },
  {
    about: "a batch row is closed twice",
    scene: "submitted",
    function: "end_conversion_batch_row",
    from: "(p_lease is null and state = 'submitted')",
    to: "p_lease is null"
  },
  withoutLocks("parked", "make_conversion_job_interactive", "a job goes on demand twice")
]

export const PLANTED_IN_MAIL: ReadonlyArray<Planted<keyof typeof MAIL_SCENARIOS>> = [
  {
    about: "a call that lost its key moves it",
    scene: "left open",
    function: "move_email_claim",
    from: " and x.owner = p_owner",
    to: ""
  },
  withoutLocks("deferred", "begin_email_retry", "two retries of one key go out"),
  {
    about: "a call settles a claim that has passed to another",
    scene: "left open",
    function: "settle_email_claims",
    from: "(c.owner = e.owner and c.lease_until is not null)",
    to: "c.lease_until is not null"
  },
  {
    about: "an early event and the deferral of its key make two rows",
    scene: "early",
    function: "record_email_events",
    from: "perform lock_keys_of_events(p_events)",
    to: "null"
  },
  withoutLocks("sent", "write_rows_of_events", "of two events at once one is lost"),
  withoutLocks("due", "claim_due_email_alerts", "an alert is raised twice"),
  {
    about: "an alert that went out is released",
    scene: "alerted",
    function: "release_email_alert",
    from: "and a.confirmed_at is not null",
    to: "and false"
  }
]

export const PLANTED_AT_THE_DESK: ReadonlyArray<Planted<keyof typeof DESK_SCENARIOS>> = [
  {
    about: "a session begins with rights that were changed meanwhile",
    scene: "an admin's link",
    function: "redeem_magic_link",
    from: "for share of a",
    to: ""
  },
  withoutLocks("a link", "redeem_magic_link", "a link signs in twice"),
  // The insert before it waits as well: two have to stand between both at once, where they would be too briefly for one core.
  {
    about: "a digest is sent by two",
    scene: "digest claimed",
    function: "claim_audit_digest",
    from: /\n  for update;/g,
    to: "; perform pg_sleep(0.001);"
  }
]

export const PLANTED_IN_UPKEEP: ReadonlyArray<Planted<keyof typeof UPKEEP_SCENARIOS>> = [
  {
    about: "an account is closed while it invites somebody",
    scene: "invitation",
    function: "begin_team_invite",
    from: " for share;",
    to: ";"
  },
  {
    about: "an invitation is sent by two",
    scene: "invitation",
    function: "begin_team_invite",
    from: "and (i.sending_until is null or i.sending_until <= clock_timestamp())",
    to: ""
  },
  withoutLocks("message of a form", "claim_contact_message", "a message of a form is claimed by two"),
  {
    about: "a day is closed by two",
    scene: "day over",
    function: "close_email_stats_day",
    from: /not pg_try_advisory_xact_lock\([^;]*\)(?= then)/g,
    to: "false"
  },
  {
    about: "what a day's rows already say is added to it",
    scene: "day over",
    function: "close_email_stats_day",
    from: "delete from email_stats_changes where day = v_day",
    to: "select"
  },
  withoutLocks("row kept", "prune_email_log", "a row goes of which something is heard just then")
]

/** Replaces the function by the one with the bug. */
export const plant = (sql: WriteSql["Service"], bug: Planted<unknown>) =>
  Effect.forEach([bug.function].flat(), (name) => plantIn(sql, name, bug), { discard: true })

const plantIn = (sql: WriteSql["Service"], name: string, { from, to }: Planted<unknown>) =>
  Effect.gen(function* () {
    const [row] = yield* sql<{ readonly text: string }>`
      select pg_get_functiondef(oid) as text from pg_proc
      where proname = ${name} and pronamespace = 'public'::regnamespace`
    const text = row?.text ?? ""
    const planted = text.replaceAll(typeof from === "string" ? from : new RegExp(from.source, "g"), to)
    if (planted === text) return yield* Effect.die(new Error(`${name} does not hold ${String(from)}`))
    yield* sql.unsafe(planted).unprepared
  }).pipe(Effect.orDie)
