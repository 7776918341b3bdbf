import { randomUUID } from "node:crypto"
import { readdir } from "node:fs/promises"

import { Effect, Stream } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { MailObjects } from "../../src/ports/object-store.ts"
import { numbered, portfolioOf, withForm } from "../support/files/pdf-samples.ts"
import { CONVERT, type IntakeWorld, startIntake } from "../support/worlds/intake-world.ts"

const pdf = (content: Buffer, filename = "Report.pdf") => ({
  filename,
  content,
  contentType: "application/pdf"
})

const lastTo = async (world: IntakeWorld, to: string) =>
  (await world.copies())
    .filter(({ body }) => body.to.some(({ address }) => address === to))
    .map(({ body }) => body)

const outcomes = async (world: IntakeWorld, sender: string) =>
  (
    await world.sql<{ readonly outcome: string }>(
      "select outcome from intake_mails where sender = $1 order by received_at",
      [sender]
    )
  ).map(({ outcome }) => outcome)

describe("convert-by-email over SMTP", () => {
  let world: IntakeWorld
  beforeAll(async () => {
    world = await startIntake({ pipeline: "real" })
  })
  afterAll(() => world.stop())

  it("answers a PDF with an acknowledgement and the HTML, in the thread, and charges a credit a page", async () => {
    const id = await world.customer("ann@reader.test", { credits: 20 })
    const response = await world.send({
      from: "Ann <Ann@Reader.test>",
      subject: "Grüße",
      messageId: "<first@reader.test>",
      references: "<zero@reader.test>",
      text: "Please",
      attachments: [pdf(numbered(3), "Bericht für Ännchen.pdf"), { filename: "notes.txt", content: "n" }]
    })
    assert.match(response, /^250 /)
    await world.drain()
    const [ack, result, ...more] = await lastTo(world, "ann@reader.test")
    assert.lengthOf(more, 0)
    assert.deepStrictEqual(ack?.attachments, [])
    for (const mail of [ack, result]) {
      assert.strictEqual(mail?.subject, "Re: Grüße")
      assert.deepStrictEqual(mail?.headers, {
        "Auto-Submitted": "auto-replied",
        "In-Reply-To": "<first@reader.test>",
        References: "<zero@reader.test> <first@reader.test>"
      })
      assert.deepStrictEqual(mail?.from, { name: "Postlane", address: "noreply@sender.test" })
      assert.deepStrictEqual(
        mail?.replyTo.map(({ address }) => address),
        [CONVERT]
      )
      assert.include(mail?.text ?? "", "notes.txt")
    }
    const html = Buffer.from(result?.attachments[0]?.content ?? "", "base64").toString()
    assert.strictEqual(result?.attachments[0]?.filename, "Bericht für Ännchen.html")
    for (const page of [1, 2, 3]) assert.include(html, `Page number ${page}`)
    assert.deepStrictEqual(await world.funds(id), { credits: 17, used: 0, charges: 1, charged: 3, held: 0 })
    const [job] = await world.sql(
      `select sender_email, filename, file_type, total_pages, standard_pages, complex_pages, credits_charged, status, error_message
        from conversion_jobs where customer_id = $1::uuid`,
      [id]
    )
    assert.deepStrictEqual(job, {
      sender_email: "ann@reader.test",
      filename: "Bericht für Ännchen.pdf",
      file_type: "pdf",
      total_pages: 3,
      standard_pages: 3,
      complex_pages: 0,
      credits_charged: 3,
      status: "success",
      error_message: null
    })
  })

  it("a page with a form is complex, and costs as much", async () => {
    const id = await world.customer("form@reader.test", {})
    await world.send({ from: "form@reader.test", attachments: [pdf(withForm())] })
    await world.drain()
    const [job] = await world.sql(
      "select standard_pages, complex_pages, credits_charged from conversion_jobs where customer_id = $1::uuid",
      [id]
    )
    assert.deepStrictEqual(job, { standard_pages: 0, complex_pages: 1, credits_charged: 1 })
    assert.strictEqual((await world.funds(id)).used, 1)
  })

  it("DOC-16: names what is in a portfolio and was not converted, and does not pass its cover sheet for it", async () => {
    await world.customer("folio@reader.test", {})
    await world.send({ from: "folio@reader.test", attachments: [pdf(portfolioOf(["a.csv", "b.docx"]))] })
    await world.drain()
    const [, result] = await lastTo(world, "folio@reader.test")
    assert.match(result?.text ?? "", /Only the cover sheet is converted/)
    assert.match(result?.text ?? "", /2 files in this portfolio .*- a\.csv\s+- b\.docx\s.*1 note or remark/s)
    const html = Buffer.from(result?.attachments[0]?.content ?? "", "base64").toString()
    assert.match(html, /role="note".*Only its cover sheet was converted.*a\.csv/s)
  })

  it("tells a stranger how to register, once a day", async () => {
    for (const n of [1, 2, 3])
      await world.send({ from: "stranger@x.test", subject: `${n}`, attachments: [pdf(numbered(1))] })
    await world.drain()
    const replies = await lastTo(world, "stranger@x.test")
    assert.lengthOf(replies, 1)
    assert.match(replies[0]?.text ?? "", /not registered|does not belong to an account/)
    assert.deepStrictEqual(await outcomes(world, "stranger@x.test"), [
      "unregistered",
      "unregistered",
      "unregistered"
    ])
  })

  it("tells what is missing or wrong with the attachment, and charges nothing", async () => {
    const id = await world.customer("bob@reader.test", { credits: 5 })
    const from = "bob@reader.test"
    const cases: ReadonlyArray<
      readonly [string, ReadonlyArray<{ filename: string; content: Buffer | string }>, RegExp]
    > = [
      ["no_attachment", [], /no attachment/],
      [
        "unsupported",
        [{ filename: "letter.docx", content: Buffer.from("PK\u0003\u0004x") }],
        /only PDF files/
      ],
      [
        "unsupported",
        [{ filename: "winmail.dat", content: Buffer.from([0x78, 0x9f, 0x3e, 0x22]) }],
        /Outlook/
      ],
      ["unsupported", [{ filename: "empty.pdf", content: "" }], /an empty file/],
      ["error", [pdf(Buffer.from("%PDF-1.7 and no more"))], /could not be converted/],
      ["too_large", [pdf(Buffer.concat([numbered(1), Buffer.alloc(25 * 1024 * 1024)]))], /larger than 25 MB/]
    ]
    for (const [outcome, attachments, words] of cases) {
      await world.send({ from, attachments: [...attachments] })
      await world.drain()
      assert.strictEqual((await outcomes(world, from)).at(-1), outcome)
      assert.match((await lastTo(world, from)).at(-1)?.text?.replaceAll(/\s+/g, " ") ?? "", words)
    }
    assert.deepStrictEqual(await world.funds(id), { credits: 5, used: 0, charges: 0, charged: 0, held: 0 })
    const jobs = await world.sql("select status from conversion_jobs where customer_id = $1::uuid", [id])
    assert.deepStrictEqual(jobs, [{ status: "error" }])
  })

  it("tells the balance where it does not suffice: by the real number of pages", async () => {
    const id = await world.customer("poor@reader.test", { used: 8 })
    await world.send({ from: "poor@reader.test", attachments: [pdf(numbered(3))] })
    await world.drain()
    const replies = await lastTo(world, "poor@reader.test")
    assert.lengthOf(replies, 1)
    assert.match(replies[0]?.text ?? "", /Not enough credits/)
    assert.match(replies[0]?.html ?? "", /#credits/)
    assert.deepStrictEqual(await world.funds(id), { credits: 0, used: 8, charges: 0, charged: 0, held: 0 })
  })

  it("I1: the same mail five times, at once and later, is one conversion, one charge, one result", async () => {
    const id = await world.customer("again@reader.test", { credits: 9 })
    const mail = { from: "again@reader.test", messageId: "<same@x>", attachments: [pdf(numbered(2))] }
    await Promise.all([1, 2, 3].map(() => world.send(mail)))
    await world.drain()
    await world.send(mail)
    await world.drain()
    await world.send(mail)
    await world.drain()
    assert.deepStrictEqual(await world.funds(id), { credits: 7, used: 0, charges: 1, charged: 2, held: 0 })
    const results = (await lastTo(world, "again@reader.test")).filter(
      ({ attachments }) => attachments.length > 0
    )
    assert.lengthOf(results, 1)
    assert.deepStrictEqual((await outcomes(world, "again@reader.test")).toSorted(), [
      "duplicate",
      "duplicate",
      "duplicate",
      "duplicate",
      "success"
    ])
  })

  it("I3: never answers programs and lists that order nothing, nor our own mail", async () => {
    const from = "robot@reader.test"
    await world.customer(from, { credits: 9 })
    const before = (await world.copies()).length
    await world.send({ from, text: "x", headers: { "Auto-Submitted": "auto-replied" } })
    await world.send({ from, text: "x", headers: { Precedence: "bulk" } })
    await world.send({ from, text: "x", headers: { "List-Id": "<a.b>" } })
    await world.send({ from, text: "x", envelope: { from: "", to: CONVERT } })
    await world.send({ from: "stranger@robots.test", text: "x", headers: { Precedence: "bulk" } })
    const attachments = [pdf(numbered(1))]
    await world.send({ from: CONVERT, attachments })
    const answer = { "Auto-Submitted": "auto-replied", "In-Reply-To": "<ours@legacy.test>" }
    await world.send({ from, attachments, headers: answer })
    await world.drain()
    assert.strictEqual((await world.copies()).length, before)
    const rows = await world.sql<{ readonly reason: string }>(
      "select reason from intake_mails where outcome = 'automatic' order by received_at"
    )
    assert.deepStrictEqual(
      rows.map(({ reason }) => reason),
      [
        "Auto-Submitted",
        "Precedence",
        "mailing list (list-id)",
        "null return path",
        "Precedence",
        "our own mail",
        "a program's answer to a mail of ours"
      ]
    )
  })

  it("converts what a customer's scanner, shop or list sends with a PDF", async () => {
    const scanner = "noreply@scans.reader.test"
    const id = await world.customer(scanner, { credits: 9 })
    const marks: ReadonlyArray<Record<string, string>> = [
      {},
      { "List-Unsubscribe": "<mailto:x@y.test>" },
      { "X-Auto-Response-Suppress": "All" },
      { "Auto-Submitted": "auto-generated" },
      { "List-Id": "<a.b>", Precedence: "bulk" }
    ]
    for (const [n, headers] of marks.entries())
      await world.send({ from: scanner, subject: `${n}`, headers, attachments: [pdf(numbered(1))] })
    await world.send({ from: scanner, envelope: { from: "", to: CONVERT }, attachments: [pdf(numbered(1))] })
    await world.drain()
    assert.deepStrictEqual(await outcomes(world, scanner), Array<string>(6).fill("success"))
    assert.strictEqual((await world.funds(id)).credits, 3)
  })

  it("tells who answers our reply and forgets the file, 20 times an hour at most", async () => {
    const from = "forgetful@reader.test"
    await world.customer(from, { credits: 9 })
    for (let n = 0; n < 22; n++)
      await world.send({
        from,
        subject: "Re: Report",
        inReplyTo: "<ours@legacy.test>",
        text: `here it is ${n}`
      })
    await world.drain()
    const replies = await lastTo(world, from)
    assert.lengthOf(replies, 20)
    assert.match(replies[0]?.text ?? "", /no attachment/)
  })

  it("a stranger whose mail somebody's filter passed on is not answered", async () => {
    const attachments = [pdf(numbered(1))]
    const envelope = { from: "away@elsewhere.test", to: CONVERT }
    const mail = { from: "away@elsewhere.test", envelope, attachments }
    await world.send({ ...mail, to: "someone@elsewhere.test", cc: "other@elsewhere.test" })
    await world.drain()
    assert.lengthOf(await lastTo(world, "away@elsewhere.test"), 0)
    const [row] = await world.sql(
      "select outcome, reason from intake_mails where sender = 'away@elsewhere.test'"
    )
    assert.deepStrictEqual(row, {
      outcome: "unregistered",
      reason: "the sender has no account (not answered: neither To nor Cc names the convert address)"
    })
    await world.send({ ...mail, to: "someone@elsewhere.test", cc: CONVERT })
    await world.drain()
    assert.lengthOf(await lastTo(world, "away@elsewhere.test"), 1)
  })

  it("removes the objects of mails that have ended, however many, and leaves no folder behind", async () => {
    await world.sql(`insert into intake_mails (id, raw_key, raw_bytes, envelope_from, peer_trusted, step, outcome, ended_at)
      select gen_random_uuid(), '', 0, '', true, 'ended', 'automatic', now() from generate_series(1, 120)`)
    await world.run(world.intake.clean)
    const [left] = await world.sql(
      "select count(*)::integer as n from intake_mails where cleaned is distinct from 'all'"
    )
    assert.deepStrictEqual(left, { n: 0 })
    assert.deepStrictEqual(
      (await world.run(MailObjects.use(({ list }) => Stream.runCollect(list(""))))).map(({ key }) => key),
      []
    )
    assert.deepStrictEqual(
      (await readdir(world.folder)).filter((name) => name !== ".unfinished"),
      []
    )
  })

  it("sweeps what belongs to no mail once it is two days old, and nothing else", async () => {
    const DAYS = 2 * 24 * 60
    const id = (minutes: number, kind = "7") => {
      const at = (Date.now() - minutes * 60_000).toString(16).padStart(12, "0")
      return `${at.slice(0, 8)}-${at.slice(8)}-${kind}000-8000-${randomUUID().slice(-12)}`
    }
    const [fresh, coming, ended, under, linked, foreign, old] = [
      id(0),
      id(DAYS - 1),
      id(DAYS + 30),
      id(DAYS + 30),
      id(DAYS + 30),
      id(DAYS + 30, "4"),
      id(DAYS + 1)
    ]
    const keys = [fresh, coming, ended, under, linked, foreign, old].flatMap((one) =>
      ["raw.eml", `result-${randomUUID()}.html`].map((name) => `mails/${one}/${name}`)
    )
    await world.run(
      MailObjects.use(({ put }) =>
        Effect.forEach([...keys, "other"], (key) =>
          put(key, Stream.make(new Uint8Array(1)), { contentType: "text/plain" })
        )
      )
    )
    for (const [one, outcome, cleaned] of [
      [ended, "success", "all"],
      [under, null, null],
      [linked, "success", "source"]
    ]) {
      await world.sql(
        `insert into intake_mails (id, raw_key, raw_bytes, envelope_from, peer_trusted, step, outcome, cleaned, not_before)
          values ($1::uuid, 'mails/' || $1 || '/raw.eml', 1, '', true, case when $2 = '' then 'received' else 'ended' end, nullif($2, ''),
            nullif($3, ''), now() + interval '1 hour')`,
        [one ?? "", outcome ?? "", cleaned ?? ""]
      )
    }
    assert.strictEqual(await world.run(world.intake.sweep), 4)
    const left = await world.run(MailObjects.use(({ list }) => Stream.runCollect(list(""))))
    assert.deepStrictEqual(
      left.map(({ key }) => key).toSorted(),
      ["other", ...keys.filter((key) => !key.includes(ended) && !key.includes(old))].toSorted()
    )
    assert.strictEqual(await world.run(world.intake.sweep), 0)
  })
})
