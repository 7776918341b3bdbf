import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"

import { makeMailDatabase } from "../../../../../src/adapters/memory/mail/mail-store.ts"
import { makeSendQueue } from "../../../../../src/adapters/memory/mail/send-queue.ts"
import * as MemorySenderTokens from "../../../../../src/adapters/memory/mail/sender-tokens.ts"
import { SenderTokens } from "../../../../../src/ports/mail/sender-tokens.ts"
import { StoreUnavailable } from "../../../../../src/ports/store-unavailable.ts"
import {
  admin,
  type Answer,
  call,
  mail,
  PROXY_SECRET,
  sent,
  startServer,
  type TestServer
} from "../../harness.ts"

const audit: Array<readonly [string, string, string]> = []
const sends: Array<string | undefined> = []
let isAway = false
let server: TestServer

const senders = Layer.effect(
  SenderTokens,
  Effect.map(SenderTokens, (tokens) => ({
    ...tokens,
    use: (text: string) =>
      isAway
        ? Effect.fail(new StoreUnavailable({ operation: "use", reason: "away", isRetryable: true }))
        : tokens.use(text)
  }))
).pipe(
  Layer.provide(MemorySenderTokens.layer((...row) => void audit.push(row))),
  Layer.provide(NodeCrypto.layer)
)

beforeAll(async () => {
  server = await startServer({
    senders,
    sendQueue: makeSendQueue(makeMailDatabase()).queue,
    send: (request) => Effect.sync(() => (sends.push(request.from), sent))
  })
})
afterAll(() => server.stop())

const request = (
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: unknown
): Promise<Answer> =>
  call(server, path, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })

const make = async (
  body: object
): Promise<{ readonly id: string; readonly bearer: { authorization: string } }> => {
  const { json, status } = await request("POST", "/api/admin/sender-tokens", admin, body)
  expect(status).toBe(201)
  return { id: json.id, bearer: { authorization: `Bearer ${json.token}` } }
}
const send = (headers: Record<string, string>, body: object = {}, path = "/api/send-email") =>
  request("POST", path, headers, { ...mail, ...body })

it("makes, lists and revokes tokens, with audit rows; a body that is wrong is named by field (FRONT-1)", async () => {
  const { bearer, id } = await make({
    name: "shop",
    categories: ["auth"],
    from: ["@X.test"],
    ratePerMinute: 5
  })
  const listed = await request("GET", "/api/admin/sender-tokens", admin)
  expect(listed.json.tokens[0]).toMatchObject({
    id,
    name: "shop",
    categories: ["auth"],
    from: ["@x.test"],
    ratePerMinute: 5,
    lastUsedAt: null
  })
  expect(listed.text).not.toContain(bearer.authorization.slice(7))
  const wrong = await request("POST", "/api/admin/sender-tokens", admin, {
    name: "",
    from: ["x"],
    ratePerMinute: 0
  })
  expect(wrong.status).toBe(400)
  expect(wrong.json.issues.map(({ path }: { path: string }) => path)).toEqual([
    "name",
    "from.0",
    "ratePerMinute"
  ])
  expect((await request("DELETE", `/api/admin/sender-tokens/${id}`, admin)).status).toBe(204)
  expect((await request("DELETE", `/api/admin/sender-tokens/${id}`, admin)).json.code).toBe("NOT_FOUND")
  expect(audit).toEqual([
    ["sender_token_added", "shop", "admin"],
    ["sender_token_revoked", "shop", "admin"]
  ])
  expect((await send(bearer, { from: "a@x.test", category: "auth" })).json.code).toBe("UNAUTHENTICATED")
  expect((await request("GET", "/api/admin/sender-tokens", {})).status).toBe(401)
})

it("opens the public path of the relay, the batch and the queue, and no other (FRONT-2)", async () => {
  const { bearer } = await make({ name: "any" })
  expect((await send(bearer)).json).toEqual(sent)
  expect((await send(bearer, {}, "/internal/send-email")).json.code).toBe("FORBIDDEN")
  const batch = await request("POST", "/api/send-email/batch", bearer, { emails: [mail, mail] })
  expect(batch.status).toBe(202)
  const path = `/api/queued-emails/${batch.json.emails[0].queueId}`
  expect((await request("GET", path, bearer)).json.state).toBe("queued")
  // Another program's mail does not exist for it.
  const { bearer: stranger } = await make({ name: "stranger" })
  for (const method of ["GET", "DELETE"])
    expect((await request(method, path, stranger)).json.code).toBe("NOT_FOUND")
  const unowned = await send({ "x-proxy-secret": PROXY_SECRET }, { queue: true })
  const other = `/api/queued-emails/${unowned.json.queueId}`
  expect((await request("DELETE", other, bearer)).json.code).toBe("NOT_FOUND")
  expect((await request("GET", path, { "x-proxy-secret": PROXY_SECRET })).json.state).toBe("queued")
  expect((await request("DELETE", path, bearer)).json.state).toBe("cancelled")
  expect((await send(bearer, { queue: true })).status).toBe(202)
  for (const closed of ["/api/admin/email-log", "/api/admin/sender-tokens"])
    expect((await request("GET", closed, bearer)).status).toBe(401)
  expect((await send({ "x-proxy-secret": PROXY_SECRET })).status).toBe(200)
  expect((await send({})).json.code).toBe("FORBIDDEN")
  expect((await send({ authorization: "Basic eDp5" })).json.code).toBe("FORBIDDEN")
})

it("refuses what the token does not allow, and names the field; nothing is sent or queued", async () => {
  const { bearer } = await make({ name: "bound", categories: ["auth"], from: ["shop@x.test"] })
  const before = sends.length
  for (const [body, path] of [
    [{ from: "shop@x.test" }, "category"],
    [{ from: "other@x.test", category: "auth" }, "from"],
    [{ category: "auth" }, "from"]
  ] as const) {
    for (const queue of [{}, { queue: true }]) {
      const { json, status } = await send(bearer, { ...body, ...queue })
      expect([status, json.code, json.issues[0].path]).toEqual([403, "SENDER_NOT_ALLOWED", path])
    }
  }
  const allowed = { ...mail, from: "shop@x.test", category: "auth" }
  const batch = await request("POST", "/api/send-email/batch", bearer, { emails: [allowed, mail] })
  expect([batch.status, batch.json.issues[0].path]).toEqual([403, "emails.1.category"])
  expect(sends.length).toBe(before)
  expect((await send(bearer, allowed)).status).toBe(200)
})

it("holds a token to its rate: 429 with Retry-After; another token goes on", async () => {
  const { bearer } = await make({ name: "slow", ratePerMinute: 2 })
  expect(
    (await request("POST", "/api/send-email/batch", bearer, { emails: [mail, mail, mail] })).status
  ).toBe(403)
  expect((await send(bearer)).status).toBe(200)
  expect((await send(bearer, { queue: true })).status).toBe(202)
  const refused = await send(bearer)
  expect([refused.status, refused.json.code]).toEqual([429, "RATE_LIMITED"])
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(20)
  const other = await make({ name: "other", ratePerMinute: 2 })
  expect((await send(other.bearer)).status).toBe(200)
})

it("answers 503 while tokens cannot be looked up", async () => {
  const { bearer } = await make({ name: "any" })
  isAway = true
  expect((await send(bearer)).json.code).toBe("UNAVAILABLE")
  isAway = false
})

it("slows wrong tokens by address: none is looked up before its time, but for those that worked before", async () => {
  const { bearer } = await make({ name: "any" })
  const known = await make({ name: "known" })
  expect((await send(known.bearer)).status).toBe(200)
  const guess = () => send({ authorization: "Bearer guess" })
  let answer = await guess()
  for (let tries = 1; answer.status === 401; tries += 1) {
    expect(tries).toBeLessThan(30)
    answer = await guess()
  }
  expect(answer.status).toBe(429)
  expect(Number(answer.headers["retry-after"])).toBeGreaterThan(5)
  expect((await send(bearer)).status).toBe(429)
  expect((await send(known.bearer)).status).toBe(200)
  expect((await send({ "x-proxy-secret": PROXY_SECRET })).status).toBe(200)
})
