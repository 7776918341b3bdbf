import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { enqueueEmailEffect } from "postlane"

const order = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [{ id }] = yield* sql`insert into orders (email) values ('ann@example.com') returning id`
  yield* enqueueEmailEffect({
    to: "ann@example.com",
    subject: "Receipt",
    text: "Thanks.",
    category: "transactional",
    source: "shop",
    idempotencyKey: `order/${id}`
  })
})
const Sql = PgClient.layer({ url: Redacted.make(process.env.DATABASE_URL) })
await PgClient.PgClient.use((sql) => sql.withTransaction(order)).pipe(Effect.provide(Sql), Effect.runPromise)
