import { ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { WriteSql } from "../../src/adapters/postgres/client.ts"
import { layerPostgres, TestDatabase } from "../support/postgres/postgres.ts"
import { type Postlane, startPostlane } from "../support/processes/child.ts"
import { until } from "../support/until.ts"
import { fakeResend, type ResendPayload } from "../support/vendors/fake-resend.ts"

describe("a process that leads", () => {
  const resend = fakeResend()
  const postgres = ManagedRuntime.make(layerPostgres)
  let running: Postlane | undefined

  beforeAll(() => resend.listen())
  afterAll(async () => {
    await running?.destroy()
    await Promise.all([postgres.dispose(), resend.close()])
  })

  it("tells the owner of a bulk order that it has ended, from its own sender and with the convert mailbox to reply to", async () => {
    const { url } = await postgres.runPromise(TestDatabase)
    running = await startPostlane({
      DB_URL: url,
      POSTLANE_ROLES: "leader",
      PROVIDERA_API_KEY: "re_key",
      PROVIDERA_BASE_URL: resend.url,
      PROXY_SHARED_SECRET: "secret-4711",
      SENDER_DOMAIN: "sender.test",
      LEGACY_DOMAIN: "legacy.test"
    })
    await postgres.runPromise(
      WriteSql.use(
        (sql) => sql`with c as (
            insert into customers (email, plan_type, credits_remaining) values ('owner@reader.test', 'paid', 5) returning id
          ) insert into bulk_orders (customer_id) select id from c`
      )
    )
    await until("a mail is sent", () => resend.accepted.length > 0)
    const mail = resend.accepted[0]?.payload as ResendPayload
    assert.deepStrictEqual(mail.to, ["owner@reader.test"])
    assert.strictEqual(mail.from, "Postlane <noreply@sender.test>")
    assert.deepStrictEqual(mail.reply_to, ["convert@legacy.test"])
    assert.match(mail.subject ?? "", /^Your files are done/)
  })
})
