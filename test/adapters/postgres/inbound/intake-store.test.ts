import { Effect, Layer, Schema } from "effect"

import * as Accounts from "../../../../src/adapters/postgres/accounts/accounts.ts"
import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import { layer } from "../../../../src/adapters/postgres/inbound/intake-store.ts"
import { ReplyContent } from "../../../../src/domain/inbound/reply-content.ts"
import { suite } from "../../../contracts/inbound/intake-store/index.ts"
import { order } from "../../../contracts/inbound/intake-store/order.ts"
import { IntakeWorld } from "../../../contracts/inbound/intake-store/world.ts"
import { postgres, withoutIndexes } from "../../../support/postgres/documents-postgres.ts"

const Mail = Schema.Struct({
  step: Schema.String,
  outcome: Schema.NullOr(Schema.String),
  reason: Schema.NullOr(Schema.String),
  attempts: Schema.Int,
  failures: Schema.Int,
  pages: Schema.NullOr(Schema.Int)
})
const Logged = Schema.Struct({
  status: Schema.String,
  sender: Schema.String,
  totalPages: Schema.Int,
  creditsCharged: Schema.Int,
  error: Schema.NullOr(Schema.String)
})

const rowsOf = <A>(row: Schema.ConstraintDecoder<A>, rows: Effect.Effect<ReadonlyArray<object>, unknown>) =>
  Effect.orDie(Effect.flatMap(rows, Schema.decodeUnknownEffect(Schema.Array(row))))

const world = Layer.effect(
  IntakeWorld,
  Effect.map(WriteSql, (sql) =>
    IntakeWorld.of({
      mail: (id) =>
        Effect.map(
          rowsOf(
            Mail,
            sql`select step, outcome, reason, attempts, failures, pages from intake_mails where id = ${id}::uuid`
          ),
          ([row]) => row
        ),
      replies: (mailId) =>
        rowsOf(
          Schema.Struct({ content: ReplyContent, status: Schema.String }),
          sql`select content, status from intake_replies where mail_id = ${mailId}::uuid order by created_at`
        ),
      logged: (mailId) =>
        Effect.map(
          rowsOf(
            Logged,
            sql`select status, sender_email as sender, total_pages as "totalPages",
                credits_charged as "creditsCharged", error_message as error
              from conversion_jobs where id = ${mailId}::uuid`
          ),
          ([row]) => row
        )
    })
  )
)

const stores = Layer.mergeAll(world, layer, Accounts.layer)

suite("PostgreSQL", stores.pipe(Layer.provideMerge(postgres)))
order(
  "PostgreSQL without indexes, which have an order of their own",
  stores.pipe(Layer.provideMerge(withoutIndexes))
)
