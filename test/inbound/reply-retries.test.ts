import { Duration, Effect } from "effect"
import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, it } from "vitest"

import { type OutgoingReply, ReplyFailure } from "../../src/ports/inbound/mails.ts"
import { anyId } from "../support/any-id.ts"
import { numbered } from "../support/files/pdf-samples.ts"
import { emptying } from "../support/postgres/empty.ts"
import { type IntakeWorld, startIntake } from "../support/worlds/intake-world.ts"

type Answer = ReplyFailure["reason"] | "ok" | "deferred"

const FROM = "ann@reader.test"

describe("replies that do not go out at once", () => {
  let world: IntakeWorld
  /** Attempts, oldest first, and what becomes of the next ones of each kind; then all are taken. */
  let attempts: Array<OutgoingReply> = []
  let answers: { acknowledgement: Array<Answer>; result: Array<Answer> }
  let meanwhile: (() => Promise<void>) | undefined
  let customer = ""
  beforeAll(async () => {
    world = await startIntake({
      channel: {
        name: "workspace",
        maxAttachmentBytes: 1_000_000,
        sendsWithin: Duration.seconds(1),
        send: (reply) =>
          Effect.gen(function* () {
            attempts.push(reply)
            const kind = reply.key.endsWith(":processing-started") ? "acknowledgement" : "result"
            if (kind === "acknowledgement") yield* Effect.promise(async () => meanwhile?.())
            const answer = answers[kind].shift() ?? "ok"
            if (answer === "deferred") return answer
            if (answer !== "ok")
              return yield* new ReplyFailure({ reason: answer, message: `scripted: ${answer}` })
          })
      }
    })
  })
  afterAll(() => world.stop())
  beforeEach(async () => {
    attempts = []
    answers = { acknowledgement: [], result: [] }
    meanwhile = undefined
    customer = await world.customer(FROM, { credits: 5 })
  })
  afterEach(() =>
    world.sql(emptying("intake_mails, intake_replies, conversion_jobs, credit_charges, customers"))
  )

  /** Sends a mail and works, as often as its replies' waits are over. */
  const convert = async (rounds: number) => {
    await world.send({ from: FROM, attachments: [{ filename: "a.pdf", content: numbered(1) }] })
    await world.drain()
    for (let round = 1; round < rounds; round++) {
      await world.pass()
      await world.drain()
    }
  }

  const results = () => attempts.filter(({ key }) => key.endsWith(":success"))
  const replies = async () =>
    (
      await world.sql<{ readonly reply: string }>(
        "select kind || ' ' || status as reply from intake_replies order by created_at"
      )
    ).map(({ reply }) => reply)
  const isCharged = async () =>
    assert.deepStrictEqual(await world.funds(customer), {
      credits: 4,
      used: 0,
      charges: 1,
      charged: 1,
      held: 0
    })

  it("what may go out later is tried again, the same each time, not at once and until it does", async () => {
    answers.result = ["later", "later", "later"]
    await convert(1)
    assert.deepStrictEqual(
      await world.sql(
        `select status, not_before >= created_at + interval '10 seconds' as waits from intake_replies
          where kind = 'success'`
      ),
      [{ status: "queued", waits: true }]
    )
    for (let round = 0; round < 3; round++) {
      // Its result stays as long as it has not gone out.
      await world.run(world.intake.clean)
      await world.pass()
      await world.drain()
    }
    assert.deepStrictEqual(await replies(), ["processing-started sent", "success sent"])
    const [first, ...more] = results()
    assert.isDefined(first?.attachment)
    assert.lengthOf(more, 3)
    for (const one of more) assert.deepStrictEqual(one, first)
    await isCharged()
  })

  it("is given up after a day, and the conversion stays as it is", async () => {
    answers.result = Array.from({ length: 50 }, () => "later")
    await convert(1)
    await world.sql("update intake_replies set created_at = created_at - interval '22 hours'")
    await world.pass()
    await world.drain()
    assert.deepStrictEqual(await replies(), ["processing-started sent", "success queued"])
    await world.sql("update intake_replies set created_at = created_at - interval '2 hours'")
    await world.pass()
    await world.drain()
    assert.deepStrictEqual(await replies(), ["processing-started sent", "success failed"])
    assert.deepStrictEqual(await world.sql("select outcome from intake_mails"), [{ outcome: "success" }])
    await isCharged()
  })

  it("a result of which nobody knows whether it arrived is sent once more, and no more", async () => {
    answers.result = ["unknown", "unknown", "unknown"]
    await convert(4)
    assert.lengthOf(results(), 2)
    assert.deepStrictEqual(await replies(), ["processing-started sent", "success failed"])
    await isCharged()
  })

  it("tries that were only put off do not count among those of which nobody knows whether they arrived", async () => {
    answers.result = ["later", "unknown", "later", "ok"]
    await convert(5)
    assert.lengthOf(results(), 4)
    assert.deepStrictEqual(await replies(), ["processing-started sent", "success sent"])
    await isCharged()
  })

  it("what the channel does not send again goes as a link under a key of its own, after time for proof that it arrived", async () => {
    answers.result = ["unrepeatable", "unrepeatable", "ok"]
    await convert(1)
    assert.deepStrictEqual(
      await world.sql(
        "select not_before >= created_at + interval '2 minutes' as waits from intake_replies where kind = 'success'"
      ),
      [{ waits: true }]
    )
    await world.pass()
    await world.drain()
    const [first, second, linked, ...more] = results()
    assert.deepStrictEqual([first?.key, more.length], [second?.key, 0])
    assert.strictEqual(linked?.key, first?.key.replace(/success$/, "link:success"))
    assert.isUndefined(linked?.attachment)
    assert.deepStrictEqual(await replies(), ["processing-started sent", "success sent"])
  })

  it("R3: a deferred result stays until its retries have ended, and goes as a link where they ended without a mail", async () => {
    answers.result = ["deferred", "deferred", "unrepeatable", "unrepeatable", "ok"]
    await convert(1)
    assert.deepStrictEqual(
      await world.sql(
        "select status, not_before >= created_at + interval '30 minutes' as waits from intake_replies where kind = 'success'"
      ),
      [{ status: "queued", waits: true }]
    )
    for (let round = 0; round < 4; round++) {
      await world.run(world.intake.clean)
      await world.pass()
      await world.drain()
    }
    const sent = results()
    assert.deepStrictEqual(
      sent.map(({ attachment }) => attachment !== undefined),
      [true, true, true, true, false]
    )
    assert.deepStrictEqual(await replies(), ["processing-started sent", "success sent"])
    await isCharged()
  })

  it("a deferred acknowledgement holds nothing up", async () => {
    answers.acknowledgement = ["deferred"]
    await convert(1)
    assert.deepStrictEqual(await replies(), ["processing-started sent", "success sent"])
  })

  it("R1: a paid result outlives its failed reply by 7 days, with a link for its owner", async () => {
    answers.result = ["refused", "refused"]
    await convert(3)
    assert.deepStrictEqual(await replies(), ["processing-started sent", "success failed"])
    const kept = () => world.run(world.intake.keptResults(anyId(customer)))
    await world.run(world.intake.clean)
    const [result, ...more] = await kept()
    assert.lengthOf(more, 0)
    assert.deepInclude(result, { name: "a.pdf", pages: 1, creditsCharged: 1, reply: "failed" })
    const token = result?.url.split("/").at(-1) ?? ""
    assert.strictEqual((await world.run(world.intake.result(token)))?.filename, "a.pdf")
    assert.deepStrictEqual(await world.run(world.intake.keptResults(anyId())), [])
    // The time of a result that came late counts from its reply's end.
    await world.sql("update intake_mails set ended_at = now() - interval '8 days'")
    await world.run(world.intake.clean)
    assert.lengthOf(await kept(), 1)
    await world.sql("update intake_replies set ended_at = now() - interval '8 days'")
    await world.run(world.intake.clean)
    assert.deepStrictEqual(await kept(), [])
    assert.isUndefined(await world.run(world.intake.result(token)))
  })

  it("a result that was sent as an attachment is not kept", async () => {
    await convert(1)
    await world.run(world.intake.clean)
    assert.deepStrictEqual(await world.run(world.intake.keptResults(anyId(customer))), [])
    assert.deepStrictEqual(await world.sql("select cleaned from intake_mails"), [{ cleaned: "all" }])
  })

  it("a result that is refused as it is goes as a link, and is given up where that is refused too", async () => {
    answers.result = ["refused", "refused"]
    await convert(3)
    const [attached, linked, ...more] = results()
    assert.lengthOf(more, 0)
    assert.isDefined(attached?.attachment)
    assert.isUndefined(linked?.attachment)
    assert.include(linked?.html ?? "", "https://p.test/convert-email/results/")
    assert.deepStrictEqual(await replies(), ["processing-started sent", "success failed"])
  })

  it("an acknowledgement is tried once, and the result does without it", async () => {
    answers.acknowledgement = ["later", "later"]
    await convert(3)
    assert.lengthOf(attempts, 2)
    assert.deepStrictEqual(await replies(), ["processing-started failed", "success sent"])
  })

  it("a result waits for an acknowledgement that is being sent", async () => {
    meanwhile = async () => {
      await world.run(world.intake.convertNext)
      assert.isFalse(await world.run(world.intake.replyNext))
    }
    await convert(1)
    assert.deepStrictEqual(
      attempts.map(({ key }) => key.split(":").at(-1)),
      ["processing-started", "success"]
    )
  })
})
