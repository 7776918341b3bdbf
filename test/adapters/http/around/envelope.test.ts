import { Effect, Logger } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { envelope } from "../../../../src/adapters/http/around/envelope.ts"
import { PROBLEMS } from "../../../../src/adapters/http/server/problem.ts"
import { admin, type Answer, call, mail, raw, relay, sent, startServer, type TestServer } from "../harness.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer({
    send: (request) => Effect.as(Effect.logInfo(`sending ${request.subject}`), sent)
  })
})
afterAll(() => server.stop())

const isProblem = (answer: Answer, code: keyof typeof PROBLEMS) => {
  expect(answer.headers["content-type"]).toBe("application/problem+json")
  expect(answer.json).toMatchObject({
    type: `urn:postlane:problem:${code.toLowerCase().replaceAll("_", "-")}`,
    title: PROBLEMS[code].title,
    status: answer.status,
    code,
    retryable: PROBLEMS[code].retryable
  })
  expect(typeof answer.json.detail).toBe("string")
  expect(answer.status).toBe(PROBLEMS[code].status)
}

describe("routes that are not there", () => {
  it.each([
    "/",
    "/nothing",
    "/api",
    "/api/admin/email-logs",
    "/../etc/passwd",
    "/%2e%2e/x",
    "/api/%ZZ",
    "/dev/outbox/a/b",
    `/${"x".repeat(5000)}`
  ])("404 for %s", async (path) => {
    const answer = await call(server, path, { headers: admin })
    expect(answer.status).toBe(404)
    isProblem(answer, "NOT_FOUND")
  })

  it.each([
    ["GET", "/api/send-email", "POST"],
    ["DELETE", "/health", "GET, HEAD"],
    ["OPTIONS", "/internal/send-email", "POST"],
    ["PUT", "/api/admin/dead-letters/x/redrive", "POST"],
    ["POST", "/docs", "GET, HEAD"],
    ["POST", "/dev/outbox/x", "GET, HEAD, DELETE"]
  ])("405 for %s %s", async (method, path, allow) => {
    const answer = await call(server, path, { method, headers: admin })
    isProblem(answer, "METHOD_NOT_ALLOWED")
    expect(answer.headers["allow"]).toBe(allow)
  })

  it("a HEAD is answered like a GET, without the body", async () => {
    const answer = await call(server, "/health", { method: "HEAD" })
    expect([answer.status, answer.text]).toEqual([200, ""])
  })
})

describe("a failure of our own", () => {
  it.each([
    ["a handler's", Effect.die(new Error("broken"))],
    ["one that the server answered by itself", Effect.succeed(HttpServerResponse.empty({ status: 500 }))]
  ])("%s is logged", async (_, handler) => {
    const logged: Array<string> = []
    const log = Logger.make(({ message }) => void logged.push(JSON.stringify(message)))
    const request = HttpServerRequest.fromWeb(new Request("http://x.test/health?token=secret"))
    const answer = await Effect.runPromise(
      envelope(() => [])(handler).pipe(
        Effect.provideService(HttpServerRequest.HttpServerRequest, request),
        Effect.provide(Logger.layer([log]))
      )
    )
    expect(answer.status).toBe(500)
    expect(logged.join()).toMatch(/^\["a request failed inside Postlane/)
  })
})

describe("a refusal in a browser", () => {
  const asBrowser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" }

  it.each([
    ["/nothing", "/", "the start"],
    ["/api/v1/nothing?<script>", "/", "the start"],
    ["/admin/nothing", "/admin", "the admin pages"],
    ["/dev/messages/none", "/dev", "the outbox"],
    ["/assets/1/none.css", "/", "the start"]
  ])("404 for %s as a page with the way back", async (path, back, name) => {
    const answer = await call(server, path, { headers: { ...admin, ...asBrowser } })
    expect([answer.status, answer.headers["content-type"]]).toEqual([404, "text/html; charset=utf-8"])
    expect(answer.text).toContain(`<a href="${back}">Go to ${name}</a>`)
    expect(answer.text).not.toMatch(/<script|urn:postlane|NOT_FOUND/)
    expect(answer.headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-/)
    expect(answer.headers["x-request-id"]).toBeDefined()
  })

  it("says why it refuses", async () => {
    const answer = await call(server, "/api/admin/email-log", { headers: asBrowser })
    expect([answer.status, answer.headers["www-authenticate"]]).toEqual([401, "Bearer"])
    expect(answer.text).toContain("An admin&#39;s bearer token or session is required")
  })

  it.each([
    ["GET", "*/*"],
    ["GET", "application/json"],
    ["GET", "application/json, text/html"],
    ["POST", "text/html"]
  ])("programs keep the problem: %s that accepts %s", async (method, accept) => {
    const answer = await call(server, "/nothing", { method, headers: { accept } })
    expect(answer.headers["content-type"]).toBe("application/problem+json")
    isProblem(answer, "NOT_FOUND")
  })
})

describe("what every answer carries", () => {
  it.each(["/health", "/nothing", "/api/admin/email-log", "/openapi.json", "/dev", "/docs", "/metrics"])(
    "security headers on %s",
    async (path) => {
      const { headers } = await call(server, path)
      expect(headers["x-content-type-options"]).toBe("nosniff")
      expect(headers["referrer-policy"]).toBe("no-referrer")
      // What is the same for everybody may be kept, and is asked for each time.
      const isConstant = path === "/openapi.json" || path === "/docs"
      expect(headers["cache-control"]).toBe(isConstant ? "no-cache" : "no-store")
      expect(headers["x-frame-options"]).toBe("DENY")
      expect(headers["content-security-policy"]).toMatch(/^default-src 'none'/)
      expect(headers["content-security-policy"]).not.toMatch(/https?:|\*|unsafe-eval/)
      expect(headers["x-powered-by"]).toBeUndefined()
    }
  )

  it("the caller's request id, in the answer and in the log lines", async () => {
    const answer = await relay(server, mail, { "x-request-id": "req-1.2_3" })
    expect(answer.headers["x-request-id"]).toBe("req-1.2_3")
    expect(server.logs.find((line) => line.includes("sending s"))).toContain('"requestId":"req-1.2_3"')
  })

  it.each(["", "a b", "x".repeat(129), 'a"b', "a\u00e4"])("a fresh id in place of %j", async (given) => {
    const { headers } = await call(server, "/health", { headers: { "x-request-id": given } })
    expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/)
  })

  it("no log line for an accepted call, nor for a caller's mistake", async () => {
    const before = server.logs.length
    await call(server, "/health")
    await call(server, "/nothing")
    await relay(server, "{")
    expect(server.logs.slice(before)).toEqual([])
  })
})

describe("what is no request", () => {
  const problemOf = (answer: string) => JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4))

  it.each([
    "nonsense\r\n\r\n",
    "GET / HTTP/9.9\r\n\r\n",
    "GET /health HTTP/1.1\r\nconnection: close\r\n\r\n",
    "GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\nhost: x\r\n\r\n",
    "GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\nHost: y\r\n\r\n",
    "GET /health HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n"
  ])("400 for %j", async (bytes) => {
    const answer = await raw(server, bytes)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer.toLowerCase()).toContain("content-type: application/problem+json")
    expect(problemOf(answer)).toMatchObject({ code: "INVALID_REQUEST", status: 400 })
  })

  it("has browsers ask by https alone where the public address says so", async () => {
    const secure = await startServer({ baseUrl: "https://api.x.test" })
    const policyOf = async (at: TestServer) =>
      (await call(at, "/health")).headers["strict-transport-security"]
    expect([await policyOf(secure), await policyOf(server)]).toEqual(["max-age=31536000", undefined])
    await secure.stop()
  })

  it("serves what HTTP leaves open: 1.0 without a Host, an unknown expectation", async () => {
    expect(await raw(server, "GET /health HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1\.1 200 /)
    const expecting = "GET /health HTTP/1.1\r\nhost: x\r\nexpect: tea\r\nconnection: close\r\n\r\n"
    expect(await raw(server, expecting)).toMatch(/^HTTP\/1\.1 200 /)
  })

  it("400 for a body with two lengths, so that nothing can be smuggled behind it", async () => {
    for (const lengths of [
      "content-length: 5\r\ncontent-length: 6",
      "content-length: 5\r\ntransfer-encoding: chunked"
    ]) {
      const answer = await raw(
        server,
        `POST /api/send-email HTTP/1.1\r\nhost: x\r\n${lengths}\r\n\r\n0\r\n\r\nGET /health HTTP/1.1\r\nhost: x\r\n\r\n`
      )
      expect(answer).toMatch(/^HTTP\/1\.1 400 /)
      expect(answer).not.toContain('"ok"')
    }
  })

  it("431 for headers over 16 kB", async () => {
    const answer = await raw(
      server,
      `GET /health HTTP/1.1\r\nhost: x\r\nx-large: ${"y".repeat(20_000)}\r\n\r\n`
    )
    expect(answer).toMatch(/^HTTP\/1\.1 431 /)
    expect(problemOf(answer)).toMatchObject({ code: "HEADERS_TOO_LARGE" })
  })

  it("pipelined requests are answered in order", async () => {
    const one = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nhost: x\r\n${more}\r\n`
    const answer = await raw(
      server,
      one("/health") + one("/nothing") + one("/health", "connection: close\r\n")
    )
    expect([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1])).toEqual(["200", "404", "200"])
  })
})
