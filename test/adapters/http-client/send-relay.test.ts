import { Effect, Redacted } from "effect"
import { afterAll, beforeEach, describe, expect, it } from "vitest"

import { makeSendRelay } from "../../../src/adapters/http-client/send-relay.ts"
import { FakeHttp, type Outcome } from "../../support/vendors/fake-http.ts"

const SECRET = "SECRET-4711"
const problem = (status: number, code: string, more: object = {}) => ({
  reply: { status, body: { code, detail: `${SECRET} ${code}`, ...more } }
})
const fake = await new FakeHttp({
  scripted: () => true,
  handle: (seen, accept) => {
    accept("relay", JSON.parse(seen.body))
    return { status: 200, body: { ok: true, status: "sent" } }
  },
  error: (status) => ({ status, body: { code: "X", detail: `${SECRET} ${status}` } })
}).listen()
afterAll(() => fake.close())
beforeEach(async () => {
  await fake.always("ok")
  fake.requests.splice(0)
})

const request = {
  to: "a@x.test",
  subject: "s",
  text: "t",
  category: "notification",
  source: "api:audit-digest",
  idempotencyKey: "k"
} as const

/** The answers that the relay gives, one after the other; it gives the last one from then on. */
const sendTo = async (outcomes: ReadonlyArray<Outcome>, deadlineMs = 5_000) => {
  await fake.script(outcomes.slice(0, -1), outcomes.at(-1))
  const relay = makeSendRelay({
    url: `${fake.url}/internal/send-email`,
    secret: Redacted.make(SECRET),
    deadlineMs
  })
  return Effect.runPromise(
    relay.send(request).pipe(
      Effect.catch(({ certain, message }) => {
        expect(message).not.toContain(SECRET)
        return Effect.succeed(certain ? "surely not sent" : "unknown")
      })
    )
  )
}

const send = (outcome: Outcome, deadlineMs?: number) => sendTo([outcome], deadlineMs)

describe("the relay over HTTP", () => {
  it("posts the request with the secret", async () => {
    expect(await send("ok")).toBe("sent")
    const [seen] = fake.requests
    expect([seen?.method, seen?.path, seen?.headers["x-proxy-secret"]]).toEqual([
      "POST",
      "/internal/send-email",
      SECRET
    ])
    expect(JSON.parse(seen!.body)).toEqual(request)
  })

  it.each([
    [problem(422, "EMAIL_SUPPRESSED"), "suppressed"],
    [problem(500, "EMAIL_FAILED", { kind: "rejected" }), "surely not sent"],
    [problem(500, "EMAIL_FAILED", { kind: "unavailable" }), "surely not sent"],
    [problem(500, "EMAIL_FAILED", { kind: "ambiguous" }), "unknown"],
    [problem(400, "INVALID_REQUEST"), "surely not sent"],
    [problem(409, "IDEMPOTENCY_IN_PROGRESS"), "unknown"],
    [problem(409, "IDEMPOTENCY_CONFLICT"), "unknown"],
    ["403", "surely not sent"],
    ["500", "unknown"],
    ["502-html", "unknown"],
    ["reset", "unknown"],
    ["reset-after", "unknown"],
    ["truncated-200", "unknown"],
    // Another server at the relay's address, a sign-in page, an upkeep page: no mail was taken.
    [
      { reply: { status: 200, headers: { "content-type": "text/html" }, body: "<html>Welcome</html>" } },
      "unknown"
    ],
    // A relay of one's own may have less to say.
    [{ reply: { status: 200, body: "" } }, "sent"],
    [{ reply: { status: 200, body: { ok: false } } }, "unknown"],
    [{ reply: { status: 202, body: { ok: true, status: "queued" } } }, "sent"],
    [{ reply: { status: 302, headers: { location: "/elsewhere" } } }, "unknown"]
  ] as const)("%j: %s", async (outcome, expected) => {
    expect(await send(outcome)).toBe(expected)
    const isUnavailable = JSON.stringify(outcome).includes("unavailable")
    expect(fake.requests).toHaveLength(isUnavailable ? 2 : 1)
  })

  it("what no provider takes now waits in the send queue, under the same key", async () => {
    expect(await sendTo([problem(500, "EMAIL_FAILED", { kind: "unavailable" }), "ok"])).toBe("sent")
    expect(fake.requests.map(({ body }) => JSON.parse(body))).toEqual([request, { ...request, queue: true }])
  })

  it("gives up on an answer that does not come", async () => {
    expect(await send("hang", 50)).toBe("unknown")
  })

  it("without an address it is not configured", async () => {
    const relay = makeSendRelay({ url: undefined, secret: undefined })
    expect(relay.configured).toBe(false)
    expect((await Effect.runPromise(Effect.flip(relay.send(request)))).certain).toBe(true)
  })
})
