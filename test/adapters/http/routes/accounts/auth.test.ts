import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Context, Effect, Layer, Redacted } from "effect"
import * as fc from "fast-check"
import { afterEach, beforeEach, describe, expect, it } from "vitest"

import * as MemoryAccess from "../../../../../src/adapters/memory/accounts/access.ts"
import { Access, MagicLinks } from "../../../../../src/ports/accounts/access.ts"
import { storeDown } from "../../../../support/worlds/store-down.ts"
import { admin, ADMIN_TOKEN, type Answer, call, startServer, type TestServer } from "../../harness.ts"

const HTML = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" }
const FORM = "application/x-www-form-urlencoded"

let server: TestServer
let links: MagicLinks["Service"]
let access: Access["Service"]
beforeEach(async () => {
  const database = MemoryAccess.makeAccessDatabase()
  const layer = MemoryAccess.layer({ embedded: true, promos: ["welcome"], database }).pipe(
    Layer.provide(NodeCrypto.layer)
  )
  const context = await Effect.runPromise(Effect.scoped(Layer.build(layer)))
  links = Context.get(context, MagicLinks)
  access = Context.get(context, Access)
  const dev = { name: "ops", token: Redacted.make(ADMIN_TOKEN), rights: ["admin"] } as const
  await Effect.runPromise(access.keepDevToken(dev))
  server = await startServer({ access: layer, baseUrl: "https://mail.example.test" })
})
afterEach(() => server.stop())

const newLink = async () =>
  Redacted.value((await Effect.runPromise(links.claim({ promo: "welcome", email: "ana@x.test" })))!)
const open = (token: string, headers: Record<string, string> = HTML, method = "GET") =>
  call(server, `/auth/magic?token=${encodeURIComponent(token)}`, { method, headers })
const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  call(server, path, { method: "POST", headers: { "content-type": FORM, ...HTML, ...headers }, body })
const press = (token: string, headers?: Record<string, string>) =>
  post("/auth/magic", `token=${encodeURIComponent(token)}`, headers)
const cookieOf = ({ headers }: Answer) => headers["set-cookie"]?.[0]?.split(";")[0]

const POLICY =
  /^default-src 'none'; style-src 'sha256-[^']+'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'$/

const ICON = '<link rel="icon" href="/favicon.ico" type="image/svg+xml">'

/** What every page has: nothing that runs, loads (but the icon) or leaks, and a shape that assistive technology can use. */
const expectPage = ({ headers, text }: Answer, heading: string) => {
  expect(headers["content-type"]).toBe("text/html; charset=utf-8")
  expect(headers["content-security-policy"]).toMatch(POLICY)
  expect(headers["referrer-policy"]).toBe("same-origin")
  expect(headers["cache-control"]).toBe("no-store")
  expect(headers["x-frame-options"]).toBe("DENY")
  expect(text).toMatch(/^<!doctype html>\n<html lang="en">/)
  expect(text).toContain(`<h1>${heading}</h1>`)
  expect(text.match(/<h1>/g)).toHaveLength(1)
  expect(text.match(/<main>/g)).toHaveLength(1)
  expect(text).toContain(ICON)
  const tags = text
    .replace(ICON, "")
    .match(/<[a-z][^>]*>/gi)!
    .join("\n")
  expect(tags).not.toMatch(/<(?:script|img|iframe|link|object|embed)|\s(?:src|on[a-z]+)=/i)
}

describe("a magic link", () => {
  it("opens a page with one button and is not used up by it, however often a scanner looks", async () => {
    const token = await newLink()
    for (let index = 0; index < 5; index += 1) {
      expect((await open(token, {}, "HEAD")).status).toBe(200)
      expect((await open(token)).headers["set-cookie"]).toBeUndefined()
    }
    const page = await open(token)
    expect(page.status).toBe(200)
    expectPage(page, "Sign in to Postlane")
    expect(page.text.match(/<button/g)).toHaveLength(1)
    expect(page.text).toContain('<form method="post" action="/auth/magic">')
    expect(page.text).toContain(`<input type="hidden" name="token" value="${token}">`)
    expect((await press(token)).status).toBe(200)
  })

  it("signs in once; used, unknown and none at all look the same", async () => {
    const token = await newLink()
    const signedIn = await press(token)
    expect(signedIn.status).toBe(200)
    expectPage(signedIn, "You are signed in")
    expect(signedIn.headers["set-cookie"]).toEqual([
      expect.stringMatching(
        /^postlane_session=[\w-]{43}; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax$/
      )
    ])
    expect(signedIn.text).not.toContain(token)
    const used = await press(token)
    const unknown = await press("a".repeat(43))
    expect([used.status, used.text]).toEqual([410, unknown.text])
    expectPage(used, "The link was used, has expired, or never was one")
    expect(used.headers["set-cookie"]).toBeUndefined()
    const program = await press(token, { accept: "application/json" })
    expect([program.status, program.json.code]).toEqual([410, "LINK_EXPIRED"])
  })

  it("pressed twenty times at once begins one session", async () => {
    const token = await newLink()
    const answers = await Promise.all(Array.from({ length: 20 }, () => press(token)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 410)).toHaveLength(19)
    expect(answers.filter((answer) => cookieOf(answer) !== undefined)).toHaveLength(1)
  })

  it.each([
    "",
    "x",
    "a".repeat(44),
    `"><script>alert(1)</script>`,
    "\0",
    "a".repeat(42) + "☃",
    "../../etc/passwd"
  ])("that holds %j is a 400, which does not repeat it", async (token) => {
    for (const answer of [await open(token), await press(token)]) {
      expect(answer.status).toBe(400)
      expectPage(answer, "The request is not valid")
      expect(answer.text).not.toContain("<script")
      expect(answer.text).not.toContain(`"${token}"`)
    }
    const program = await open(token, {})
    expect([program.status, program.json.code]).toEqual([400, "INVALID_REQUEST"])
  })

  it.each([
    [{ origin: "https://evil.test" }, 403],
    [{ "sec-fetch-site": "cross-site", origin: "null" }, 403],
    [{ "sec-fetch-site": "same-site" }, 403],
    // What a browser sends from our page, which gives no referrer: with https, and with plain http.
    [{ "sec-fetch-site": "same-origin", origin: "null" }, 200],
    [{ origin: "null" }, 403]
  ])("pressed on a page that says %j: %i, and a refusal does not use it up", async (headers, status) => {
    const token = await newLink()
    const answer = await press(token, headers)
    expect(answer.status).toBe(status)
    expect((await press(token)).status).toBe(status === 200 ? 410 : 200)
  })

  it("415, 413 and 400 for other bodies; 405 for other methods", async () => {
    const token = await newLink()
    const answers = [
      await post("/auth/magic", JSON.stringify([token]), { "content-type": "application/json" }),
      await post("/auth/magic", `token=${token}`, { "content-type": "application/json" }),
      await post("/auth/magic", `token=${token}`, { "content-type": "text/plain" }),
      await post("/auth/magic", `token=${token}`, { "content-encoding": "gzip" }),
      await post("/auth/magic", `token=${token}&pad=${"x".repeat(5000)}`),
      await post("/auth/magic", "%%%=%%%&&&"),
      await call(server, "/auth/magic", { method: "DELETE" })
    ]
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 415, 415, 413, 400, 405])
    expect((await press(token)).status).toBe(200)
  })

  it("is used by a program as well: the token as JSON, or in the query without a body", async () => {
    const json = await post("/auth/magic", JSON.stringify({ token: await newLink() }), {
      "content-type": "application/json; charset=utf-8"
    })
    const query = await open(await newLink(), {}, "POST")
    for (const answer of [json, query]) {
      expect(answer.status).toBe(200)
      expect(cookieOf(answer)).toMatch(/^postlane_session=./)
    }
    const elsewhere = await open(await newLink(), { origin: "https://evil.test" }, "POST")
    expect([elsewhere.status, cookieOf(elsewhere)]).toEqual([403, undefined])
  })
})

it("whatever is posted ends in a refusal that is documented, and signs nobody in", async () => {
  const body = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.string({ unit: "binary", maxLength: 200 }).map((token) => `token=${encodeURIComponent(token)}`),
    fc.constantFrom(
      "token[]=x",
      "token=a&token=b",
      "token=%",
      "&&&",
      "token",
      "__proto__=x&token=constructor"
    )
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom("/auth/magic", "/auth/session"), body, async (path, text) => {
      const answer = await post(path, text)
      expect([400, 401, 410, 429]).toContain(answer.status)
      expect(answer.headers["set-cookie"]).toBeUndefined()
    }),
    { numRuns: 100 }
  )
  expect(server.logs.filter((line) => /error|fatal/i.test(line))).toEqual([])
})

it("whatever a caller presents, an admin route answers 401", async () => {
  const visible = fc.stringMatching(/^[\x20-\x7e\x80-\xff]{0,300}$/)
  await fc.assert(
    fc.asyncProperty(visible, visible, async (authorization, cookie) => {
      const headers = { authorization, cookie: `postlane_session=${cookie}` }
      expect((await call(server, "/api/admin/email-log", { headers })).status).toBe(401)
      const bearer = { authorization: `Bearer ${authorization}`, cookie }
      expect((await call(server, "/api/admin/email-log", { headers: bearer })).status).toBe(401)
    }),
    { numRuns: 60 }
  )
})

describe("a session", () => {
  const list = (headers: Record<string, string>) => call(server, "/api/admin/email-log", { headers })

  it("begins with a token, has its rights, and ends by signing out", async () => {
    const page = await call(server, "/auth/session")
    expect(page.text).toContain("<h1>Sign in</h1>")
    expect(page.text).toContain('<label for="token">')
    const signedIn = await post("/auth/session", `token=${ADMIN_TOKEN}`)
    expectPage(signedIn, "You are signed in")
    expect(signedIn.text).not.toContain(ADMIN_TOKEN)
    const cookie = cookieOf(signedIn)!
    expect((await list({ cookie })).status).toBe(200)
    const out = await post("/auth/logout", "", { cookie, "sec-fetch-site": "same-origin" })
    expectPage(out, "You are signed out")
    expect(out.headers["set-cookie"]).toEqual([
      "postlane_session=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; Secure; SameSite=Lax"
    ])
    expect((await list({ cookie })).status).toBe(401)
    expect((await list(admin)).status).toBe(200)
  })

  it("does not begin with anything else: 401 as a page or a problem, without a cookie", async () => {
    for (const token of ["", "nobody", `${ADMIN_TOKEN}x`, "\0", "x".repeat(3000)]) {
      const answer = await post("/auth/session", `token=${encodeURIComponent(token)}`)
      expect([answer.status, answer.headers["set-cookie"]]).toEqual([401, undefined])
    }
    const program = await post("/auth/session", "token=nobody", { accept: "*/*" })
    expect([program.status, program.json.code]).toEqual([401, "UNAUTHENTICATED"])
    const foreign = await post("/auth/session", `token=${ADMIN_TOKEN}`, { origin: "https://evil.test" })
    expect([foreign.status, foreign.headers["set-cookie"]]).toEqual([403, undefined])
  })

  it("is not ended by another site's page; to sign out without one is nothing wrong", async () => {
    const cookie = cookieOf(await post("/auth/session", `token=${ADMIN_TOKEN}`))!
    expect((await post("/auth/logout", "", { cookie, origin: "https://evil.test" })).status).toBe(403)
    expect((await list({ cookie })).status).toBe(200)
    expect((await post("/auth/logout", "")).status).toBe(200)
    expect((await post("/auth/logout", "", { cookie: "postlane_session=nobody" })).status).toBe(200)
  })
})

it("503 while sessions cannot be begun or ended", async () => {
  const down = () => Effect.fail(storeDown("password=hunter2"))
  const broken = await startServer({
    access: Layer.merge(
      Layer.mock(Access, { beginSession: down, endSession: down }),
      Layer.mock(MagicLinks, { redeem: down })
    )
  })
  try {
    const headers = { "content-type": FORM, cookie: "postlane_session=x" }
    for (const path of ["/auth/magic", "/auth/session", "/auth/logout"]) {
      const body = `token=${"a".repeat(43)}`
      const answer = await call(broken, path, { method: "POST", headers, body })
      expect([answer.status, answer.json.code]).toEqual([503, "UNAVAILABLE"])
      expect(answer.text).not.toContain("hunter2")
    }
  } finally {
    await broken.stop()
  }
})
