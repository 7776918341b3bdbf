import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { numbered } from "../support/files/pdf-samples.ts"
import { until } from "../support/until.ts"
import { type IntakeWorld, startIntake } from "../support/worlds/intake-world.ts"

/** Which call of a port is the process's last, and whether it still takes effect. From then on nothing answers. */
interface Crash {
  readonly at: number
  readonly when: "before" | "after"
}

describe("I1, F2: a crash at every step ends in one result, one charge and one row", () => {
  let crash: Crash | undefined
  let calls: Array<string> = []
  let dead = false
  let world: IntakeWorld

  beforeAll(async () => {
    world = await startIntake({
      interfere: (port, call) =>
        Effect.suspend(() => {
          if (dead) return Effect.die(new Error("this process is dead"))
          calls.push(port)
          if (crash === undefined || calls.length !== crash.at) return call
          if (crash.when === "before") {
            dead = true
            return Effect.die(new Error("crash"))
          }
          return call.pipe(
            Effect.andThen(
              Effect.suspend(() => {
                dead = true
                return Effect.die(new Error("crash"))
              })
            )
          )
        })
    })
  })
  afterAll(() => world.stop())

  /** Sends until it is taken, as a mail server does, and works on after each crash as a new process does. */
  const live = async (email: string, planned: Crash | undefined) => {
    calls = []
    crash = planned
    dead = false
    const mail = {
      from: email,
      messageId: `<${email}>`,
      attachments: [{ filename: "a.pdf", content: numbered(1) }]
    }
    for (let tries = 0; ; tries++) {
      const taken = await world.send(mail).then(
        () => true,
        () => false
      )
      if (taken) break
      assert.isBelow(tries, 3)
      dead = false
    }
    for (let restarts = 0; restarts < 3; restarts++) {
      await world.drain().catch(() => undefined)
      if (!dead && restarts > 0) break
      dead = false
      await world.pass()
    }
  }

  const check = async (email: string, customer: string, context: string) => {
    const copies = (await world.copies()).filter(({ body }) =>
      body.to.some(({ address }) => address === email)
    )
    const results = copies.filter(({ body }) => body.attachments.length > 0)
    assert.lengthOf(results, 1, context)
    assert.isAtMost(copies.length - results.length, 1, context)
    assert.deepStrictEqual(
      await world.funds(customer),
      { credits: 4, used: 0, charges: 1, charged: 1, held: 0 },
      context
    )
    const jobs = await world.sql("select status from conversion_jobs where customer_id = $1::uuid", [
      customer
    ])
    assert.deepStrictEqual(jobs, [{ status: "success" }], context)
    const [left] = await world.sql(
      `select (select count(*) from intake_mails where step <> 'ended')::integer as mails,
        (select count(*) from intake_replies where status = 'queued')::integer as replies`
    )
    assert.deepStrictEqual(left, { mails: 0, replies: 0 }, context)
  }

  it("whichever call of a port is the last", async () => {
    await live("whole@reader.test", undefined)
    const whole = await world.customer("counted@reader.test", { credits: 5 })
    await live("counted@reader.test", undefined)
    const steps = [...calls]
    await check("counted@reader.test", whole, "no crash")
    for (const port of [
      "store.receive",
      "objects.put",
      "store.identify",
      "store.admit",
      "pipeline.convert",
      "store.finish",
      "channel.send",
      "store.replySent"
    ]) {
      assert.include(steps, port)
    }
    for (const when of ["before", "after"] as const) {
      for (let at = 1; at <= steps.length; at++) {
        const email = `${when}-${at}@reader.test`
        const customer = await world.customer(email, { credits: 5 })
        await live(email, { at, when })
        await check(email, customer, `${when} call ${at} of ${steps.join(", ")}`)
      }
    }
  })
})

describe("what fails and comes back", () => {
  it("charges nothing for a pipeline that fails, and a reply that fails masks nothing", async () => {
    let refuse = true
    const world = await startIntake({
      interfere: (port, call) =>
        refuse && port === "pipeline.convert" ? Effect.die(new Error("the pipeline is broken")) : call,
      outcome: () => "rejected"
    })
    try {
      const id = await world.customer("ann@reader.test", { credits: 5 })
      const attachments = [{ filename: "a.pdf", content: numbered(1) }]
      await world.send({ from: "ann@reader.test", attachments })
      for (let n = 0; n < 6; n++) {
        await world.drain()
        await world.pass()
      }
      assert.deepStrictEqual(await world.funds(id), { credits: 5, used: 0, charges: 0, charged: 0, held: 0 })
      assert.deepStrictEqual(
        await world.sql("select status, error_message from conversion_jobs where customer_id = $1::uuid", [
          id
        ]),
        [
          {
            status: "error",
            error_message: "The document could not be converted: it was tried several times."
          }
        ]
      )
      refuse = false
      await world.send({ from: "ann@reader.test", attachments })
      await world.drain()
      assert.strictEqual((await world.funds(id)).charges, 1)
      const replies = await world.sql<{ readonly kind: string; readonly status: string }>(
        "select kind, status from intake_replies order by created_at"
      )
      assert.deepStrictEqual(
        replies.map(({ kind, status }) => `${kind} ${status}`),
        ["processing-started failed", "error failed", "processing-started failed", "success failed"]
      )
    } finally {
      await world.stop()
    }
  })

  it("a result that is too large to attach goes as a link that works", async () => {
    const world = await startIntake({ maxAttachmentBytes: 5 })
    try {
      await world.customer("ann@reader.test", { credits: 5 })
      await world.send({
        from: "ann@reader.test",
        attachments: [{ filename: "a.pdf", content: numbered(1) }]
      })
      await world.drain()
      const result = (await world.copies()).at(-1)?.body
      assert.lengthOf(result?.attachments ?? [], 0)
      const token = /https:\/\/p\.test\/convert-email\/results\/([\w.-]+)/.exec(result?.html ?? "")?.[1] ?? ""
      const found = await world.run(world.intake.result(token))
      assert.strictEqual(found?.filename, "a.pdf")
      const [payload, mac] = token.split(".")
      for (const forged of ["", "x", `${payload}`, `${payload}.${mac?.slice(1)}A`, `${payload}A.${mac}`]) {
        assert.isUndefined(await world.run(world.intake.result(forged)))
      }
      await world.run(world.intake.clean)
      assert.isDefined(await world.run(world.intake.result(token)))
      await world.sql("update intake_mails set ended_at = now() - interval '8 days'")
      await world.run(world.intake.clean)
      assert.isUndefined(await world.run(world.intake.result(token)))
    } finally {
      await world.stop()
    }
  })

  it("F1: 50 mails at once with credit for 10: exactly 10 converted, 40 answered with their balance, never below zero", async () => {
    const world = await startIntake({ pipeline: "real" })
    try {
      const id = await world.customer("many@reader.test", { credits: 30 })
      // What could be spent, as every transaction that touched it left it.
      await world.sql("create table seen_funds (credits integer)")
      await world.sql(`create function see_funds() returns trigger language plpgsql as $$
        begin
          insert into seen_funds select credits from available_funds('${id}');
          return null;
        end $$`)
      for (const table of ["customers", "funds_holds", "credit_charges"]) {
        await world.sql(`create constraint trigger see_funds after insert or update or delete on ${table}
          deferrable initially deferred for each row execute function see_funds()`)
      }
      const content = numbered(3)
      let over = false
      const sending = Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          world.send({
            from: "many@reader.test",
            subject: `${n}`,
            attachments: [{ filename: `${n}.pdf`, content }]
          })
        )
      ).finally(() => (over = true))
      // Four workers, beside the mails that still come in.
      const working = Promise.all(
        [1, 2, 3, 4].map(async () => {
          while (!over) await world.drain()
        })
      )
      await sending
      await working
      // A step that failed for a moment, on a machine that has no time, comes again by itself after its wait.
      const left = () =>
        world.sql(
          `select id, step, attempts, not_before, lease from intake_mails where step <> 'ended'
            union all select mail_id, kind, attempts, not_before, lease from intake_replies where status = 'queued'`
        )
      await until("every mail has ended, and every reply has gone", async () => {
        await world.drain()
        return (await left()).length === 0
      })
      const kinds = await world.sql(
        "select kind, status, count(*)::integer as n from intake_replies group by kind, status order by kind"
      )
      assert.deepStrictEqual(kinds, [
        { kind: "insufficient-credits", status: "sent", n: 40 },
        { kind: "processing-started", status: "sent", n: 10 },
        { kind: "success", status: "sent", n: 10 }
      ])
      assert.deepStrictEqual(await world.funds(id), {
        credits: 0,
        used: 0,
        charges: 10,
        charged: 30,
        held: 0
      })
      const [seen] = await world.sql(
        "select min(credits) as least, max(credits) as most, count(*) > 20 as often from seen_funds"
      )
      assert.deepStrictEqual(seen, { least: 0, most: 27, often: true })
      const context = (await world.copies())
        .map(({ body }) => body)
        .filter(({ text }) => text?.includes("Not enough credits"))
      assert.lengthOf(context, 40)
      for (const { html, text } of context) {
        assert.match(text?.replaceAll(/\s+/g, " ") ?? "", /Needed, as estimated: [13] - Your balance: 0 /)
        assert.include(html, "https://p.test/#credits")
      }
      const jobs = await world.sql(
        "select status, total_pages, credits_charged, count(*)::integer as n from conversion_jobs group by 1, 2, 3"
      )
      assert.deepStrictEqual(jobs, [{ status: "success", total_pages: 3, credits_charged: 3, n: 10 }])
    } finally {
      await world.stop()
    }
  })
})
