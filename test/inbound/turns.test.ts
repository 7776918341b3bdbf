import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { numbered } from "../support/files/pdf-samples.ts"
import { type IntakeWorld, startIntake } from "../support/worlds/intake-world.ts"

const attachments = [{ filename: "a.pdf", content: numbered(1) }]
const reported = (dmarc: string) => ({ "Authentication-Results": `mx.hop.test; dmarc=${dmarc}` })

describe("H3: what is sent in others' names, or in great numbers, holds up nobody", () => {
  let world: IntakeWorld
  beforeAll(async () => {
    world = await startIntake({ rules: { trustedHops: ["mx.hop.test"], trustsLoopback: false } })
  })
  afterAll(() => world.stop())

  it("a mail whose sender is not verified ends as it arrives, and is never read", async () => {
    await world.customer("ann@reader.test", { credits: 5 })
    for (let n = 0; n < 5; n++)
      await world.send({ from: "ann@reader.test", subject: `${n}`, attachments, headers: reported("fail") })
    await world.send({ from: "a@x.test, b@x.test", attachments, headers: reported("pass") })
    assert.isFalse(await Effect.runPromise(world.intake.admitNext))
    assert.deepStrictEqual(
      await world.sql(
        "select outcome, reason, sender, count(*)::integer as n from intake_mails group by 1, 2, 3 order by 1"
      ),
      [
        { outcome: "no_sender", reason: "it names no sender, or several", sender: null, n: 1 },
        { outcome: "unverified", reason: "DMARC fail", sender: null, n: 5 }
      ]
    )
  })

  it("one customer's many mails are read in turns with another's one", async () => {
    await world.customer("busy@reader.test", { credits: 5 })
    await world.customer("quiet@reader.test", { credits: 5 })
    for (let n = 0; n < 4; n++)
      await world.send({ from: "busy@reader.test", subject: `${n}`, attachments, headers: reported("pass") })
    await world.send({ from: "quiet@reader.test", attachments, headers: reported("pass") })
    for (let n = 0; n < 2; n++) assert.isTrue(await Effect.runPromise(world.intake.admitNext))
    assert.deepStrictEqual(
      await world.sql("select sender from intake_mails where step = 'converting' order by not_before"),
      [{ sender: "busy@reader.test" }, { sender: "quiet@reader.test" }]
    )
  })
})
