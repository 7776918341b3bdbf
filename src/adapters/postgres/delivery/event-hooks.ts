import { Effect, Exit, Layer, Redacted, Schema } from "effect"

import {
  KEPT_ANSWER_CHARACTERS,
  RETRY_DELAYS_SECONDS,
  WantedType
} from "../../../domain/delivery/event-hooks.ts"
import {
  type ClaimRequest,
  DELIVERY_STATES,
  EventHooks,
  HOOK_OFF_BY,
  type HookAnswer,
  isReceipt
} from "../../../ports/delivery/event-hooks.ts"
import type { StoreUnavailable } from "../../../ports/store-unavailable.ts"
import { makeBatcher } from "../batcher.ts"
import { SlowSql, WriteSql } from "../client.ts"
import { decodedPage, newestFirst, type StoredRow } from "../newest-first.ts"
import { slowReads, statements, storeUnavailable } from "../statement.ts"
import { Absent, storable, TextOrNull, timeColumn, timeText, toJsonText } from "../values.ts"

const ask = statements()
/** What changes nothing when it is repeated. */
const repeatable = statements({ repeatable: true })
/** Upkeep goes through all that is pending. */
const upkeep = statements({ within: "1 minute" })

const MOST_COUNTED = 10_000

const Hook = Schema.Struct({
  id: Schema.String,
  url: Schema.String,
  types: Schema.Array(WantedType),
  enabled: Schema.Boolean,
  offBy: Schema.NullOr(Schema.Literals(HOOK_OFF_BY)),
  fromSettings: Schema.Boolean,
  rotatingUntil: TextOrNull,
  failingSince: TextOrNull,
  receivedAt: TextOrNull,
  createdAt: Schema.String,
  pending: Schema.Int,
  dead: Schema.Int
})

const counted = (state: "pending" | "dead") => `(
  select count(*)::int from (
    select from event_hook_deliveries d where d.hook_id = h.id and d.state = '${state}' limit ${MOST_COUNTED}
  ) as x
) as ${state}`

const HOOK_COLUMNS = [
  "h.id, h.url, h.types, h.off_by is null as enabled, h.off_by, h.from_settings",
  `case when h.old_secret_until > now() and h.old_secret_until < 'infinity' then ${timeText("h.old_secret_until")} end as rotating_until`,
  ...["failing_since", "received_at", "created_at"].map((name) => timeColumn(name, `h.${name}`)),
  counted("pending"),
  counted("dead")
].join(", ")

const Delivery = Schema.Struct({
  id: Schema.String,
  messageId: Schema.String,
  type: Schema.String,
  state: Schema.Literals(DELIVERY_STATES),
  tries: Schema.Int,
  nextAt: TextOrNull,
  triedAt: TextOrNull,
  endedAt: TextOrNull,
  answerStatus: Schema.NullOr(Schema.Int),
  answer: TextOrNull,
  error: TextOrNull,
  body: Schema.String,
  createdAt: Schema.String
})

const DELIVERY_COLUMNS = [
  "d.id, d.message_id, d.type, d.state, d.tries, d.answer_status, d.answer, d.error, d.body",
  ...["next_at", "tried_at", "ended_at", "created_at"].map((name) => timeColumn(name, `d.${name}`))
].join(", ")

const Claimed = Schema.Struct({
  id: Schema.String,
  hookId: Schema.String,
  messageId: Schema.String,
  body: Schema.String,
  tries: Schema.Int,
  url: Schema.String,
  secret: Schema.String,
  oldSecret: Absent(Schema.String)
})

const claimedOf = ({ oldSecret, secret, ...delivery }: typeof Claimed.Type) => ({
  ...delivery,
  secrets: [secret, ...(oldSecret?.split(" ") ?? [])].map((text) => Redacted.make(text))
})

interface Ended {
  readonly id: string
  readonly lease: string
  readonly answer: HookAnswer
}

/** The entry of `end_event_hook_tries`. */
const toEntry = ({ answer, id, lease }: Ended) => ({
  id,
  lease,
  received: isReceipt(answer),
  status: answer.status,
  answer: answer.answer === undefined ? undefined : storable(answer.answer.slice(0, KEPT_ANSWER_CHARACTERS)),
  error: answer.error
})

const DELAYS = `{${RETRY_DELAYS_SECONDS.map((seconds) => `"${seconds} seconds"`).join(",")}}`

const makeEnds = Effect.gen(function* () {
  const sql = yield* WriteSql
  return yield* makeBatcher<Ended, void, StoreUnavailable>({
    isAboutItem: () => false,
    onOverflow: () => storeUnavailable("endHookTries")("too many ends of tries wait to be noted"),
    run: (items) =>
      Effect.as(
        repeatable.done(
          "endHookTries",
          sql`select end_event_hook_tries(${toJsonText(items.map(toEntry))}::jsonb, ${DELAYS}::interval[])`
        ),
        items.map(() => Exit.void)
      )
  })
})

const makeDesk = Effect.gen(function* () {
  const slow = yield* SlowSql
  const sql = yield* WriteSql
  return {
    page: ({ cursor, limit }: { readonly cursor: string | undefined; readonly limit: number }) =>
      newestFirst(
        (text, parameters) => slowReads.stored("eventHooks", slow.unsafe<StoredRow>(text, parameters)),
        { from: "event_hooks h", name: "h", columns: HOOK_COLUMNS, conditions: () => [], limit, cursor }
      ).pipe(Effect.flatMap(decodedPage("eventHooks", Hook))),
    find: (id: string) =>
      slowReads.first(
        "eventHook",
        Hook,
        slow.unsafe(`select ${HOOK_COLUMNS} from event_hooks h where h.id = $1`, [id])
      ),
    remove: (id: string) =>
      Effect.map(
        ask.stored(
          "removeHook",
          sql`delete from event_hooks where id = ${id}::uuid and not from_settings returning id`
        ),
        (rows) => rows.length > 0
      ),
    redeliver: (id: string) =>
      Effect.map(
        ask.answer(
          "redeliverHook",
          Schema.Int,
          sql`select coalesce(sum(redeliver_event_hook(d.hook_id, d.id, null)), 0)::int as answer
            from event_hook_deliveries d where d.id = ${id}::uuid`
        ),
        (count) => count > 0
      )
  }
})

/** What the dispatcher and the leader ask. */
const makeWork = Effect.gen(function* () {
  const sql = yield* WriteSql
  const ends = yield* makeEnds
  return {
    // Not repeated: where the answer is lost, the events are due again once the lease ends.
    claim: ({ busy, each, lease, leaseMs, limit, spare = 0 }: ClaimRequest) =>
      Effect.map(
        ask.rows(
          "claimHookDeliveries",
          Claimed,
          sql`select * from claim_event_hook_deliveries(
            ${lease}::uuid, ${leaseMs} * interval '1 millisecond', ${limit}::int, ${each}::int,
            ${JSON.stringify(Object.fromEntries(busy))}::jsonb, ${spare}::int
          )`
        ),
        (rows) => rows.map(claimedOf)
      ),
    end: (id: string, lease: string, answer: HookAnswer) => ends({ id, lease, answer }),
    tend: Effect.map(
      upkeep.rows("tendHooks", Schema.Struct({ id: Schema.String }), sql`select tend_event_hooks() as id`),
      (rows) => rows.map(({ id }) => id)
    )
  }
})

const make = Effect.gen(function* () {
  const slow = yield* SlowSql
  const sql = yield* WriteSql
  return EventHooks.of({
    ...(yield* makeDesk),
    ...(yield* makeWork),
    add: ({ enabled, types, url }) =>
      ask.one(
        "addHook",
        Schema.Struct({ id: Schema.String, secret: Schema.String }),
        sql`insert into event_hooks (url, types, secret, off_by)
          values (${url}, ${types}::text[], new_hook_secret(), ${enabled ? null : "person"}) returning id, secret`
      ),
    change: (id, { enabled, types, url }) =>
      Effect.map(
        ask.stored(
          "changeHook",
          sql`update event_hooks set
            url = case when from_settings then url else coalesce(${url ?? null}::text, url) end,
            types = case when from_settings then types else coalesce(${types ?? null}::text[], types) end,
            off_by = case ${enabled ?? null}::boolean when true then null when false then coalesce(off_by, 'person') else off_by end,
            failing_since = case when ${enabled ?? false}::boolean and off_by is not null then null else failing_since end,
            updated_at = now()
          where id = ${id}::uuid returning id`
        ),
        (rows) => rows.length > 0
      ),
    rotate: (id) =>
      Effect.map(
        ask.answer("rotateHook", TextOrNull, sql`select rotate_event_hook(${id}::uuid) as answer`),
        (secret) => secret ?? undefined
      ),
    test: (id) =>
      Effect.map(
        ask.answer("testHook", TextOrNull, sql`select test_event_hook(${id}::uuid) as answer`),
        (delivery) => delivery ?? undefined
      ),
    deliveries: ({ cursor, hookId, limit, state }) =>
      newestFirst(
        (text, parameters) => slowReads.stored("hookDeliveries", slow.unsafe<StoredRow>(text, parameters)),
        {
          from: "event_hook_deliveries d",
          name: "d",
          columns: DELIVERY_COLUMNS,
          conditions: (bind) => [
            `d.hook_id = ${bind(hookId)}::uuid`,
            ...(state === undefined ? [] : [`d.state = ${bind(state)}`])
          ],
          limit,
          cursor
        }
      ).pipe(Effect.flatMap(decodedPage("hookDeliveries", Delivery))),
    redeliverFrom: (hookId, from) =>
      ask.answer(
        "redeliverHookFrom",
        Schema.Int,
        sql`select redeliver_event_hook(${hookId}::uuid, null, ${from}::text::timestamptz) as answer`
      ),
    adopt: (settings) => {
      const [secret = null, older = null] = settings?.secrets.map((one) => Redacted.value(one)) ?? []
      return repeatable.done(
        "adoptHook",
        sql`select adopt_settings_hook(${settings?.url ?? null}, ${secret}, ${older})`
      )
    }
  })
})

/** Event hooks in PostgreSQL. */
export const layer: Layer.Layer<EventHooks, never, SlowSql | WriteSql> = Layer.effect(EventHooks, make)
