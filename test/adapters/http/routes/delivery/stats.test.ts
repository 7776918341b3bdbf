import { Effect, Layer } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"

import { EmailStats } from "../../../../../src/ports/delivery/email-log-query.ts"
import { storeDown } from "../../../../support/worlds/store-down.ts"
import { admin, call, startServer, type TestServer } from "../../harness.ts"

let server: TestServer
let asked: number | undefined
let down = false
beforeAll(async () => {
  server = await startServer({
    stats: Layer.succeed(
      EmailStats,
      EmailStats.of({
        lastHours: Effect.succeed([]),
        since: (days) => {
          asked = days
          return down
            ? Effect.fail(storeDown(new Error("password=hunter2")))
            : Effect.succeed({
                from: "2026-01-01",
                stats: [
                  {
                    day: "2026-01-02",
                    category: "unknown",
                    provider: null,
                    status: "delivered" as const,
                    count: 3,
                    failedOver: 1,
                    undelivered: 0,
                    costUsd: 0.0012
                  }
                ]
              })
        }
      })
    )
  })
})
afterAll(() => server.stop())

const get = (query: string, headers: Record<string, string> = admin) =>
  call(server, `/api/admin/email-stats${query}`, { headers })

it("answers rows and totals for thirty days, or as many as are asked for", async () => {
  const answer = await get("")
  expect([answer.status, asked]).toEqual([200, 30])
  const { rows, totals, ...rest } = answer.json
  expect(rest).toEqual({ days: 30, from: "2026-01-01" })
  expect(rows).toHaveLength(1)
  expect(rows[0]).toMatchObject({
    day: "2026-01-02",
    category: "unknown",
    provider: null,
    total: 3,
    failedOver: 1,
    undelivered: 0
  })
  expect(totals).toMatchObject({
    total: 3,
    costUsd: 0.0012,
    rates: { delivered: 1, bounced: 0, complained: 0 }
  })
  expect(totals.byStatus).toMatchObject({ delivered: 3, bounced: 0 })
  for (const days of [1, 366]) {
    expect((await get(`?days=${days}`)).json.days).toBe(days)
    expect(asked).toBe(days)
  }
  expect((await get("?days=")).json.days).toBe(30)
})

it.each(["0", "367", "-1", "1.5", "x", "1e3", "1&days=2"])("400 for days=%s", async (days) => {
  const answer = await get(`?days=${days}`)
  expect([answer.status, answer.json.code]).toEqual([400, "INVALID_REQUEST"])
})

it("as CSV, of a category or provider where one is asked for", async () => {
  const csv = (query: string) => call(server, `/api/admin/email-stats.csv${query}`, { headers: admin })
  const all = await csv("?days=7")
  expect([all.status, asked, all.headers["content-type"]]).toEqual([200, 7, "text/csv; charset=utf-8"])
  const [head, row, ...rest] = all.text.split("\r\n")
  expect(head).toMatch(/^"day","category","provider","mails",.*"delivered",.*"cost_usd"$/)
  expect(row).toMatch(/^"2026-01-02","unknown","","3",.*"0\.0012"$/)
  expect(rest).toEqual([""])
  for (const query of ["?category=auth", "?provider=provider_a"])
    expect((await csv(query)).text.split("\r\n")).toHaveLength(2)
  expect((await csv("?category=unknown")).text.split("\r\n")).toHaveLength(3)
  expect((await csv("?category=nothing")).status).toBe(400)
  expect((await call(server, "/api/admin/email-stats.csv")).status).toBe(401)
})

it("nobody but an admin sees them", async () => {
  for (const headers of [{}, { authorization: "Bearer nope" }]) {
    expect((await get("", headers)).status).toBe(401)
  }
})

it("503, without the cause, while the log does not answer", async () => {
  down = true
  try {
    const answer = await get("")
    expect([answer.status, answer.json.code, answer.json.retryable]).toEqual([503, "UNAVAILABLE", true])
    expect(answer.text).not.toContain("hunter2")
  } finally {
    down = false
  }
})
