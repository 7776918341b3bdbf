import { Effect } from "effect"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"

import { numbered } from "../support/files/pdf-samples.ts"
import { emptying } from "../support/postgres/empty.ts"
import { type IntakeWorld, startIntake } from "../support/worlds/intake-world.ts"

const FROM = "ann@reader.test"

describe("a customer whom no reply can reach", () => {
  let world: IntakeWorld
  let converted = 0
  beforeAll(async () => {
    world = await startIntake({
      interfere: (port, call) =>
        Effect.suspend(() => {
          if (port === "pipeline.convert") converted += 1
          return call
        })
    })
  })
  afterAll(() => world.stop())
  afterEach(async () => {
    converted = 0
    await world.sql(
      emptying(
        "intake_mails, intake_replies, conversion_jobs, funds_holds, credit_charges, customers, email_suppressions"
      )
    )
  })

  const suppress = (reason: string) =>
    world.sql("insert into email_suppressions (email, reason) values ($1, $2)", [FROM, reason])
  const nothingIsCharged = async (customer: string) => {
    assert.deepStrictEqual(await world.funds(customer), {
      credits: 5,
      used: 0,
      charges: 0,
      charged: 0,
      held: 0
    })
    assert.strictEqual(converted, 0)
  }

  it("is neither converted for nor charged, whatever suppresses them", async () => {
    for (const reason of ["hard_bounce", "complaint", "manual"]) {
      const customer = await world.customer(FROM, { credits: 5 })
      await suppress(reason)
      await world.send({ from: FROM, attachments: [{ filename: "a.pdf", content: numbered(1) }] })
      await world.drain()
      assert.deepStrictEqual(await world.sql("select outcome, filename from intake_mails"), [
        { outcome: "suppressed", filename: "a.pdf" }
      ])
      assert.deepStrictEqual(await world.sql("select kind from intake_replies"), [])
      await nothingIsCharged(customer)
      await world.sql(emptying("intake_mails, customers, email_suppressions"))
    }
  })

  it("nor where the acknowledgement was what bounced", async () => {
    const customer = await world.customer(FROM, { credits: 5 })
    await world.send({ from: FROM, attachments: [{ filename: "a.pdf", content: numbered(1) }] })
    await world.run(world.intake.admitNext)
    await world.run(world.intake.replyNext)
    await suppress("hard_bounce")
    await world.drain()
    assert.deepStrictEqual(await world.sql("select status, error_message from conversion_jobs"), [
      { status: "error", error_message: "Recipient suppressed: hard bounce" }
    ])
    assert.deepStrictEqual(await world.sql("select outcome from intake_mails"), [{ outcome: "suppressed" }])
    await nothingIsCharged(customer)
  })
})
