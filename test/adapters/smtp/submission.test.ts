import { randomUUID } from "node:crypto"

import { Effect } from "effect"
import { createTransport } from "nodemailer"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"

import { StoreUnavailable } from "../../../src/ports/store-unavailable.ts"
import { hangUp, talk } from "../../support/processes/smtp-talk.ts"
import { CERTIFICATE } from "../../support/vendors/certificate.ts"
import { plain, startSubmission, type SubmissionWorld } from "../../support/worlds/submission-world.ts"

afterEach(hangUp)

describe("SMTP submission", () => {
  let world: SubmissionWorld
  let isAway = false
  beforeAll(async () => {
    world = await startSubmission({
      interfere: (call) =>
        isAway
          ? Effect.fail(new StoreUnavailable({ operation: "enqueue", reason: "away", isRetryable: true }))
          : call
    })
  })
  afterAll(() => world.stop())

  /** The requests that a piece of a test has queued. */
  const queuedBy = async (work: () => Promise<unknown>) => {
    const before = new Set((await world.rows()).map(({ id }) => id))
    await work()
    return (await world.rows()).filter(({ id }) => !before.has(id))
  }
  const id = () => `<${randomUUID()}@client.test>`

  it("queues a mail, and says as what (FRONT-3, FRONT-4)", async () => {
    let answer = ""
    const [row, ...more] = await queuedBy(async () => {
      answer = await world.send({
        from: { name: "Shop, Ltd.", address: "shop@x.test" },
        to: ["Ann <ann@y.test>", "bob@y.test"],
        cc: "carl@y.test",
        bcc: "dora@y.test",
        replyTo: "help@x.test",
        subject: "Grüße",
        text: "Hallo",
        html: '<p>Hallo <img src="cid:logo@x"></p>',
        headers: { "List-Unsubscribe": "<https://x.test/u>", "X-Order": "17" },
        messageId: "<m1@client.test>",
        attachments: [
          { filename: "r.txt", content: "receipt" },
          { filename: "logo.png", content: Buffer.from([1, 2, 3]), cid: "logo@x", contentType: "image/png" }
        ]
      })
    })
    assert.deepStrictEqual(more, [])
    assert.strictEqual(answer, `250 2.0.0 queued as ${row!.id}`)
    assert.include(row!.idempotency_key, "<m1@client.test>")
    const { idempotencyKey: _, headers, ...request } = row!.request
    assert.deepInclude(headers, { "List-Unsubscribe": "<https://x.test/u>", "X-Order": "17" })
    assert.notProperty(headers, "Date")
    assert.deepStrictEqual(request, {
      from: '"Shop, Ltd." <shop@x.test>',
      to: ["Ann <ann@y.test>", "bob@y.test"],
      cc: ["carl@y.test"],
      bcc: ["dora@y.test"],
      replyTo: ["help@x.test"],
      subject: "Grüße",
      text: "Hallo\n",
      html: '<p>Hallo <img src="cid:logo@x"></p>\n',
      category: "transactional",
      source: "smtp:shop",
      attachments: [
        { filename: "logo.png", contentType: "image/png", content: "AQID", contentId: "logo@x" },
        { filename: "r.txt", contentType: "text/plain", content: Buffer.from("receipt").toString("base64") }
      ]
    })
  })

  it("queues a mail once, however often its client sends it, and refuses other content under its Message-ID (FRONT-6)", async () => {
    const messageId = id()
    const mail = { to: "ann@y.test", subject: "s", text: "t", messageId }
    const rows = await queuedBy(async () => {
      const [first, ...again] = await Promise.all([world.send(mail), world.send(mail), world.send(mail)])
      for (const answer of [...again, await world.send({ ...mail, date: new Date(0) })])
        assert.strictEqual(answer, first)
      assert.match(await world.send({ ...mail, text: "other" }), /^554 .*IDEMPOTENCY_CONFLICT/)
    })
    assert.strictEqual(rows.length, 1)
    const other = await world.make({ name: "other" })
    const others = await queuedBy(() => world.send(mail, other.text))
    assert.strictEqual(others.length, 1, "the key is the token's")
    // A mail server hands over one mail in parts, by domain.
    const parts = await queuedBy(() =>
      world.send({ ...mail, envelope: { from: "s@x.test", to: ["bob@z.test"] } })
    )
    assert.deepStrictEqual(
      parts.map(({ request }) => request["to"]),
      [["bob@z.test"]]
    )
  })

  it("queues a mail once where its client lost the answer", async () => {
    const mail = `From: shop@x.test\r\nTo: ann@y.test\r\nMessage-ID: ${id()}\r\nSubject: s\r\n\r\nt\r\n.\r\n`
    const begin = async () => {
      const client = talk(world.port)
      await client.answer()
      for (const line of [
        "EHLO c.test",
        `AUTH PLAIN ${plain(world.token)}`,
        "MAIL FROM:<shop@x.test>",
        "RCPT TO:<ann@y.test>",
        "DATA"
      ])
        assert.match(await client.say(line), /^(?:250|235|354)/, line)
      return client
    }
    const rows = await queuedBy(async () => {
      const lost = await begin()
      lost.socket.write(mail)
      lost.socket.resetAndDestroy()
      // The same mail may be under way still.
      const { answer, socket } = await begin()
      socket.write(mail)
      assert.match(await answer(), /^250 2\.0\.0 queued as /)
    })
    assert.strictEqual(rows.length, 1)
  })

  it("makes a key where there is no Message-ID: sent again, it is another mail", async () => {
    const raw = "From: shop@x.test\r\nTo: ann@y.test\r\nSubject: s\r\n\r\nt\r\n"
    const envelope = { from: "shop@x.test", to: "ann@y.test" }
    const rows = await queuedBy(async () => {
      for (let n = 0; n < 2; n++) assert.match(await world.send({ raw, envelope }), /^250 /)
    })
    assert.strictEqual(rows.length, 2)
  })

  it("mails the recipients of the envelope and nobody else (FRONT-5)", async () => {
    const one = async (to: ReadonlyArray<string>, header: object) =>
      (
        await queuedBy(async () =>
          assert.match(
            await world.send({
              subject: "s",
              text: "t",
              ...header,
              envelope: { from: "shop@x.test", to: [...to] }
            }),
            /^250 /
          )
        )
      ).map(({ request: { bcc, cc, to: named } }) => ({ to: named, cc, bcc }))
    const named = { to: "Ann <ann@y.test>, bob@z.test", cc: "carl@y.test" }
    assert.deepStrictEqual(await one(["ann@y.test", "hidden@y.test", "CARL@y.test"], named), [
      { to: ["Ann <ann@y.test>"], cc: ["carl@y.test"], bcc: ["hidden@y.test"] }
    ])
    assert.deepStrictEqual(await one(["carl@y.test", "hidden@y.test"], named), [
      { to: ["carl@y.test"], cc: undefined, bcc: ["hidden@y.test"] }
    ])
    // None of them sees another.
    const blind = await one(["eve@y.test", "finn@y.test"], {})
    assert.sameDeepMembers(blind, [
      { to: ["eve@y.test"], cc: undefined, bcc: undefined },
      { to: ["finn@y.test"], cc: undefined, bcc: undefined }
    ])
  })

  it("takes category and time from the header, the category else from the token (FRONT-4)", async () => {
    const mail = { to: "ann@y.test", text: "t" }
    const at = new Date(Date.now() + 3_600_000).toISOString()
    const bound = await world.make({ name: "bound", categories: ["notification", "auth"] })
    const rows = await queuedBy(async () => {
      const headers = {
        "X-Postlane-Category": "marketing",
        "X-Postlane-List": "weekly",
        "X-Postlane-Send-At": at
      }
      assert.match(await world.send({ ...mail, headers }), /^250 /)
      assert.match(await world.send(mail, bound.text), /^250 /)
      assert.match(
        await world.send({ ...mail, headers: { "X-Postlane-Category": "auth" } }, bound.text),
        /^250 /
      )
    })
    assert.deepStrictEqual(
      rows.map(({ category, request: { list, source, subject } }) => [category, source, subject, list]),
      [
        ["marketing", "smtp:shop", "(no subject)", "weekly"],
        ["notification", "smtp:bound", "(no subject)", undefined],
        ["auth", "smtp:bound", "(no subject)", undefined]
      ]
    )
    assert.strictEqual(rows[0]!.send_at.toISOString(), at)
    assert.notProperty(rows[0]!.request["headers"], "X-Postlane-Category")
    for (const [headers, answer] of [
      [{ "X-Postlane-List": "weekly" }, /^550 5\.6\.0 .*list/i],
      [{ "X-Postlane-Category": "news" }, /^550 5\.6\.0 X-Postlane-Category/],
      [{ "X-Postlane-Send-At": "tomorrow" }, /^550 5\.6\.0 X-Postlane-Send-At/],
      [
        { "X-Postlane-Send-At": "2099-01-01T00:00:00Z" },
        /^550 5\.6\.0 X-Postlane-Send-At: is more than 30 days/
      ]
    ] as const)
      assert.match(await world.send({ ...mail, headers }), answer)
    assert.match(
      await world.send({ ...mail, headers: { "X-Postlane-Category": "alert" } }, bound.text),
      /^550 5\.7\.1 category/
    )
  })

  it("refuses what the token does not allow, and more than its rate", async () => {
    const mail = { to: "ann@y.test", text: "t" }
    const bound = await world.make({ name: "bound", from: ["@x.test"], ratePerMinute: 1 })
    const rows = await queuedBy(async () => {
      assert.match(await world.send({ ...mail, from: "a@y.test" }, bound.text), /^550 5\.7\.1 from/)
      assert.match(await world.send({ ...mail, from: "a@x.test" }, bound.text), /^250 /)
      assert.match(
        await world.send({ ...mail, from: "a@x.test" }, bound.text),
        /^451 4\.7\.1 .*1 mails a minute/
      )
    })
    assert.strictEqual(rows.length, 1)
  })

  it("refuses a mail whose recipients are all suppressed, and takes it for the rest otherwise (FRONT-5)", async () => {
    await world.suppress("gone@y.test")
    await world.suppress("away@y.test")
    const mail = { subject: "s", text: "t" }
    const rows = await queuedBy(async () => {
      assert.match(
        await world.send({ ...mail, to: "gone@y.test", bcc: "away@y.test" }),
        /^550 5\.7\.1 Recipient suppressed: hard bounce/
      )
      assert.match(await world.send({ ...mail, to: ["gone@y.test", "ann@y.test"] }), /^250 /)
      assert.match(
        await world.send({ ...mail, to: "gone@y.test", cc: "ann@y.test", bcc: "away@y.test" }),
        /^250 /
      )
    })
    assert.deepStrictEqual(
      rows.map(({ request: { bcc, cc, to } }) => [to, cc, bcc]),
      [
        [["gone@y.test", "ann@y.test"], undefined, undefined],
        [["ann@y.test"], undefined, undefined]
      ]
    )
  })

  it("answers 451 while the mail cannot be queued, and never 250 without a row", async () => {
    isAway = true
    const rows = await queuedBy(async () =>
      assert.match(await world.send({ to: "ann@y.test", text: "t" }), /^451 4\.3\.0 /)
    )
    isAway = false
    assert.strictEqual(rows.length, 0)
  })

  it("takes a token by PLAIN and by LOGIN, with any user name, until it is revoked; no relaying (FRONT-3)", async () => {
    const { id: tokenId, text } = await world.make({ name: "short" })
    const { answer, say } = talk(world.port)
    await answer()
    const features = await say("EHLO c.test")
    assert.match(features, /^250[- ]AUTH PLAIN LOGIN\r$/m)
    assert.match(features, /^250[- ]SIZE 1048576\r$/m)
    assert.match(await say("MAIL FROM:<a@x.test>"), /^530 5\.7\.0 .*sender token/)
    assert.match(await say(`AUTH PLAIN ${plain("guess")}`), /^535 5\.7\.8 /)
    assert.match(await say("AUTH LOGIN"), /^334 /)
    assert.match(await say(Buffer.from("anybody").toString("base64")), /^334 /)
    assert.match(await say(Buffer.from(text).toString("base64")), /^235 /)
    assert.match(await say("MAIL FROM:<a@x.test> SIZE=100 AUTH=<>"), /^250 /)
    assert.match(await say("RCPT TO:<ann@y.test>"), /^250 /)
    assert.match(await say("RCPT TO:<no address>"), /^5\d\d /)
    await world.revoke(tokenId)
    assert.match(await say("DATA"), /^354 /)
    assert.match(await say("Subject: s\r\n\r\nt\r\n."), /^535 5\.7\.8 /)
  })

  it("takes 50 recipients, and asks for the rest in another mail", async () => {
    const { answer, say } = talk(world.port)
    await answer()
    await say("EHLO c.test")
    await say(`AUTH PLAIN ${plain(world.token)}`)
    await say("MAIL FROM:<a@x.test>")
    for (let n = 0; n < 50; n++) assert.match(await say(`RCPT TO:<a${n}@y.test>`), /^250 /)
    assert.match(await say("RCPT TO:<one-more@y.test>"), /^452 4\.5\.3 /)
  })

  it("refuses a mail that is too large, by what MAIL announces and by what comes", async () => {
    const content = Buffer.alloc(900_000, 7)
    const mail = { to: "ann@y.test", text: "t" }
    assert.match(await world.send({ ...mail, attachments: [{ filename: "a.bin", content }] }), /^552 /)
    const raw = `From: a@x.test\r\n\r\n${"x".repeat(990)}\r\n`.padEnd(2_000_000, `${"y".repeat(990)}\r\n`)
    const { answer, say, socket } = talk(world.port)
    await answer()
    for (const line of [
      "EHLO c.test",
      `AUTH PLAIN ${plain(world.token)}`,
      "MAIL FROM:<a@x.test>",
      "RCPT TO:<ann@y.test>",
      "DATA"
    ])
      await say(line)
    socket.write(raw)
    assert.match(await say("\r\n."), /^552 5\.3\.4 /)
    assert.match(await say("NOOP"), /^250 /)
  })
})

describe("TLS of SMTP submission", () => {
  const isPrivate = () => false

  it("takes no token in clear from another machine, and forgets what came before STARTTLS (FRONT-3)", async () => {
    const world = await startSubmission({ certificate: CERTIFICATE, isPrivate })
    try {
      const { answer, closed, say, socket } = talk(world.port)
      await answer()
      const features = await say("EHLO c.test")
      assert.match(features, /STARTTLS/)
      assert.notMatch(features, /AUTH/)
      assert.match(await say(`AUTH PLAIN ${plain(world.token)}`), /^5\d\d /)
      assert.match(await say("MAIL FROM:<a@x.test>"), /^530 5\.7\.0 .*STARTTLS/)
      // Commands behind STARTTLS in one packet are not carried out within TLS.
      socket.write(`STARTTLS\r\nAUTH PLAIN ${plain(world.token)}\r\nMAIL FROM:<a@x.test>\r\n`)
      assert.match(await answer(), /^220 /)
      socket.end()
      assert.notMatch(await closed, /^(?:235|250)/m)
      assert.match(await world.send({ to: "ann@y.test", text: "t" }), /^250 2\.0\.0 queued/)
    } finally {
      await world.stop()
    }
  })

  it("speaks TLS from the first byte on where it is implicit", async () => {
    const world = await startSubmission({ certificate: CERTIFICATE, implicitTls: true, isPrivate })
    try {
      assert.match(await world.send({ to: "ann@y.test", text: "t" }), /^250 2\.0\.0 queued/)
      const clear = createTransport({
        host: "127.0.0.1",
        port: world.port,
        ignoreTLS: true,
        greetingTimeout: 1_000
      })
      const refused = await clear
        .sendMail({ from: "a@x.test", to: "b@x.test", text: "t" })
        .catch((cause: Error) => cause)
      assert.instanceOf(refused, Error)
      clear.close()
    } finally {
      await world.stop()
    }
  })

  it("takes no mail at all from another machine without a certificate", async () => {
    const world = await startSubmission({ isPrivate })
    try {
      assert.notMatch(await world.send({ to: "ann@y.test", text: "t" }), /^250/)
      assert.strictEqual((await world.rows()).length, 0)
    } finally {
      await world.stop()
    }
  })
})
