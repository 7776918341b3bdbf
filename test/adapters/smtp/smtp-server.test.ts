import { Effect, Stream } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { createTransport } from "nodemailer"
import { afterAll, afterEach, assert, beforeAll, describe, it, vi } from "vitest"

import { MAX_CONNECTIONS, MAX_OF_STRANGER } from "../../../src/adapters/smtp/connections.ts"
import { makePeerRate } from "../../../src/adapters/smtp/gate.ts"
import { MAX_MAIL_BYTES } from "../../../src/domain/inbound/incoming-mail.ts"
import { MailObjects } from "../../../src/ports/object-store.ts"
import { numbered } from "../../support/files/pdf-samples.ts"
import { hangUp, talk, talkToData } from "../../support/processes/smtp-talk.ts"
import { CERTIFICATE } from "../../support/vendors/certificate.ts"
import { CONVERT, type IntakeWorld, startIntake } from "../../support/worlds/intake-world.ts"

afterEach(hangUp)

describe("the SMTP server", () => {
  let world: IntakeWorld
  let broken: string | undefined
  beforeAll(async () => {
    world = await startIntake({
      interfere: (port, call) => (port === broken ? Effect.die(new Error("down")) : call)
    })
  })
  afterAll(() => world.stop())

  const objects = () =>
    world.run(MailObjects.use(({ list }) => Stream.runCollect(list("mails/")))).then((found) => found.length)

  /** How many clients the metrics say were too many. */
  const turnedAway = async () => {
    const metrics = await Effect.runPromise(PrometheusMetrics.format())
    return Number(/^postlane_intake_refusals_total\{reason="connections"\} (\d+)$/m.exec(metrics)?.[1] ?? 0)
  }

  it("announces its size limit, and neither a login nor a certificate that it does not have", async () => {
    const { answer, say } = talk(world.port)
    assert.match(await answer(), /^220 in\.test /)
    const features = await say("EHLO client.test")
    assert.match(features, new RegExp(`^250[- ]SIZE ${MAX_MAIL_BYTES}\\r$`, "m"))
    assert.notMatch(features, /AUTH|STARTTLS/)
    assert.match(await say("AUTH PLAIN AGEAYg=="), /^5\d\d /)
  })

  it("takes mail for our two mailboxes only, whatever their case", async () => {
    const { answer, say } = talk(world.port)
    await answer()
    await say("EHLO client.test")
    await say("MAIL FROM:<a@x.test>")
    assert.match(await say("RCPT TO:<someone@legacy.test>"), /^550 /)
    assert.match(await say("RCPT TO:<convert@elsewhere.test>"), /^550 /)
    assert.match(await say("RCPT TO:<Convert@LEGACY.test>"), /^250 /)
    assert.match(await say("RCPT TO:<convert@in.test>"), /^250 /)
  })

  it("takes a quoted mailbox for what it is, and says what this port is for and what it does not offer", async () => {
    const { answer, say } = talk(world.port)
    await answer()
    assert.match(await say("EHLO client.test"), /^250[- ]ENHANCEDSTATUSCODES\r$/m)
    for (const parameter of ["FOO=1", "RET=FULL", "ENVID=a", "AUTH=<>"])
      assert.match(await say(`MAIL FROM:<a@x.test> ${parameter}`), /^555 5\.5\.4 /, parameter)
    assert.match(await say("MAIL FROM:<a@x.test> SIZE=10 BODY=8BITMIME SMTPUTF8"), /^250 /)
    for (const parameter of ["NOTIFY=SUCCESS", "ORCPT=rfc822;a@x.test"])
      assert.match(await say(`RCPT TO:<${CONVERT}> ${parameter}`), /^555 5\.5\.4 /, parameter)
    const unknown = await say('RCPT TO:<"john doe"@legacy.test>')
    assert.match(unknown, new RegExp(`^550 5\\.1\\.1 .*documents for ${CONVERT}`))
    assert.match(await say('RCPT TO:<"convert"@legacy.test>'), /^250 /)
    assert.match(await say('RCPT TO:<"con\\vert"@in.test>'), /^250 /)
    assert.match(await say("RSET"), /^250 /)
    assert.match(await say('MAIL FROM:<"ann"@x.test>'), /^250 /)
  })

  it("I3: refuses a sender or a name that a mail server cannot quote, and takes those that it can", async () => {
    const { answer, say } = talk(world.port)
    await answer()
    await say("EHLO client.test")
    for (const local of [
      "x)smtp.mailfrom=e;dkim=pass(x)header.d=carol.test;spf=none(y",
      "john doe",
      "a=b;c",
      'a\\"b',
      "a\\\\b",
      "(",
      ")"
    ])
      assert.match(await say(`MAIL FROM:<"${local}"@evil.test>`), /^553 5\.1\.7 /, local)
    for (const bare of ["a(b", "a)b", "a;b", 'a"b', "a\\b"])
      assert.match(await say(`MAIL FROM:<${bare}@evil.test>`), /^5\d\d /, bare)
    for (const sender of ["", "prvs=12ab=ann@x.test", "SRS0=a=b=x.test=ann@y.test"]) {
      assert.match(await say(`MAIL FROM:<${sender}>`), /^250 /, sender)
      await say("RSET")
    }
    await say("EHLO x;dkim=pass(y")
    assert.match(await say("MAIL FROM:<a@x.test>"), /^550 5\.7\.1 /)
  })

  it("H1: a mail of lines with dots costs what any other does, and 554 says that it has too many", async () => {
    const turns = vi.spyOn(globalThis, "setImmediate")
    try {
      const { say, socket } = await talkToData(world.port, CONVERT)
      const before = await objects()
      const lines = Buffer.from("..\r\n".repeat(16_384))
      socket.write("From: a@x.test\r\n\r\n")
      for (let sent = 0; sent < 20 * 1024 * 1024; sent += lines.length) {
        if (!socket.write(lines)) await new Promise((resolve) => socket.once("drain", resolve))
      }
      assert.match(await say("."), /^554 5\.6\.0 .*short lines/)
      assert.isBelow(turns.mock.calls.length, 10_000, "no turn for each line")
      assert.strictEqual(await objects(), before)
      assert.match(await say("NOOP"), /^250 /, "the connection goes on")
    } finally {
      turns.mockRestore()
    }
  })

  it("keeps dots as they were, however the mail is cut into packets", async () => {
    const text = "From: a@x.test\r\n\r\n.\r\n..\r\n...x\r\n.y\r\n\n.z\r\n.\r\n"
    const stuffed = text.replaceAll(/^\./gm, "..")
    for (const size of [1, 2, 3, 5, 7, 1_000]) {
      const { say, socket } = await talkToData(world.port, CONVERT)
      for (let at = 0; at < stuffed.length; at += size) {
        socket.write(stuffed.slice(at, at + size))
        await new Promise((resolve) => setImmediate(resolve))
      }
      const id = /queued as (\S+)/.exec(await say("."))?.[1] ?? ""
      const raw = await world.run(
        MailObjects.use(({ get }) => Stream.mkString(Stream.decodeText(get(`mails/${id}/raw.eml`))))
      )
      assert.strictEqual(raw, text, `${size}`)
    }
  })

  it("refuses what is too large: announced, and while it comes", async () => {
    const { answer, say, socket } = talk(world.port)
    await answer()
    await say("EHLO client.test")
    assert.match(await say(`MAIL FROM:<a@x.test> SIZE=${MAX_MAIL_BYTES + 1}`), /^552 /)
    const before = await objects()
    await say("MAIL FROM:<a@x.test>")
    await say(`RCPT TO:<${CONVERT}>`)
    await say("DATA")
    const line = Buffer.from(`${"x".repeat(998)}\r\n`.repeat(1024))
    for (let sent = 0; sent <= MAX_MAIL_BYTES; sent += line.length) {
      if (!socket.write(line)) await new Promise((resolve) => socket.once("drain", resolve))
    }
    assert.match(await say("."), /^552 /)
    assert.strictEqual(await objects(), before)
  })

  it("cuts a client that keeps sending beyond the limit", async () => {
    const { closed, socket } = await talkToData(world.port, CONVERT)
    const line = Buffer.from(`${"x".repeat(998)}\r\n`.repeat(4096))
    while (!socket.destroyed) {
      if (socket.write(line)) continue
      await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), closed])
    }
    assert.notMatch(await closed, /^250 .*queued/m)
  })

  it("says 451 where the mail or its row cannot be kept, and leaves at most what the sweep removes", async () => {
    const before = await objects()
    for (const port of ["objects.put", "store.receive"]) {
      broken = port
      const error: unknown = await world
        .send({ from: "a@x.test", text: "x" })
        .catch((cause: unknown) => cause)
      assert.match(String(error), /451/)
    }
    broken = undefined
    // The answer of a row may be lost, and the row need its object: the sweep removes it where no row leads to it (I4).
    assert.strictEqual(await objects(), before + 1)
    assert.match(await world.send({ from: "a@x.test", text: "x" }), /^250 /)
  })

  it(`serves ${MAX_CONNECTIONS} connections, and tells the next one to come back`, async () => {
    const before = await turnedAway()
    const clients = Array.from({ length: MAX_CONNECTIONS }, () => talk(world.port))
    const greetings = await Promise.all(clients.map(({ answer }) => answer()))
    assert.strictEqual(greetings.filter((line) => line.startsWith("220 ")).length, MAX_CONNECTIONS)
    assert.strictEqual(await turnedAway(), before)
    assert.match(await talk(world.port).answer(), /^421 /)
    assert.match(await talk(world.port).answer(), /^421 /)
    assert.strictEqual(await turnedAway(), before + 2)
    assert.match((await clients[0]?.say("NOOP")) ?? "", /^250 /)

    // H3: an address that holds all places makes room for another one, one for one.
    const other = talk(world.port, "127.0.0.2")
    assert.match(await other.answer(), /^220 /)
    assert.match(await clients[0]!.closed, /421 /)
    assert.match(await clients[1]!.say("NOOP"), /^250 /)
    assert.match(await talk(world.port).answer(), /^421 /, "there are no more places than before")
    assert.match(await other.say("NOOP"), /^250 /)
  })
})

describe("slow clients, certificates and rates", () => {
  it("cuts off a client that is silent or never ends", async () => {
    const world = await startIntake({ smtp: { idleMs: 300, connectionMs: 1_500 } })
    try {
      assert.match(await talk(world.port).closed, /^220 [\s\S]*421 /)
      const { closed, socket } = await talkToData(world.port, CONVERT)
      const drip = setInterval(() => socket.write("x"), 50)
      await closed
      clearInterval(drip)
      assert.deepStrictEqual(await world.sql("select id from intake_mails"), [])
    } finally {
      await world.stop()
    }
  })

  it("offers STARTTLS where there is a certificate", async () => {
    const world = await startIntake({ smtp: { certificate: CERTIFICATE } })
    try {
      const client = createTransport({
        host: "127.0.0.1",
        port: world.port,
        requireTLS: true,
        tls: { rejectUnauthorized: false }
      })
      const { response } = await client.sendMail({ from: "a@x.test", to: CONVERT, text: "x" })
      client.close()
      assert.match(response, /^250 /)
      // What was said before the handshake does not count after it (CVE-2011-0411).
      const { answer, closed, say, socket } = talk(world.port)
      await answer()
      assert.match(await say("EHLO client.test"), /^250[- ]STARTTLS\r$/m)
      socket.write(`STARTTLS\r\nMAIL FROM:<evil@x.test>\r\nRCPT TO:<${CONVERT}>\r\nDATA\r\nx\r\n.\r\n`)
      socket.end()
      assert.notMatch(await closed, /^354|queued/m)
      assert.lengthOf(await world.sql("select id from intake_mails"), 1)
    } finally {
      await world.stop()
    }
  })

  it("H3: a stranger has a few connections, tries and bytes, and takes none of another's", async () => {
    const world = await startIntake({
      rules: { trustedHops: [], trustsLoopback: false }
    })
    const begin = async (address: string) => {
      const client = talk(world.port, address)
      assert.match(await client.answer(), /^220 /)
      await client.say("EHLO stranger.test")
      return client
    }
    try {
      const held = await Promise.all(Array.from({ length: MAX_OF_STRANGER }, () => begin("127.0.0.2")))
      assert.match(await talk(world.port, "127.0.0.2").answer(), /^421 /)
      const chatty = await begin("127.0.0.3")
      chatty.socket.write("NOOP\r\n".repeat(100_000))
      await chatty.closed
      const eager = await begin("127.0.0.4")
      for (let n = 0; n < 20; n++) assert.match(await eager.say("MAIL FROM:<a@x.test>"), /^550 /)
      assert.match(await eager.say("MAIL FROM:<a@x.test>"), /^421 /)
      assert.match(await talk(world.port, "127.0.0.4").answer(), /^421 /)
      assert.match(await held[0]!.say("MAIL FROM:<a@x.test>"), /^550 /)
      await begin("127.0.0.5")
      assert.deepStrictEqual(await world.sql("select id from intake_mails"), [])
    } finally {
      hangUp()
      await world.stop()
    }
  })

  it("a peer has a number of tries an hour, and another one its own", () => {
    let now = 0
    const { isOver, take } = makePeerRate(3, () => now)
    assert.deepStrictEqual(
      [1, 2, 3, 4].map(() => take("198.51.100.1")),
      [true, true, true, false]
    )
    assert.isTrue(isOver("198.51.100.1"))
    assert.isFalse(isOver("198.51.100.2"))
    assert.isTrue(take("198.51.100.2"))
    now = 3_600_000
    assert.isFalse(isOver("198.51.100.1"))
    assert.isTrue(take("198.51.100.1"))
    for (let n = 0; n < 30_000; n++) take(`${n}`)
    assert.isTrue(take("new"))
  })
})

describe("I3: only a verified sender is converted for", () => {
  it("by the topmost word of a trusted hop, and of nobody else", async () => {
    const world = await startIntake({ rules: { trustedHops: ["mx.hop.test"], trustsLoopback: false } })
    try {
      const id = await world.customer("ann@reader.test", { credits: 50 })
      const attachments = [{ filename: "a.pdf", content: numbered(1) }]
      const results = (...values: ReadonlyArray<string>) =>
        values.map((value) => ({ key: "Authentication-Results", value }))
      const cases: ReadonlyArray<readonly [string, ReturnType<typeof results>]> = [
        ["unverified", []],
        ["unverified", results("evil.test; dmarc=pass header.from=reader.test")],
        ["unverified", results("mx.hop.test; dmarc=fail header.from=reader.test")],
        ["unverified", results("mx.hop.test; spf=pass smtp.mailfrom=reader.test; dkim=pass")],
        ["unverified", results("mx.hop.test; dmarc=pass header.from=evil.test")],
        ["unverified", results("mx.hop.test; dmarc=fail", "mx.hop.test; dmarc=pass header.from=reader.test")],
        ["unverified", results("mx.hop.test.evil.test; dmarc=pass header.from=reader.test")],
        ["unverified", results('mx.hop.test; x=y reason="; dmarc=pass"')],
        [
          "success",
          results(
            "evil.test; dmarc=fail",
            "mx.hop.test (x); spf=fail; dmarc=pass (p=reject) header.from=Reader.test"
          )
        ],
        ["success", results("mx.hop.test 1; dmarc=pass header.from=reader.test", "mx.hop.test; dmarc=fail")],
        ["unverified", results("in.mx.hop.test; dmarc=pass header.from=reader.test")],
        // The hop's own that cannot be read is not skipped for what stands below it.
        ...["mx.hop.test; dmarc=fail (", `mx.hop.test; ${"x".repeat(9_000)}`, "mx.hop.test; dmarc"].map(
          (broken) =>
            ["unverified", results(broken, "mx.hop.test; dmarc=pass header.from=reader.test")] as const
        ),
        [
          "success",
          results("mx.hop.test; dmarc=none header.from=reader.test; dkim=pass header.d=reader.test")
        ],
        ["unverified", results("mx.hop.test; dmarc=none; dkim=pass header.d=evil.test; spf=pass")]
      ]
      for (const [at, [outcome, headers]] of cases.entries()) {
        await world.send({ from: "ann@reader.test", subject: `${at}`, attachments, headers })
        await world.drain()
        const [row] = await world.sql("select outcome from intake_mails order by received_at desc limit 1")
        assert.deepStrictEqual(row, { outcome }, JSON.stringify(headers))
      }
      assert.strictEqual((await world.funds(id)).charges, 3)
      assert.lengthOf(await world.copies(), 6)
    } finally {
      await world.stop()
    }
  })
})
