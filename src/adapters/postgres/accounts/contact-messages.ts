import { Effect, Layer, Schema } from "effect"

import {
  CONTACT_KINDS,
  type ContactMessageFilter,
  type ContactMessageRow,
  ContactMessages
} from "../../../ports/accounts/accounts.ts"
import { SlowSql, WriteSql } from "../client.ts"
import { newestFirst } from "../newest-first.ts"
import { slowReads, statements } from "../statement.ts"
import { Absent, storable, storableOrNull, timeColumn } from "../values.ts"

const ask = statements({ within: "5 seconds" })

const Waiting = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals(CONTACT_KINDS),
  name: Absent(Schema.String),
  email: Absent(Schema.String),
  message: Schema.String,
  rating: Absent(Schema.Int),
  page: Absent(Schema.String)
})

const COLUMNS = [
  "id",
  "kind",
  "name",
  "email",
  "message",
  "rating",
  "page",
  "spam",
  "notify_attempts",
  "notify_error",
  ...["notified_at", "notify_after", "created_at"].map((name) => timeColumn(name))
].join(", ")

const STATES = {
  waiting: "notified_at is null and not spam",
  notified: "notified_at is not null",
  spam: "spam"
} as const

const conditionsOf =
  ({ kind, state }: ContactMessageFilter) =>
  (bind: (value: unknown) => string) => [
    ...(kind === undefined ? [] : [`kind = ${bind(kind)}`]),
    ...(state === undefined ? [] : [STATES[state]])
  ]

/** Messages of the forms in Postgres. */
export const layer: Layer.Layer<ContactMessages, never, SlowSql | WriteSql> = Layer.effect(
  ContactMessages,
  Effect.gen(function* () {
    const slow = yield* SlowSql
    const sql = yield* WriteSql
    return ContactMessages.of({
      keep: ({ email, kind, message, name, page, rating, spam }) =>
        ask.answer(
          "keepMessage",
          Schema.String,
          sql`insert into contact_messages ${sql.insert({
            kind,
            name: storableOrNull(name),
            email: storableOrNull(email),
            message: storable(message),
            rating: rating ?? null,
            page: storableOrNull(page),
            spam
          })} returning id as answer`
        ),
      notified: (id) =>
        ask.done(
          "messageNotified",
          sql`update contact_messages set notified_at = now(), notify_error = null where id = ${id} and notified_at is null`
        ),
      missed: (id, error) =>
        ask.done(
          "messageMissed",
          sql`update contact_messages set notify_error = ${storable(error)} where id = ${id} and notified_at is null`
        ),
      claimWaiting: Effect.map(
        ask.first(
          "claimMessage",
          Waiting,
          sql`select id, kind, name, email, message, rating, page from claim_contact_message()`
        ),
        (row) => {
          if (row === undefined) return undefined
          const { id, ...message } = row
          return { id, message: { ...message, spam: false } }
        }
      ),
      page: (filter) =>
        newestFirst(
          (text, parameters) =>
            slowReads.stored("contactMessages", slow.unsafe<ContactMessageRow>(text, parameters)),
          {
            from: "contact_messages",
            name: "contact_messages",
            columns: COLUMNS,
            conditions: conditionsOf(filter),
            limit: filter.limit,
            cursor: filter.cursor
          }
        )
    })
  })
)
