import { assert, it } from "@effect/vitest"
import { Effect } from "effect"

import { sendEntry } from "../../../support/postgres/send-entry.ts"
import { HOOK, LEASE } from "../delivery/hook-rows.ts"
import { DESK, deskLane } from "./desk.ts"
import { documentsLane } from "./documents.ts"
import { growing } from "./growth.ts"
import { mailLane } from "./mail.ts"
import { QUEUE, queueLane } from "./queue.ts"
import { UPKEEP, upkeepLane } from "./upkeep.ts"
import { walkDocuments, walkMail, walkScenes, walkStatements } from "./walks.ts"

/** What may read more the more there is, `step table`, and why. */
const EXEMPT: Readonly<Record<string, ReadonlyArray<string>>> = {
  "the leader's upkeep looks up what each hold is for, and at each event that waits": [
    "tend event_hook_deliveries",
    "sweep funds_holds",
    "sweep files",
    "sweep large_conversion_jobs"
  ],
  "the costs of the day are summed up": ["budget cost_ledger"],
  "each order that is under way is looked at": [
    "claimMessage bulk_orders",
    "claimMessage bulk_items",
    "claimMessage files",
    "claimMessage convert_queue",
    "claimMessage funds_holds",
    "claimMessage large_conversion_jobs"
  ],
  "each owner or sender with something that waits is looked at, for whose turn it is": [
    "claimInline files",
    "claimMail intake_mails"
  ],
  "what waits behind another event of its subject that is being sent is passed over": [
    "claimDeliveries event_hook_deliveries"
  ],
  "the digest of a period leaves out those who have it": [
    "pendingDigests audit_digest_subscriptions",
    "pendingDigests audit_digest_deliveries"
  ],
  "an erased person is looked for in every row": [
    "erase email_log",
    "erase email_events",
    "erase email_alerts"
  ],
  "who was erased in the last day, which the audit log of that day says": [
    "record admin_audit_log",
    "end admin_audit_log"
  ],
  "a day of the log, with the changes of days that are closed": [
    "closeDay email_log",
    "closeDay email_stats_changes"
  ],
  "a batch: a hundred that are due, five thousand rows": ["due email_alerts", "prune email_log"],
  "the test itself reads, moves or writes rows": [
    "advance email_log",
    "advance email_send_claims",
    "advance email_alerts",
    "advance email_stats_changes",
    "advance admin_audit_log",
    "release email_log",
    "release email_events",
    "comeDue contact_messages",
    "hear email_log"
  ]
}

const json = (value: unknown) => `'${JSON.stringify(value)}'::jsonb`

const NO_MORE = `with a as (delete from email_log), b as (delete from email_events), c as (delete from email_send_claims)
  delete from event_hook_deliveries`

/** A number that was not drawn before. */
const next = (() => {
  let drawn = 0
  return () => (drawn += 1)
})()

/** What no world of the histories does. */
const STATEMENTS = {
  "event hooks": (n = next()) => ({
    hook: `insert into event_hooks (id, url, secret) values ('${HOOK}', 'https://shop.test/hooks', 'whsec_AAAA')
      on conflict do nothing`,
    recordEarly: `select record_email_events(${json([
      {
        provider: "provider_a",
        provider_message_id: `m-${n}`,
        event: "delivered",
        recipients: ["ann@x.test"]
      }
    ])})`,
    recordSend: `select record_email_sends(${json([sendEntry({ provider_message_id: `m-${n}` })])})`,
    claimDeliveries: `select claim_event_hook_deliveries('${LEASE}', interval '1 minute', 10, 10)`,
    delivery: `insert into event_hook_deliveries (id, hook_id, message_id, type, subject, body, state, next_at, lease)
      values (md5('${n}')::uuid, '${HOOK}', 'msg', 'email.sent', 's', '{}', 'pending', now(), '${LEASE}')`,
    tend: "select tend_event_hooks()",
    endTries: `select end_event_hook_tries(jsonb_build_array(
      jsonb_build_object('id', md5('${n}')::uuid, 'lease', '${LEASE}', 'received', true)), '{1 minute}')`
  }),
  housekeeping: (n = next()) => ({
    claims: `insert into email_send_claims
      (key_hash, payload_hash, state, provider, ambiguous, owner, first_attempt_at, last_attempt_at)
      select '${n} ' || x, 'p', 'accepted', 'provider_a', false, 'o', now() - interval '2 days', now() - interval '2 days'
      from generate_series(1, 20) as x`,
    purgeClaims: "select purge_email_claims(5)",
    log: `with closed as (
        insert into email_stats_closed select (now() - interval '40 days')::date on conflict do nothing
      ) insert into email_log (status, created_at, updated_at)
      select 'sent', now() - interval '40 days', now() - interval '40 days' from generate_series(1, 20)`,
    pruneLog: "select prune_email_log(interval '30 days', 5)"
  })
}

const LANES = {
  documents: Effect.map(documentsLane, walkDocuments),
  mail: Effect.map(mailLane, walkMail),
  "the desk": Effect.map(deskLane, (lane) => walkScenes(lane, DESK)),
  upkeep: Effect.map(upkeepLane, (lane) => walkScenes(lane, UPKEEP)),
  "the send queue": Effect.map(queueLane, (lane) => walkScenes(lane, QUEUE)),
  "what no history does": Effect.map(queueLane, (lane) => walkStatements(lane, NO_MORE, STATEMENTS))
}

/** Where much can come between two analyses: mail, hooks and campaigns. Of a table that was empty then, to read all seems to cost nothing. */
const FAST = ["mail", "the desk", "the send queue", "what no history does"] as const

/** People come one by one: these are analyzed again before they have grown by much. */
const SLOW = /^(?:api_tokens|audit_digest_\w+|customers|magic_links|sessions)$/

/** What reads more until the tables are analyzed again. */
const UNTIL_ANALYZED = [
  // One sweep on the leader.
  "due email_log",
  "erase email_send_claims"
]

/**
 * Three quarters of a table, where a plan of nothing reads all of it or none; else less, as a wrong index may hold a part. Of the
 * conversions a quarter is under way, and that is what some indexes hold: who looks for one of these may read them all.
 */
const mostOf = (name: string, analyzed: boolean) => (analyzed ? 1500 : name === "documents" ? 1000 : 600)

const STATES = [
  ...Object.keys(LANES).map((name) => [name as keyof typeof LANES, "new"] as const),
  ...FAST.map((name) => [name, "empty when they were analyzed"] as const)
]

it.live.each(STATES)(
  "no step of %s reads tables that grow with others' rows, by plans of when they were nearly empty: %s",
  ([name, state]) =>
    Effect.scoped(
      Effect.gen(function* () {
        const analyzed = state !== "new"
        const exempt = new Set([...Object.values(EXEMPT).flat(), ...(analyzed ? UNTIL_ANALYZED : [])])
        const isAllowed = (what: string) =>
          exempt.has(what) || (analyzed && SLOW.test(what.split(" ")[1] ?? ""))
        const look = Effect.gen(function* () {
          const found = yield* growing(yield* LANES[name], analyzed, mostOf(name, analyzed))
          return [...found].filter(([what]) => !isAllowed(what))
        })
        const found = yield* look
        // The database counts what its own upkeep reads, too: what is the plan's is found again.
        const again = new Map(found.length === 0 ? [] : yield* look)
        assert.deepStrictEqual(
          found.filter(([what]) => again.has(what)).map(([what, read]) => `${what} (${read})`),
          []
        )
      })
    )
)
