import { Effect, Stream } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

import { MailObjects } from "../../src/ports/object-store.ts"
import { numbered } from "../support/files/pdf-samples.ts"
import { type IntakeWorld, startIntake } from "../support/worlds/intake-world.ts"

describe("erasing a person whose mails were converted", () => {
  let world: IntakeWorld
  let between: (() => Promise<unknown>) | undefined
  beforeAll(async () => {
    world = await startIntake({
      maxAttachmentBytes: 5,
      interfere: (port, call) =>
        port === "pipeline.convert"
          ? Effect.andThen(
              Effect.promise(async () => between?.()),
              call
            )
          : call
    })
  })
  afterAll(() => world.stop())

  const erase = async (email: string) => {
    const [row] = await world.sql<{ readonly found: boolean }>("select erase_person($1, 'admin') as found", [
      email
    ])
    return row?.found
  }

  const mail = (name: string, n = 1) => ({
    from: `${name} <${name}@reader.test>`,
    subject: `Secret of ${name}`,
    messageId: `<${name}-${n}@reader.test>`,
    references: `<zero-${name}@reader.test>`,
    attachments: [
      { filename: `${name}-letter.pdf`, content: numbered(n) },
      { filename: `${name}-notes.txt`, content: "n" }
    ]
  })

  /** Rows of any table in which a text stands. */
  const traces = async (text: string) => {
    const tables = await world.sql<{ readonly name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'"
    )
    const found: Array<string> = []
    for (const { name } of tables) {
      const rows = await world.sql<{ readonly row: string }>(
        `select x::text as row from ${name} x where x::text ilike '%' || $1 || '%'`,
        [text]
      )
      found.push(...rows.map(({ row }) => `${name}: ${row}`))
    }
    return found
  }

  const objects = () => world.run(MailObjects.use(({ list }) => Stream.runCollect(list(""))))

  it("takes the address, names, subjects, results and links; charges stay, and others' mails", async () => {
    const id = await world.customer("gone@reader.test", { credits: 9 })
    const other = await world.customer("kept@reader.test", { credits: 9 })
    await world.send(mail("gone"))
    await world.send(mail("kept"))
    await world.drain()
    const link = (await world.copies())
      .map(({ body }) => body)
      .filter(({ to }) => to[0]?.address === "gone@reader.test")
      .map(({ html }) => /results\/([\w.-]+)/.exec(html ?? "")?.[1])
      .find((token) => token !== undefined)
    assert.isDefined(await world.run(world.intake.result(link ?? "")))
    // One that waits to be read, and one whose conversion waits with funds set aside and its acknowledgement queued.
    await world.send({ ...mail("gone", 2) })
    await Effect.runPromise(world.intake.admitNext)
    await world.send({ ...mail("gone", 3) })
    assert.strictEqual((await world.funds(id)).held, 1)

    assert.isTrue(await erase("gone@reader.test"))
    for (const text of [
      "gone@reader.test",
      "Secret of gone",
      "gone-letter",
      "gone-notes",
      "<gone-",
      "zero-gone"
    ]) {
      assert.deepStrictEqual(await traces(text), [], text)
    }
    assert.isUndefined(await world.run(world.intake.result(link ?? "")))
    const before = (await world.copies()).length
    await world.drain()
    assert.strictEqual((await world.copies()).length, before)
    assert.deepStrictEqual(await world.funds(id), { credits: 8, used: 0, charges: 1, charged: 1, held: 0 })
    assert.strictEqual((await world.funds(other)).charges, 1)
    assert.lengthOf(await traces("kept-letter"), 4)
    await world.run(world.intake.clean)
    const left = (await objects()).map(({ key }) => key)
    assert.lengthOf(left, 1)
    assert.match(left[0] ?? "", /result-/)
    assert.isFalse(await erase("nobody@reader.test"))
  })

  it("a stranger who got the reply on how to register is erased, too", async () => {
    await world.send(mail("newcomer"))
    await world.drain()
    assert.isTrue(await erase("newcomer@reader.test"))
    assert.deepStrictEqual(await traces("newcomer"), [])
    assert.isFalse(await erase("newcomer@reader.test"))
  })

  it("in the middle of a conversion: no charge, no reply, nothing left of it", async () => {
    const id = await world.customer("middle@reader.test", { credits: 9 })
    await world.send(mail("middle"))
    between = () => erase("middle@reader.test")
    await world.drain()
    between = undefined
    assert.deepStrictEqual(await world.funds(id), { credits: 9, used: 0, charges: 0, charged: 0, held: 0 })
    assert.deepStrictEqual(await traces("middle"), [])
    await world.run(world.intake.clean)
    assert.lengthOf(
      (await objects()).filter(({ key }) => !key.includes("result-")),
      0
    )
    assert.lengthOf(await objects(), 1)
  })

  it("beside workers that are at the person's mails: neither waits for the other for ever", async () => {
    for (let round = 0; round < 2; round++) {
      const id = await world.customer("race@reader.test", { credits: 100 })
      for (let n = 0; n < 12; n++) {
        const one = mail("race", round * 20 + n + 1)
        await world.send({ ...one, attachments: [{ filename: "race-letter.pdf", content: numbered(1) }] })
      }
      await Promise.all([
        world.drain(),
        world.drain(),
        world.drain(),
        (async () => {
          await Effect.runPromise(world.intake.convertNext)
          await erase("race@reader.test")
        })()
      ])
      await world.drain()
      assert.strictEqual(
        await erase("race@reader.test").then(async () => (await traces("race-letter")).length),
        0
      )
      assert.deepStrictEqual(await traces("race@reader.test"), [])
      assert.strictEqual((await world.funds(id)).held, 0)
    }
    const [open] = await world.sql("select count(*)::integer as n from intake_mails where step <> 'ended'")
    assert.deepStrictEqual(open, { n: 0 })
  })
})
