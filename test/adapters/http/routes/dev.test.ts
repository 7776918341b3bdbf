import { Effect, Stream } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { QueueId } from "../../../../src/domain/ids.ts"
import type { UpcomingMail } from "../../../../src/ports/mail/send-queue.ts"
import { type OutboxEntry } from "../../../../src/ports/mail/simulated-mail.ts"
import { storeDown } from "../../../support/worlds/store-down.ts"
import { admin, call, startServer, type TestServer } from "../harness.ts"

const HOSTILE = `<script>alert("x")</script>'&`
const entry: OutboxEntry = {
  id: "0abc-1",
  via: "provider_a",
  from: `${HOSTILE} <n@x.test>`,
  to: ["a@x.test", `"><img src=x onerror=alert(1)>`],
  cc: [],
  bcc: ["hidden@x.test"],
  subject: HOSTILE,
  at: "2026-01-02T03:04:05.000Z"
}
const source = `From: n@x.test\r\nSubject: s\r\nContent-Type: text/html\r\n\r\n${HOSTILE}</pre>\r\n`

let messages: ReadonlyArray<OutboxEntry> = [entry]
let upcoming: ReadonlyArray<UpcomingMail> = []
let down = false
let stoppedAt: string | undefined
const filters: Array<unknown> = []
const deeds: Array<string> = []
const scripts: Array<unknown> = []
const asked: Array<string> = []
let server: TestServer
const whenUp = <A>(value: A) =>
  Effect.suspend(() => (down ? Effect.fail(storeDown("hunter2")) : Effect.succeed(value)))
beforeAll(async () => {
  server = await startServer({
    sendQueue: { upcoming: () => whenUp(upcoming) },
    outbox: {
      list: (filter) =>
        Effect.suspend(() => {
          filters.push(filter)
          return whenUp(messages)
        }),
      page: (filter) =>
        Effect.suspend(() => {
          filters.push(filter)
          return whenUp({
            entries: messages,
            lookedUntil: stoppedAt,
            looked: messages.length,
            total: messages.length
          })
        }),
      entry: (id) => Effect.suspend(() => whenUp(messages.find((one) => one.id === id))),
      remove: (id) =>
        Effect.suspend(() => {
          if (!down) deeds.push(`remove ${id}`)
          return whenUp(id === entry.id)
        }),
      clear: (newest) =>
        Effect.suspend(() => {
          if (!down) deeds.push(`clear ${newest}`)
          return whenUp(3)
        }),
      changes: Stream.merge(Stream.make(undefined, undefined, undefined), Stream.never),
      get: (id) => {
        asked.push(id)
        return whenUp(id === entry.id ? new TextEncoder().encode(source) : undefined)
      }
    },
    reportEvent: ({ id, via }, type, recipients) =>
      Effect.sync(() => {
        if (via !== "provider_a") return false
        deeds.push(`report ${id} ${type} ${String(recipients)}`)
        return true
      }),
    script: (...script) => Effect.sync(() => void scripts.push(script))
  })
})
afterAll(() => server.stop())

const routes = ["/dev", "/dev/outbox", `/dev/outbox/${entry.id}`].concat(
  ["", "/html", "/accessibility", "/files/0"].map((rest) => `/dev/messages/${entry.id}${rest}`)
)

describe("behind a proxy with an address of its own", () => {
  let behind: TestServer
  beforeAll(async () => {
    behind = await startServer({ baseUrl: "https://app.example.com" })
  })
  afterAll(() => behind.stop())

  it.each(routes)("asks for the admin token, though the request looks local: %s", async (path) => {
    expect((await call(behind, path)).status).toBe(401)
    expect((await call(behind, path, { headers: admin })).status).not.toBe(401)
  })
})

describe("the outbox", () => {
  it("lists the documented fields", async () => {
    const { id, via, from, to, subject, at } = entry
    expect((await call(server, "/dev/outbox")).json).toEqual({
      messages: [
        {
          id,
          via,
          from,
          to,
          subject,
          at,
          idempotencyKey: null,
          category: null,
          source: null,
          bytes: null,
          attachments: null
        }
      ],
      total: 1,
      lookedUntil: null
    })
  })

  it("says where a look that did not reach the end stopped", async () => {
    stoppedAt = "0abb-1"
    try {
      expect((await call(server, "/dev/outbox?q=x")).json.lookedUntil).toBe("0abb-1")
    } finally {
      stoppedAt = undefined
    }
  })

  it("has no clock where nothing was started for a test", async () => {
    const answer = await call(server, "/dev/clock", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"milliseconds":1}'
    })
    expect([answer.status, answer.json.code]).toEqual([404, "NOT_FOUND"])
  })

  it("gives the raw message, as a download that no browser runs", async () => {
    const answer = await call(server, `/dev/outbox/${entry.id}`)
    expect([answer.status, answer.text]).toEqual([200, source])
    expect(answer.headers["content-type"]).toBe("message/rfc822")
    expect(answer.headers["content-disposition"]).toBe(`attachment; filename="${entry.id}.eml"`)
    expect(answer.headers["content-security-policy"]).toBe("default-src 'none'; sandbox")
    expect(answer.headers["x-content-type-options"]).toBe("nosniff")
  })

  it("leads a browser to the message's page, unless it asks for the download", async () => {
    const headers = { accept: "text/html,application/xhtml+xml" }
    const answer = await call(server, `/dev/outbox/${entry.id}`, { headers })
    expect([answer.status, answer.headers.location, answer.headers.vary]).toEqual([
      303,
      `/dev/messages/${entry.id}`,
      "accept"
    ])
    const download = await call(server, `/dev/outbox/${entry.id}?download=yes`, { headers })
    expect([download.status, download.text]).toEqual([200, source])
    expect((await call(server, "/dev/outbox/0abc-2", { headers })).status).toBe(404)
  })

  it("404 for a message that is not there; 400 for what is no id, without asking the outbox", async () => {
    const missing = await call(server, "/dev/outbox/0abc-2")
    expect([missing.status, missing.json.code]).toEqual([404, "NOT_FOUND"])
    asked.length = 0
    for (const id of [
      "..",
      "%2e%2e%2fsecret",
      "a%00b",
      ".hidden",
      "x".repeat(201),
      "x".repeat(3000),
      "%20"
    ]) {
      expect([400, 404]).toContain((await call(server, `/dev/outbox/${id}`)).status)
    }
    expect(asked).toEqual([])
  })

  it("503 while it cannot be read", async () => {
    down = true
    try {
      for (const path of routes) {
        const answer = await call(server, path)
        expect([answer.status, answer.json.code]).toEqual([503, "UNAVAILABLE"])
        expect(answer.text).not.toContain("hunter2")
      }
    } finally {
      down = false
    }
  })
})

const HTML_TAGS = /<[a-z][^>]*>/gi

describe("the page", () => {
  it("escapes everything, and runs and loads what this server serves alone", async () => {
    const answer = await call(server, "/dev")
    expect(answer.headers["content-type"]).toBe("text/html; charset=utf-8")
    expect(answer.headers["content-security-policy"]).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
        "frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'; frame-src 'self'"
    )
    expect(answer.text).toContain("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&#39;&amp;")
    const tags = answer.text.match(HTML_TAGS)!.join("\n")
    expect(tags).not.toMatch(/<(?:img|iframe|object|embed|style)|\s(?:on[a-z]+|style)=|https?:|\/\//i)
    expect(answer.text.replaceAll(/<script type="module" src="[^"]+"><\/script>/g, "")).not.toContain(
      "<script"
    )
  })

  it("has a language, a title, one heading of the first rank, a labelled list and links", async () => {
    const { text } = await call(server, "/dev")
    expect(text).toMatch(/^<!doctype html>\n<html lang="en">/)
    expect(text.match(/<h1>/g)).toHaveLength(1)
    expect(text).toMatch(/<title>Outbox/)
    expect(text).toContain('<ol class="mails" aria-label="Mails, newest first">')
    expect(text).toContain(`<a href="/dev/messages/${entry.id}"><span class="unread">`)
    expect(text).toContain('<a href="/dev?address=a%40x.test">a@x.test</a>')
    expect(text).toContain('<a href="/dev?address=hidden%40x.test">hidden@x.test</a>')
    expect(text).not.toContain("noscript")
  })

  it("names what waits in the send queue, and when it goes, above the beginning of the list", async () => {
    const mail: UpcomingMail = {
      id: QueueId.make("0199a000-0000-7000-8000-000000000001"),
      idempotencyKey: "k",
      state: "queued",
      sendAt: Date.parse("2026-01-05T08:00:00Z"),
      attempts: 0,
      nextAttemptAt: null,
      error: null,
      category: "marketing",
      to: [HOSTILE],
      subject: HOSTILE
    }
    upcoming = [mail, { ...mail, state: "sending" }]
    try {
      const { text } = await call(server, "/dev")
      expect(text).toContain("In the send queue")
      expect(text).toContain('<time datetime="2026-01-05T08:00:00.000Z"')
      expect(text).toContain("being sent")
      expect(text).not.toContain(HOSTILE)
      expect((await call(server, "/dev?q=x")).text).not.toContain("In the send queue")
    } finally {
      upcoming = []
    }
    expect((await call(server, "/dev")).text).not.toContain("In the send queue")
  })

  it("says how far a search looked, where that is not to the end", async () => {
    stoppedAt = "0abb-1"
    try {
      const { text } = await call(server, "/dev?q=x%20before:soon")
      expect(text).toContain("The search looked at 1 of 1 mails.")
      expect(text).toContain('href="/dev?q=x+before%3Asoon&amp;before=0abb-1">Look at older ones')
      expect(text).toContain("Left out of the search: “before:soon” is no day")
    } finally {
      stoppedAt = undefined
    }
  })

  it("says so where the outbox is empty, or nothing is like that", async () => {
    messages = []
    try {
      expect((await call(server, "/dev")).text).toContain("No mails yet")
      expect((await call(server, "/dev?q=x")).text).toContain("No mail is like that")
    } finally {
      messages = [entry]
    }
  })

  it("leads to newer mails, the newest of which are a page of their own", async () => {
    messages = Array.from({ length: 101 }, (_, at) => ({ ...entry, id: `id-${100 + at}` }))
    try {
      filters.length = 0
      const middle = await call(server, "/dev?after=id-300")
      expect(filters).toEqual([{ after: "id-300", limit: 101 }])
      expect(middle.text).not.toContain("messages/id-100")
      expect(middle.text).toContain('href="/dev?after=id-101">Newer mails')
      expect(middle.text).toContain('href="/dev?before=id-200">Older mails')
      const older = await call(server, "/dev?before=id-1")
      expect(older.text).toContain('href="/dev?after=id-100">Newer mails')
      messages = messages.slice(0, 100)
      filters.length = 0
      const newest = await call(server, "/dev?after=id-300")
      expect(filters).toEqual([{ after: "id-300", limit: 101 }, { limit: 101 }])
      expect(newest.text).not.toMatch(/Newer mails|Older mails/)
    } finally {
      messages = [entry]
    }
  })

  it("asks for what its query says, and leads to older mails", async () => {
    messages = Array.from({ length: 101 }, (_, at) => ({ ...entry, id: `id-${at}` }))
    try {
      filters.length = 0
      const { text } = await call(server, "/dev?q=%20one%20%3Cb%3E&address=Ann%40X.test&before=id-200")
      expect(filters).toEqual([{ search: "one <b>", address: "ann@x.test", before: "id-200", limit: 101 }])
      expect(text).toContain('value="one &lt;b&gt;"')
      expect(text).toContain("From or to ann@x.test")
      expect(text.match(/<li class="new">/g)).toHaveLength(100)
      expect(text).toContain('href="/dev?q=one+%3Cb%3E&amp;address=ann%40x.test&amp;before=id-99"')
    } finally {
      messages = [entry]
    }
    for (const query of [`q=${"x".repeat(201)}`, `address=${"x".repeat(401)}`, "before=..%2Fx", "q=%00"]) {
      const answer = await call(server, `/dev?${query}`)
      expect([query, answer.status]).toEqual([query, 400])
    }
  })
})

describe("what can be done with a message", () => {
  const change = (method: string, path: string, body?: string) =>
    call(server, path, {
      method,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      ...(body === undefined ? {} : { body })
    })

  it("is removed, alone or with all that are older than it", async () => {
    deeds.length = 0
    expect((await change("DELETE", `/dev/outbox/${entry.id}`)).status).toBe(204)
    expect((await change("DELETE", "/dev/outbox/none")).json.code).toBe("NOT_FOUND")
    expect((await change("DELETE", "/dev/outbox")).json).toEqual({ removed: 3 })
    expect((await change("DELETE", "/dev/outbox?newest=0abc-1")).json).toEqual({ removed: 3 })
    expect(deeds).toEqual(["remove 0abc-1", "remove none", "clear ~", "clear 0abc-1"])
  })

  it("has an event that its provider reports", async () => {
    deeds.length = 0
    const body = { type: "bounced", recipients: ["a@x.test"] }
    const answer = await change("POST", `/dev/outbox/${entry.id}/events`, JSON.stringify(body))
    expect([answer.status, answer.json]).toEqual([200, body])
    expect(deeds).toEqual(["report 0abc-1 bounced a@x.test"])
    expect((await change("POST", "/dev/outbox/none/events", '{"type":"bounced"}')).json.code).toBe(
      "NOT_FOUND"
    )
  })

  it("not where no provider sent it", async () => {
    messages = [{ ...entry, via: "telegram" }]
    try {
      const answer = await change("POST", `/dev/outbox/${entry.id}/events`, '{"type":"opened"}')
      expect([answer.status, answer.json.code]).toEqual([400, "INVALID_REQUEST"])
    } finally {
      messages = [entry]
    }
  })

  it.each(['{"type":"exploded"}', "{}", '{"type":"bounced","recipients":[]}', "{"])(
    "400 for %s",
    async (body) => {
      deeds.length = 0
      expect((await change("POST", `/dev/outbox/${entry.id}/events`, body)).status).toBe(400)
      expect(deeds).toEqual([])
    }
  )

  it("by no page of another site", async () => {
    deeds.length = 0
    for (const [method, path] of [
      ["DELETE", "/dev/outbox"],
      ["DELETE", `/dev/outbox/${entry.id}`],
      ["POST", `/dev/outbox/${entry.id}/events`]
    ] as const) {
      const answer = await call(server, path, { method, headers: { "sec-fetch-site": "cross-site" } })
      expect(answer.status).toBe(403)
    }
    expect(deeds).toEqual([])
  })

  it("503 while the outbox does not answer", async () => {
    down = true
    try {
      for (const [method, path] of [
        ["DELETE", "/dev/outbox"],
        ["DELETE", `/dev/outbox/${entry.id}`],
        ["POST", `/dev/outbox/${entry.id}/events`]
      ] as const) {
        const answer = await change(method, path, method === "POST" ? '{"type":"bounced"}' : undefined)
        expect([answer.status, answer.text.includes("hunter2")]).toEqual([503, false])
      }
    } finally {
      down = false
    }
  })
})

it("reports changes as server-sent events, those of one moment as one, and goes on where it broke off", async () => {
  const firstOf = async (lastId?: string) => {
    const stream = await fetch(`${server.url}/dev/stream`, {
      headers: lastId === undefined ? {} : { "last-event-id": lastId }
    })
    expect(stream.headers.get("content-type")).toBe("text/event-stream")
    const reader = stream.body!.getReader()
    const next = async () => new TextDecoder().decode((await reader.read()).value)
    // What is opened again answers at once, even where nothing has changed.
    const first = await next()
    expect(first.split("\n")[0]).toBe(lastId === undefined ? "event: changed" : ": open again")
    const text = lastId === undefined ? first : await next()
    await reader.cancel()
    const [, id] = /^event: changed\ndata: \{\}\nid: ([\w-]{3,20})\n\n$/.exec(text) ?? []
    return id
  }
  const id = await firstOf()
  expect(id).toBeDefined()
  expect(await firstOf("of another time")).toBe(id)
  messages = [{ ...entry, read: true }]
  try {
    const next = await firstOf(id)
    expect([next, next === id]).toEqual([expect.any(String), false])
  } finally {
    messages = [entry]
  }
})

describe("who may", () => {
  it.each(["localhost", "localhost:8787", "127.0.0.1", "127.1.2.3:80", "[::1]:8787"])(
    "a loopback peer that names %s",
    async (host) => {
      expect((await call(server, "/dev/outbox", { headers: { host } })).status).toBe(200)
    }
  )

  it.each([
    "evil.test",
    "evil.test:8787",
    "127.0.0.1.evil.test",
    "localhost.evil.test",
    "10.0.0.1",
    "x@localhost"
  ])("not one that names %s (DNS rebinding)", async (host) => {
    for (const path of routes) {
      const answer = await call(server, path, { headers: { host } })
      expect([answer.status, answer.json.code]).toEqual([401, "UNAUTHENTICATED"])
    }
  })

  it("an admin from anywhere", async () => {
    expect(
      (await call(server, "/dev/outbox", { headers: { host: "mail.example.test", ...admin } })).status
    ).toBe(200)
  })

  it.each([
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: "https://evil.test" },
    { origin: "null" }
  ])("not a page of another site that is open in a browser here: %j", async (headers) => {
    const answer = await call(server, "/dev/simulate", {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" } as Record<string, string>,
      body: '{"provider":"provider_a","outcomes":[]}'
    })
    expect([answer.status, answer.json.code]).toEqual([403, "FORBIDDEN"])
  })

  it("nobody where nothing is embedded: 404 for every route", async () => {
    const production = await startServer({ embedded: false })
    try {
      for (const path of [...routes, "/dev/simulate"]) {
        for (const method of ["GET", "POST"]) {
          const answer = await call(production, path, { method, headers: admin })
          expect([answer.status, answer.json.code]).toEqual([404, "NOT_FOUND"])
        }
      }
    } finally {
      await production.stop()
    }
  })
})

describe("the simulation", () => {
  const simulate = (body: string, type = "application/json") =>
    call(server, "/dev/simulate", { method: "POST", headers: { "content-type": type }, body })

  it("is passed to the provider", async () => {
    scripts.length = 0
    const script = {
      provider: "provider_b",
      outcomes: ["ok", "ambiguous-accepted"],
      otherwise: "unavailable"
    }
    const answer = await simulate(JSON.stringify(script))
    expect([answer.status, answer.json]).toEqual([200, script])
    expect(scripts).toEqual([["provider_b", ["ok", "ambiguous-accepted"], "unavailable", undefined]])
  })

  it("is about one mail where it says so", async () => {
    scripts.length = 0
    const target = { to: "Ann@x.test", category: "marketing" }
    const script = { provider: "provider_a", outcomes: ["slow"], for: target }
    expect((await simulate(JSON.stringify(script))).json).toEqual(script)
    expect(scripts).toEqual([["provider_a", ["slow"], undefined, target]])
  })

  it.each([
    ["{", ""],
    ["{}", "provider"],
    ['{"provider":"provider_c","outcomes":[]}', "provider"],
    ['{"provider":"provider_a","outcomes":["explode"]}', "outcomes.0"],
    ['{"provider":"provider_a","outcomes":[],"for":{"subject":"s"}}', "for.subject"]
  ])("400 for %s", async (body, path) => {
    scripts.length = 0
    const answer = await simulate(body)
    expect([answer.status, answer.json.code]).toEqual([400, "INVALID_REQUEST"])
    expect(answer.json.issues[0].path).toContain(path)
    expect(scripts).toEqual([])
  })

  it("415 for a form, 413 for a body over 1 MB", async () => {
    const form = await simulate("provider=provider_a", "application/x-www-form-urlencoded")
    expect([form.status, form.json.code]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"])
    const large = await simulate(" ".repeat(1024 * 1024 + 1))
    expect([large.status, large.json.code]).toEqual([413, "PAYLOAD_TOO_LARGE"])
  })
})

it.each(["forwarded", "via", "x-forwarded-for", "x-real-ip"])(
  "a proxy on this machine that says %s gets nothing without an admin's token",
  async (name) => {
    expect((await call(server, "/dev/outbox", { headers: { [name]: "198.51.100.7" } })).status).toBe(401)
    expect(
      (await call(server, "/dev/outbox", { headers: { ...admin, [name]: "198.51.100.7" } })).status
    ).toBe(200)
  }
)
