import { Effect } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"

import { call, mail, PROXY_SECRET, raw, relay, sent, startServer, type TestServer } from "../harness.ts"

let sends = 0
let server: TestServer
const send = () =>
  Effect.sync(() => {
    sends += 1
    return sent
  })
beforeAll(async () => {
  server = await startServer({ send })
})
afterAll(() => server.stop())

const post = (at: TestServer, headers: Record<string, string | ReadonlyArray<string>>) =>
  call(at, "/api/send-email", {
    method: "POST",
    headers: { "content-type": "application/json", ...(headers as Record<string, string>) },
    body: Buffer.from(JSON.stringify(mail))
  })

it.each([
  ["missing", {}],
  ["empty", { "x-proxy-secret": "" }],
  ["wrong", { "x-proxy-secret": "nope" }],
  ["a prefix", { "x-proxy-secret": PROXY_SECRET.slice(0, -1) }],
  ["longer", { "x-proxy-secret": `${PROXY_SECRET}x` }],
  ["in other case", { "x-proxy-secret": PROXY_SECRET.toUpperCase() }],
  ["sent twice", { "x-proxy-secret": [PROXY_SECRET, PROXY_SECRET] }]
])("403 for a secret that is %s", async (_, headers) => {
  const before = sends
  const answer = await post(server, headers)
  expect([answer.status, answer.json.code, answer.json.retryable]).toEqual([403, "FORBIDDEN", false])
  expect(answer.text).not.toContain(PROXY_SECRET)
  expect(sends).toBe(before)
})

it("as a bearer token it is an unknown sender token, and nothing where no token is taken", async () => {
  const headers = { authorization: `Bearer ${PROXY_SECRET}` }
  expect((await post(server, headers)).json.code).toBe("UNAUTHENTICATED")
  const internal = await relay(server, mail, { ...headers, "x-proxy-secret": "" })
  expect([internal.status, internal.json.code]).toEqual([403, "FORBIDDEN"])
})

it("takes the header's name in any case", async () => {
  for (const name of ["x-proxy-secret", "X-Proxy-Secret", "X-PROXY-SECRET"]) {
    expect((await post(server, { [name]: PROXY_SECRET })).status).toBe(200)
  }
})

it.each([undefined, ""])("an unset secret (%j) lets nobody in", async (proxySecret) => {
  const unset = await startServer({ send, proxySecret })
  try {
    const before = sends
    for (const headers of [{}, { "x-proxy-secret": "" }, { "x-proxy-secret": "undefined" }]) {
      expect((await post(unset, headers)).status).toBe(403)
    }
    expect(sends).toBe(before)
  } finally {
    await unset.stop()
  }
})

it("a secret in UTF-8 is compared by its bytes", async () => {
  const secret = "gr\u00fc\u00dfe-\u20ac"
  const other = await startServer({ send, proxySecret: secret })
  try {
    const onTheWire = Buffer.from(secret, "utf8").toString("latin1")
    expect((await post(other, { "x-proxy-secret": onTheWire })).status).toBe(200)
    expect((await post(other, { "x-proxy-secret": onTheWire.slice(0, -1) })).status).toBe(403)
  } finally {
    await other.stop()
  }
})

it("403 comes before the body is read, and before it is sent at all", async () => {
  const head =
    "POST /api/send-email HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\nconnection: close\r\n"
  expect(await raw(server, `${head}x-proxy-secret: nope\r\n\r\n`)).toMatch(/^HTTP\/1\.1 403 /)
  const expecting = await raw(server, `${head}x-proxy-secret: nope\r\nexpect: 100-continue\r\n\r\n`)
  expect(expecting).toMatch(/^HTTP\/1\.1 403 /)
})
