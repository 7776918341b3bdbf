import { Effect, Layer, Logger, ManagedRuntime, Redacted } from "effect"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"

import { WriteSql } from "../../../../src/adapters/postgres/client.ts"
import * as DeliveryLog from "../../../../src/adapters/postgres/delivery/delivery-log.ts"
import * as PollLog from "../../../../src/adapters/postgres/delivery/poll-log.ts"
import { makeSentMails } from "../../../../src/adapters/resend/list-mails.ts"
import { Alerts } from "../../../../src/application/delivery/alerts.ts"
import {
  EventRecording,
  layer as layerRecording
} from "../../../../src/application/delivery/event-recording.ts"
import { EventPoll, layer as layerPoll } from "../../../../src/application/delivery/poll.ts"
import { SentMails } from "../../../../src/ports/delivery/event-poll.ts"
import { deliveryEvent } from "../../../contracts/delivery/delivery-log.ts"
import { suite } from "../../../contracts/delivery/poll-log.ts"
import { layerPostgres } from "../../../support/postgres/postgres.ts"
import { fakeResend, type ListedItem } from "../../../support/vendors/fake-resend.ts"

suite(
  "PostgreSQL",
  Layer.fresh(Layer.merge(PollLog.layer, DeliveryLog.layer).pipe(Layer.provide(layerPostgres)))
)

describe("the poll between the vendor's wire and PostgreSQL", () => {
  let listed: ReadonlyArray<ListedItem> = []
  const resend = fakeResend({ listed: () => listed, scriptsList: true })
  const alerted: Array<string> = []
  const alerts = Layer.mock(Alerts, {
    raise: ({ providerMessageId }) =>
      Effect.sync(() => {
        alerted.push(providerMessageId)
        return { delivery: "delivered", escalated: undefined } as const
      })
  })
  const sentMails = Layer.sync(SentMails, () =>
    makeSentMails({ apiKey: Redacted.make("re_key"), baseUrl: resend.url })
  )
  const runtime = ManagedRuntime.make(
    layerPoll({ pause: 0 }).pipe(
      Layer.provide([sentMails, PollLog.layer]),
      Layer.provideMerge(layerRecording),
      Layer.provide([DeliveryLog.layer, alerts]),
      Layer.provideMerge(layerPostgres),
      Layer.provide(Logger.layer([]))
    )
  )
  const poll = () => runtime.runPromise(EventPoll.use(({ run }) => run))
  const webhook = (id: string, event: string) =>
    runtime.runPromise(
      EventRecording.use(({ record }) =>
        record(deliveryEvent({ providerMessageId: id, event, occurredAt: Date.now() }))
      )
    )
  const query = <A extends object>(text: string) =>
    runtime.runPromise(WriteSql.use((sql) => sql.unsafe<A>(text)))

  const item = (id: string, event: string): ListedItem => ({
    id,
    to: [`${id}@x.test`],
    from: "a@shop.test",
    subject: "s",
    created_at: new Date().toISOString().replace("T", " ").replace("Z", "+00"),
    last_event: event
  })
  const many = (count: number, event: string) =>
    Array.from({ length: count }, (_, index) => item(`m-${count - index}`, event))

  beforeAll(() => resend.listen())
  afterAll(async () => {
    await runtime.dispose()
    await resend.close()
  })
  beforeEach(async () => {
    await resend.always("ok")
    alerted.length = 0
    await query("delete from email_log")
    await query("delete from event_poll_positions")
  })

  it("records 250 mails over three pages, and nothing twice: again, or by two runs at once (A1)", async () => {
    listed = many(250, "bounced")
    const [a, b] = await Promise.all([poll(), poll()])
    assert.deepStrictEqual([a.pages, b.pages, a.truncated, b.truncated], [3, 3, false, false])
    assert.strictEqual(new Set(alerted).size, 250)
    assert.lengthOf(alerted, 250)
    const rows = await query("select * from email_log order by id")
    assert.lengthOf(rows, 250)
    assert.strictEqual((await poll()).recorded, 0)
    assert.deepStrictEqual(await query("select * from email_log order by id"), rows)
    assert.deepStrictEqual(await query("select * from email_suppressions"), [])
  })

  it("ends like the webhook where both tell at once (L3)", async () => {
    for (const event of ["sent", "delivered", "bounced"]) {
      listed = many(40, event)
      await Promise.all([poll(), ...listed.map(({ id }) => webhook(id, event)), poll()])
    }
    assert.deepStrictEqual(await query("select distinct status, last_event from email_log"), [
      { status: "bounced", last_event: "bounced" }
    ])
    assert.deepStrictEqual([alerted.length, new Set(alerted).size], [40, 40])
  })

  it("goes on from the row of the position after a crash between two pages", async () => {
    listed = many(700, "sent")
    await resend.script(["ok", "ok", "500"], "500")
    const broken = await runtime.runPromise(EventPoll.use(({ run }) => Effect.flip(run)))
    assert.deepStrictEqual([broken.counts.pages, broken.counts.recorded], [2, 200])
    await resend.always("ok")
    const first = await poll()
    assert.deepStrictEqual([first.truncated, first.recorded], [true, 300])
    const second = await poll()
    assert.deepStrictEqual([second.truncated, second.recorded], [false, 200])
    assert.deepStrictEqual(await query("select count(*)::int as count from email_log"), [{ count: 700 }])
  })
})
