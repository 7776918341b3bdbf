import { Effect, Layer } from "effect"
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest"

import { AuditLog, type AuditLogFilter } from "../../../../../src/ports/accounts/audit-log.ts"
import { InvalidCursor } from "../../../../../src/ports/cursor.ts"
import { storeDown } from "../../../../support/worlds/store-down.ts"
import { accessWith, admin, ADMIN_TOKEN, call, startServer, type TestServer } from "../../harness.ts"

const PATH = "/api/admin/audit-log"
const row = {
  id: "0199a000-0000-7000-8000-000000000001",
  action: "email_unsuppress",
  actor: "ops",
  target: "a@x.test",
  note: null,
  details: { reasons: ["manual"] },
  created_at: "2026-01-02T03:04:05.678901Z"
}

let down = false
let filter: AuditLogFilter | undefined
let server: TestServer
const audit = Layer.succeed(AuditLog, {
  page: (asked) => {
    filter = asked
    if (down) return Effect.fail(storeDown(new Error("password=hunter2")))
    return asked.cursor === "forged"
      ? Effect.fail(new InvalidCursor({ cursor: asked.cursor }))
      : Effect.succeed({ rows: [row], nextCursor: "next" })
  }
})
beforeAll(async () => {
  server = await startServer({ audit, access: accessWith(["admin:read"], ADMIN_TOKEN) })
})
afterAll(() => server.stop())
beforeEach(() => {
  down = false
})

const get = (query = "") => call(server, `${PATH}${query}`, { headers: admin })

it("200 for who may read: rows with the columns' names as keys, and the next cursor", async () => {
  const answer = await get()
  expect([answer.status, answer.json]).toEqual([200, { rows: [row], nextCursor: "next" }])
  expect(filter).toEqual({ action: undefined, target: undefined, cursor: undefined, limit: 50 })
  expect((await get("?action=email_unsuppress&target=A%40x.test&limit=200&cursor=c")).status).toBe(200)
  expect(filter).toEqual({ action: "email_unsuppress", target: "A@x.test", cursor: "c", limit: 200 })
  expect((await get("?action=&target=&limit=&cursor=")).status).toBe(200)
  expect(filter).toEqual({ action: undefined, target: undefined, cursor: undefined, limit: 50 })
})

it("401 for nobody, 403 without the right", async () => {
  const nobody = await call(server, PATH)
  expect([nobody.status, nobody.json.code]).toEqual([401, "UNAUTHENTICATED"])
  // A dev token that may be anything but an admin.
  const others = await startServer({ audit, access: accessWith(["owner"], ADMIN_TOKEN) })
  try {
    const owner = await call(others, PATH, { headers: admin })
    expect([owner.status, owner.json.code]).toEqual([403, "FORBIDDEN"])
  } finally {
    await others.stop()
  }
})

it.each([
  "?limit=0",
  "?limit=201",
  "?limit=x",
  "?action=%00",
  `?target=${"x".repeat(321)}`,
  "?cursor=forged"
])("400 for %s", async (query) => {
  const answer = await get(query)
  expect([answer.status, answer.json.code]).toEqual([400, "INVALID_REQUEST"])
})

it("503 where the log does not answer, without its words", async () => {
  down = true
  const answer = await get()
  expect([answer.status, answer.json.code, answer.text.includes("hunter2")]).toEqual([
    503,
    "UNAVAILABLE",
    false
  ])
})
