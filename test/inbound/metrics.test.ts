import { Effect } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { numbered } from "../support/files/pdf-samples.ts"
import { CONVERT, type IntakeWorld, startIntake } from "../support/worlds/intake-world.ts"

describe("metrics of convert-by-email", () => {
  let world: IntakeWorld
  let broken = false
  beforeAll(async () => {
    world = await startIntake({
      interfere: (port, call) => (broken && port === "store.receive" ? Effect.die(new Error("down")) : call)
    })
  })
  afterAll(() => world.stop())

  /** Value of each series of ours; buckets of histograms left out. */
  const series = async () =>
    Object.fromEntries(
      (await Effect.runPromise(PrometheusMetrics.format()))
        .split("\n")
        .filter((line) => line.startsWith("postlane_intake_") && !line.includes("_bucket"))
        .map((line) => {
          const at = line.lastIndexOf(" ")
          return [line.slice(0, at), Number(line.slice(at + 1))]
        })
    )

  it("count mails, refusals, ends and replies, and hold no address", async () => {
    await world.customer("ann@reader.test", { credits: 5 })
    const mail = {
      from: "ann@reader.test",
      messageId: "<one@reader.test>",
      attachments: [{ filename: "a.pdf", content: numbered(1) }]
    }
    await world.send(mail)
    await world.send(mail)
    await world.send({ from: "stranger@x.test", text: "x" })
    await world.send({ ...mail, to: "nobody@legacy.test" }).catch(() => undefined)
    await world.send({ ...mail, to: [CONVERT, "convert@in.test"], messageId: "<two@x>" })
    broken = true
    await world.send(mail).catch(() => undefined)
    broken = false
    await world.drain()
    const { postlane_intake_reply_seconds_sum: seconds, ...counts } = await series()
    assert.isAbove(seconds ?? 0, 0)
    assert.deepStrictEqual(counts, {
      postlane_intake_mails_received_total: 4,
      'postlane_intake_refusals_total{reason="recipient"}': 1,
      'postlane_intake_refusals_total{reason="unavailable"}': 1,
      'postlane_intake_mails_ended_total{outcome="success"}': 2,
      'postlane_intake_mails_ended_total{outcome="duplicate"}': 1,
      'postlane_intake_mails_ended_total{outcome="unregistered"}': 1,
      'postlane_intake_replies_total{kind="processing-started",result="sent"}': 2,
      'postlane_intake_replies_total{kind="success",result="sent"}': 2,
      'postlane_intake_replies_total{kind="unregistered",result="sent"}': 1,
      'postlane_intake_under_way{step="receiving"}': 0,
      'postlane_intake_under_way{step="reading"}': 0,
      'postlane_intake_under_way{step="converting"}': 0,
      'postlane_intake_under_way{step="replying"}': 0,
      postlane_intake_reply_seconds_count: 3
    })
  })
})
