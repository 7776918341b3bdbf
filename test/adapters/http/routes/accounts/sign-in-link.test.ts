import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Context, Effect, Layer, Redacted } from "effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"

import { pageWithin } from "../../../../../src/adapters/http/pages/paths.ts"
import type { TrustedProxies } from "../../../../../src/adapters/http/server/client-address.ts"
import * as MailTemplates from "../../../../../src/adapters/mail-templates/mail-templates.ts"
import * as MemoryAccess from "../../../../../src/adapters/memory/accounts/access.ts"
import * as AdminInvitations from "../../../../../src/application/accounts/admin-invitations.ts"
import * as SignIn from "../../../../../src/application/accounts/sign-in.ts"
import { Mailer } from "../../../../../src/application/mail/mailer.ts"
import type { SendRequest } from "../../../../../src/domain/mail/message.ts"
import { Access, Admins, MagicLinks, MOST_SIGN_INS } from "../../../../../src/ports/accounts/access.ts"
import { Deferrals } from "../../../../../src/ports/mail/deferrals.ts"
import { storeDown } from "../../../../support/worlds/store-down.ts"
import {
  admin,
  accessWith,
  ADMIN_TOKEN,
  type Answer,
  call,
  sent,
  startServer,
  type TestServer
} from "../../harness.ts"

const HTML = { accept: "text/html" }
const FORM = "application/x-www-form-urlencoded"
const BASE = "http://127.0.0.1:8787"

let server: TestServer
let access: Context.Context<Access | Admins | MagicLinks>
let mails: Array<SendRequest>
let mailed: () => void
/** Settles with the next mail. */
let nextMail: () => Promise<SendRequest>

/** The server, with what stands behind its links replaced where a test says so. */
const serve = async (
  links?: Layer.Layer<MagicLinks>,
  more: { readonly trustedProxies?: TrustedProxies } = {}
) => {
  mails = []
  mailed = () => undefined
  nextMail = () =>
    new Promise((resolve) => {
      mailed = () => resolve(mails.at(-1)!)
    })
  const layer = MemoryAccess.layer({ embedded: true, promos: ["welcome"] }).pipe(
    Layer.provide(NodeCrypto.layer)
  )
  access = await Effect.runPromise(Effect.scoped(Layer.build(layer)))
  const parts = Layer.mergeAll(
    Layer.succeedContext(access),
    MailTemplates.layer,
    Layer.succeed(Deferrals, Deferrals.of({ openKey: (key) => Effect.succeed({ key, state: "new" }) })),
    Layer.succeed(
      Mailer,
      Mailer.of({
        send: (mail) =>
          Effect.sync(() => {
            mails.push(mail)
            mailed()
            return sent
          })
      })
    )
  )
  server = await startServer({
    ...more,
    access: Layer.succeedContext(access),
    admins: Layer.merge(
      Layer.provide(AdminInvitations.layer({ baseUrl: BASE }), parts),
      Layer.succeed(Admins, Context.get(access, Admins))
    ),
    signIn: Layer.provide(
      SignIn.layer({ baseUrl: BASE, putOffMs: 5 }),
      links === undefined ? parts : Layer.merge(parts, links)
    )
  })
}
beforeEach(() => serve())
afterEach(() => server.stop())

const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  call(server, path, { method: "POST", headers: { "content-type": FORM, ...HTML, ...headers }, body })
const ask = (email: string, more = "", headers?: Record<string, string>) =>
  post("/auth/link", `email=${encodeURIComponent(email)}${more}`, headers)
const cookieOf = ({ headers }: Answer) => headers["set-cookie"]?.[0]?.split(";")[0] ?? ""
const customer = (email: string) =>
  Effect.runPromise(Context.get(access, MagicLinks).claim({ promo: "welcome", email }))
const invite = (email: string) =>
  Effect.runPromise(Context.get(access, Admins).invite({ email, right: "admin", actor: "ops" }))
/** Asks for a link, and gives the browser's cookie and what the mail leads to. */
const linkFor = async (email: string, more = "") => {
  const next = nextMail()
  const answer = await ask(email, more)
  const mail = await next
  const url = new URL(/http:\/\/\S+/.exec(mail.text!)![0])
  return { cookie: cookieOf(answer), mail, url, token: url.searchParams.get("token")! }
}
const press = (token: string, cookie: string, more = "") =>
  post("/auth/magic", `token=${token}${more}`, cookie === "" ? {} : { cookie })

describe("a sign-in link", () => {
  it("is mailed with a key, signs in once, in the browser that asked, and a scanner's look uses nothing up", async () => {
    await customer("ann@x.test")
    const { cookie, mail, token, url } = await linkFor("Ann <ANN@x.test>")
    expect(mail).toMatchObject({ to: "ANN@x.test", category: "auth", source: "api:sign-in" })
    expect(mail.idempotencyKey).toMatch(/^sign-in:[0-9a-f-]{36}$/)
    expect(Date.parse(mail.expiresAt!)).toBeGreaterThan(Date.now())
    expect(mail.idempotencyKey).not.toContain(token)
    for (const method of ["HEAD", "GET", "GET"])
      expect((await call(server, `${url.pathname}${url.search}`, { method, headers: HTML })).status).toBe(200)
    for (const other of ["", `postlane_sign_in=${"x".repeat(43)}`, "postlane_sign_in=x"]) {
      const elsewhere = await press(token, other)
      expect([elsewhere.status, elsewhere.text]).toEqual([
        403,
        expect.stringContaining("the browser that asked")
      ])
      expect(elsewhere.text).toContain('action="/auth/link"')
      expect(elsewhere.headers["set-cookie"]).toBeUndefined()
    }
    const signedIn = await press(token, cookie)
    expect([signedIn.status, cookieOf(signedIn)]).toEqual([200, expect.stringMatching(/^postlane_session=/)])
    expect(signedIn.text).toContain("url=/dashboard")
    expect(signedIn.headers["set-cookie"]?.[1]).toMatch(`${cookie}; Max-Age=34560000; Path=/auth; HttpOnly`)
    expect((await press(token, cookie)).status).toBe(410)
  })

  it("is bound by a cookie that pages cannot read, and that stays while it lasts", async () => {
    const first = await ask("nobody@x.test")
    expect(first.headers["set-cookie"]).toEqual([
      expect.stringMatching(/^postlane_sign_in=[\w-]{43}; Max-Age=900; Path=\/auth; HttpOnly; SameSite=Lax$/)
    ])
    const again = await ask("nobody@x.test", "", { cookie: cookieOf(first) })
    expect(cookieOf(again)).toBe(cookieOf(first))
    const forged = await ask("nobody@x.test", "", { cookie: "postlane_sign_in=short" })
    expect(cookieOf(forged)).toMatch(/^postlane_sign_in=[\w-]{43}$/)
    expect(cookieOf(forged)).not.toBe(cookieOf(first))
  })

  it("is answered alike for known and unknown addresses, before anything is looked up", async () => {
    await server.stop()
    await serve(Layer.mock(MagicLinks, { request: () => Effect.never }))
    await customer("known@x.test")
    const [known, unknown] = [await ask("known@x.test"), await ask("nobody@x.test")]
    expect(known.text).toBe(unknown.text.replaceAll("nobody@x.test", "known@x.test"))
    expect([known.status, unknown.status]).toEqual([200, 200])
    await server.stop()
    await serve(Layer.mock(MagicLinks, { request: () => Effect.fail(storeDown("password=hunter2")) }))
    expect((await ask("known@x.test")).text).toBe(known.text)
    expect(mails).toEqual([])
  })

  it("takes so many requests at once, then none, for whichever address", async () => {
    const service = await Effect.runPromise(
      Effect.gen(function* () {
        const signIn = yield* SignIn.SignIn
        const one = { email: "a@x.test", to: "a@x.test", browser: "b", next: undefined }
        for (let index = 0; index < SignIn.MOST_UNDER_WAY; index += 1) yield* signIn.request(one)
        return yield* Effect.flip(signIn.request(one))
      }).pipe(
        Effect.provide(
          SignIn.layer({ baseUrl: BASE }).pipe(
            Layer.provide([
              Layer.mock(MagicLinks, { request: () => Effect.never }),
              Layer.mock(Mailer, {}),
              Layer.mock(Deferrals, {}),
              MailTemplates.layer
            ])
          )
        )
      )
    )
    expect(service._tag).toBe("SignInsBusy")
  })

  it("leads to the page that was asked for, and to no other site", async () => {
    await invite("root@x.test")
    const { cookie, token, url } = await linkFor(
      "root@x.test",
      "&next=%2Fadmin%2Femail-log%3Fstatus%3Dfailed"
    )
    expect(url.searchParams.get("next")).toBe("/admin/email-log?status=failed")
    const page = await call(server, `${url.pathname}${url.search}`, { headers: HTML })
    expect(page.text).toContain('<input type="hidden" name="next" value="/admin/email-log?status=failed">')
    const evil = await press(token, cookie, "&next=https%3A%2F%2Fevil.test%2Fadmin")
    expect(evil.text).toContain('content="0; url=/admin"')
    const second = await linkFor("root@x.test")
    expect(second.url.searchParams.has("next")).toBe(false)
    const there = await press(second.token, second.cookie, "&next=%2Fadmin%2Fcosts")
    expect(there.text).toContain('content="0; url=/admin/costs"')
  })

  it.each([
    "https://evil.test/admin",
    "//evil.test/admin",
    "/\\evil.test/admin",
    "/\t/evil.test",
    "/admin/../../evil",
    "/adminevil",
    "/auth/logout",
    "/api/admin/jobs",
    "javascript:alert(1)",
    "admin",
    "",
    "/admin/" + "x".repeat(1000)
  ])("goes on to no such place: %j", (text) => {
    expect(pageWithin(text)).toBeUndefined()
  })

  it("400, 413, 415, 403 and 429 for what is malformed, too large, another site's, or too often", async () => {
    for (const email of ["", "no address", "a@b", "a@x.test\r\nbcc: b@x.test", "a".repeat(321)])
      expect((await ask(email)).status).toBe(400)
    expect((await post("/auth/link", `email=a%40x.test&pad=${"x".repeat(5000)}`)).status).toBe(413)
    expect((await post("/auth/link", "email=a", { "content-type": "text/plain" })).status).toBe(415)
    expect((await ask("a@x.test", "", { origin: "https://evil.test" })).status).toBe(403)
    const often = []
    for (let index = 0; index < 4; index += 1) often.push((await ask("a@x.test")).status)
    expect(often).toContain(429)
    expect(mails).toEqual([])
  })

  it("too many for one address are refused to who asks, known or not, and to nobody else", async () => {
    await server.stop()
    await serve(undefined, { trustedProxies: 1 })
    await customer("known@x.test")
    const from = (client: string) => ({ "x-forwarded-for": client })
    for (const email of ["known@x.test", "nobody@x.test"]) {
      const statuses = []
      for (let index = 0; index < 4; index += 1)
        statuses.push((await ask(email, "", from("192.0.2.1"))).status)
      expect(statuses).toEqual([200, 200, 200, 429])
      expect((await ask(email, "", from("198.51.100.7"))).status).toBe(200)
    }
  })

  it("nobody is kept from signing in by others who ask in their name, in a browser that they know", async () => {
    await server.stop()
    await serve(undefined, { trustedProxies: 1 })
    await customer("ann@x.test")
    const { cookie, token } = await linkFor("ann@x.test")
    expect((await press(token, cookie)).status).toBe(200)
    for (let client = 0; client < 2 * MOST_SIGN_INS; client += 1)
      expect((await ask("ann@x.test", "", { "x-forwarded-for": `192.0.2.${client}` })).status).toBe(200)
    const next = nextMail()
    expect((await ask("ann@x.test", "", { cookie })).status).toBe(200)
    expect((await next).to).toBe("ann@x.test")
    await expect.poll(() => mails).toHaveLength(1 + MOST_SIGN_INS)
  })
})

describe("a sign-in with a wrong token", () => {
  it("ends on a page with the forms for the next try; programs get a problem", async () => {
    const answer = await post("/auth/session", "token=wrong")
    expect([answer.status, answer.text]).toEqual([401, expect.stringContaining("There is no such token")])
    for (const action of ["/auth/link", "/auth/session"]) expect(answer.text).toContain(`action="${action}"`)
    expect(answer.text).not.toContain("wrong")
    expect(answer.headers["referrer-policy"]).toBe("same-origin")
    // In the look of the page that it was sent from, and on to the page that was asked for.
    const { text } = await call(server, "/sign-in", { headers: { accept: "text/html" } })
    const style = /<link rel="stylesheet" href="[^"]+">/g
    expect(answer.text.match(style)).toEqual(text.match(style))
    const onward = await post("/auth/session", "token=wrong&next=%2Fadmin%2Fjobs")
    expect(onward.text.match(/name="next" value="\/admin\/jobs"/g)).toHaveLength(2)
    const elsewhere = await post("/auth/session", "token=wrong&next=https%3A%2F%2Fevil.test%2F")
    expect(elsewhere.text).not.toContain("evil.test")
    const program = await post("/auth/session", "token=wrong", { accept: "application/json" })
    expect([program.status, program.json.code]).toEqual([401, "UNAUTHENTICATED"])
  })
})

describe("admins", () => {
  const PATH = "/api/admin/admins"
  const json = (path: string, body: unknown, to = server) =>
    call(to, path, {
      method: "POST",
      headers: { ...admin, "content-type": "application/json" },
      body: JSON.stringify(body)
    })
  beforeEach(() =>
    Effect.runPromise(
      Context.get(access, Access).keepDevToken({
        name: "ops",
        token: Redacted.make(ADMIN_TOKEN),
        rights: ["admin"]
      })
    )
  )

  it("invite admins, who are mailed no secret, sign in by mail, and are removed with their sessions", async () => {
    const invited = await json(PATH, { email: "Root <ROOT@x.test>", right: "admin:read" })
    expect([invited.status, invited.json]).toEqual([201, { answer: "invited", inviteSent: true }])
    expect(mails[0]).toMatchObject({ to: "ROOT@x.test", source: "api:admin-invite" })
    expect(mails[0]!.text).toContain(`${BASE}/sign-in?reason=admin`)
    const { cookie, token: link } = await linkFor("root@x.test")
    const session = cookieOf(await press(link, cookie))
    const jobs = () => call(server, PATH, { headers: { cookie: session } })
    expect((await jobs()).json.rows).toEqual([
      { email: "root@x.test", rights: ["admin:read"], invitedBy: "ops", createdAt: expect.any(String) }
    ])
    const refused = await call(server, `${PATH}/root%40x.test`, {
      method: "DELETE",
      headers: { cookie: session }
    })
    expect(refused.status).toBe(403)
    const gone = { method: "DELETE", headers: admin }
    // As it was written at the invitation.
    const written = encodeURIComponent("Root <ROOT@x.test>")
    expect((await call(server, `${PATH}/${written}`, gone)).status).toBe(204)
    expect((await jobs()).status).toBe(401)
    for (const nobody of ["root%40x.test", "%00", "'", "x".repeat(900)])
      expect((await call(server, `${PATH}/${nobody}`, gone)).status).toBe(404)
  })

  it("invite nobody by a malformed request, nor without the right", async () => {
    for (const body of [
      { email: "no address", right: "admin" },
      { email: "a@x.test", right: "owner" },
      { email: "a@x.test" },
      { email: "a@x.test, b@x.test", right: "admin" }
    ])
      expect((await json(PATH, body)).status).toBe(400)
    const reader = await startServer({ access: accessWith(["admin:read"], ADMIN_TOKEN) })
    expect((await json(PATH, { email: "a@x.test", right: "admin" }, reader)).status).toBe(403)
    await reader.stop()
    expect(mails).toEqual([])
  })
})
