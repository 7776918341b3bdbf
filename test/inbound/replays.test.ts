import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"

import { MAX_HINTS_AN_HOUR } from "../../src/application/inbound/intake-config.ts"
import { numbered } from "../support/files/pdf-samples.ts"
import { emptying } from "../support/postgres/empty.ts"
import { CONVERT, type IntakeWorld, startIntake } from "../support/worlds/intake-world.ts"

const FROM = "ann@reader.test"
const PDF = numbered(1)

const signature = (b: string, more = "h=from:to:subject:date") =>
  `v=1; a=rsa-sha256; d=reader.test; s=k1; ${more}; bh=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; b=${b}`

describe("mails that somebody sends again or passes on", () => {
  let world: IntakeWorld
  let customer = ""
  beforeAll(async () => {
    world = await startIntake()
  })
  afterAll(() => world.stop())
  afterEach(() =>
    world.sql(
      emptying(
        "intake_mails, intake_replies, intake_strangers, conversion_jobs, funds_holds, credit_charges, customers"
      )
    )
  )
  const begin = async () => {
    customer = await world.customer(FROM, { credits: 9 })
  }

  /** A mail as it stands on the wire. */
  const raw = async (headers: ReadonlyArray<string>, content: Buffer | "none" = PDF) => {
    const boundary = "b1"
    const parts = [
      `--${boundary}\r\nContent-Type: text/plain\r\n\r\nPlease.\r\n`,
      ...(content === "none"
        ? []
        : [
            `--${boundary}\r\nContent-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${content.toString("base64").replaceAll(/.{76}/g, "$&\r\n")}\r\n`
          ]),
      `--${boundary}--\r\n`
    ]
    await world.send({
      envelope: { from: FROM, to: CONVERT },
      raw: [...headers, `Content-Type: multipart/mixed; boundary=${boundary}`, "", ...parts].join("\r\n")
    })
    await world.drain()
  }
  const usual = (more: ReadonlyArray<string>, to = `To: ${CONVERT}`) => [
    `From: ${FROM}`,
    ...(to === "" ? [] : [to]),
    "Date: Mon, 2 Feb 2026 08:00:00 +0000",
    ...more
  ]
  const outcomes = async () =>
    (
      await world.sql<{ readonly outcome: string }>("select outcome from intake_mails order by received_at")
    ).map(({ outcome }) => outcome)
  const kinds = async () =>
    (await world.sql<{ readonly kind: string }>("select kind from intake_replies order by created_at")).map(
      ({ kind }) => kind
    )

  it("I1: a signed mail is one mail under any Message-ID, with signatures added, and its own written otherwise", async () => {
    await begin()
    const b = Buffer.from("the genuine signature of this mail, some bytes.").toString("base64")
    const own = `DKIM-Signature: ${signature(b)}`
    await raw(usual([own, "Subject: Report", "Message-ID: <one@x>"]))
    await raw(usual([own, "Subject: Report", "Message-ID: <two@x>"]))
    await raw(usual([own, "Subject: Report"]))
    const folded = b.replace(/=+$/, "").replaceAll(/.{20}/g, "$& ")
    await raw(
      usual([
        `DKIM-Signature: ${signature(Buffer.from("added above").toString("base64"))}`,
        `DKIM-Signature: ${signature(folded)}`,
        `DKIM-Signature: ${signature(Buffer.from("added below").toString("base64"))}`,
        "Subject: Report",
        "Message-ID: <three@x>"
      ])
    )
    assert.deepStrictEqual(await outcomes(), ["success", "duplicate", "duplicate", "duplicate"])
    assert.strictEqual((await world.funds(customer)).charged, 1)
    // Another signature is another mail: so is the same bytes' of another sender.
    const other = Buffer.from("the genuine signature of the next one").toString("base64")
    await raw(usual([`DKIM-Signature: ${signature(other)}`, "Message-ID: <four@x>"]))
    assert.strictEqual((await outcomes()).at(-1), "success")
  })

  it("I1: a mail without a Message-ID that a scanner hands to the hop again, having heard no answer, is one mail", async () => {
    await begin()
    for (const [n, subject] of ["Scan", "Scan", "Scan 2"].entries()) {
      const received = `Received: from scanner.reader.test by hop.test id ${n}; Mon, 2 Feb 2026 08:0${n}:00 +0000`
      await raw([received, ...usual([`Subject: ${subject}`])])
    }
    assert.deepStrictEqual(await outcomes(), ["success", "duplicate", "success"])
  })

  it("I1: deliveries of one signed mail at once, under Message-IDs of their own, are converted once", async () => {
    await begin()
    const own = `DKIM-Signature: ${signature(Buffer.from("of this mail").toString("base64"))}`
    await Promise.all(
      Array.from({ length: 6 }, (_, n) => raw(usual([own, "Subject: Report", `Message-ID: <${n}@x>`])))
    )
    assert.deepStrictEqual((await outcomes()).toSorted(), [...Array<string>(5).fill("duplicate"), "success"])
    assert.strictEqual((await world.funds(customer)).charged, 1)
  })

  it("what only a tampered mail has is refused: a header twice that stands once, or heaps of signatures", async () => {
    await begin()
    for (const header of ["Message-ID: <two@x>", `To: ${CONVERT}`]) {
      await raw(usual(["Message-ID: <one@x>", "Subject: a", header]))
    }
    await raw(usual([`Cc: ${CONVERT}`, "Cc: b@x.test", "Message-ID: <cc@x>"]))
    await raw(usual(Array.from({ length: 21 }, (_, n) => `DKIM-Signature: ${signature(`AAA${n}`)}`)))
    assert.deepStrictEqual(await outcomes(), Array<string>(4).fill("malformed"))
    assert.deepStrictEqual(await kinds(), [])
  })

  it("a mail that is not written to us is answered with how to send one, not converted and not charged", async () => {
    await begin()
    await raw(usual(["Message-ID: <bcc@x>"], "To: friend@elsewhere.test"))
    await raw(usual(["Message-ID: <none@x>"], ""))
    await raw(usual(["Message-ID: <name@x>"], `To: "${CONVERT}" <friend@elsewhere.test>`))
    assert.deepStrictEqual(await outcomes(), Array<string>(3).fill("misaddressed"))
    assert.deepStrictEqual(await kinds(), Array<string>(3).fill("misaddressed"))
    const reply = (await world.copies()).at(-1)?.body.text ?? ""
    assert.include(reply, CONVERT)
    assert.deepStrictEqual(await world.funds(customer), {
      credits: 9,
      used: 0,
      charges: 0,
      charged: 0,
      held: 0
    })
    // Of To and Cc any address of ours will do, written in any way.
    await raw(usual(["Message-ID: <to@x>"], "To: a@x.test, Convert <CONVERT@in.test>"))
    await raw(usual([`Cc: b@x.test, ${CONVERT}`, "Message-ID: <cc@x>"], "To: friend@elsewhere.test"))
    assert.deepStrictEqual((await outcomes()).slice(3), ["success", "success"])
  })

  it("a Cc that the sender's domain left out of what it signed does not count", async () => {
    await begin()
    const sent = async (h: string, n: number) => {
      const b = Buffer.from(`a signature ${n}`).toString("base64")
      await raw(
        usual(
          [`Cc: ${CONVERT}`, `DKIM-Signature: ${signature(b, h)}`, `Message-ID: <${n}@x>`],
          "To: friend@elsewhere.test"
        )
      )
      return (await outcomes()).at(-1)
    }
    assert.strictEqual(await sent("h=From:To:Subject", 1), "misaddressed")
    assert.strictEqual(await sent("h=From : To : CC : Subject", 2), "success")
    // A domain that signs no recipients at all leaves it open.
    assert.strictEqual(await sent("h=from:subject:message-id", 3), "success")
  })

  it("an answer without a file gets the reply that says what is missing; one with a PDF is converted", async () => {
    await begin()
    const answers = [
      ["In-Reply-To: <ours@legacy.test>", "Subject: Thanks"],
      ["References: <theirs@x> <ours@legacy.test>", "Subject: Thanks"],
      ["Subject: Re: Report"]
    ]
    for (const [n, headers] of answers.entries())
      await raw(usual([...headers, `Message-ID: <${n}@x>`]), "none")
    assert.deepStrictEqual(await outcomes(), Array<string>(3).fill("no_attachment"))
    assert.deepStrictEqual(await kinds(), Array<string>(3).fill("no-attachment"))
    await raw(usual(["In-Reply-To: <ours@legacy.test>", "Subject: Re: Report", "Message-ID: <pdf@x>"]))
    assert.strictEqual((await outcomes()).at(-1), "success")
  })

  it("a responder that hides even that gets a bounded number of replies an hour; conversions go on", async () => {
    await begin()
    const rounds = MAX_HINTS_AN_HOUR + 5
    for (let n = 0; n < rounds; n++) {
      await world.send({ from: FROM, subject: "I am away", text: "Until Monday." })
    }
    await world.drain()
    assert.deepStrictEqual(await outcomes(), Array<string>(rounds).fill("no_attachment"))
    assert.deepStrictEqual(await kinds(), Array<string>(MAX_HINTS_AN_HOUR).fill("no-attachment"))
    const [row] = await world.sql<{ readonly n: number }>(
      "select count(*)::integer as n from intake_mails where reason like '%not answered: 20 such replies%'"
    )
    assert.strictEqual(row?.n, 5)
    await world.send({ from: FROM, attachments: [{ filename: "a.pdf", content: PDF }] })
    await world.drain()
    assert.deepStrictEqual((await kinds()).slice(MAX_HINTS_AN_HOUR), ["processing-started", "success"])
    await world.sql("update intake_replies set created_at = created_at - interval '61 minutes'")
    await world.send({ from: FROM, subject: "I am away", text: "Until Monday." })
    await world.drain()
    assert.strictEqual(
      (await kinds()).filter((kind) => kind === "no-attachment").length,
      MAX_HINTS_AN_HOUR + 1
    )
  })
})
