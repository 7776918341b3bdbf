import { randomUUID } from "node:crypto"

import { Duration, Effect } from "effect"
import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, it } from "vitest"

import { PipelineError } from "../../src/ports/inbound/convert-pipeline.ts"
import { ObjectStoreError } from "../../src/ports/object-store.ts"
import { StoreUnavailable } from "../../src/ports/store-unavailable.ts"
import { numbered } from "../support/files/pdf-samples.ts"
import { emptying } from "../support/postgres/empty.ts"
import { until } from "../support/until.ts"
import { type IntakeWorld, startIntake } from "../support/worlds/intake-world.ts"
import { storeDown } from "../support/worlds/store-down.ts"

const FROM = "ann@reader.test"
const ROUNDS = 30

/** How a port fails while it is away. */
const away = (port: string) => {
  if (port.startsWith("objects.")) return new ObjectStoreError({ reason: "unavailable", key: "k" })
  if (port.startsWith("pipeline.")) return new PipelineError({ reason: "unavailable", message: "away" })
  return storeDown(new Error("away"))
}

describe("I4: an accepted mail outlives every outage shorter than 23 hours", () => {
  let world: IntakeWorld
  let customer = ""
  /** Ports that are away, and what they fail with instead. */
  let out: ReadonlySet<string> = new Set()
  let failure: (port: string) => unknown = away
  /** Ports that were asked for while they were away, in this test. */
  let refused = new Set<string>()
  beforeAll(async () => {
    world = await startIntake({
      heartbeat: Duration.seconds(2),
      interfere: (port, call) =>
        Effect.suspend(() => {
          if (!out.has(port)) return call
          refused.add(port)
          const cause = failure(port)
          // The type of a port's failure is the port's; what is made here is one of it.
          return Effect.fail(cause) as unknown as typeof call
        })
    })
  })
  afterAll(() => world.stop())
  beforeEach(async () => {
    customer = await world.customer(FROM, { credits: 5 })
  })
  afterEach(async () => {
    out = new Set()
    failure = away
    refused = new Set()
    await world.sql(
      emptying("intake_mails, intake_replies, conversion_jobs, funds_holds, credit_charges, customers")
    )
  })

  const send = () => world.send({ from: FROM, attachments: [{ filename: "a.pdf", content: numbered(1) }] })
  /** Tries for as long as waits come to an end. */
  const work = async (rounds: number) => {
    for (let round = 0; round < rounds; round++) {
      await world.drain()
      await world.pass()
    }
  }
  /** Makes the outage that is noted older. */
  const age = (hours: number) =>
    world.sql(`update intake_mails set failing_since = failing_since - $1::interval where step <> 'ended'`, [
      `${hours} hours`
    ])
  const mails = () => world.sql("select step, outcome, attempts from intake_mails")
  const replies = async () =>
    (await world.sql<{ readonly kind: string }>("select kind from intake_replies order by created_at")).map(
      ({ kind }) => kind
    )
  const isConverted = async () => {
    assert.deepStrictEqual(await mails(), [{ step: "ended", outcome: "success", attempts: 1 }])
    assert.deepStrictEqual(await replies(), ["processing-started", "success"])
    assert.deepStrictEqual(await world.funds(customer), {
      credits: 4,
      used: 0,
      charges: 1,
      charged: 1,
      held: 0
    })
  }

  for (const port of [
    "objects.localPath",
    "store.identify",
    "store.customer",
    "objects.put",
    "pipeline.countPages",
    "store.admit",
    "pipeline.convert",
    "store.finish"
  ]) {
    it(`${port} fails ${ROUNDS} times within 22 hours, and the mail is converted after that`, async () => {
      await send()
      out = new Set([port])
      await work(ROUNDS)
      await age(22)
      await work(2)
      const [mail] = await world.sql("select step <> 'ended' as waits, attempts from intake_mails")
      assert.deepStrictEqual(mail, { waits: true, attempts: 0 })
      out = new Set()
      await work(2)
      await isConverted()
    })
  }

  it("waits longer from failure to failure, up to a quarter of an hour, and its funds stay set aside", async () => {
    await send()
    out = new Set(["pipeline.convert"])
    const waits: Array<number> = []
    for (let round = 0; round < 9; round++) {
      await world.drain()
      const [row] = await world.sql<{ readonly wait: number; readonly held: boolean }>(
        `select extract(epoch from m.not_before - m.failed_at)::float8 as wait,
          h.expires_at > now() + interval '25 hours' as held
          from intake_mails m join funds_holds h on h.job_id = m.id and h.state = 'held'`
      )
      assert.isTrue(row?.held)
      waits.push(Math.round(row?.wait ?? 0))
      await world.pass()
    }
    assert.deepStrictEqual(waits, [10, 20, 40, 80, 160, 320, 640, 900, 900])
  })

  it("a store that has lost the raw mail, or gives half of it, is asked again", async () => {
    await send()
    out = new Set(["objects.localPath"])
    failure = () => new ObjectStoreError({ reason: "missing", key: "k" })
    await work(8)
    out = new Set()
    await world.sql("update intake_mails set raw_bytes = raw_bytes + 1")
    await work(2)
    assert.deepStrictEqual(await mails(), [{ step: "received", outcome: null, attempts: 0 }])
    await world.sql("update intake_mails set raw_bytes = raw_bytes - 1")
    await work(2)
    await isConverted()
  })

  it("after 23 hours without a gap it ends with an error reply and no charge, read or not", async () => {
    for (const [port, expected] of [
      ["pipeline.convert", ["processing-started", "error"]],
      ["pipeline.countPages", ["error"]],
      ["objects.localPath", ["error"]]
    ] as const) {
      await send()
      out = new Set([port])
      await work(2)
      await age(24)
      await work(1)
      const [mail] = await world.sql<{ readonly outcome: string; readonly reason: string }>(
        "select outcome, reason from intake_mails"
      )
      const name = port === "objects.localPath" ? "object store" : "conversion service"
      assert.strictEqual(mail?.outcome, "error")
      assert.include(mail?.reason, `the ${name} did not answer for 23 hours`)
      assert.deepStrictEqual(await replies(), [...expected])
      assert.deepStrictEqual(await world.funds(customer), {
        credits: 5,
        used: 0,
        charges: 0,
        charged: 0,
        held: 0
      })
      out = new Set()
      await world.sql(emptying("intake_mails, intake_replies, conversion_jobs, funds_holds"))
    }
  })

  it("two outages are not one: of two parts, or with a time between them in which nobody looked", async () => {
    await send()
    out = new Set(["objects.put"])
    await work(2)
    await age(24)
    out = new Set(["pipeline.countPages"])
    await work(2)
    assert.deepStrictEqual(await mails(), [{ step: "received", outcome: null, attempts: 0 }])
    await age(24)
    await world.sql("update intake_mails set failed_at = failed_at - interval '3 hours'")
    await work(1)
    out = new Set()
    await work(2)
    await isConverted()
  })

  it("a pipeline whose reader dies is tried four times", async () => {
    await send()
    out = new Set(["pipeline.convert"])
    failure = () => new PipelineError({ reason: "crashed", message: "Its reader died." })
    let tries = 0
    for (; (await mails())[0] !== undefined && tries < 10; tries++) {
      await world.drain()
      const [mail] = await world.sql<{ readonly step: string }>("select step from intake_mails")
      if (mail?.step === "ended") break
      await world.pass()
    }
    assert.strictEqual(tries, 3)
    assert.deepStrictEqual(await replies(), ["processing-started", "error"])
  })

  it("what the database refuses for ever is no outage: it is tried four times", async () => {
    await send()
    out = new Set(["store.finish"])
    failure = () =>
      new StoreUnavailable({ operation: "finish", reason: "check", isRetryable: false, isAboutData: true })
    let tries = 0
    for (; tries < 10; tries++) {
      await world.drain()
      const [mail] = await world.sql<{ readonly step: string }>("select step from intake_mails")
      if (mail?.step === "ended") break
      await world.pass()
    }
    assert.isBelow(tries, 6)
    assert.deepStrictEqual(await replies(), ["processing-started", "error"])
    const { charged, credits, held } = await world.funds(customer)
    assert.deepStrictEqual({ charged, credits, held }, { charged: 0, credits: 5, held: 0 })
  })

  it("a worker that was only cut off from the database has not died, even where another one took its mail over", async () => {
    await send()
    await world.run(world.intake.admitNext)
    // Its own hand-back does not get through at first.
    out = new Set(["pipeline.convert", "store.defer"])
    const cutOff = world.run(world.intake.convertNext)
    await until("the hand-back is refused", () => refused.has("store.defer"))
    const other = randomUUID()
    await world.sql("update intake_mails set heartbeat_at = now() - interval '1 hour'")
    await world.sql("select * from claim_converting_mail($1::uuid, interval '1 second', 'here')", [other])
    assert.deepStrictEqual(await world.sql("select attempts, lease from intake_mails"), [
      { attempts: 2, lease: other }
    ])
    out = new Set()
    await cutOff
    assert.deepStrictEqual(await world.sql("select attempts, lease from intake_mails"), [
      { attempts: 1, lease: other }
    ])
  })
})
