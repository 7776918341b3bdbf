import { Effect, Layer } from "effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"

import { renderMail } from "../../../../../src/adapters/mail-templates/mail-templates.ts"
import { AccountClosing } from "../../../../../src/application/accounts/account-closing.ts"
import { ContactForms } from "../../../../../src/application/accounts/contact-forms.ts"
import {
  InviteUnderWay,
  NoSuchTeam,
  TeamInvitations
} from "../../../../../src/application/accounts/team-invitations.ts"
import type { Principal } from "../../../../../src/domain/accounts/principal.ts"
import { TEMPLATE_KINDS, TEMPLATE_SAMPLES } from "../../../../../src/domain/mail/templates/samples.ts"
import { Access, MagicLinks } from "../../../../../src/ports/accounts/access.ts"
import {
  type AccountFunds,
  Accounts,
  type ContactMessage,
  TeamInvites
} from "../../../../../src/ports/accounts/accounts.ts"
import { anyId } from "../../../../support/any-id.ts"
import { storeDown } from "../../../../support/worlds/store-down.ts"
import { call, startServer, type TestServer } from "../../harness.ts"

const OWNER = "owner-token-4711"
const INVITE = "a".repeat(43)

let state: "up" | "down" | "busy" | "gone" | "spent" = "up"
const received: Array<ContactMessage> = []
const invited: Array<unknown> = []
const closed: Array<string> = []
const ANN: AccountFunds = {
  id: anyId("c-1"),
  email: "ann@reader.test",
  name: "Ann",
  planType: "paid",
  creditsRemaining: 90,
  freePagesLeft: null,
  heldCredits: 10
}
let server: TestServer

const owner = (customerId: string | undefined): Principal => ({
  actor: "owner",
  customerId: customerId === undefined ? undefined : anyId(customerId),
  rights: customerId === undefined ? ["admin"] : ["owner"],
  via: "token"
})

beforeEach(async () => {
  state = "up"
  server = await startServer({
    access: Layer.merge(
      Layer.mock(Access, {
        byToken: (token) =>
          Effect.succeed(token === OWNER ? owner("c-1") : token === "admin" ? owner(undefined) : undefined)
      }),
      Layer.mock(MagicLinks, {})
    ),
    forms: Layer.succeed(
      ContactForms,
      ContactForms.of({
        sweep: Effect.succeed(0),
        receive: (message) =>
          state === "down"
            ? Effect.fail(storeDown("hunter2"))
            : Effect.sync(() => {
                received.push(message)
                return { received: true, notified: !message.spam }
              })
      })
    ),
    invitations: Layer.succeed(
      TeamInvitations,
      TeamInvitations.of({
        invite: (invite) => {
          if (state === "down") return Effect.fail(storeDown("hunter2"))
          if (state === "busy") return Effect.fail(new InviteUnderWay({ inviteId: "i-1" }))
          if (state === "gone") return Effect.fail(new NoSuchTeam())
          invited.push(invite)
          return Effect.succeed({ inviteId: "i-1", inviteSent: false })
        }
      })
    ),
    invites: Layer.mock(TeamInvites, {
      accept: () =>
        state === "down"
          ? Effect.fail(storeDown("hunter2"))
          : Effect.succeed(state === "up" ? { inviteId: "i-1", inviter: "<b>Ann</b>" } : undefined)
    }),
    funds: Layer.mock(Accounts, {
      funds: (customerId) =>
        state === "down"
          ? Effect.fail(storeDown("hunter2"))
          : Effect.succeed(state === "gone" || customerId !== ANN.id ? undefined : ANN)
    }),
    accounts: Layer.succeed(
      AccountClosing,
      AccountClosing.of({
        close: (customerId) =>
          state === "down"
            ? Effect.fail(storeDown("hunter2"))
            : Effect.sync(() => {
                closed.push(customerId)
                return { deleted: true, confirmationSent: true }
              })
      })
    )
  })
})
afterEach(() => server.stop())

const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  call(server, path, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
  })
const asOwner = { authorization: `Bearer ${OWNER}` }
const contact = { name: "Ann", email: "Ann <ann@reader.test>", message: "Hello" }

describe("POST /api/contact and /api/feedback", () => {
  it("take a message from anybody: 202, the address bare", async () => {
    const answer = await send("POST", "/api/contact", contact)
    expect([answer.status, answer.json]).toEqual([202, { received: true, notified: true }])
    expect(received.at(-1)).toEqual({
      kind: "contact",
      name: "Ann",
      email: "ann@reader.test",
      message: "Hello",
      rating: undefined,
      page: undefined,
      spam: false
    })
    const { name: _, ...nameless } = contact
    expect((await send("POST", "/api/contact", nameless)).status).toBe(202)
    expect(received.at(-1)).toMatchObject({ kind: "contact", name: undefined, email: "ann@reader.test" })
    const feedback = await send("POST", "/api/feedback", { message: "m", rating: 3, page: "/x", email: null })
    expect(feedback.status).toBe(202)
    expect(received.at(-1)).toMatchObject({ kind: "feedback", rating: 3, page: "/x", email: undefined })
  })

  it("mark what a robot filled in", async () => {
    const answer = await send("POST", "/api/contact", { ...contact, website: "https://spam.test" })
    expect([answer.status, answer.json]).toEqual([202, { received: true, notified: false }])
    expect(received.at(-1)?.spam).toBe(true)
  })

  it("503 where the message could not be stored: nothing was received", async () => {
    state = "down"
    const answer = await send("POST", "/api/contact", contact)
    expect([answer.status, answer.json.code, answer.json.retryable]).toEqual([503, "UNAVAILABLE", true])
    expect(answer.text).not.toContain("hunter2")
  })
})

describe("what is no message", () => {
  it.each([
    ["/api/contact", { ...contact, name: " " }, 400, "name"],
    ["/api/contact", { ...contact, email: "nobody" }, 400, "email"],
    ["/api/contact", { ...contact, email: "a@x.test\r\nBcc: b@x.test" }, 400, "email"],
    ["/api/contact", { ...contact, email: "a@x.test, b@x.test" }, 400, "email"],
    ["/api/contact", { ...contact, message: "" }, 400, "message"],
    ["/api/contact", { ...contact, message: "m".repeat(5001) }, 400, "message"],
    ["/api/feedback", { message: "m", rating: 6 }, 400, "rating"],
    ["/api/feedback", { message: "m", rating: 1.5 }, 400, "rating"],
    ["/api/feedback", { message: "m", page: "p".repeat(501) }, 400, "page"]
  ] as const)("%s %j: %i", async (path, body, status, field) => {
    const before = received.length
    const answer = await send("POST", path, body)
    expect([answer.status, answer.json.issues[0].path]).toEqual([status, field])
    expect(received).toHaveLength(before)
  })
})

describe("hostile bodies", () => {
  it.each(["{", "[]", "null", `"x"`, "{}", `{"message":{"$ne":1}}`, `{"__proto__":{"message":"m"}}`])(
    "%s: 400",
    async (body) => {
      for (const path of ["/api/contact", "/api/feedback"]) {
        const answer = await send("POST", path, body)
        expect([answer.status, answer.json.code]).toEqual([400, "INVALID_REQUEST"])
      }
    }
  )

  it("413 for a body that is too large, 415 for one that is no JSON, 405 for another method", async () => {
    expect((await send("POST", "/api/contact", { ...contact, more: "x".repeat(70_000) })).status).toBe(413)
    expect((await send("POST", "/api/contact", "a=b", { "content-type": "text/plain" })).status).toBe(415)
    expect((await call(server, "/api/contact")).status).toBe(405)
  })

  it("429 for a caller that keeps writing; what was taken before was stored", async () => {
    const before = received.length
    const statuses: Array<number> = []
    for (let sent = 0; sent < 14; sent += 1)
      statuses.push((await send("POST", "/api/feedback", { message: "m" })).status)
    expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 202))
    expect(statuses).toContain(429)
    expect(received.length - before).toBe(statuses.filter((status) => status === 202).length)
  })
})

describe("POST /api/v1/team/invites", () => {
  const path = "/api/v1/team/invites"

  it("201 for the owner, the address in its stored form, and as it is mailed; the result as it is", async () => {
    const answer = await send("POST", path, { email: "Bob <BOB@X.test>" }, asOwner)
    expect([answer.status, answer.json]).toEqual([201, { inviteId: "i-1", inviteSent: false }])
    expect(invited.at(-1)).toEqual({ customerId: "c-1", email: "bob@x.test", to: "BOB@x.test" })
  })

  it("401 for nobody, 403 for an admin who is no customer, 400 for what is no address; nobody is invited", async () => {
    const before = invited.length
    expect((await send("POST", path, { email: "b@x.test" })).status).toBe(401)
    expect((await send("POST", path, { email: "b@x.test" }, { authorization: "Bearer admin" })).status).toBe(
      403
    )
    const wrong = await send("POST", path, { email: "b@x.test\nBcc: c@x.test" }, asOwner)
    expect([wrong.status, wrong.json.issues[0].path]).toEqual([400, "email"])
    expect(invited).toHaveLength(before)
  })

  it("reports what blocks it", async () => {
    for (const [now, status, code] of [
      ["busy", 409, "IDEMPOTENCY_IN_PROGRESS"],
      ["gone", 401, "UNAUTHENTICATED"],
      ["down", 503, "UNAVAILABLE"]
    ] as const) {
      state = now
      const answer = await send("POST", path, { email: "b@x.test" }, asOwner)
      expect([answer.status, answer.json.code]).toEqual([status, code])
      expect(answer.text).not.toContain("hunter2")
    }
  })

  it("429 for a customer who invites the world", async () => {
    let status = 201
    let asked = 0
    for (; status === 201 && asked < 60; asked += 1) {
      status = (await send("POST", path, { email: `b${asked}@x.test` }, asOwner)).status
    }
    expect([status, asked]).toEqual([429, 51])
  })
})

describe("/invites/:token", () => {
  it("shows a page with one button and accepts nothing by being opened", async () => {
    const answer = await call(server, `/invites/${INVITE}`)
    expect(answer.status).toBe(200)
    expect(answer.headers["content-security-policy"]).toContain("form-action 'self'")
    expect(answer.headers["referrer-policy"]).toBe("no-referrer")
    expect(answer.text).toContain(`<form method="post" action="/invites/${INVITE}">`)
  })

  it("accepts by POST; a name is text", async () => {
    const answer = await call(server, `/invites/${INVITE}`, { method: "POST" })
    expect([answer.status, answer.text.includes("<b>"), answer.text.includes("&lt;b&gt;Ann")]).toEqual([
      200,
      false,
      true
    ])
  })

  it("410 for what is over or never was one, 403 for another site's page, 503 where nobody answers", async () => {
    state = "spent"
    expect((await call(server, `/invites/${INVITE}`, { method: "POST" })).json.code).toBe("LINK_EXPIRED")
    const page = await call(server, "/invites/%3Cscript%3E", { headers: { accept: "text/html" } })
    expect([page.status, page.headers["content-type"]]).toEqual([410, "text/html; charset=utf-8"])
    expect(page.text).not.toContain("<script>")
    const other = await call(server, `/invites/${INVITE}`, {
      method: "POST",
      headers: { "sec-fetch-site": "cross-site" }
    })
    expect(other.status).toBe(403)
    state = "down"
    expect((await call(server, `/invites/${INVITE}`, { method: "POST" })).status).toBe(503)
  })
})

describe("GET /api/v1/account", () => {
  it("200 for the owner, whose account it is; 401 for nobody and for a closed one, 403 without the right", async () => {
    const answer = await call(server, "/api/v1/account", { headers: asOwner })
    expect([answer.status, answer.json]).toEqual([200, { account: ANN }])
    const nobody = await call(server, "/api/v1/account")
    expect([nobody.status, nobody.json.code]).toEqual([401, "UNAUTHENTICATED"])
    const admin = await call(server, "/api/v1/account", { headers: { authorization: "Bearer admin" } })
    expect([admin.status, admin.json.code]).toEqual([403, "FORBIDDEN"])
    state = "gone"
    const gone = await call(server, "/api/v1/account", { headers: asOwner })
    expect([gone.status, gone.json.code]).toEqual([401, "UNAUTHENTICATED"])
  })

  it("503 where accounts do not answer, and no secret", async () => {
    state = "down"
    const down = await call(server, "/api/v1/account", { headers: asOwner })
    expect([down.status, down.json.code, down.text.includes("hunter2")]).toEqual([503, "UNAVAILABLE", false])
  })
})

describe("DELETE /api/v1/account", () => {
  it("202 for the owner, whose account it is; 401 for nobody", async () => {
    expect((await call(server, "/api/v1/account", { method: "DELETE" })).status).toBe(401)
    const answer = await call(server, "/api/v1/account", { method: "DELETE", headers: asOwner })
    expect([answer.status, answer.json]).toEqual([202, { deleted: true, confirmationSent: true }])
    expect(closed).toEqual(["c-1"])
    state = "down"
    const down = await call(server, "/api/v1/account", { method: "DELETE", headers: asOwner })
    expect([down.status, down.text.includes("hunter2")]).toEqual([503, false])
  })
})

describe("/dev/templates", () => {
  it("lists every mail, linked from the outbox", async () => {
    expect((await call(server, "/dev")).text).toContain(`href="/dev/templates"`)
    const { status, text } = await call(server, "/dev/templates")
    expect(status).toBe(200)
    for (const kind of TEMPLATE_KINDS) {
      expect(text).toContain(`href="/dev/templates/${kind}"`)
      expect(text).toContain(`href="/dev/templates/${kind}?as=text"`)
    }
  })

  it("shows each as HTML that runs and loads nothing, and as text", async () => {
    for (const kind of TEMPLATE_KINDS) {
      const mail = renderMail(TEMPLATE_SAMPLES[kind])
      const html = await call(server, `/dev/templates/${kind}`)
      expect([html.status, html.text]).toEqual([200, mail.html])
      expect(html.headers["content-security-policy"]).toMatch(/default-src 'none'.*sandbox/)
      const text = await call(server, `/dev/templates/${kind}?as=text`)
      expect([text.text, text.headers["content-type"]]).toEqual([mail.text, "text/plain; charset=utf-8"])
    }
  })

  it("404 for another, 400 for another form, nothing for strangers", async () => {
    expect((await call(server, "/dev/templates/nothing")).json.code).toBe("NOT_FOUND")
    expect((await call(server, "/dev/templates/contact?as=pdf")).status).toBe(400)
    const stranger = await call(server, "/dev/templates", { headers: { host: "evil.test" } })
    expect(stranger.status).toBe(401)
  })
})
