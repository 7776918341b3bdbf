import { Kysely, PostgresDialect, sql } from "kysely"
import pg from "pg"

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
const db = new Kysely({ dialect: new PostgresDialect({ pool }) })
await db.transaction().execute(async (tx) => {
  const order = tx.insertInto("orders").values({ email: "ann@example.com" }).returning("id")
  const { id } = await order.executeTakeFirstOrThrow()
  const mail = JSON.stringify({
    to: "ann@example.com",
    subject: "Receipt",
    text: "Thanks.",
    category: "transactional",
    source: "shop",
    idempotencyKey: `order/${id}`
  })
  await sql`select enqueue_email(${mail}::text::jsonb)`.execute(tx)
})
await db.destroy()
