import { randomUUID } from "node:crypto"

import { Duration, Effect } from "effect"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"

import { numbered } from "../support/files/pdf-samples.ts"
import { emptying } from "../support/postgres/empty.ts"
import { until } from "../support/until.ts"
import { type IntakeWorld, startIntake } from "../support/worlds/intake-world.ts"

const FROM = "ann@reader.test"
const pdf = [{ filename: "a.pdf", content: numbered(1) }]

describe("a mail that was handed on to another worker, or waits for its own", () => {
  let world: IntakeWorld
  /** What happens right before a call of a port, and whether the call still comes. */
  let before: ((port: string) => Promise<"goes on" | "dies" | "hangs">) | undefined
  beforeAll(async () => {
    world = await startIntake({
      heartbeat: Duration.seconds(2),
      interfere: (port, call) =>
        Effect.flatMap(
          Effect.promise(async () => before?.(port)),
          (then) => {
            if (then === "hangs") return Effect.never
            return then === "dies" ? Effect.die(new Error("broken")) : call
          }
        )
    })
  })
  afterAll(() => world.stop())
  afterEach(async () => {
    before = undefined
    await world.sql(emptying("intake_mails, intake_replies, conversion_jobs, credit_charges, customers"))
  })

  /** All that there is of mails, money and what replies say, but for the times at which a worker was heard of. */
  const state = () =>
    world.sql(`select
      (select jsonb_agg(to_jsonb(m) - 'heartbeat_at') from intake_mails m) as mails,
      (select jsonb_agg(array[r.kind, r.content::text] order by r.kind) from intake_replies r) as replies,
      (select jsonb_agg(to_jsonb(h) - 'expires_at') from funds_holds h) as holds,
      (select jsonb_agg(to_jsonb(c)) from credit_charges c) as charges,
      (select jsonb_agg(to_jsonb(j)) from conversion_jobs j) as jobs`)

  const steal = () =>
    world.sql(
      `update intake_mails set lease = $1::uuid, heartbeat_at = now(), attempts = attempts + 1 where step <> 'ended'`,
      [randomUUID()]
    )

  /** Works until `done`, whatever waits. */
  const workUntil = (done: () => boolean) =>
    until("the work is done", async () => {
      await world.drain()
      if (!done()) await world.pass()
      return done()
    })

  for (const [call, attachments, fault] of [
    ["store.identify", pdf, undefined],
    ["store.admit", pdf, undefined],
    ["store.finish", pdf, undefined],
    ["store.end", [], undefined],
    ["store.handBack", pdf, "pipeline.convert"]
  ] as const) {
    it(`${call} of a worker that lost its mail changes nothing`, async () => {
      const id = await world.customer(FROM, { credits: 5 })
      await world.send({ from: FROM, text: "x", attachments: [...attachments] })
      let stolen: object | undefined
      before = async (port) => {
        if (stolen !== undefined) return "goes on"
        if (port === fault) return "dies"
        if (port !== call) return "goes on"
        await steal()
        stolen = await state()
        return "goes on"
      }
      await workUntil(() => stolen !== undefined)
      assert.deepStrictEqual(await state(), stolen)
      // The worker that has the lease now finishes the mail.
      await world.pass()
      await world.drain()
      const outcomes = await world.sql("select outcome from intake_mails")
      assert.deepStrictEqual(outcomes, [
        { outcome: fault === undefined && attachments.length === 0 ? "no_attachment" : "success" }
      ])
      const spent = attachments.length
      assert.deepStrictEqual(await world.funds(id), {
        credits: 5 - spent,
        used: 0,
        charges: spent,
        charged: spent,
        held: 0
      })
    })
  }

  it("work on a mail that was handed on is stopped by the next heartbeat", async () => {
    await world.customer(FROM, { credits: 5 })
    await world.send({ from: FROM, attachments: pdf })
    let stolen: object | undefined
    before = async (port) => {
      if (port !== "pipeline.convert") return "goes on"
      await steal()
      stolen = await state()
      return "hangs"
    }
    // It ends although its pipeline never answers.
    await workUntil(() => stolen !== undefined)
    assert.deepStrictEqual(await state(), stolen)
  })

  it("while a conversion lasts, its funds stay set aside and nobody else takes it", async () => {
    const id = await world.customer(FROM, { credits: 5 })
    await world.send({ from: FROM, attachments: pdf })
    let refreshed = false
    before = async (port) => {
      if (port !== "pipeline.convert") return "goes on"
      await world.sql("update funds_holds set expires_at = now() + interval '1 minute'")
      await world.sql("update intake_mails set heartbeat_at = now() - interval '1 hour'")
      refreshed = await until("heartbeat and hold are renewed", async () => {
        const rows = await world.sql(
          `select 1 from funds_holds, intake_mails where expires_at > now() + interval '1 hour'
            and heartbeat_at > now() - interval '30 minutes'`
        )
        return rows.length > 0
      })
      return "goes on"
    }
    await workUntil(() => refreshed)
    assert.strictEqual((await world.funds(id)).charges, 1)
  })

  it("a mail that cannot be read to its end is tried four times, then its sender gets an error reply", async () => {
    const id = await world.customer(FROM, { credits: 5 })
    await world.send({ from: FROM, attachments: pdf })
    let tries = 0
    before = async (port) => {
      if (port !== "pipeline.countPages") return "goes on"
      tries += 1
      return "dies"
    }
    const ended = async () =>
      (await world.sql("select 1 from intake_mails where outcome = 'error'")).length > 0
    for (let round = 0; round < 10 && !(await ended()); round++) {
      await world.drain()
      await world.pass()
    }
    await world.drain()
    assert.isTrue(await ended())
    assert.isAtMost(tries, 4)
    assert.deepStrictEqual(await world.funds(id), { credits: 5, used: 0, charges: 0, charged: 0, held: 0 })
    assert.match(
      (await world.copies()).at(-1)?.body.text?.replaceAll(/\s+/g, " ") ?? "",
      /could not be worked on/
    )
  })
})
