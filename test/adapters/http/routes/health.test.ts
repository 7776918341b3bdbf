import { readFileSync } from "node:fs"

import { Effect, Metric } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"

import type { ReadinessReport } from "../../../../src/ports/readiness.ts"
import { admin, call, startServer, type TestServer } from "../harness.ts"

const report: ReadinessReport = {
  ready: true,
  checks: [
    { name: "database", ok: true, lastError: null },
    { name: "queue", ok: true, lastError: null }
  ],
  supervisors: [
    {
      name: "retry",
      state: "running",
      restarts: 2,
      lastRunAt: "2026-01-02T03:04:05.000Z",
      lastError: "boom: hunter2"
    }
  ]
}
const broken: ReadinessReport = {
  ready: false,
  checks: [{ name: "database", ok: false, lastError: "connect failed: hunter2" }, report.checks[1]!],
  supervisors: [{ ...report.supervisors[0]!, state: "backing-off" }]
}

let server: TestServer
let sick: TestServer
beforeAll(async () => {
  server = await startServer({ report })
  sick = await startServer({ report: broken })
})
afterAll(async () => {
  await server.stop()
  await sick.stop()
})

it("/health says that the process is alive, whatever else is broken", async () => {
  const answer = await call(sick, "/health")
  expect([answer.status, answer.json]).toEqual([200, { status: "ok" }])
})

it("/ready: 200 with checks and supervisors; errors for admins only", async () => {
  const shown = await call(server, "/ready")
  expect([shown.status, shown.json]).toEqual([
    200,
    {
      status: "ready",
      checks: { database: { status: "ok" }, queue: { status: "ok" } },
      supervisors: [{ name: "retry", state: "running", restarts: 2, lastRunAt: "2026-01-02T03:04:05.000Z" }]
    }
  ])
  const toAdmin = await call(server, "/ready", { headers: admin })
  expect(toAdmin.json.supervisors[0].lastError).toBe("boom: hunter2")
  expect((await call(server, "/ready", { headers: { authorization: "Bearer nope" } })).text).not.toContain(
    "hunter2"
  )
})

it("/ready: 503, a problem with the same parts that names what is not ready", async () => {
  const answer = await call(sick, "/ready")
  expect(answer.headers["content-type"]).toBe("application/problem+json")
  expect([answer.status, answer.json]).toEqual([
    503,
    {
      type: "urn:postlane:problem:not-ready",
      title: "The service is not ready",
      status: 503,
      detail: "Not ready: database, retry",
      code: "NOT_READY",
      retryable: true,
      checks: { database: { status: "failed" }, queue: { status: "ok" } },
      supervisors: [
        { name: "retry", state: "backing-off", restarts: 2, lastRunAt: "2026-01-02T03:04:05.000Z" }
      ]
    }
  ])
  expect((await call(sick, "/ready", { headers: admin })).json.checks.database.lastError).toContain("hunter2")
})

it("/metrics is Prometheus text", async () => {
  const counter = Metric.counter("http_test_total", { incremental: true, attributes: { name: 'a"b' } })
  const measured = await startServer()
  try {
    await Effect.runPromise(Metric.update(counter, 3))
    const answer = await call(measured, "/metrics")
    expect(answer.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8")
    expect(answer.text).toContain('http_test_total{name="a\\"b"} 3')
  } finally {
    await measured.stop()
  }
})

it("/openapi.json equals public/openapi.json", async () => {
  const answer = await call(server, "/openapi.json")
  const snapshot: unknown = JSON.parse(
    readFileSync(new URL("../../../../public/openapi.json", import.meta.url), "utf8")
  )
  expect(answer.json).toEqual(snapshot)
})

it("/docs loads nothing from elsewhere", async () => {
  const answer = await call(server, "/docs")
  expect(answer.status).toBe(200)
  const shell = answer.text.replaceAll(/<script>[^]*?<\/script>/g, "")
  expect(shell).not.toMatch(/src=|href=/)
  expect(answer.headers["content-security-policy"]).not.toMatch(/https?:/)
})

it("a process without the role api answers for its health only", async () => {
  const worker = await startServer({ api: false, report })
  try {
    for (const path of ["/health", "/ready", "/metrics"]) expect((await call(worker, path)).status).toBe(200)
    for (const path of ["/internal/send-email", "/api/admin/email-log", "/openapi.json", "/healthy"]) {
      expect((await call(worker, path)).status).toBe(404)
    }
  } finally {
    await worker.stop()
  }
})
