import { PrismaPg } from "@prisma/adapter-pg"

import { PrismaClient } from "./generated/prisma/client.ts"

const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) })
await prisma.$transaction(async (tx) => {
  const { id } = await tx.orders.create({ data: { email: "ann@example.com" } })
  const mail = JSON.stringify({
    to: "ann@example.com",
    subject: "Receipt",
    text: "Thanks.",
    category: "transactional",
    source: "shop",
    idempotencyKey: `order/${id}`
  })
  await tx.$executeRaw`select enqueue_email(${mail}::text::jsonb)`
})
await prisma.$disconnect()
