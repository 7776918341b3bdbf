import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { numbered } from "../support/files/pdf-samples.ts"
import { CONVERT, type IntakeWorld, startIntake } from "../support/worlds/intake-world.ts"

describe("whom an answer goes to", () => {
  let world: IntakeWorld
  beforeAll(async () => {
    world = await startIntake({ pipeline: "real" })
  })
  afterAll(() => world.stop())

  it("the registered address and nobody else, whatever the envelope and the other headers say", async () => {
    await world.customer("ann@reader.test", { credits: 2 })
    const cases = [
      ["no_attachment", []],
      ["unsupported", [{ filename: "a.txt", content: "x" }]],
      ["error", [{ filename: "a.pdf", content: "%PDF-1.7 and no more" }]],
      ["insufficient", [{ filename: "a.pdf", content: numbered(3) }]],
      ["success", [{ filename: "a.pdf", content: numbered(2) }]],
      // Nothing is left.
      ["insufficient", [{ filename: "b.pdf", content: numbered(1) }]]
    ] as const
    for (const [at, [outcome, attachments]] of cases.entries()) {
      await world.send({
        from: "Ann <ANN@Reader.test>",
        sender: "secretary@elsewhere.test",
        replyTo: "thief@elsewhere.test",
        cc: "friend@elsewhere.test",
        envelope: { from: "bounces-to@elsewhere.test", to: CONVERT },
        subject: `${at}`,
        text: "x",
        attachments: [...attachments]
      })
      await world.drain()
      const [mail] = await world.sql("select outcome from intake_mails order by received_at desc limit 1")
      assert.deepStrictEqual(mail, { outcome })
    }
    const copies = await world.copies()
    // One each, and an acknowledgement beside the result.
    assert.lengthOf(copies, cases.length + 1)
    for (const { body } of copies) {
      assert.deepStrictEqual(
        [...body.to, ...body.cc, ...body.bcc].map(({ address }) => address),
        ["ann@reader.test"]
      )
    }
  })

  it("an account that was closed, before the mail came or while it waited, is neither converted for nor charged", async () => {
    const attachments = [{ filename: "a.pdf", content: numbered(1) }]
    const repliesTo = async (address: string) =>
      (await world.copies())
        .filter(({ body }) => body.to.some((to) => to.address === address))
        .map(({ body }) => body.text?.replaceAll(/\s+/g, " ") ?? "")
    for (const [email, waits, outcome] of [
      ["left@reader.test", false, "unregistered"],
      ["leaves@reader.test", true, "error"]
    ] as const) {
      const id = await world.customer(email, { credits: 5 })
      const close = () => world.sql("select * from close_account($1::uuid)", [id])
      if (!waits) await close()
      await world.send({ from: email, attachments })
      if (waits) {
        assert.isTrue(await world.run(world.intake.admitNext))
        await close()
      }
      await world.drain()
      assert.deepStrictEqual(await world.sql("select outcome from intake_mails where sender = $1", [email]), [
        { outcome }
      ])
      assert.deepStrictEqual(await world.funds(id), { credits: 5, used: 0, charges: 0, charged: 0, held: 0 })
    }
    const [reply, ...more] = await repliesTo("left@reader.test")
    assert.lengthOf(more, 0)
    assert.match(reply ?? "", /does not belong to an account/)
    // The acknowledgement was on its way; no result follows it.
    for (const text of await repliesTo("leaves@reader.test")) assert.match(text, /is being converted/)
  })
})
