import { randomBytes } from "node:crypto"

import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"

import { returnMessageId, returnPath, returnToken } from "../../../src/domain/mail/return-address.ts"
import { anyId } from "../../support/any-id.ts"
import { deliveryReport } from "../../support/files/delivery-reports.ts"
import { hangUp, talk } from "../../support/processes/smtp-talk.ts"
import { type IntakeWorld, startIntake } from "../../support/worlds/intake-world.ts"

afterEach(hangUp)

const ADDRESS = { local: "bounce", domain: "in.test" }

interface Row {
  readonly status: string
  readonly error: string | null
  readonly events: number
}

describe("delivery reports over the wire (RETURN-1 to RETURN-6)", () => {
  let world: IntakeWorld
  beforeAll(async () => {
    world = await startIntake({ bounceAddress: ADDRESS })
  })
  afterAll(() => world.stop())

  /** A mail that left through the relay: its tag, and the id of its row. */
  const sent = async (to: ReadonlyArray<string>, outcome: "sent" | "deferred" = "sent") => {
    const tag = anyId(randomBytes(32).toString("hex")) as Parameters<typeof returnToken>[0]
    const [row] = await world.sql<{ readonly id: string }>(
      `insert into email_log (category, source, from_address, to_addresses, recipient_count, subject, outcome, status, provider,
        provider_message_id, key_hash, key_tag)
        values ('transactional', 'api:test', 'a@s.test', string_to_array($1, ','), $2::integer, 'Hi', $3, $3, 'smtp', nullif($4, ''), $5, $5)
        returning id`,
      [to.join(","), String(to.length), outcome, outcome === "sent" ? returnMessageId(ADDRESS, tag) : "", tag]
    )
    return { tag, id: row!.id, path: returnPath(ADDRESS, tag) }
  }
  const rowOf = async (id: string): Promise<Row | undefined> =>
    (
      await world.sql<Row>(
        `select status, error, (select count(*)::integer from email_events e where e.send_id = l.id) as events
          from email_log l where id = $1::uuid`,
        [id]
      )
    )[0]
  const suppressed = async (email: string) =>
    (await world.sql(`select from email_suppressions where email = $1`, [email])).length > 0

  /** What a server hears that hands this over. */
  const report = async (to: string, raw: string): Promise<string> => {
    const { answer, say, socket } = talk(world.port)
    await answer()
    await say("EHLO relay.test")
    await say("MAIL FROM:<>")
    const named = await say(`RCPT TO:<${to}>`)
    if (!named.startsWith("250")) return named
    await say("DATA")
    socket.write(raw.replaceAll(/^\./gm, ".."))
    return say("\r\n.")
  }

  it("a bounce moves the row, suppresses its recipient and raises one alert, however often it comes (A1, L3)", async () => {
    const { id, path } = await sent(["gone@x.test"])
    const raw = deliveryReport({
      recipients: [{ recipient: "gone@x.test", at: "Sun, 29 Nov 2026 10:00:00 +0000 (UTC)" }]
    })
    for (let turn = 0; turn < 3; turn += 1)
      assert.match(await report(turn === 1 ? path.toUpperCase() : path, raw), /^250 2\.0\.0 /)
    assert.deepStrictEqual(await rowOf(id), {
      status: "bounced",
      error: "5.1.1: 550 5.1.1 no such user",
      events: 1
    })
    assert.isTrue(await suppressed("gone@x.test"))
    assert.strictEqual(world.alerts.filter(({ sendId }) => sendId === id).length, 1)
  })

  it("a delay, then a delivery: forward only, and no one is suppressed (L2)", async () => {
    const { id, path } = await sent(["slow@x.test"])
    const of = (action: string, status: string, at: string) =>
      report(path, deliveryReport({ recipients: [{ recipient: "slow@x.test", action, status, at }] }))
    await of("delayed", "4.4.1", "Sun, 29 Nov 2026 10:00:00 +0000")
    assert.strictEqual((await rowOf(id))?.status, "delivery_delayed")
    await of("delivered", "2.0.0", "Sun, 29 Nov 2026 11:00:00 +0000")
    await of("delayed", "4.4.1", "Sun, 29 Nov 2026 10:30:00 +0000")
    assert.strictEqual((await rowOf(id))?.status, "delivered")
    assert.isFalse(await suppressed("slow@x.test"))
  })

  it("a refusal by policy bounces and suppresses nobody; one that was tried for long is not delivered", async () => {
    const [policy, long] = [await sent(["policy@x.test"]), await sent(["long@x.test"])]
    await report(
      policy.path,
      deliveryReport({ recipients: [{ recipient: "policy@x.test", status: "5.7.1" }] })
    )
    await report(long.path, deliveryReport({ recipients: [{ recipient: "long@x.test", status: "4.4.7" }] }))
    assert.strictEqual((await rowOf(policy.id))?.status, "bounced")
    assert.isFalse(await suppressed("policy@x.test"))
    assert.deepInclude(await rowOf(long.id), { status: "sent", events: 1 })
  })

  it("a mail that its reader complained of stays so", async () => {
    const { id, path } = await sent(["angry@x.test"])
    await world.sql(`update email_log set status = 'complained' where id = $1::uuid`, [id])
    await report(path, deliveryReport({ recipients: [{ recipient: "angry@x.test" }] }))
    assert.strictEqual((await rowOf(id))?.status, "complained")
  })

  it("a report about a deferred mail is evidence: its row is sent, or further", async () => {
    const { id, path } = await sent(["lost@x.test"], "deferred")
    await report(
      path,
      deliveryReport({ recipients: [{ recipient: "lost@x.test", action: "relayed", status: "2.0.0" }] })
    )
    assert.deepInclude(await rowOf(id), { status: "sent", events: 1 })
  })

  it("a queued mail whose answer was lost is known by its request", async () => {
    const tag = randomBytes(32).toString("hex")
    await world.sql(
      `with q as (select enqueue_email(jsonb_build_object('to', 'Queued <queued@x.test>', 'subject', 's', 'text', 't',
        'category', 'transactional', 'source', 'api:q', 'idempotencyKey', $1::text)) as id)
        insert into email_send_claims (key_hash, payload_hash, state, provider, ambiguous, owner, first_attempt_at, tag)
        select encode(sha256(convert_to($1::text, 'UTF8')), 'hex'), 'p', 'deferred', 'smtp', true, q.id::text, now(), $1::text from q`,
      [tag]
    )
    const keyTag = anyId(tag) as Parameters<typeof returnToken>[0]
    const path = returnPath(ADDRESS, keyTag)
    const of = (recipient: string) =>
      report(path, deliveryReport({ recipients: [{ recipient, action: "delivered", status: "2.0.0" }] }))
    assert.match(await of("stranger@x.test"), /^250 /)
    const rows = () =>
      world.sql(`select from email_log where provider_message_id = $1`, [returnMessageId(ADDRESS, keyTag)])
    assert.lengthOf(await rows(), 0)
    assert.match(await of("queued@x.test"), /^250 /)
    assert.lengthOf(await rows(), 1)
  })

  it("one that comes before its row is asked to come again, one of an unknown token never", async () => {
    const tag = anyId(randomBytes(32).toString("hex")) as Parameters<typeof returnToken>[0]
    const raw = deliveryReport({ recipients: [{ recipient: "early@x.test" }] })
    assert.match(await report(returnPath(ADDRESS, tag), raw), /^250 /)
    await world.sql(
      `insert into email_send_claims (key_hash, payload_hash, state, provider, ambiguous, owner, first_attempt_at, tag)
        values ($1, 'p', 'held', 'smtp', false, 'o', now(), $1)`,
      [tag]
    )
    assert.match(await report(returnPath(ADDRESS, tag), raw), /^451 4\.3\.0 /)
  })

  it("without the address of its own: by envelope id, or by the token in the returned header of that very mail (RETURN-3)", async () => {
    for (const place of ["envelope", "header"] as const) {
      const { id, tag } = await sent([`${place}@x.test`])
      const returned = `Message-ID: <${returnMessageId(ADDRESS, tag)}>\r\nX-Postlane-Return: ${returnToken(tag)}\r\n`
      const raw = deliveryReport({
        recipients: [{ recipient: `${place}@x.test` }],
        ...(place === "envelope" ? { envelopeId: returnToken(tag) } : { returned })
      })
      assert.match(await report("bounce@in.test", raw), /^250 /)
      assert.strictEqual((await rowOf(id))?.status, "bounced", place)
    }
  })

  describe("hostile", () => {
    const untouched = async (to: string, raw: string, { id }: { readonly id: string }, why?: string) => {
      assert.match(await report(to, raw), /^[25]\d\d /)
      assert.deepInclude(await rowOf(id), { status: "sent", events: 0 }, why)
    }

    it("the Message-ID alone proves nothing, nor does a token that was guessed from it", async () => {
      const mail = await sent(["victim@x.test"])
      const recipients = [{ recipient: "victim@x.test" }]
      const returned = `Message-ID: <${returnMessageId(ADDRESS, mail.tag)}>\r\n`
      await untouched("bounce@in.test", deliveryReport({ recipients, returned }), mail)
      const guess = anyId(mail.tag.slice(0, 32) + "0".repeat(32)) as typeof mail.tag
      await untouched(returnPath(ADDRESS, guess), deliveryReport({ recipients }), mail)
      const other = await sent(["other@x.test"])
      const forged = `${returned}X-Postlane-Return: ${returnToken(other.tag)}\r\n`
      await untouched("bounce@in.test", deliveryReport({ recipients, returned: forged }), mail)
      assert.isFalse(await suppressed("victim@x.test"))
    })

    it("a report that names somebody else suppresses nobody", async () => {
      const mail = await sent(["ann@x.test"])
      await untouched(mail.path, deliveryReport({ recipients: [{ recipient: "boss@x.test" }] }), mail)
      assert.isFalse(await suppressed("boss@x.test"))
      // An alias behind the recipient is its recipient's, by what the relay repeats.
      await report(
        mail.path,
        deliveryReport({ recipients: [{ recipient: "inner@y.test", original: "ann@x.test" }] })
      )
      assert.strictEqual((await rowOf(mail.id))?.status, "bounced")
      assert.isFalse(await suppressed("inner@y.test"))
    })

    it("what is no whole report changes nothing: a reply, another type, half a report, a report in an attachment", async () => {
      const mail = await sent(["whole@x.test"])
      const good = deliveryReport({ recipients: [{ recipient: "whole@x.test" }] })
      for (const raw of [
        "Subject: Out of office\r\n\r\nI am away.\r\n",
        "",
        good.slice(0, good.indexOf("Action:")),
        good.replace("report-type=delivery-status", "report-type=feedback-report"),
        good.replace("multipart/report;", "multipart/mixed;"),
        good.replace("message/delivery-status", "text/plain"),
        `Content-Type: message/rfc822\r\n\r\n${good}`
      ])
        await untouched(mail.path, raw, mail, raw)
      assert.isFalse(await suppressed("whole@x.test"))
    })

    it("size: what follows the report is not read, and what stands before it is no reason to read more (H1)", async () => {
      const mail = await sent(["ann@x.test"])
      const good = deliveryReport({ recipients: [{ recipient: "ann@x.test" }] })
      const filler = `${"x".repeat(70)}\r\n`.repeat(30_000)
      await untouched(
        mail.path,
        good.replace("I'm sorry", () => filler),
        mail
      )
      const parts = "--b1\r\n\r\nx\r\n".repeat(100_000)
      await untouched(
        mail.path,
        good.replace("--b1\r\n", () => parts),
        mail
      )
      assert.match(await report(mail.path, good + filler), /^250 /)
      assert.strictEqual((await rowOf(mail.id))?.status, "bounced")
    })

    it("a report comes alone, and a mailbox that looks like its own is none", async () => {
      const { path } = await sent(["ann@x.test"])
      const { answer, say } = talk(world.port)
      await answer()
      await say("EHLO relay.test")
      await say("MAIL FROM:<>")
      for (const other of ["bounce+x@in.test", "bounce@elsewhere.test", "bouncer@in.test"])
        assert.match(await say(`RCPT TO:<${other}>`), /^550 /, other)
      assert.match(await say(`RCPT TO:<${path}>`), /^250 /)
      assert.match(await say(`RCPT TO:<${path}>`), /^250 /)
      assert.match(await say("RCPT TO:<convert@legacy.test>"), /^452 4\.5\.3 /)
      await say("RSET")
      await say("MAIL FROM:<>")
      assert.match(await say("RCPT TO:<convert@legacy.test>"), /^250 /)
      assert.match(await say(`RCPT TO:<${path}>`), /^452 4\.5\.3 /)
    })
  })
})
