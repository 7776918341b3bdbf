import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { PipelineError } from "../../src/ports/inbound/convert-pipeline.ts"
import { numbered } from "../support/files/pdf-samples.ts"
import { type IntakeWorld, type Pages, startIntake } from "../support/worlds/intake-world.ts"

describe("the price of a mail: set aside by a count or an estimate, charged by what the pipeline classified", () => {
  let world: IntakeWorld
  /** Credits of the newest customer that are spent elsewhere once, after the balance was read. */
  let spent = 0
  /** Whether the pipeline can read no page. */
  let none = false
  let last = ""
  let pages: Pages = { counted: 1, standard: 1, complex: 0 }
  beforeAll(async () => {
    world = await startIntake({
      pages: () => pages,
      interfere: (port, call) =>
        none && port === "pipeline.convert"
          ? (Effect.fail(
              new PipelineError({ reason: "document", message: "No page could be read." })
            ) as unknown as typeof call)
          : port === "pipeline.countPages" && spent > 0
            ? Effect.andThen(
                Effect.promise(async () => {
                  const [credits, email] = [spent, last]
                  spent = 0
                  await world.sql(
                    "update customers set credits_remaining = credits_remaining - $1::integer where email = $2",
                    [String(credits), email]
                  )
                }),
                call
              )
            : call
    })
  })
  afterAll(() => world.stop())

  /** A mail of a new customer, and what came of it. */
  const convert = async (
    said: Pages,
    funds: { readonly credits?: number; readonly used?: number },
    content = numbered(1)
  ) => {
    pages = said
    const email = `${crypto.randomUUID()}@reader.test`
    last = email
    const id = await world.customer(email, funds)
    await world.send({ from: email, attachments: [{ filename: "a.pdf", content }] })
    await world.drain()
    const [mail] = await world.sql<{ readonly outcome: string }>(
      "select outcome from intake_mails where sender = $1",
      [email]
    )
    const jobs = await world.sql(
      `select status, total_pages as pages, standard_pages as standard, complex_pages as complex,
        credits_charged as charged from conversion_jobs where customer_id = $1::uuid`,
      [id]
    )
    const reply = (await world.copies()).findLast(({ body }) =>
      body.to.some(({ address }) => address === email)
    )
    const replyText = reply?.body.text?.replaceAll(/\s+/g, " ") ?? ""
    return { outcome: mail?.outcome, funds: await world.funds(id), jobs, replyText }
  }

  it("fewer pages than were counted: the rest is released", async () => {
    const { funds, jobs, outcome, replyText } = await convert(
      { counted: 5, standard: 2, complex: 1 },
      { credits: 5 }
    )
    assert.strictEqual(outcome, "success")
    assert.deepStrictEqual(funds, { credits: 2, used: 0, charges: 1, charged: 3, held: 0 })
    assert.deepStrictEqual(jobs, [{ status: "success", pages: 3, standard: 2, complex: 1, charged: 3 }])
    assert.match(replyText, /Pages: 3 .*Credits charged: 3 .*Credits left: 2 /)
  })

  it("R2: pages that could not be read are named, and not charged; a result without text says so", async () => {
    const { funds, jobs, replyText } = await convert(
      { counted: 4, standard: 1, complex: 1, unreadable: [2, 4], hasText: false },
      { credits: 5 }
    )
    assert.deepStrictEqual(funds, { credits: 3, used: 0, charges: 1, charged: 2, held: 0 })
    assert.deepStrictEqual(jobs, [{ status: "success", pages: 4, standard: 1, complex: 1, charged: 2 }])
    assert.match(replyText, /Pages: 4 .*Credits charged: 2 .*Credits left: 3 /)
    assert.match(replyText, /2 pages could not be read and were not charged.* Page 2 .*Page 4 /)
    assert.match(replyText, /no word of text in the result/)
  })

  it("R2: a PDF of which no page could be read ends with an error reply and no charge", async () => {
    none = true
    const { funds, jobs, outcome, replyText } = await convert(
      { counted: 2, standard: 0, complex: 0 },
      { credits: 5 }
    )
    none = false
    assert.strictEqual(outcome, "error")
    assert.deepStrictEqual(funds, { credits: 5, used: 0, charges: 0, charged: 0, held: 0 })
    assert.deepStrictEqual(
      jobs.map((job) => ({ ...job })),
      [{ status: "error", pages: 2, standard: 0, complex: 0, charged: 0 }]
    )
    assert.include(replyText, "No page could be read")
  })

  it("more pages than were counted: they are paid where there are funds, paid plan or free", async () => {
    const said = { counted: 1, standard: 3, complex: 1 }
    const paid = await convert(said, { credits: 4 })
    assert.strictEqual(paid.outcome, "success")
    assert.deepStrictEqual(paid.funds, { credits: 0, used: 0, charges: 1, charged: 4, held: 0 })
    assert.match(paid.replyText, /Credits charged: 4 /)
    const free = await convert(said, { used: 6 })
    assert.strictEqual(free.outcome, "success")
    assert.deepStrictEqual(free.funds, { credits: 0, used: 10, charges: 1, charged: 4, held: 0 })
  })

  it("more pages than there are funds for: no result, no charge, and the reply names the balance", async () => {
    const said = { counted: 1, standard: 3, complex: 1 }
    for (const [has, left] of [
      [{ credits: 3 }, { credits: 3, used: 0 }],
      [{ used: 7 }, { credits: 0, used: 7 }]
    ] as const) {
      const { funds, jobs, outcome, replyText } = await convert(said, has)
      assert.strictEqual(outcome, "insufficient")
      assert.deepStrictEqual(funds, { ...left, charges: 0, charged: 0, held: 0 })
      assert.deepStrictEqual(jobs, [])
      assert.match(replyText, /Not enough credits .*estimated: 4 - Your balance: 3 /)
    }
  })

  it("an estimate, by the size of the file, sets aside no more than there is and turns nobody away", async () => {
    // 250 kB: about three pages.
    const large = Buffer.concat([numbered(1), Buffer.alloc(250_000)])
    const said = { counted: undefined, standard: 1, complex: 0 }
    const enough = await convert(said, { credits: 3 }, large)
    assert.strictEqual(enough.outcome, "success")
    assert.deepStrictEqual(enough.funds, { credits: 2, used: 0, charges: 1, charged: 1, held: 0 })
    const above = await convert(said, { credits: 2 }, large)
    assert.strictEqual(above.outcome, "success")
    assert.deepStrictEqual(above.funds, { credits: 1, used: 0, charges: 1, charged: 1, held: 0 })
    const free = await convert(said, { used: 9 }, large)
    assert.strictEqual(free.outcome, "success")
    assert.deepStrictEqual(free.funds, { credits: 0, used: 10, charges: 1, charged: 1, held: 0 })
    const nothing = await convert(said, { credits: 0 }, large)
    assert.strictEqual(nothing.outcome, "insufficient")
    assert.match(nothing.replyText, /estimated: 1 - Your balance: 0 /)
  })

  it("pages are counted before anybody is turned away, whatever the size and the balance", async () => {
    const large = Buffer.concat([numbered(1), Buffer.alloc(900_000)])
    const one = await convert({ counted: 1, standard: 1, complex: 0 }, { credits: 1 }, large)
    assert.strictEqual(one.outcome, "success")
    const four = await convert({ counted: 4, standard: 4, complex: 0 }, { credits: 0 })
    assert.strictEqual(four.outcome, "insufficient")
    assert.match(four.replyText, /estimated: 4 - Your balance: 0 /)
  })

  it("funds that go elsewhere while a file is estimated leave less to set aside, and no refusal", async () => {
    const large = Buffer.concat([numbered(1), Buffer.alloc(450_000)])
    const said = { counted: undefined, standard: 1, complex: 0 }
    spent = 3
    const left = await convert(said, { credits: 4 }, large)
    assert.strictEqual(left.outcome, "success")
    assert.deepStrictEqual(left.funds, { credits: 0, used: 0, charges: 1, charged: 1, held: 0 })
  })
})
