import { sql } from "drizzle-orm"
import { drizzle } from "drizzle-orm/node-postgres"

const db = drizzle(process.env.DATABASE_URL)
await db.transaction(async (tx) => {
  const { rows } = await tx.execute(sql`insert into orders (email) values ('ann@example.com') returning id`)
  const mail = JSON.stringify({
    to: "ann@example.com",
    subject: "Receipt",
    text: "Thanks.",
    category: "transactional",
    source: "shop",
    idempotencyKey: `order/${rows[0].id}`
  })
  await tx.execute(sql`select enqueue_email(${mail}::text::jsonb)`)
})
await db.$client.end()
