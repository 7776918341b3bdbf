import { Effect, Logger } from "effect"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"

import { numbered } from "../support/files/pdf-samples.ts"
import { hangUp, talk, talkToData } from "../support/processes/smtp-talk.ts"
import { CONVERT, type IntakeWorld, startIntake } from "../support/worlds/intake-world.ts"
import { hostileMails, largestMail } from "./mails.ts"
import { MAX_STALL_MS, stallOf } from "./stalls.ts"

afterEach(hangUp)

/** Sends the bytes as they are, with nothing computed for it in this process; the answer to DATA. */
const deliver = async (port: number, raw: Buffer): Promise<string> => {
  const { say, socket } = await talkToData(port, CONVERT)
  socket.write(raw)
  return say("\r\n.")
}

const runs = (step: Effect.Effect<boolean, unknown>) =>
  Effect.runPromise(Effect.provide(Effect.orDie(step), Logger.layer([])))

const HOPS = { trustedHops: ["mx.hop.test"], trustsLoopback: false }

describe.each([
  ["that is read", { trustedHops: [], trustsLoopback: true }],
  ["that its headers end", HOPS]
] as const)("H1: no mail %s keeps the event loop from answering", (_about, rules) => {
  let world: IntakeWorld
  beforeAll(async () => {
    world = await startIntake({ rules })
    await world.customer("ann@reader.test", { credits: 50 })
    // The first mail starts the reader and warms up what all mails go through.
    await world.send({ from: "ann@reader.test", text: "x" })
    await world.drain()
  })
  afterAll(() => world.stop())

  it.each(hostileMails())("%s", async (_, raw) => {
    const stall = await stallOf(async () => {
      assert.match(await deliver(world.port, raw), /^(?:250|554) /)
      await world.drain()
    })
    assert.isBelow(stall, MAX_STALL_MS)
    const rows = await world.sql("select outcome from intake_mails where outcome is null")
    assert.deepStrictEqual(rows, [], "it ended, and is not read again")
  })

  it("the largest mail with the largest PDF is read all the same, and stalls nobody", async () => {
    const said = "Authentication-Results: mx.hop.test; dmarc=pass header.from=reader.test\r\n"
    const raw = largestMail(numbered(1), said)
    const stall = await stallOf(async () => {
      assert.match(await deliver(world.port, raw), /^250 /)
      await world.drain()
    })
    const [row] = await world.sql("select outcome from intake_mails order by received_at desc limit 1")
    assert.deepStrictEqual(row, { outcome: "success" })
    assert.isBelow(stall, MAX_STALL_MS)
  })
})

describe("H1: what kills its reader", () => {
  const [, deadly] = hostileMails().find(([name]) => name.startsWith("10 MB"))!

  it.each([
    ["by its memory", { residentMb: 120 }, "needs too much memory"],
    ["by the time that it takes", { cpuMs: 1 }, "takes too long"]
  ] as const)(
    "twice, %s, is set aside with the reason, and the next mail is read",
    async (_, reader, why) => {
      const world = await startIntake({ reader })
      try {
        await world.customer("ann@reader.test", { credits: 50 })
        await deliver(world.port, deadly)
        await world.drain()
        assert.deepStrictEqual(await world.sql("select outcome, reason, attempts from intake_mails"), [
          { outcome: "error", reason: `set aside: reading it ${why}, twice`, attempts: 1 }
        ])
        assert.deepStrictEqual(await world.sql("select kind, recipient from intake_replies"), [
          { kind: "error", recipient: "ann@reader.test" }
        ])
        assert.isFalse(await runs(world.intake.admitNext), "it is not read again")
      } finally {
        await world.stop()
      }
    }
  )
})

describe("H1: a stranger", () => {
  it("is refused before its mail is taken, and a stored mail of one is not read", async () => {
    const world = await startIntake({
      rules: { trustedHops: [], trustsLoopback: false },
      interfere: (port, call) => {
        assert.notStrictEqual(port, "reader.read")
        return call
      }
    })
    try {
      const { answer, say } = talk(world.port)
      await answer()
      await say("EHLO stranger.test")
      assert.match(await say("MAIL FROM:<ann@reader.test>"), /^550 /)
      assert.match(await say(`RCPT TO:<${CONVERT}>`), /^503 /)
      await world.sql(
        `insert into intake_mails (id, raw_key, raw_bytes, envelope_from, peer_trusted)
          values (gen_random_uuid(), 'mails/none', 1000000, 'a@x.test', false)`
      )
      await world.drain()
      const [row] = await world.sql("select outcome, reason from intake_mails")
      assert.deepStrictEqual(row, {
        outcome: "unverified",
        reason: "it did not come from a trusted mail hop"
      })
    } finally {
      await world.stop()
    }
  })
})
