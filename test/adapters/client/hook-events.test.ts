import fc from "fast-check"
import { Webhook } from "standardwebhooks"
import { afterEach, assert, beforeEach, describe, expect, it, vi } from "vitest"

import { readEvent } from "../../../src/runtime/entries/client.ts"
import vectors from "../event-hooks/vectors.json" with { type: "json" }

const SECRET = `whsec_${Buffer.from("a secret of the shop, for its hook").toString("base64")}`
const OLD = `whsec_${Buffer.from("the secret before it, not yet over").toString("base64")}`
const NOW = new Date("2026-11-28T10:00:00Z")
const EVENT = {
  type: "email.bounced",
  timestamp: NOW.toISOString(),
  data: { to: ["a@x.test"], permanent: true }
}
const BODY = JSON.stringify(EVENT)

const headersOf = (body: string, secret = SECRET, id = "msg_1"): Record<string, string> => ({
  "webhook-id": id,
  "webhook-timestamp": String(NOW.getTime() / 1000),
  "webhook-signature": new Webhook(secret).sign(id, NOW, body)
})

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] })
  vi.setSystemTime(NOW)
})
afterEach(() => void vi.useRealTimers())

describe("events of hooks, as the client reads them", () => {
  it.each(vectors.vectors.map((vector) => [vector.name, vector] as const))(
    "the vector %s of Standard Webhooks",
    async (_, { body, headers, now, secrets, valid }) => {
      vi.setSystemTime(now * 1000)
      const read = await readEvent(body, headers, secrets.join(" "))
      assert.strictEqual(read !== undefined, valid)
      if (read !== undefined) assert.deepStrictEqual(read, { ...JSON.parse(body), id: headers["webhook-id"] })
    }
  )

  it("come from bytes and from a text, with headers of Node and of fetch, under the secret that is replaced", async () => {
    const expected = { ...EVENT, id: "msg_1" }
    for (const body of [BODY, Buffer.from(BODY)])
      for (const headers of [headersOf(BODY), new Headers(headersOf(BODY))])
        assert.deepStrictEqual(await readEvent(body, headers, `${SECRET} ${OLD}`), expected as never)
    assert.deepStrictEqual(await readEvent(BODY, headersOf(BODY, OLD), `${SECRET} ${OLD}`), expected as never)
    assert.isUndefined(await readEvent(BODY, headersOf(BODY, OLD), SECRET))
  })

  it("say what a program did wrong: a body that was parsed before, a secret that is none", async () => {
    await expect(readEvent(EVENT as never, headersOf(BODY), SECRET)).rejects.toThrow(/parsed before/)
    for (const secret of ["", "whsec_", "whsec_%", `${SECRET} `])
      await expect(readEvent(BODY, headersOf(BODY), secret)).rejects.toThrow(TypeError)
    assert.isUndefined(await readEvent(undefined, headersOf(BODY), SECRET))
  })

  it("what nobody with the secret has sent is nothing, whatever it looks like", async () => {
    const word = fc.oneof(fc.string(), fc.constantFrom(...Object.values(headersOf(BODY))), fc.constant("v1,"))
    const headers = fc.record(
      { "webhook-id": word, "webhook-timestamp": word, "webhook-signature": word },
      { requiredKeys: [] }
    )
    const mine = Object.entries(headersOf(BODY))
    await fc.assert(
      fc.asyncProperty(headers, async (given) => {
        const names = new Map(Object.entries(given))
        fc.pre(mine.some(([name, value]) => names.get(name) !== value))
        assert.isUndefined(await readEvent(BODY, given, SECRET))
      })
    )
    await fc.assert(
      fc.asyncProperty(fc.nat(BODY.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const bytes = Buffer.from(BODY)
        bytes[at] = bytes[at]! ^ change
        assert.isUndefined(await readEvent(bytes, headersOf(BODY), SECRET))
      })
    )
  })

  it("are five minutes old at most, and no more ahead", async () => {
    for (const [seconds, holds] of [
      [-301, false],
      [-300, true],
      [300, true],
      [301, false]
    ] as const) {
      vi.setSystemTime(NOW.getTime() + seconds * 1000)
      assert.strictEqual(
        (await readEvent(BODY, headersOf(BODY), SECRET)) !== undefined,
        holds,
        String(seconds)
      )
    }
  })
})
