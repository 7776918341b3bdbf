import { Effect, Layer } from "effect"

import { ContactMessages, ContactMessagesUnavailable } from "../../ports/contact-messages.ts"
import { boundedBy } from "./bounded.ts"
import { WriteSql } from "./client.ts"
import { storable } from "./json-text.ts"

/** Time limit of one statement. */
const TIME_LIMIT = "5 seconds"

const bounded = boundedBy(TIME_LIMIT, (cause) => new ContactMessagesUnavailable({ cause }))

const stored = (text: string | undefined): string | null => (text === undefined ? null : storable(text))

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
        bounded(sql`update contact_messages set notified_at = now() where id = ${id}`).pipe(Effect.asVoid)
    })
  })
)
