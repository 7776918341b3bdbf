import { Effect, Layer, Schema } from "effect"

import { AdminRight } from "../../../domain/accounts/principal.ts"
import { Admins } from "../../../ports/accounts/access.ts"
import { WriteSql } from "../client.ts"
import { Millis, storable } from "../values.ts"
import { ask } from "./access.ts"

const Row = Schema.Struct({
  email: Schema.String,
  rights: Schema.Array(AdminRight),
  invitedBy: Schema.String,
  createdAt: Millis
})

/** Admins in Postgres. */
export const layer: Layer.Layer<Admins, never, WriteSql> = Layer.effect(
  Admins,
  Effect.map(WriteSql, (sql) =>
    Admins.of({
      list: ask.rows(
        "admins",
        Row,
        sql`select email, rights, invited_by, created_at from admins order by email`
      ),
      invite: ({ actor, email, right }) =>
        ask.answer(
          "inviteAdmin",
          Schema.Literals(["invited", "changed", "exists"]),
          sql`select invite_admin(${email}, array[${right}], ${storable(actor)}) as answer`
        ),
      remove: ({ actor, email }) =>
        ask.answer(
          "removeAdmin",
          Schema.Boolean,
          sql`select remove_admin(${storable(email)}, ${storable(actor)}) as answer`
        )
    })
  )
)
