import { readFileSync } from "node:fs"

import { Effect, Layer } from "effect"
import { afterAll, beforeEach, describe, expect, it } from "vitest"

import * as MemoryLog from "../../../../../src/adapters/memory/delivery/delivery-log.ts"
import { makeMailDatabase, type MailDatabase } from "../../../../../src/adapters/memory/mail/mail-store.ts"
import {
  type CampaignDatabase,
  makeCampaignDatabase
} from "../../../../../src/adapters/memory/outreach/campaign-book.ts"
import { Alerts } from "../../../../../src/application/delivery/alerts.ts"
import * as EventRecording from "../../../../../src/application/delivery/event-recording.ts"
import * as CampaignEvents from "../../../../../src/application/outreach/campaign-events.ts"
import { DeliveryLog } from "../../../../../src/ports/delivery/delivery-log.ts"
import { CampaignBook } from "../../../../../src/ports/outreach/campaign-book.ts"
import * as Intake from "../../../../../src/runtime/compose/delivery/delivery-intake.ts"
import { decodeSettings } from "../../../../../src/runtime/settings/settings.ts"
import { storeDown } from "../../../../support/worlds/store-down.ts"
import { call, type Json, startServer } from "../../harness.ts"

const BUS = "bus-secret-4711"
const samples: ReadonlyArray<Json> = JSON.parse(
  readFileSync(new URL("../../../../support/vendors/ses-events.json", import.meta.url), "utf8")
)
/** The documented events, of one message of the outreach set. */
const events = samples.map((sample) => {
  const copy = structuredClone(sample)
  if (copy.detail.mail?.tags !== undefined) {
    copy.detail.mail.tags = { "ses:configuration-set": ["outreach-set"], campaign: ["spring"] }
  }
  return copy
})
const of = (type: string) => events.find(({ detail }) => detail.eventType === type)

const settings = decodeSettings({}, { embedded: true })
if (settings._tag === "Failure") throw new Error("settings")

let log: MailDatabase
let database: CampaignDatabase
let down: boolean
beforeEach(() => {
  log = makeMailDatabase()
  database = makeCampaignDatabase()
  down = false
})
const alerted = Layer.mock(Alerts, { raise: () => Effect.die("outreach never alerts") })
const server = await startServer({
  intake: Intake.layer(settings.success),
  webhookSecret: BUS,
  recording: EventRecording.layer.pipe(
    Layer.provide([
      Layer.mock(DeliveryLog, {
        heard: () => Effect.void,
        record: (event, options) =>
          Effect.flatMap(Effect.provide(Effect.service(DeliveryLog), MemoryLog.layer(log)), (memory) =>
            memory.record(event, options)
          )
      }),
      alerted
    ])
  ),
  campaigns: CampaignEvents.layer.pipe(
    Layer.provide(
      Layer.succeed(
        CampaignBook,
        CampaignBook.of({
          settle: Effect.succeed(0),
          begin: () => Effect.die("not here"),
          finish: () => Effect.die("not here"),
          record: (event) => (down ? Effect.fail(storeDown("password=hunter2")) : database.book.record(event))
        })
      )
    )
  )
})
afterAll(() => server.stop())

const post = (body: unknown) =>
  call(server, "/api/webhooks/providerb-events", {
    method: "POST",
    headers: { "content-type": "application/json", "x-webhook-secret": BUS },
    body: JSON.stringify(body)
  })

describe("campaign events from the bus", () => {
  it("are logged, suppressed and booked, in any order and again and again, and never alert", async () => {
    for (const batch of [[...events].reverse(), events, [of("Open"), of("Open")]]) {
      expect((await post(batch)).status).toBe(200)
      expect(
        log
          .suppressions()
          .map(({ reason }) => reason)
          .sort()
      ).toEqual(["complaint", "hard_bounce"])
      expect(database.sends()).toMatchObject([
        { email: "reader@inbox.test", campaign: "spring", status: "complained", openCount: 1, clickCount: 1 }
      ])
      expect(database.unsubscribed()).toEqual({ "reader@inbox.test": "complaint" })
      expect(database.prospects()).toEqual({ "reader@inbox.test": "complained" })
    }
  })

  it("500 where they cannot be booked, so that the bus sends them again, which then books them", async () => {
    down = true
    const refused = await post(of("Complaint"))
    expect([refused.status, refused.json.code, refused.json.retryable]).toEqual([500, "INTERNAL", true])
    expect(refused.text).not.toContain("hunter2")
    expect(database.unsubscribed()).toEqual({})
    down = false
    expect((await post(of("Complaint"))).status).toBe(200)
    expect(database.unsubscribed()).toEqual({ "reader@inbox.test": "complaint" })
    expect(log.rows()).toHaveLength(1)
  })

  it("of other mail are logged alone, also while the campaigns are down", async () => {
    down = true
    expect((await post(samples.find(({ detail }) => detail.eventType === "Send"))).status).toBe(200)
    expect([log.rows().length, database.sends()]).toEqual([1, []])
  })
})
