import { Stream } from "effect"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"

import { MailObjects } from "../../../src/ports/object-store.ts"
import { hangUp, talk, talkToData } from "../../support/processes/smtp-talk.ts"
import { CONVERT, type IntakeWorld, startIntake } from "../../support/worlds/intake-world.ts"

afterEach(hangUp)

describe("hostile SMTP clients", () => {
  let world: IntakeWorld
  beforeAll(async () => {
    world = await startIntake()
  })
  afterAll(() => world.stop())

  const objects = () =>
    world.run(MailObjects.use(({ list }) => Stream.runCollect(list("mails/")))).then((found) => found.length)

  it("takes one mail, however often and in whatever case its mailboxes are named", async () => {
    const before = await objects()
    const { answer, say } = talk(world.port)
    await answer()
    await say("EHLO client.test")
    await say("MAIL FROM:<a@x.test>")
    for (let n = 0; n < 100; n++) {
      const name = Array.from(CONVERT, (char, at) => ((n >> (at % 7)) & 1 ? char.toUpperCase() : char)).join(
        ""
      )
      assert.match(await say(`RCPT TO:<${name}>`), /^250 /)
    }
    await say("DATA")
    assert.match(await say("From: a@x.test\r\n\r\nx\r\n."), /^250 /)
    assert.strictEqual(await objects(), before + 1)
  })

  it("ends a mail at CRLF.CRLF only: what looks like its end does not smuggle in another", async () => {
    const ends = ["\n.\n", "\n.\r\n", "\r.\r", "\r\n.\n", "\r\n.\r", "\r\r\n.\r\r\n", "\0\r\n.\0\r\n"]
    for (const end of ends) {
      const before = await objects()
      const { say, socket } = await talkToData(world.port, CONVERT)
      const second = `MAIL FROM:<evil@x.test>\r\nRCPT TO:<${CONVERT}>\r\nDATA\r\nFrom: evil@x.test\r\n`
      // In one packet, and in pieces of one byte around what looks like an end.
      socket.write("From: a@x.test\r\n\r\nx")
      for (const byte of end) {
        socket.write(byte)
        await new Promise((resolve) => setImmediate(resolve))
      }
      socket.write(`${end}${second}`)
      assert.match(await say("\r\n."), /^250 .*queued/)
      assert.match(await say("NOOP"), /^250 /, JSON.stringify(end))
      assert.strictEqual(await objects(), before + 1, JSON.stringify(end))
      assert.match(await say("QUIT"), /^221 /)
    }
  })

  it("answers commands that come all at once in their order, and garbage with a refusal and an end", async () => {
    const { answer, socket } = talk(world.port)
    await answer()
    socket.write(
      `EHLO c.test\r\nMAIL FROM:<a@x.test>\r\nRCPT TO:<${CONVERT}>\r\nRCPT TO:<no@x.test>\r\nDATA\r\n`
    )
    const codes: Array<string> = []
    for (let n = 0; n < 5; n++)
      codes.push((await answer()).slice(-200).split(/\r\n/).at(-2)?.slice(0, 3) ?? "")
    assert.deepStrictEqual(codes, ["250", "250", "250", "550", "354"])
    socket.write("From: a@x.test\r\n\r\nx\r\n.\r\nRSET\r\nDATA\r\n")
    assert.match(await answer(), /^250 .*queued/)
    assert.match(await answer(), /^250 /)
    assert.match(await answer(), /^503 /)

    const before = await objects()
    const hostile = [
      Buffer.alloc(1_000_000, "A"),
      Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(20)),
      Buffer.from("\0\xff\x16\x03\x01\r\n".repeat(50), "latin1"),
      Buffer.from("EHLO x\r\nBDAT 5 LAST\r\nhello".repeat(20)),
      Buffer.from(
        `EHLO x\r\n${`MAIL FROM:<${"a".repeat(500)}@x>\r\nRSET\r\n`.repeat(5_000)}${"?\r\n".repeat(20)}`
      )
    ]
    for (const bytes of hostile) {
      const client = talk(world.port)
      await client.answer()
      client.socket.write(bytes)
      client.socket.end()
      assert.notMatch(await client.closed, /^250 .*queued|^354/m)
    }
    assert.strictEqual(await objects(), before)
    assert.match(await world.send({ from: "a@x.test", text: "x" }), /^250 /)
  })

  it("keeps nothing of a mail whose client goes away", async () => {
    const before = await objects()
    const { closed, socket } = await talkToData(world.port, CONVERT)
    socket.write("From: a@x.test\r\n\r\nhalf a line")
    socket.destroySoon()
    await closed
    assert.match(await world.send({ from: "a@x.test", text: "x" }), /^250 /)
    assert.strictEqual(await objects(), before + 1)
  })
})
