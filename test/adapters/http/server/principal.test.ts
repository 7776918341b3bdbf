import { Effect, Layer, Redacted, Schema } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { CurrentOwner, OwnerAccess, ownerAccessLayer } from "../../../../src/adapters/http/server/access.ts"
import type { Principal, Right } from "../../../../src/domain/accounts/principal.ts"
import type { CustomerId } from "../../../../src/domain/ids.ts"
import { Access, MagicLinks } from "../../../../src/ports/accounts/access.ts"
import { SuppressionList } from "../../../../src/ports/mail/suppression-list.ts"
import { anyId } from "../../../support/any-id.ts"
import { storeDown } from "../../../support/worlds/store-down.ts"
import { call, startServer, type TestServer } from "../harness.ts"

const holder = (actor: string, rights: ReadonlyArray<Right>, customerId?: CustomerId): Principal => ({
  actor,
  customerId,
  rights,
  via: "token"
})
const TOKENS: Readonly<Record<string, Principal>> = {
  "t-admin": holder("ops", ["admin"]),
  "t-reader": holder("board", ["admin:read"]),
  "t-owner": holder("ci", ["owner"], anyId("c-1")),
  "t-half": holder("statistics of c-1", ["admin:read"], anyId("c-1")),
  grüße: holder("umlaut", ["admin"])
}
const COOKIES: Readonly<Record<string, Principal>> = {
  "s-admin": holder("ops", ["admin"]),
  "s-reader": holder("board", ["admin:read"]),
  "s-owner": holder("a@x.test", ["owner"], anyId("c-1")),
  "s-old": holder("ops", ["admin"])
}

let down = false
const unlessDown = <A>(value: A) =>
  Effect.suspend(() => (down ? Effect.fail(storeDown(new Error("password=hunter2"))) : Effect.succeed(value)))
const access = Layer.merge(
  Layer.mock(Access, {
    byToken: (token) => Effect.suspend(() => unlessDown(TOKENS[token])),
    bySession: (cookie) =>
      Effect.suspend(() => {
        const principal = COOKIES[cookie]
        return unlessDown(
          principal && {
            principal: { ...principal, via: "session" as const },
            renewed: cookie === "s-old" ? Redacted.make("s-new") : undefined,
            expiresAt: Date.UTC(2030, 0, 2)
          }
        )
      })
  }),
  Layer.mock(MagicLinks, {})
)

const removedBy: Array<string> = []
const suppressions = Layer.mock(SuppressionList, {
  page: () => Effect.succeed({ rows: [], nextCursor: null }),
  remove: ({ actor }) => Effect.sync(() => removedBy.push(actor))
})

let server: TestServer
beforeAll(async () => {
  server = await startServer({ access, suppressions, baseUrl: "https://mail.example.test" })
})
afterAll(() => server.stop())

/** `undefined` for the statuses of an answer that is no problem. */
const CODES: Readonly<Record<number, string>> = { 401: "UNAUTHENTICATED", 403: "FORBIDDEN" }

const LIST = "/api/admin/email-suppressions"
const read = (headers: Record<string, string>, to = server) => call(to, LIST, { headers })
const write = (headers: Record<string, string>) =>
  call(server, `${LIST}/a@x.test`, { method: "DELETE", headers })
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const cookie = (value: string) => ({ cookie: `postlane_session=${value}` })

describe("admin routes", () => {
  it.each([
    [bearer("t-admin"), 200, 200],
    [bearer("t-reader"), 200, 403],
    [bearer("t-owner"), 403, 403],
    [cookie("s-admin"), 200, 200],
    [cookie("s-reader"), 200, 403],
    [cookie("s-owner"), 403, 403],
    [{ authorization: `Bearer ${Buffer.from("grüße").toString("latin1")}` }, 200, 200],
    [{}, 401, 401],
    [bearer("nobody"), 401, 401],
    [cookie("nobody"), 401, 401],
    [cookie(""), 401, 401],
    [{ authorization: "Basic t-admin" }, 401, 401],
    [{ authorization: "t-admin" }, 401, 401],
    [{ "x-api-key": "t-admin" }, 401, 401],
    [{ cookie: "session=s-admin; Postlane_Session=s-admin" }, 401, 401],
    [{ cookie: `postlane_session=${"x".repeat(4000)}` }, 401, 401],
    [{ cookie: "postlane_session=%00%ff;;;=" }, 401, 401],
    // A token decides where there is one.
    [{ ...bearer("nobody"), ...cookie("s-admin") }, 401, 401],
    [{ ...bearer("t-owner"), ...cookie("s-admin") }, 403, 403]
  ])("%j: %i to read, %i to change", async (headers, reading, writing) => {
    const answers = [await read(headers), await write(headers)]
    expect(answers.map(({ status }) => status)).toEqual([reading, writing])
    for (const { json, status } of answers) {
      expect(json?.code).toBe(CODES[status])
    }
  })

  it("tell the audit row who it was", async () => {
    removedBy.length = 0
    await write(bearer("t-admin"))
    await write(cookie("s-admin"))
    await write({ authorization: `Bearer ${Buffer.from("grüße").toString("latin1")}` })
    expect(removedBy).toEqual(["ops", "ops", "umlaut"])
  })

  it.each([
    [{ origin: "https://evil.test" }, 403],
    [{ origin: "null" }, 403],
    [{ origin: "https://mail.example.test.evil.test" }, 403],
    [{ origin: "http://mail.example.test" }, 403],
    [{ "sec-fetch-site": "cross-site" }, 403],
    [{ "sec-fetch-site": "same-site", origin: "https://other.example.test" }, 403],
    [{ origin: "https://mail.example.test" }, 200],
    [{ origin: "http://127.0.0.1:1", host: "127.0.0.1:1" }, 200],
    [{ "sec-fetch-site": "same-origin", origin: "null" }, 200]
  ])("a change by cookie that a page sends with %j: %i", async (headers, status) => {
    const answer = await write({ ...(headers as Record<string, string>), ...cookie("s-admin") })
    expect(answer.status).toBe(status)
    // A token is nothing that a browser sends by itself.
    expect((await write({ ...(headers as Record<string, string>), ...bearer("t-admin") })).status).toBe(200)
    expect((await read({ ...(headers as Record<string, string>), ...cookie("s-admin") })).status).toBe(200)
  })

  it("hand the next cookie out with whatever they answer, for https only where the base URL is", async () => {
    const plain = await startServer({ access, suppressions, baseUrl: "http://mail.example.test" })
    try {
      const attributes = "Path=/; Expires=Wed, 02 Jan 2030 00:00:00 GMT; HttpOnly"
      expect((await read(cookie("s-old"))).headers["set-cookie"]).toEqual([
        `postlane_session=s-new; ${attributes}; Secure; SameSite=Lax`
      ])
      expect((await read(cookie("s-old"), plain)).headers["set-cookie"]).toEqual([
        `postlane_session=s-new; ${attributes}; SameSite=Lax`
      ])
      const wrong = await call(server, `${LIST}?limit=zero`, { headers: cookie("s-old") })
      expect([wrong.status, wrong.headers["set-cookie"]?.length]).toEqual([400, 1])
      expect((await read(cookie("s-admin"))).headers["set-cookie"]).toBeUndefined()
    } finally {
      await plain.stop()
    }
  })

  it("503 while nobody can be looked up, which says nothing of why", async () => {
    down = true
    try {
      for (const answer of [await read(bearer("t-admin")), await write(cookie("s-admin"))]) {
        expect([answer.status, answer.json.code, answer.json.retryable]).toEqual([503, "UNAVAILABLE", true])
        expect(answer.text).not.toContain("hunter2")
      }
      expect((await read({})).status).toBe(401)
    } finally {
      down = false
    }
  })
})

describe("what an admin sees while the database is down", () => {
  it("is what it saw within the hour; nobody else sees it", async () => {
    const checks = async (token: string) =>
      (await call(server, "/ready", { headers: bearer(token) })).status === 200 &&
      (await call(server, "/dev/outbox", { headers: { host: "mail.example.test", ...bearer(token) } })).status
    expect(await checks("t-reader")).toBe(200)
    expect(await checks("t-owner")).toBe(401)
    down = true
    try {
      expect(await checks("t-reader")).toBe(200)
      expect(await checks("t-admin"), "it was not seen before").toBe(401)
      expect(await checks("t-owner")).toBe(401)
      expect(await checks("nobody")).toBe(401)
    } finally {
      down = false
    }
  })
})

describe("owner routes", () => {
  class Files extends HttpApi.make("files").add(
    HttpApiGroup.make("files")
      .add(
        HttpApiEndpoint.get("mine", "/mine", {
          success: Schema.Struct({ customerId: Schema.String, actor: Schema.String })
        })
      )
      .add(HttpApiEndpoint.get("file", "/files/:fileId/result", { params: { fileId: Schema.String } }))
      .middleware(OwnerAccess)
  ) {}
  const routes = HttpApiBuilder.layer(Files).pipe(
    Layer.provide(
      HttpApiBuilder.group(Files, "files", (handlers) =>
        handlers.handle("mine", () => CurrentOwner).handle("file", () => Effect.void)
      )
    ),
    Layer.provide(ownerAccessLayer({ baseUrl: "https://mail.example.test" })),
    Layer.provide(access),
    Layer.provide(HttpServer.layerServices)
  )
  const { handler, dispose } = HttpRouter.toWebHandler(routes, { disableLogger: true })
  afterAll(() => dispose())

  it.each([
    [bearer("t-owner"), 200, { customerId: "c-1", actor: "ci" }],
    [cookie("s-owner"), 200, { customerId: "c-1", actor: "a@x.test" }],
    [bearer("t-admin"), 403, { code: "FORBIDDEN" }],
    [cookie("s-admin"), 403, { code: "FORBIDDEN" }],
    [bearer("t-half"), 403, { code: "FORBIDDEN" }],
    [bearer("nobody"), 401, { code: "UNAUTHENTICATED" }],
    [{}, 401, { code: "UNAUTHENTICATED" }]
  ])("%j: %i", async (headers, status, owner) => {
    const answer = await handler(
      new Request("http://mail.example.test/mine", { headers: headers as Record<string, string> })
    )
    expect(answer.status).toBe(status)
    expect(await answer.json()).toMatchObject(owner)
  })

  it.each([
    [bearer("t-admin"), 404, "FILE_NOT_FOUND"],
    [cookie("s-admin"), 404, "FILE_NOT_FOUND"],
    [bearer("nobody"), 401, "UNAUTHENTICATED"]
  ])("%j: a file is not there (%i), never forbidden", async (headers, status, code) => {
    const request = new Request("http://mail.example.test/files/f-1/result", {
      headers: headers as Record<string, string>
    })
    const answer = await handler(request)
    expect([answer.status, await answer.json()]).toMatchObject([status, { code }])
  })
})
