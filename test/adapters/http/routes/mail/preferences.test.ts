import { Effect, Layer } from "effect"
import { afterAll, beforeEach, describe, expect, it } from "vitest"

import { makeCampaignDatabase } from "../../../../../src/adapters/memory/outreach/campaign-book.ts"
import { MailPreferences } from "../../../../../src/ports/mail/preferences.ts"
import { admin, call, startServer } from "../../harness.ts"

let database = makeCampaignDatabase()
beforeEach(() => {
  database = makeCampaignDatabase()
})
const now = () => database.preferences
const server = await startServer({
  mailPreferences: Layer.succeed(MailPreferences, {
    of: (email) => Effect.suspend(() => now().of(email)),
    leave: (entry) => Effect.suspend(() => now().leave(entry)),
    comeBack: (entry) => Effect.suspend(() => now().comeBack(entry)),
    leaveAll: (batch) => Effect.suspend(() => now().leaveAll(batch)),
    page: (filter) => Effect.suspend(() => now().page(filter))
  })
})
afterAll(() => server.stop())

const ANN = "/api/admin/email-preferences/Ann@x.test"
const ALL = "/api/admin/email-unsubscribes"
const sendJson = (path: string, method: "PUT" | "POST", body: object) =>
  call(server, path, {
    method,
    headers: { ...admin, "content-type": "application/json" },
    body: JSON.stringify(body)
  })
const get = (path: string) => call(server, path, { headers: admin })
const put = (body: object) => sendJson(ANN, "PUT", body)

describe("preferences over the API", () => {
  it("are shown and changed; what is not named stays (MAIL-67)", async () => {
    expect((await get(ANN)).json).toEqual({ email: "ann@x.test", marketing: true, leftLists: [] })
    const left = await put({ marketing: false, lists: { weekly: false, offers: false } })
    expect(left.json).toEqual({ email: "ann@x.test", marketing: false, leftLists: ["offers", "weekly"] })
    const back = await put({ lists: { weekly: true } })
    expect(back.json).toEqual({ email: "ann@x.test", marketing: false, leftLists: ["offers"] })
    expect((await put({ marketing: true })).json).toMatchObject({ marketing: true, leftLists: ["offers"] })
    expect((await put({ lists: { "No list": false } })).status).toBe(400)
    expect((await get("/api/admin/email-preferences/nobody")).status).toBe(400)
  })

  it("come from another system, and are exported page by page", async () => {
    const rows = [{ email: "Bob@x.test", list: "weekly" }, { email: "bob@x.test" }, { email: "ann@x.test" }]
    const imported = await sendJson(ALL, "POST", { rows })
    expect(imported.json).toEqual({ added: 3 })
    expect((await sendJson(ALL, "POST", { rows })).json).toEqual({ added: 0 })
    const exported: Array<unknown> = []
    let cursor = ""
    do {
      const { json } = await get(`${ALL}?limit=2${cursor}`)
      exported.push(...json.rows)
      cursor = json.nextCursor === null ? "" : `&cursor=${json.nextCursor}`
    } while (cursor !== "")
    expect(exported).toEqual([
      { email: "ann@x.test", list: null },
      { email: "bob@x.test", list: null },
      { email: "bob@x.test", list: "weekly" }
    ])
    expect((await get(`${ALL}?cursor=x`)).status).toBe(400)
    expect((await sendJson(ALL, "POST", { rows: [{ email: "x" }] })).status).toBe(400)
  })
})
