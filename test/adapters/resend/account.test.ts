import { Effect, Redacted } from "effect"
import { assert, describe, it } from "vitest"

import { examineAccount } from "../../../src/adapters/resend/account.ts"
import { fakeResend, type FakeResendOptions } from "../../support/vendors/fake-resend.ts"

const KEY = "re_this_is_the_key"

/** Asks a peer with these options; gives the answer and what the peer saw. */
const ask = async (options: FakeResendOptions, key = KEY) => {
  const peer = await fakeResend(options).listen()
  try {
    const facts = await Effect.runPromise(examineAccount({ apiKey: Redacted.make(key), baseUrl: peer.url }))
    return { facts, paths: peer.requests.map(({ method, path }) => `${method} ${path}`) }
  } finally {
    await peer.close()
  }
}

describe("the account at Resend, over the wire", () => {
  it("reads every page of domains, and sends nothing", async () => {
    const domains = Array.from({ length: 150 }, (_, index) => ({
      name: `d${index}.test`,
      status: index === 149 ? "verified" : "pending"
    }))
    const { facts, paths } = await ask({ domains, apiKey: KEY })
    assert.strictEqual(facts._tag, "Domains")
    assert.lengthOf(facts._tag === "Domains" ? facts.domains : [], 150)
    assert.deepStrictEqual(paths, ["GET /domains?limit=100", "GET /domains?limit=100&after=domain-99"])
  })

  it("a key for sending only is a valid one", async () => {
    assert.deepStrictEqual((await ask({ sendOnly: true })).facts, { _tag: "SendOnly" })
  })

  it("a wrong key is refused, and is in no answer", async () => {
    const { facts } = await ask({ apiKey: "re_other" })
    assert.strictEqual(facts._tag, "Refused")
    assert.notInclude(JSON.stringify(facts), KEY)
    const malformed = await ask({}, "re_with blank")
    assert.strictEqual(malformed.facts._tag, "Refused")
    assert.deepStrictEqual(malformed.paths, [])
  })

  it("a service that is away is no refusal, and says why", async () => {
    const apiKey = Redacted.make(KEY)
    const whyOf = async (baseUrl: string) => {
      const facts = await Effect.runPromise(examineAccount({ apiKey, baseUrl }))
      return facts._tag === "Unknown" ? facts.why : facts._tag
    }
    const peer = await fakeResend({}).listen()
    await peer.close()
    const closed = await whyOf(peer.url)
    assert.include(closed, `no answer from ${peer.url}: `)
    assert.include(closed, "ECONNREFUSED")
    assert.match(
      await whyOf("http://resend.invalid"),
      /no answer from http:\/\/resend\.invalid: .*(?:ENOTFOUND|EAI_AGAIN)/
    )
  })
})
