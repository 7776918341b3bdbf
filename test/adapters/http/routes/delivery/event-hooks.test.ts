import { Effect, Layer } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { AuditNotes } from "../../../../../src/ports/accounts/audit-log.ts"
import { admin, call, startServer, type TestServer } from "../../harness.ts"

const acts: Array<string> = []
let server: TestServer
beforeAll(async () => {
  server = await startServer({
    notes: Layer.succeed(AuditNotes, {
      add: ({ action, target }) => Effect.sync(() => void acts.push(`${action} ${target}`))
    })
  })
})
afterAll(() => server.stop())

const PATH = "/api/admin/event-hooks"

const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = admin) =>
  call(server, PATH + path, {
    method,
    headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })

describe("event hooks, by admins (EVENT-85)", () => {
  it("are made with a secret that is shown once, changed, tested, rotated and removed", async () => {
    const made = await ask("POST", "", { url: "https://shop.test/hooks", types: ["email.*"] })
    expect(made.status).toBe(201)
    const { id, secret } = made.json
    expect(secret).toMatch(/^whsec_/)
    const list = await ask("GET", "")
    expect(list.text).not.toContain(secret)
    expect(list.json.rows).toMatchObject([
      {
        id,
        url: "https://shop.test/hooks",
        types: ["email.*"],
        enabled: true,
        offBy: null,
        fromSettings: false
      }
    ])

    const test = await ask("POST", `/${id}/test`)
    expect(test.status).toBe(202)
    const deliveries = await ask("GET", `/${id}/deliveries?state=pending`)
    expect(deliveries.json.rows).toMatchObject([
      { id: test.json.deliveryId, type: "test", tries: 0, answerStatus: null }
    ])
    expect((await ask("POST", `/deliveries/${test.json.deliveryId}/redeliver`)).status).toBe(404)

    const rotated = await ask("POST", `/${id}/rotate`)
    expect([rotated.status, rotated.json.secret === secret]).toEqual([200, false])
    const paused = await ask("PATCH", `/${id}`, { enabled: false, types: ["*"] })
    expect(paused.json).toMatchObject({
      enabled: false,
      offBy: "person",
      types: ["*"],
      rotatingUntil: expect.any(String)
    })
    expect((await ask("POST", `/${id}/test`)).json).toMatchObject({ status: 409, code: "EVENT_HOOK_OFF" })
    const from = { from: "1960-01-01T00:00:00Z" }
    expect((await ask("POST", `/${id}/redeliver`, from)).json).toEqual({ redelivered: 0 })

    expect((await ask("DELETE", `/${id}`)).status).toBe(204)
    expect(acts).toEqual(
      ["added", "rotated", "changed", "redelivered", "removed"].map(
        (act) => `event_hook_${act} https://shop.test/hooks`
      )
    )
    for (const [method, path, body] of [
      ["DELETE", `/${id}`],
      ["PATCH", `/${id}`, { enabled: true }],
      ["POST", `/${id}/test`],
      ["POST", `/${id}/rotate`],
      ["POST", `/${id}/redeliver`, from],
      ["GET", `/${id}/deliveries`],
      ["GET", "/nothing/deliveries"]
    ] as const) {
      expect((await ask(method, path, body)).json, `${method} ${path}`).toMatchObject({
        status: 404,
        code: "NOT_FOUND"
      })
    }
  })

  it("refuse what is no address, an unknown type, and who is no admin", async () => {
    for (const body of [
      {},
      { url: "shop.test" },
      { url: "ftp://shop.test/" },
      { url: "https://ann:secret@shop.test/" },
      { url: "https://shop.test/#part" },
      { url: "https://shop.test/", types: [] },
      { url: "https://shop.test/", types: ["email.sended"] },
      { url: "https://shop.test/", secret: "whsec_AAAA" }
    ]) {
      const { json, text } = await ask("POST", "", body)
      expect({ body, ...json }).toMatchObject({ body, status: 400, code: "INVALID_REQUEST" })
      expect(text).not.toContain("ann:secret")
    }
    expect((await ask("GET", "", undefined, {})).status).toBe(401)
    const { id } = (await ask("POST", "", { url: "http://shop.test/" })).json
    expect((await ask("PATCH", `/${id}`, {})).json).toMatchObject({ status: 400 })
    // Moments that ISO 8601 has, and the database has not.
    for (const from of ["0000-01-01T00:00:00Z", "0001-01-01T00:00:00+01:00", "+012026-01-01T00:00:00Z"])
      expect({ from, ...(await ask("POST", `/${id}/redeliver`, { from })).json }).toMatchObject({
        from,
        status: 400,
        code: "INVALID_REQUEST"
      })
  })
})
