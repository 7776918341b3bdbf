import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

import { Effect, Redacted } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"

import { examineServed } from "../../../src/adapters/http-client/served-secret.ts"
import { servedVerdicts } from "../../../src/domain/doctor/served.ts"
import { PROXY_SECRET, startServer, type TestServer } from "../http/harness.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer({})
})
afterAll(() => server.stop())

const said = async (baseUrl: string, secret: string) =>
  servedVerdicts(await Effect.runPromise(examineServed({ baseUrl, secret: Redacted.make(secret) }))).map(
    ({ status, what }) => `${status} ${what}`
  )

it("a secret that was rotated here and not at the server is a fault, the same one is none", async () => {
  expect(await said(server.url, PROXY_SECRET)).toEqual([
    expect.stringMatching(/^ok the server at BASE_URL takes/)
  ])
  expect(await said(server.url, "the new one")).toEqual([
    expect.stringMatching(/^fail the server at BASE_URL has another/)
  ])
})

it("a proxy's page, a redirect and no server at all prove nothing, and no secret goes elsewhere", async () => {
  const seen: Array<string> = []
  const proxy = createServer((request, response) => {
    seen.push(request.url ?? "")
    if (seen.length === 1) response.writeHead(403, { "content-type": "text/html" }).end("<h1>Forbidden</h1>")
    else response.writeHead(302, { location: `${server.url}/internal/sends/x` }).end()
  })
  await new Promise<void>((done) => proxy.listen(0, "127.0.0.1", done))
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  expect(await said(url, "SECRET-4711")).toEqual([expect.stringMatching(/^ok .*answered 403/)])
  expect(await said(url, "SECRET-4711")).toEqual([expect.stringMatching(/^ok .*answered 302/)])
  expect(seen.join()).not.toContain("SECRET-4711")
  await new Promise((done) => proxy.close(done))
  expect(await said(url, "SECRET-4711")).toEqual([expect.stringMatching(/^ok .*the connection failed/)])
})
