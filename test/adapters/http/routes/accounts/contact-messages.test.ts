import { Effect, Layer } from "effect"
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest"

import {
  type ContactMessageFilter,
  type ContactMessageRow,
  ContactMessages
} from "../../../../../src/ports/accounts/accounts.ts"
import { InvalidCursor } from "../../../../../src/ports/cursor.ts"
import { storeDown } from "../../../../support/worlds/store-down.ts"
import { accessWith, admin, ADMIN_TOKEN, call, startServer, type TestServer } from "../../harness.ts"

const PATH = "/api/admin/contact-messages"
const row: ContactMessageRow = {
  id: "0199a000-0000-7000-8000-000000000001",
  kind: "contact",
  name: null,
  email: "a@x.test",
  message: "Hello",
  rating: null,
  page: null,
  spam: false,
  notified_at: null,
  notify_after: "2026-01-02T03:06:05.678901Z",
  notify_attempts: 3,
  notify_error: "not sent",
  created_at: "2026-01-02T03:04:05.678901Z"
}

let down = false
let filter: ContactMessageFilter | undefined
let server: TestServer
const messages = Layer.mock(ContactMessages, {
  page: (asked) => {
    filter = asked
    if (down) return Effect.fail(storeDown(new Error("password=hunter2")))
    return asked.cursor === "forged"
      ? Effect.fail(new InvalidCursor({ cursor: asked.cursor }))
      : Effect.succeed({ rows: [row], nextCursor: "next" })
  }
})
beforeAll(async () => {
  server = await startServer({ messages, access: accessWith(["admin:read"], ADMIN_TOKEN) })
})
afterAll(() => server.stop())
beforeEach(() => {
  down = false
})

const get = (query = "") => call(server, `${PATH}${query}`, { headers: admin })

it("200 for who may read: rows with the columns' names as keys, and the next cursor", async () => {
  const answer = await get()
  expect([answer.status, answer.json]).toEqual([200, { rows: [row], nextCursor: "next" }])
  expect(filter).toEqual({ state: undefined, kind: undefined, cursor: undefined, limit: 50 })
  expect((await get("?state=waiting&kind=feedback&limit=200&cursor=c")).status).toBe(200)
  expect(filter).toEqual({ state: "waiting", kind: "feedback", cursor: "c", limit: 200 })
  expect((await get("?state=&kind=&limit=&cursor=")).status).toBe(200)
  expect(filter).toEqual({ state: undefined, kind: undefined, cursor: undefined, limit: 50 })
})

it("401 for nobody, 403 without the right", async () => {
  const nobody = await call(server, PATH)
  expect([nobody.status, nobody.json.code]).toEqual([401, "UNAUTHENTICATED"])
  // A dev token that may be anything but an admin.
  const others = await startServer({ messages, access: accessWith(["owner"], ADMIN_TOKEN) })
  try {
    const owner = await call(others, PATH, { headers: admin })
    expect([owner.status, owner.json.code]).toEqual([403, "FORBIDDEN"])
  } finally {
    await others.stop()
  }
})

it.each(["?limit=0", "?limit=201", "?limit=x", "?state=lost", "?kind=letter", "?cursor=forged"])(
  "400 for %s",
  async (query) => {
    const answer = await get(query)
    expect([answer.status, answer.json.code]).toEqual([400, "INVALID_REQUEST"])
  }
)

it("503 where the store does not answer, without its words", async () => {
  down = true
  const answer = await get()
  expect([answer.status, answer.json.code, answer.text.includes("hunter2")]).toEqual([
    503,
    "UNAVAILABLE",
    false
  ])
})
