import { ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { WriteSql } from "../../src/adapters/postgres/client.ts"
import { layerPostgres, TestDatabase } from "../support/postgres/postgres.ts"
import { type Postlane, startPostlane } from "../support/processes/child.ts"
import { until } from "../support/until.ts"
import { fakeResend, type ListedItem } from "../support/vendors/fake-resend.ts"

describe("the poll of several processes", () => {
  let listed: ReadonlyArray<ListedItem> = []
  const resend = fakeResend({ listed: () => listed })
  const postgres = ManagedRuntime.make(layerPostgres)
  const running: Array<Postlane> = []

  const item = (id: string): ListedItem => ({
    id,
    to: ["a@x.test"],
    created_at: new Date().toISOString(),
    last_event: "delivered"
  })

  /** Resolves once the log has a row of the mail. */
  const logged = async (id: string) => {
    const rows = WriteSql.use((sql) => sql`select status from email_log where provider_message_id = ${id}`)
    await until(`${id} is logged`, async () => (await postgres.runPromise(rows)).length > 0)
  }

  const start = async () => {
    const { url } = await postgres.runPromise(TestDatabase)
    const process = await startPostlane({
      DB_URL: url,
      POSTLANE_ROLES: "leader",
      PROVIDERA_API_KEY: "re_key",
      PROVIDERA_BASE_URL: resend.url,
      PROXY_SHARED_SECRET: "secret-4711",
      EVENTS_POLL_SECONDS: "1"
    })
    running.push(process)
    return process
  }

  beforeAll(() => resend.listen())
  afterAll(async () => {
    await Promise.all(running.map(({ destroy }) => destroy()))
    await Promise.all([postgres.dispose(), resend.close()])
  })

  it("is done by the one that leads, and goes over to the next with a clean stop", async () => {
    const first = await start()
    listed = [item("m-1")]
    await logged("m-1")
    await start()
    first.signal("SIGTERM")
    const { code, signal } = await first.ended
    assert.isNull(signal, `ended with ${code}`)
    listed = [item("m-2"), ...listed]
    await logged("m-2")
  })
})
