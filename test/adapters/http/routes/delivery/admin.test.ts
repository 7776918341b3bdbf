import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import type { EmailLogRow, EmailLogSearch } from "../../../../../src/domain/delivery/email-log-row.ts"
import type { EmailStatus } from "../../../../../src/domain/mail/status.ts"
import { InvalidCursor } from "../../../../../src/ports/cursor.ts"
import type { EmailLogChanges, EmailLogFilter } from "../../../../../src/ports/delivery/email-log-query.ts"
import { type DeadLetter } from "../../../../../src/ports/mail/defer-queue.ts"
import { anyId } from "../../../../support/any-id.ts"
import { storeDown } from "../../../../support/worlds/store-down.ts"
import { admin, ADMIN_TOKEN, call, PROXY_SECRET, startServer, type TestServer } from "../../harness.ts"

const row: EmailLogRow = {
  id: "0199a000-0000-7000-8000-000000000001",
  created_at: "2026-01-02T03:04:05.678901Z",
  updated_at: "2026-01-02T03:04:05.678901Z",
  category: "unknown",
  source: null,
  from_address: null,
  to_addresses: ["a@x.test"],
  other_addresses: [],
  dropped_addresses: [],
  subject: null,
  outcome: null,
  status: "bounced",
  last_event: "bounced",
  last_event_at: null,
  error: "no such user",
  error_kind: null,
  failed_over: false,
  cost_usd: 0.0001,
  idempotency_key: null,
  provider: "provider_b",
  provider_message_id: "m",
  alerted_at: null,
  raw: { type: "Bounce" }
}
const letter: DeadLetter = {
  id: "d-1",
  diedAt: "2026-01-02T03:04:05Z",
  receives: 3,
  reason: "crashed",
  message: {
    version: 1,
    rowId: anyId("r"),
    attempt: 1,
    request: { provider: "provider_a", key: "order-17", body: { html: "<p>private</p>" } },
    details: {
      category: "transactional",
      source: "api:contact",
      from: "n@x.test",
      to: ["a@x.test"],
      others: [],
      subject: "s",
      idempotencyKey: anyId("order-17"),
      keyHash: anyId("00")
    },
    firstAttemptAt: 0,
    failedOver: false
  }
}

let down = false
let filter: EmailLogFilter | undefined
let changed: EmailLogChanges | undefined
let counted: EmailLogSearch | undefined
let matching = 0
let stopped: { readonly stoppedAfter?: number } = {}
let byStatus: ReadonlyMap<EmailStatus, number> = new Map()
/** Pages by their number; without any, every page has one row. */
let pages: ReadonlyArray<ReadonlyArray<EmailLogRow>> = []
let server: TestServer
const queueDown = storeDown("password=hunter2")
beforeAll(async () => {
  server = await startServer({
    changes: (asked) => {
      changed = asked
      return Effect.succeed({ rows: [row], nextCursor: null, changedUntil: "2026-02-01T00:00:00.000000Z" })
    },
    page: (asked) => {
      filter = asked
      const at = Number(asked.cursor ?? 0)
      if (pages[at] !== undefined) {
        const nextCursor = at + 1 < pages.length ? String(at + 1) : null
        return Effect.succeed({ rows: pages[at], nextCursor })
      }
      if (down) return Effect.fail(storeDown(new Error("password=hunter2")))
      if (asked.cursor === "forged") return Effect.fail(new InvalidCursor({ cursor: asked.cursor }))
      return Effect.succeed({ rows: [row], nextCursor: "next" })
    },
    count: (search, most) => {
      counted = search
      return down
        ? Effect.fail(storeDown(new Error("password=hunter2")))
        : Effect.succeed({ count: Math.min(matching, most), ...stopped })
    },
    counts: (search) => {
      counted = search
      return down
        ? Effect.fail(storeDown(new Error("password=hunter2")))
        : Effect.succeed({ counts: byStatus, ...stopped })
    },
    queue: {
      deadLetters: ({ limit }) =>
        down
          ? Effect.fail(queueDown)
          : Effect.succeed([letter, { ...letter, id: "d-2", message: null }].slice(0, limit)),
      redrive: (id) => (down ? Effect.fail(queueDown) : Effect.succeed(id === "d/1"))
    }
  })
})
afterAll(() => server.stop())

const get = (path: string) => call(server, path, { headers: admin })

describe("who may", () => {
  const routes = [
    ["GET", "/api/admin/email-log"],
    ["GET", "/api/admin/email-log.csv"],
    ["GET", "/api/admin/email-log/count"],
    ["GET", "/api/admin/email-log/counts"],
    ["GET", `/api/admin/email-log/${row.id}`],
    ["GET", "/api/admin/dead-letters"],
    ["POST", "/api/admin/dead-letters/d-1/redrive"]
  ] as const
  const strangers: ReadonlyArray<Record<string, string>> = [
    {},
    { authorization: "" },
    { authorization: "Bearer" },
    { authorization: "Bearer " },
    { authorization: "Bearer nope" },
    { authorization: `Bearer ${ADMIN_TOKEN}x` },
    { authorization: `Basic ${ADMIN_TOKEN}` },
    { authorization: ADMIN_TOKEN },
    { "x-proxy-secret": PROXY_SECRET }
  ]

  it.each(routes)("%s %s: 401 without an admin's token", async (method, path) => {
    for (const headers of strangers) {
      const answer = await call(server, path, { method, headers })
      expect([answer.status, answer.json.code]).toEqual([401, "UNAUTHENTICATED"])
      expect(answer.headers["www-authenticate"]).toBe("Bearer")
    }
  })

  it.each([undefined, ""])("an unset token (%j) lets nobody in", async (adminToken) => {
    const unset = await startServer({ adminToken })
    try {
      for (const headers of strangers) {
        expect((await call(unset, "/api/admin/email-log", { headers })).status).toBe(401)
      }
    } finally {
      await unset.stop()
    }
  })
})

describe("the email log", () => {
  it("rows with the columns' names as keys, and the next cursor", async () => {
    const answer = await get("/api/admin/email-log")
    expect([answer.status, answer.json]).toEqual([200, { rows: [row], nextCursor: "next" }])
    expect(filter?.limit).toBe(50)
  })

  it("every filter goes through", async () => {
    const query =
      "status=bounced&category=unknown&provider=provider_b&recipient=A%2Bb%40X.test&subject=50%25+off&limit=200&cursor=c"
    expect((await get(`/api/admin/email-log?${query}`)).status).toBe(200)
    expect(filter).toEqual({
      status: "bounced",
      category: "unknown",
      provider: "provider_b",
      recipient: "A+b@X.test",
      subject: "50% off",
      limit: 200,
      cursor: "c"
    })
  })

  it("a key, a provider's id and days go through; what is no day is refused", async () => {
    const query = `id=${row.id}&key=order%2017&messageId=m%2B1&since=2026-01-31&until=2028-02-29`
    expect((await get(`/api/admin/email-log?${query}`)).status).toBe(200)
    expect(filter).toMatchObject({
      id: row.id,
      key: "order 17",
      messageId: "m+1",
      since: "2026-01-31",
      until: "2028-02-29"
    })
    for (const day of [
      "2026-02-30",
      "2026-1-1",
      "yesterday",
      "2026-01-01T00:00:00Z",
      "0000-01-01",
      "-infinity",
      "%00"
    ])
      expect([day, (await get(`/api/admin/email-log?since=${day}`)).status]).toEqual([day, 400])
    expect((await get("/api/admin/email-log?id=order-17")).json.issues).toEqual([
      { path: "id", message: "is not the id of a row" }
    ])
  })

  it("each mail once, a source and a tag go through to the list, its count and its CSV", async () => {
    const query = "by=mail&source=api%3Ashop&tag=a%3Ab&tagValue=%27%3B"
    const wanted = { by: "mail", source: "api:shop", tag: "a:b", tagValue: "';" }
    expect((await get(`/api/admin/email-log?${query}`)).status).toBe(200)
    expect(filter).toMatchObject(wanted)
    expect((await get(`/api/admin/email-log/count?${query}`)).status).toBe(200)
    expect(counted).toMatchObject(wanted)
    pages = [[row]]
    expect((await get(`/api/admin/email-log.csv?${query}`)).status).toBe(200)
    pages = []
    expect(filter).toMatchObject({ ...wanted, limit: 200 })
    await get("/api/admin/email-log?tag=order")
    expect([filter?.tag, filter?.tagValue]).toEqual(["order", undefined])
  })

  it("changes since a moment, with where to go on; what is no moment is refused", async () => {
    for (const moment of [
      "2026-01-31T12:00:00Z",
      "2026-01-31T12:00:00.123456%2B02:00",
      "2024-02-29T23:59Z"
    ]) {
      const answer = await get(`/api/admin/email-log?changedSince=${moment}&status=bounced`)
      expect([answer.status, answer.json.changedUntil]).toEqual([200, "2026-02-01T00:00:00.000000Z"])
      expect(changed).toMatchObject({
        changedSince: decodeURIComponent(moment),
        status: "bounced",
        limit: 50
      })
    }
    for (const moment of [
      "2026-01-31",
      "2026-02-30T00:00:00Z",
      "0000-01-01T00:00:00Z",
      "2026-01-31T24:00:00Z",
      "2026-01-31T12:60:00Z",
      "2026-01-31T12:00:00",
      "2026-01-31T12:00:00+02:00",
      "2026-01-31T12:00:00%2B19:00",
      "2026-01-31T12:00:00.1234567Z",
      "infinity",
      "now()",
      "2026-01-31T12:00:00Z%00",
      "'; drop table email_log; --"
    ]) {
      const answer = await get(
        `/api/admin/email-log?changedSince=${encodeURI(moment).replaceAll("%25", "%")}`
      )
      expect([moment, answer.status, answer.json.issues?.[0]?.path]).toEqual([moment, 400, "changedSince"])
    }
  })

  it.each([
    ["by", "by=mail&changedSince=2026-01-31T12:00:00Z"],
    ["tagValue", "tagValue=17"],
    ["by", "by=key"],
    ["tag", "tag=%00"],
    ["source", `source=${"x".repeat(201)}`]
  ])("refuses %s in %s", async (path, query) => {
    const answer = await get(`/api/admin/email-log?${query}`)
    expect([answer.status, answer.json.issues[0].path]).toEqual([400, path])
  })

  it("a count stops at 10,000, under the same filter", async () => {
    matching = 12
    const few = await get("/api/admin/email-log/count?status=failed&key=k")
    expect([few.status, few.json]).toEqual([200, { count: 12, more: false }])
    expect(counted).toMatchObject({ status: "failed", key: "k" })
    matching = 10_000
    expect((await get("/api/admin/email-log/count")).json).toEqual({ count: 10_000, more: false })
    matching = 10_001
    expect((await get("/api/admin/email-log/count")).json).toEqual({ count: 10_000, more: true })
  })

  it("a count that stopped among the newest says so, and that there may be more", async () => {
    matching = 3
    byStatus = new Map([["bounced" as const, 2]])
    stopped = { stoppedAfter: 50_000 }
    expect((await get("/api/admin/email-log/count")).json).toEqual({
      count: 3,
      more: true,
      stoppedAfter: 50_000
    })
    const { json } = await get("/api/admin/email-log/counts")
    expect([json.counts.bounced, json.stoppedAfter]).toEqual([2, 50_000])
    stopped = {}
  })

  it("counts by status, each to a limit, and of every status", async () => {
    byStatus = new Map([["bounced" as const, 1000]])
    const { json, status } = await get("/api/admin/email-log/counts?search=%20ann%20&status=sent")
    expect([status, json.most]).toEqual([200, 1000])
    expect(json.counts).toMatchObject({ bounced: 1000, sent: 0, deferred: 0 })
    expect(counted).toMatchObject({ search: "ann" })
  })

  it("as CSV: page after page of the same filter, and no cell is a formula", async () => {
    pages = [
      [{ ...row, subject: '=HYPERLINK("https://evil.test")', to_addresses: ["+a@x.test", "b@x.test"] }],
      [{ ...row, error: "two\r\nlines", subject: "\t=1+1", source: "@SUM(A1)", from_address: "-1@x.test" }]
    ]
    const answer = await get("/api/admin/email-log.csv?status=bounced")
    pages = []
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, "text/csv; charset=utf-8"])
    expect(answer.headers["content-disposition"]).toBe('attachment; filename="email-log.csv"')
    expect(filter).toMatchObject({ status: "bounced", cursor: "1", limit: 200 })
    expect(answer.text.startsWith('"id","written","status","category"')).toBe(true)
    expect(answer.text.split('\r\n"').length).toBe(3)
    expect(answer.text).toContain(`"'=HYPERLINK(""https://evil.test"")"`)
    expect(answer.text).toContain(`"'+a@x.test; b@x.test"`)
    expect(answer.text).toContain(`"'\t=1+1"`)
    expect(answer.text).toContain(`"'@SUM(A1)","'-1@x.test"`)
    expect(answer.text).toContain('"two\r\nlines"')
    expect(answer.text).not.toContain("private")
  })

  it("an empty filter counts as missing", async () => {
    const query = "status=&category=&provider=&recipient=&subject=&limit=&cursor="
    expect((await get(`/api/admin/email-log?${query}`)).status).toBe(200)
    expect(JSON.parse(JSON.stringify(filter))).toEqual({ limit: 50 })
  })

  it.each([
    ["limit", "limit=0"],
    ["limit", "limit=201"],
    ["limit", "limit=1.5"],
    ["limit", "limit=ten"],
    ["status", "status=lost"],
    ["status", "status=sent&status=failed"],
    ["provider", "provider=provider_c"],
    ["category", "category=spam"],
    ["subject", "subject=%00"],
    ["cursor", "cursor=forged"]
  ])("400 that names %s for %s", async (path, query) => {
    const answer = await get(`/api/admin/email-log?${query}`)
    expect([answer.status, answer.json.code]).toEqual([400, "INVALID_REQUEST"])
    expect(answer.json.issues[0].path).toMatch(new RegExp(`^${path}`))
  })
})

describe("dead letters", () => {
  it("are listed without the mail itself", async () => {
    const answer = await get("/api/admin/dead-letters")
    expect(answer.json.deadLetters).toEqual([
      {
        id: "d-1",
        diedAt: letter.diedAt,
        receives: 3,
        reason: "crashed",
        idempotencyKey: "order-17",
        provider: "provider_a",
        to: ["a@x.test"],
        subject: "s"
      },
      expect.objectContaining({ id: "d-2", idempotencyKey: null, provider: null, to: null, subject: null })
    ])
    expect(answer.text).not.toContain("private")
    expect((await get("/api/admin/dead-letters?limit=1")).json.deadLetters).toHaveLength(1)
  })

  it("are redriven by id; 404 for one that is not there", async () => {
    const redrive = (id: string) =>
      call(server, `/api/admin/dead-letters/${encodeURIComponent(id)}/redrive`, {
        method: "POST",
        headers: admin
      })
    const done = await redrive("d/1")
    expect([done.status, done.json]).toEqual([200, { id: "d/1", redriven: true }])
    const missing = await redrive("d-9")
    expect([missing.status, missing.json.code]).toEqual([404, "NOT_FOUND"])
  })
})

it("503, retryable and without the cause, while log or queue do not answer", async () => {
  down = true
  try {
    const answers = [
      await get("/api/admin/email-log"),
      await get("/api/admin/dead-letters"),
      await call(server, "/api/admin/dead-letters/d/redrive", { method: "POST", headers: admin })
    ]
    for (const answer of answers) {
      expect([answer.status, answer.json.code, answer.json.retryable]).toEqual([503, "UNAVAILABLE", true])
      expect(answer.text).not.toContain("hunter2")
    }
  } finally {
    down = false
  }
})
