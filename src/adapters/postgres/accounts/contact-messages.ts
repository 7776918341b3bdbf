import { Effect, Layer, Schema } from "effect"

import {
  CONTACT_KINDS,
  type ContactMessageFilter,
  type ContactMessageRow,
  ContactMessages
} from "../../../ports/accounts/accounts.ts"
import { boundedBy } from "../answered.ts"
import { WriteSql } from "../client.ts"
import { newestFirst } from "../newest-first.ts"
import { storable, timeColumn } from "../values.ts"

/** Time limit of one statement. */
const TIME_LIMIT = "5 seconds"

const bounded = boundedBy(TIME_LIMIT, "contactMessages")

const stored = (text: string | undefined): string | null => (text === undefined ? null : storable(text))

const Text = Schema.NullOr(Schema.String)
const decodeWaiting = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      id: Schema.String,
      kind: Schema.Literals(CONTACT_KINDS),
      name: Text,
      email: Text,
      message: Schema.String,
      rating: Schema.NullOr(Schema.Int),
      page: Text
    })
  )
)

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
export const layer: Layer.Layer<ContactMessages, never, WriteSql> = Layer.effect(
  ContactMessages,
  Effect.gen(function* () {
    const sql = yield* WriteSql
    return ContactMessages.of({
      keep: ({ email, kind, message, name, page, rating, spam }) =>
        bounded(
          sql<{ readonly id: string }>`insert into contact_messages ${sql.insert({
            kind,
            name: stored(name),
            email: stored(email),
            message: storable(message),
            rating: rating ?? null,
            page: stored(page),
            spam
          })} returning id`
        ).pipe(Effect.map((rows) => rows[0]!.id)),
      notified: (id) =>
        bounded(
          sql`update contact_messages set notified_at = now(), notify_error = null where id = ${id} and notified_at is null`
        ).pipe(Effect.asVoid),
      missed: (id, error) =>
        bounded(
          sql`update contact_messages set notify_error = ${storable(error)} where id = ${id} and notified_at is null`
        ).pipe(Effect.asVoid),
      claimWaiting: bounded(
        sql`select id, kind, name, email, message, rating, page from claim_contact_message()`.pipe(
          Effect.flatMap(decodeWaiting)
        )
      ).pipe(
        Effect.map(([row]) => {
          if (row === undefined) return undefined
          const { email, id, kind, message, name, page, rating } = row
          return {
            id,
            message: {
              kind,
              name: name ?? undefined,
              email: email ?? undefined,
              message,
              rating: rating ?? undefined,
              page: page ?? undefined,
              spam: false
            }
          }
        })
      ),
      page: (filter) =>
        newestFirst((text, parameters) => bounded(sql.unsafe<ContactMessageRow>(text, parameters)), {
          from: "contact_messages",
          name: "contact_messages",
          columns: COLUMNS,
          conditions: conditionsOf(filter),
          limit: filter.limit,
          cursor: filter.cursor
        })
    })
  })
)
