import postgres from "postgres"
import { enqueueEmail } from "postlane"

const sql = postgres(process.env.DATABASE_URL)
await sql.begin(async (client) => {
  const [order] = await client`insert into orders (email) values ('ann@example.com') returning id`
  await enqueueEmail(
    {
      to: "ann@example.com",
      subject: "Receipt",
      text: "Thanks.",
      category: "transactional",
      source: "shop",
      idempotencyKey: `order/${order.id}`
    },
    { client }
  )
})
await sql.end()
