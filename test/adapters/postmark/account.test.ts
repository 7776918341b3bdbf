import { Effect, Redacted } from "effect"
import { assert, describe, it } from "vitest"

import { examineAccount } from "../../../src/adapters/postmark/account.ts"
import { postmarkVerdicts, postmarkWebhookOf } from "../../../src/domain/doctor/postmark.ts"
import { fakePostmark, type FakePostmarkOptions } from "../../support/vendors/fake-postmark.ts"

const TOKEN = "pm_this_is_the_token"
const HERE = { url: postmarkWebhookOf("https://api.mail.test"), user: "postlane" }

const webhook = (parts: object = {}) => ({
  Url: HERE.url,
  MessageStream: "outbound",
  HttpAuth: { Username: "postlane", Password: "secret" },
  Triggers: { Delivery: { Enabled: true }, Bounce: { Enabled: true }, SpamComplaint: { Enabled: true } },
  ...parts
})
const BOTH = [webhook(), webhook({ MessageStream: "broadcast" })]

/** Asks a peer with these options; gives the facts, the verdicts and what the peer saw. */
const ask = async (options: FakePostmarkOptions, token = TOKEN, messageStream = "outbound") => {
  const peer = await fakePostmark(options).listen()
  try {
    const facts = await Effect.runPromise(
      examineAccount({ serverToken: Redacted.make(token), baseUrl: peer.url, messageStream })
    )
    const verdicts = postmarkVerdicts(facts, HERE)
    return {
      facts,
      paths: peer.requests.map(({ method, path }) => `${method} ${path}`),
      bad: verdicts.filter(({ status }) => status !== "ok").map(({ status, what }) => [status, what])
    }
  } finally {
    await peer.close()
  }
}

describe("the server at Postmark, over the wire", () => {
  it("is as it should be, and nothing is sent", async () => {
    const { bad, facts, paths } = await ask({ serverToken: TOKEN, webhooks: BOTH })
    assert.deepStrictEqual(bad, [])
    assert.deepStrictEqual(paths, [
      "GET /server",
      "GET /message-streams/outbound",
      "GET /message-streams/broadcast",
      "GET /webhooks"
    ])
    assert.notInclude(JSON.stringify(facts), "secret")
  })

  it.each([
    ["a sandbox", { sandbox: true, webhooks: BOTH }, "fail", /is a sandbox/],
    [
      "no broadcast stream",
      { webhooks: BOTH, streams: { outbound: { MessageStreamType: "Transactional" } } },
      "warn",
      /broadcast is not there/
    ],
    [
      "an archived stream",
      { webhooks: BOTH, streams: { outbound: { ArchivedAt: "2026-01-01" }, broadcast: {} } },
      "fail",
      /outbound is archived/
    ],
    ["a stream without a webhook", { webhooks: BOTH.slice(1) }, "warn", /outbound has no webhook/],
    [
      "a webhook that leads elsewhere",
      { webhooks: [webhook({ Url: "https://other.test/" }), BOTH[1]!] },
      "warn",
      /outbound has no webhook/
    ],
    [
      "a webhook without credentials",
      { webhooks: [webhook({ HttpAuth: null }), BOTH[1]!] },
      "fail",
      /no user/
    ],
    [
      "a webhook with others",
      { webhooks: [webhook({ HttpAuth: { Username: "x" } }), BOTH[1]!] },
      "fail",
      /another user/
    ],
    [
      "a webhook that reports no bounces",
      { webhooks: [webhook({ Triggers: { Delivery: { Enabled: true } } }), BOTH[1]!] },
      "warn",
      /does not report Bounce, SpamComplaint/
    ]
  ] as const)("%s is named", async (_, options, status, what) => {
    const { bad } = await ask(options)
    assert.strictEqual(bad.length, 1, JSON.stringify(bad))
    assert.strictEqual(bad[0]?.[0], status)
    assert.match(bad[0]?.[1] ?? "", what)
  })

  it("a webhook that has the credentials in its address is ours", async () => {
    const Url = HERE.url.replace("https://", "https://postlane:secret@")
    const { bad } = await ask({ webhooks: [webhook({ Url, HttpAuth: null }), BOTH[1]!] })
    assert.deepStrictEqual(bad, [])
  })

  it("a wrong token is refused, and is in no answer", async () => {
    const { facts } = await ask({ serverToken: "other" })
    assert.strictEqual(facts._tag, "Refused")
    assert.notInclude(JSON.stringify(facts), TOKEN)
    const malformed = await ask({}, "pm with blank")
    assert.strictEqual(malformed.facts._tag, "Refused")
    assert.deepStrictEqual(malformed.paths, [])
  })

  it("a service that is away is no refusal, and says why", async () => {
    const peer = await fakePostmark({}).listen()
    await peer.close()
    const facts = await Effect.runPromise(
      examineAccount({ serverToken: Redacted.make(TOKEN), baseUrl: peer.url, messageStream: "outbound" })
    )
    assert.deepInclude(facts, { _tag: "Unknown" })
    assert.match("why" in facts ? facts.why : "", /no answer from .*ECONNREFUSED/)
  })
})
