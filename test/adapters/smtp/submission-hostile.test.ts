import { afterAll, afterEach, assert, beforeAll, describe, it, vi } from "vitest"

import { MAX_OF_STRANGER } from "../../../src/adapters/smtp/connections.ts"
import { hangUp, talk } from "../../support/processes/smtp-talk.ts"
import { plain, startSubmission, type SubmissionWorld } from "../../support/worlds/submission-world.ts"

afterEach(hangUp)

describe("hostile clients of SMTP submission (FRONT-7)", () => {
  let world: SubmissionWorld
  beforeAll(async () => {
    world = await startSubmission()
  })
  afterAll(() => world.stop())

  const count = async () => (await world.rows()).length
  const toData = async () => {
    const client = talk(world.port)
    await client.answer()
    for (const line of [
      "EHLO c.test",
      `AUTH PLAIN ${plain(world.token)}`,
      "MAIL FROM:<a@x.test>",
      "RCPT TO:<ann@y.test>",
      "DATA"
    ])
      assert.match(await client.say(line), /^(?:235|250|354)/, line)
    return client
  }
  const goesOn = async () => assert.match(await world.send({ to: "ann@y.test", text: "t" }), /^250 /)

  it("queues nothing of a mail whose client goes away", async () => {
    const before = await count()
    const { closed, socket } = await toData()
    socket.write("From: a@x.test\r\nSubject: s\r\n\r\nhalf a line")
    socket.destroySoon()
    await closed
    await goesOn()
    assert.strictEqual(await count(), before + 1)
  })

  it("ends a mail at CRLF.CRLF only: what looks like its end does not smuggle in another", async () => {
    for (const end of ["\n.\n", "\n.\r\n", "\r.\r", "\r\n.\n", "\r\n.\r", "\r\r\n.\r\r\n", "\0\r\n.\0\r\n"]) {
      const before = await count()
      const { say, socket } = await toData()
      socket.write(
        `From: a@x.test\r\n\r\nx${end}MAIL FROM:<evil@x.test>\r\nRCPT TO:<eve@y.test>\r\nDATA\r\nFrom: evil@x.test\r\n`
      )
      assert.match(await say("\r\n."), /^250 2\.0\.0 queued/)
      assert.match(await say("NOOP"), /^250 /, JSON.stringify(end))
      const rows = await world.rows()
      assert.strictEqual(rows.length, before + 1, JSON.stringify(end))
      assert.deepStrictEqual(rows.at(-1)!.request["to"], ["ann@y.test"])
    }
  })

  it("reads 40 MB of dots to their end without a turn for each, and refuses them", async () => {
    const before = await count()
    const turns = vi.spyOn(globalThis, "setImmediate")
    try {
      const { say, socket } = await toData()
      const lines = Buffer.from("..\r\n".repeat(16_384))
      socket.write("From: a@x.test\r\n\r\n")
      for (let sent = 0; sent < 40 * 1024 * 1024; sent += lines.length) {
        if (!socket.write(lines)) await new Promise((resolve) => socket.once("drain", resolve))
      }
      assert.match(await say("."), /^552 5\.3\.4 /)
      assert.isBelow(turns.mock.calls.length, 20_000)
    } finally {
      turns.mockRestore()
    }
    assert.strictEqual(await count(), before)
    await goesOn()
  })

  it("reads what is no mail, or costs more than one, apart from itself: 554, and the next one is taken", async () => {
    const nested = Array.from(
      { length: 200 },
      (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`
    )
    for (const [text, answer] of [
      [nested.join(""), /^554 5\.6\.0 /],
      [`From: a@x.test\r\n${"X: y\r\n".repeat(2_000)}\r\nt`, /^554 5\.6\.0 /],
      [`From: a@x.test\r\n\r\n${"--b\r\n".repeat(10_000)}`, /^554 5\.6\.0 /],
      ["Subject: a\0b\r\n\r\nt\0t\ud800", /^250 /],
      // A name that decodes to a line break begins no header.
      [
        "From: =?utf-8?q?A=0D=0ABcc:_eve@y.test?= <a@x.test>\r\nSubject: =?utf-8?q?s=0D=0ABcc:_eve@y.test?=\r\n\r\nt",
        /^250 /
      ]
    ] as const) {
      const { say, socket } = await toData()
      socket.write(text)
      assert.match(await say("\r\n."), answer)
    }
    const [row] = (await world.rows()).slice(-1)
    assert.strictEqual(row!.request["subject"], "s Bcc: eve@y.test")
    assert.strictEqual(row!.request["bcc"], undefined)
    await goesOn()
  })

  it("answers commands that come all at once in their order", async () => {
    const { answer, socket } = talk(world.port)
    await answer()
    socket.write(
      `EHLO c.test\r\nAUTH PLAIN ${plain(world.token)}\r\nMAIL FROM:<a@x.test>\r\nRCPT TO:<ann@y.test>\r\nDATA\r\nSubject: s\r\n\r\nt\r\n.\r\nDATA\r\n`
    )
    const codes: Array<string> = []
    for (let n = 0; n < 7; n++) codes.push((await answer()).split(/\r\n/).at(-2)?.slice(0, 3) ?? "")
    assert.deepStrictEqual(codes, ["250", "235", "250", "250", "354", "250", "503"])
  })
})

describe("strangers at SMTP submission (FRONT-7)", () => {
  it("slows guesses by address, those of a right token, too", async () => {
    const world = await startSubmission()
    try {
      const guess = async (pass: string) => {
        const { answer, say, socket } = talk(world.port)
        await answer()
        await say("EHLO c.test")
        const said = await say(`AUTH PLAIN ${plain(pass)}`)
        socket.destroy()
        return said
      }
      let said = ""
      let tries = 0
      for (; !said.startsWith("454") && tries < 40; tries += 1) said = await guess("guess")
      assert.isAbove(tries, 5)
      assert.match(said, /^454 4\.7\.0 .*Retry in/)
      assert.match(await guess(world.token), /^454 /)
    } finally {
      await world.stop()
    }
  })

  it("gives one address a few connections, and no more than commands on each", async () => {
    const world = await startSubmission({ isPrivate: () => false })
    try {
      for (let n = 0; n < MAX_OF_STRANGER; n++) assert.match(await talk(world.port).answer(), /^220 /)
      assert.match(await talk(world.port).answer(), /^421 /)
      const other = talk(world.port, "127.0.0.2")
      assert.match(await other.answer(), /^220 /)
      for (let n = 0; n < 20; n++) other.socket.write(Buffer.alloc(1_024, "A"))
      await other.closed
    } finally {
      await world.stop()
    }
  })
})
