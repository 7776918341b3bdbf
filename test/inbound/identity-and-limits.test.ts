import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { MAX_MAILS_AN_HOUR } from "../../src/application/inbound/intake-config.ts"
import { numbered } from "../support/files/pdf-samples.ts"
import { talk } from "../support/processes/smtp-talk.ts"
import { type IntakeWorld, startIntake } from "../support/worlds/intake-world.ts"

const one = numbered(1)
const two = numbered(2)

describe("which mails are one, and how many one sender may send", () => {
  let world: IntakeWorld
  beforeAll(async () => {
    world = await startIntake()
  })
  afterAll(() => world.stop())

  const outcomes = async (sender: string) =>
    (
      await world.sql<{ readonly outcome: string }>(
        "select outcome from intake_mails where sender = $1 and message_id is not null order by received_at",
        [sender]
      )
    ).map(({ outcome }) => outcome)

  const repliesTo = async (address: string) =>
    (await world.copies()).filter(({ body }) => body.to.some((to) => to.address === address)).length

  it("I1: a mail is known by its Message-ID, its sender and its decoded attachment, all three", async () => {
    for (const name of ["ann", "bob"]) await world.customer(`${name}@reader.test`, { credits: 9 })
    const send = async (
      from: string,
      messageId: string,
      attachment: Buffer | { readonly raw: string },
      subject = "Report"
    ) => {
      const attachments = [
        Buffer.isBuffer(attachment) ? { filename: "a.pdf", content: attachment } : attachment
      ]
      await world.send({ from, messageId, subject, text: "Please", attachments })
      await world.drain()
    }
    await send("ann@reader.test", "<one@x>", one)
    await send("ann@reader.test", "<one@x>", two)
    await send("ann@reader.test", "<two@x>", one)
    await send("bob@reader.test", "<one@x>", one)
    assert.deepStrictEqual(await outcomes("ann@reader.test"), ["success", "success", "success"])
    assert.deepStrictEqual(await outcomes("bob@reader.test"), ["success"])
    // On another way the same file may be encoded in other lines, under another name and subject.
    const lines = one.toString("base64").replaceAll(/.{60}/g, "$&\r\n")
    const raw = `Content-Type: application/x; name=b\r\nContent-Transfer-Encoding: base64\r\n\r\n${lines}`
    await send("ann@reader.test", "<one@x>", { raw }, "[list] Report")
    assert.strictEqual((await outcomes("ann@reader.test")).at(-1), "duplicate")
  })

  it("beyond its number within an hour a sender's mails are neither converted nor answered; another's are", async () => {
    assert.isAtLeast(MAX_MAILS_AN_HOUR, 100)
    const before = (count: number, age: string, outcome: string) =>
      world.sql(
        `insert into intake_mails (id, raw_key, raw_bytes, envelope_from, peer_trusted, step, outcome, cleaned, sender, received_at)
          select gen_random_uuid(), 'x', 1, '', true, 'ended', $3, 'all', 'busy@reader.test', now() - $2::interval
          from generate_series(1, $1::integer)`,
        [String(count), age, outcome]
      )
    const send = async (from: string) => {
      await world.send({ from, attachments: [{ filename: "a.pdf", content: one }] })
      await world.drain()
    }
    const id = await world.customer("busy@reader.test", { credits: 9 })
    await world.customer("idle@reader.test", { credits: 9 })
    // None of these counts: they are too old, or were not worked on.
    await before(MAX_MAILS_AN_HOUR, "61 minutes", "success")
    await before(MAX_MAILS_AN_HOUR, "1 minute", "duplicate")
    await before(MAX_MAILS_AN_HOUR, "1 minute", "limited")
    await before(MAX_MAILS_AN_HOUR - 1, "50 minutes", "no_attachment")
    for (const from of ["busy@reader.test", "busy@reader.test", "idle@reader.test"]) await send(from)
    assert.deepStrictEqual(await outcomes("busy@reader.test"), ["success", "limited"])
    assert.deepStrictEqual(await outcomes("idle@reader.test"), ["success"])
    assert.strictEqual(await repliesTo("busy@reader.test"), 2)
    assert.strictEqual((await world.funds(id)).charges, 1)
    const [row] = await world.sql(
      "select reason from intake_mails where sender = $1 and message_id is not null and outcome = 'limited'",
      ["busy@reader.test"]
    )
    assert.deepStrictEqual(row, {
      reason: `more than ${MAX_MAILS_AN_HOUR} mails of the sender within an hour`
    })
  })

  it("H3: envelopes that name a sender and bring no mail of it shut it out of nothing", async () => {
    const id = await world.customer("named@reader.test", { credits: 9 })
    const { answer, say, socket } = talk(world.port)
    await answer()
    await say("EHLO client.test")
    for (let mail = 0; mail <= MAX_MAILS_AN_HOUR; mail++) {
      assert.match(await say("MAIL FROM:<named@reader.test>"), /^250 /, `mail ${mail}`)
      await say("RSET")
    }
    socket.destroy()
    await world.send({
      from: "named@reader.test",
      attachments: [{ filename: "a.pdf", content: one }]
    })
    await world.drain()
    assert.deepStrictEqual(await outcomes("named@reader.test"), ["success"])
    assert.strictEqual((await world.funds(id)).charges, 1)
  })

  it("a mail that comes again is known for 90 days, and forgotten after", async () => {
    const id = await world.customer("late@reader.test", { credits: 9 })
    const again = async (age: string) => {
      await world.sql(
        `update intake_mails set ended_at = now() - $2::interval, received_at = now() - $2::interval where sender = $1`,
        ["late@reader.test", age]
      )
      // The first round removes the objects, the next one forgets the mail.
      for (let round = 0; round < 2; round++) await world.run(world.intake.clean)
      const [known] = await world.sql("select count(*)::integer as n from intake_mails where sender = $1", [
        "late@reader.test"
      ])
      await world.send({
        from: "late@reader.test",
        messageId: "<late@x>",
        attachments: [{ filename: "a.pdf", content: one }]
      })
      await world.drain()
      return [known, (await world.funds(id)).charges]
    }
    assert.deepStrictEqual(await again("0"), [{ n: 0 }, 1])
    assert.deepStrictEqual(await again("89 days"), [{ n: 1 }, 1])
    assert.deepStrictEqual(await again("91 days"), [{ n: 0 }, 2])
  })

  it("a stranger gets the reply again on another day, and not before", async () => {
    const repliesAfter = async (later: string) => {
      await world.sql(
        "update intake_strangers set replied_at = replied_at - $2::interval where sender = $1",
        ["stranger@x.test", later]
      )
      await world.send({ from: "stranger@x.test", attachments: [{ filename: "a.pdf", content: one }] })
      await world.drain()
      return repliesTo("stranger@x.test")
    }
    assert.deepStrictEqual(
      [await repliesAfter("0"), await repliesAfter("23 hours"), await repliesAfter("2 hours")],
      [1, 1, 2]
    )
  })
})
