import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

import fc from "fast-check"
import { afterEach, assert, describe, expect, it, vi } from "vitest"

import { eventParser } from "../../../src/adapters/client/events.ts"
import { retryAfterOf, waitBefore } from "../../../src/adapters/client/retry.ts"
import { type ClientOptions, createClient } from "../../../src/runtime/entries/client.ts"

const servers: Array<Server> = []
afterEach(async () => {
  vi.useRealTimers()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

type Answer = (response: ServerResponse, request: IncomingMessage, body: string) => void

/** A server that answers each request with the next of these, and the last one from then on. */
const serve = async (...answers: ReadonlyArray<Answer>) => {
  const requests: Array<{ readonly headers: IncomingMessage["headers"]; readonly body: string }> = []
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8")
      requests.push({ headers: request.headers, body })
      answers[Math.min(requests.length, answers.length) - 1]?.(response, request, body)
    })
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

/** A client that notes how long it would have waited. */
const clientOf = (baseUrl: string, options: Partial<ClientOptions> = {}) => {
  const waits: Array<number> = []
  const sleep = (ms: number) => {
    waits.push(ms)
    return Promise.resolve()
  }
  return { client: createClient({ baseUrl, secret: "s", token: "t", sleep, ...options }), waits }
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response
      .writeHead(status, { "content-type": "application/json", ...headers })
      .end(typeof body === "string" ? body : JSON.stringify(body))

const problem = (code: string, retryable: boolean, status = 503, headers = {}): Answer =>
  json(status, { type: "urn:x", title: "T", status, detail: "d", code, retryable }, headers)

const ok = json(200, { status: "ok" })
const sentAnswer = json(200, { ok: true, status: "sent", sendId: "1" })
const hangUp: Answer = (response) => void response.socket?.destroy()
const mail = {
  to: "a@x.test",
  subject: "s",
  text: "h",
  category: "transactional",
  source: "api:client"
} as const

describe("retries", () => {
  it("go on while the problem is retryable, on one key and one body", async () => {
    const { requests, url } = await serve(
      problem("UNAVAILABLE", true),
      hangUp,
      json(502, "<html>"),
      sentAnswer
    )
    const { client, waits } = clientOf(url, { retries: 4 })
    expect(await client.sending.email({ body: mail })).toMatchObject({ ok: true, attempts: 4 })
    expect(new Set(requests.map(({ body }) => body)).size).toBe(1)
    expect(requests[0]?.body).toMatch(/"idempotencyKey":"[\da-f]{32}"/)
    expect(waits.length).toBe(3)
  })

  it("end with the last problem when they are used up", async () => {
    const { requests, url } = await serve(problem("UNAVAILABLE", true))
    const answer = await clientOf(url, { retries: 2 }).client.health.ready()
    expect(answer).toMatchObject({ ok: false, attempts: 3, error: { code: "UNAVAILABLE" } })
    expect(requests.length).toBe(3)
  })

  it("stop at a problem that is not retryable", async () => {
    const { requests, url } = await serve(problem("SHUTTING_DOWN", false))
    const answer = await clientOf(url).client.sending.email({ body: mail })
    expect(answer).toMatchObject({ ok: false, attempts: 1, error: { code: "SHUTTING_DOWN" } })
    expect(requests.length).toBe(1)
  })

  it("never repeat a POST without a key of which nothing came back", async () => {
    const { requests, url } = await serve(hangUp)
    const answer = await clientOf(url).client.files.cancelConversion({ fileId: "f" })
    expect(answer).toMatchObject({ ok: false, attempts: 1, error: { code: "NO_ANSWER", retryable: false } })
    expect(requests.length).toBe(1)
  })

  it("wait as long as the server asks, and not for an hour", async () => {
    const { url } = await serve(problem("RATE_LIMITED", true, 429, { "retry-after": "7" }), ok)
    const { client, waits } = clientOf(url)
    expect(await client.health.health()).toMatchObject({ ok: true })
    assert(waits.length === 1)
    expect(waits[0]).toBeGreaterThanOrEqual(7000)
    expect(waits[0]).toBeLessThan(8000)
    const slow = await serve(problem("RATE_LIMITED", true, 429, { "retry-after": "3600" }), ok)
    expect(await clientOf(slow.url).client.health.health()).toMatchObject({
      ok: false,
      attempts: 1,
      error: { code: "RATE_LIMITED", retryAfterMs: 3_600_000 }
    })
  })

  it("make sense of any Retry-After", () => {
    const now = Date.UTC(2026, 0, 1)
    const of = (text: string) => retryAfterOf(new Headers({ "retry-after": text }), now)
    expect([of("3"), of("Thu, 01 Jan 2026 00:00:05 GMT"), of("Wed, 31 Dec 2025 00:00:00 GMT")]).toEqual([
      3000, 5000, 0
    ])
    for (const nonsense of ["", "-1", "1.5", "1e3", "soon", "99999999999", "Infinity", "0x10", "3, 4"])
      expect([nonsense, of(nonsense)]).toEqual([nonsense, undefined])
  })

  it("wait for no less than the server asks and no longer than the bound, whatever the chance", () => {
    const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    const asked = fc.option(fc.nat(100_000), { nil: undefined })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), asked, chance, (attempt, retryAfter, random) => {
        const wait = waitBefore(attempt, retryAfter, () => random)
        if ((retryAfter ?? 0) > 60_000) return wait === undefined
        return wait !== undefined && wait >= (retryAfter ?? 250) && wait <= 65_000
      })
    )
  })
})

describe("answers that are none", () => {
  const refused = async (answer: Answer, options: Partial<ClientOptions> = {}) => {
    const { url } = await serve(answer)
    const result = await clientOf(url, { retries: 1, ...options }).client.health.health()
    assert(!result.ok)
    return result.error
  }

  it.each([
    ["JSON that breaks off", json(200, '{"status":')],
    ["a page", json(200, "<html>", { "content-type": "text/html" })],
    ["an error page", json(500, "oops", { "content-type": "text/html" })],
    ["a problem without a code", json(400, { retryable: true })],
    ["a problem whose retryable is a text", json(400, { code: "UNAVAILABLE", retryable: "true" })],
    ["nothing at all", json(500, "")],
    ["a redirect", json(302, "", { location: "http://127.0.0.1:1/" })]
  ])("%s: BAD_ANSWER", async (_, answer) => {
    expect((await refused(answer)).code).toBe("BAD_ANSWER")
  })

  it("a redirect takes no credentials along", async () => {
    const thief = await serve(ok)
    const { url } = await serve(json(307, "", { location: thief.url }))
    await clientOf(url).client.sending.email({ body: mail })
    expect(thief.requests).toEqual([])
  })

  it("a body that breaks off: NO_ANSWER", async () => {
    const error = await refused((response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "100" })
      response.write('{"status":')
      setImmediate(() => response.socket?.destroy())
    })
    expect(error).toMatchObject({ code: "NO_ANSWER", retryable: true })
  })

  it("an endless body is left at the limit", async () => {
    let closed: Promise<unknown> | undefined
    const error = await refused(
      (response) => {
        closed = new Promise((resolve) => response.on("close", resolve))
        response.writeHead(200, { "content-type": "application/json" })
        const more = () => {
          while (response.writable && response.write(" ".repeat(65_536)));
          response.once("drain", more)
        }
        more()
      },
      { maxAnswerBytes: 1_000_000 }
    )
    expect(error).toMatchObject({ code: "BAD_ANSWER", retryable: false })
    await closed
  })

  it("an answer that never comes ends with the time limit, and with the caller's signal", async () => {
    expect(await refused(() => undefined, { timeoutMs: 50, retries: 0 })).toMatchObject({ code: "NO_ANSWER" })
    const leaving = new AbortController()
    const { url } = await serve(() => leaving.abort())
    const left = await clientOf(url).client.health.health({}, { signal: leaving.signal })
    expect(left).toMatchObject({ ok: false, attempts: 1, error: { code: "ABORTED" } })
  })
})

describe("an upload in a browser", () => {
  const sends: Array<unknown> = []
  /** Answers each upload with a problem that may be tried again. */
  class Requests extends EventTarget {
    readonly upload = new EventTarget()
    readonly status = 503
    readonly response = new TextEncoder().encode(JSON.stringify({ code: "UNAVAILABLE", retryable: true }))
      .buffer
    open() {}
    setRequestHeader() {}
    getAllResponseHeaders() {
      return "content-type: application/problem+json\r\n"
    }
    abort() {}
    send(body: unknown) {
      sends.push(body)
      setImmediate(() => this.dispatchEvent(new Event("load")))
    }
  }
  afterEach(() => vi.unstubAllGlobals())

  it("does not go out once the caller has ended it, between attempts or while a token is asked for", async () => {
    vi.stubGlobal("XMLHttpRequest", Requests)
    const upload = (leaving: AbortController, options: Partial<ClientOptions>) =>
      clientOf("http://127.0.0.1:1", options).client.files.uploadFile(
        { name: "a.pdf", body: new Uint8Array(4) },
        { signal: leaving.signal, onProgress: () => undefined }
      )
    const waiting = new AbortController()
    const sleep = () => Promise.resolve(waiting.abort())
    expect(await upload(waiting, { sleep })).toMatchObject({ ok: false, error: { code: "ABORTED" } })
    expect(sends.length).toBe(1)
    const asking = new AbortController()
    const token = () => {
      asking.abort()
      return "t"
    }
    expect(await upload(asking, { token })).toMatchObject({ ok: false, error: { code: "ABORTED" } })
    expect(sends.length).toBe(1)
  })
})

describe("event streams", () => {
  const events =
    (...texts: ReadonlyArray<string>): Answer =>
    (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      for (const text of texts) response.write(text)
      response.end()
    }
  const watch = async (url: string, options: Partial<ClientOptions> = {}) => {
    const { client, waits } = clientOf(url, options)
    const seen: Array<string> = []
    const ended = await (async () => {
      for await (const { event, id } of client.files.streamConversion({ fileId: "f" })) seen.push(event + id)
      return "done"
    })().catch((error: { problem: { code: string } }) => error.problem.code)
    return { seen, waits, ended }
  }

  it("are opened anew where they break off, with the last id", async () => {
    const { requests, url } = await serve(
      events("retry: 3000\nid: 7\nevent: progress\ndata: {}\n\nevent: progress\ndata: {"),
      hangUp,
      problem("RATE_LIMITED", true, 429),
      events("event: completed\r\ndata: {}\r\n\r\n")
    )
    const { ended, seen, waits } = await watch(url)
    expect([ended, seen]).toEqual(["done", ["progress7", "completed7"]])
    expect(requests.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "7", "7", "7"])
    expect(waits[0]).toBeGreaterThanOrEqual(3000)
  })

  it("end where they fail again and again, are no streams, or hold a line of megabytes", async () => {
    const dead = await serve(hangUp)
    expect((await watch(dead.url, { retries: 2 })).ended).toBe("NO_ANSWER")
    expect(dead.requests.length).toBe(3)
    expect((await watch((await serve(ok)).url)).ended).toBe("BAD_ANSWER")
    expect((await watch((await serve(events("data: not json\n\n"))).url)).ended).toBe("BAD_ANSWER")
    const long = await serve((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      const more = () => {
        while (response.writable && response.write("x".repeat(65_536)));
        response.once("drain", more)
      }
      more()
    })
    expect((await watch(long.url)).ended).toBe("BAD_ANSWER")
    expect(long.requests.length).toBe(1)
  })

  it("are asked for anew where no answer comes, or a refusal whose body never ends", async () => {
    vi.useFakeTimers()
    const answers: ReadonlyArray<(signal: AbortSignal) => Promise<Response>> = [
      (signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      (signal) => {
        const body = new ReadableStream({
          start: (endless) => signal.addEventListener("abort", () => endless.error(signal.reason))
        })
        return Promise.resolve(new Response(body, { status: 503 }))
      }
    ]
    for (const answer of answers) {
      let asked = 0
      const fetch = (_: unknown, init?: RequestInit) => {
        asked += 1
        return answer(init!.signal!)
      }
      const ended = watch("http://127.0.0.1:1", { fetch, retries: 1 })
      await vi.advanceTimersByTimeAsync(300_000)
      expect(asked).toBe(2)
      expect((await ended).ended).toBe("NO_ANSWER")
    }
  })

  it("are left with the caller's break", async () => {
    let closed: Promise<unknown> | undefined
    const { url } = await serve((response) => {
      closed = new Promise((resolve) => response.on("close", resolve))
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write("event: progress\ndata: {}\n\n")
    })
    for await (const _ of clientOf(url).client.files.streamConversion({ fileId: "f" })) break
    expect(await closed).toBeUndefined()
  })

  it("read the same however their bytes are cut", () => {
    const line = fc.constantFrom(
      "event: a",
      "data: 1",
      "data:2",
      "id: 5",
      ": comment",
      "",
      "retry: x",
      "nothing"
    )
    const end = fc.constantFrom("\n", "\r", "\r\n")
    fc.assert(
      fc.property(fc.array(fc.tuple(line, end), { maxLength: 40 }), fc.nat(), (lines, seed) => {
        const text = `${lines.map((parts) => parts.join("")).join("")}\n\n`
        const whole = eventParser()
        const cut = eventParser()
        const pieces: Array<unknown> = []
        const width = 1 + (seed % 5)
        // Two numbers of data on lines of their own are one text, which is no JSON: both refuse it.
        const read = (use: () => ReadonlyArray<unknown>) => {
          try {
            return use()
          } catch {
            return "refused"
          }
        }
        const all = read(() => whole.feed(text))
        const parts = read(() => {
          for (let at = 0; at < text.length; at += width)
            for (const one of cut.feed(text.slice(at, at + width))) pieces.push(one)
          return pieces
        })
        expect(parts).toEqual(all)
      })
    )
  })
})
