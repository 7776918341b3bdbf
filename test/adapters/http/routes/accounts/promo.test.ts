import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer } from "effect"
import { afterEach, describe, expect, it } from "vitest"

import * as MemoryAccess from "../../../../../src/adapters/memory/accounts/access.ts"
import * as PromoClaims from "../../../../../src/application/accounts/promo-claims.ts"
import { Mailer } from "../../../../../src/application/mail/mailer.ts"
import type { SendRequest } from "../../../../../src/domain/mail/message.ts"
import { InvalidRequest, type NotBegun, type SendResult } from "../../../../../src/domain/mail/send-result.ts"
import { MagicLinks } from "../../../../../src/ports/accounts/access.ts"
import { MailTemplates } from "../../../../../src/ports/mail/mail-provider.ts"
import { anyId } from "../../../../support/any-id.ts"
import { storeDown } from "../../../../support/worlds/store-down.ts"
import { call, sent, startServer, type TestServer } from "../../harness.ts"

const BASE_URL = "https://mail.example.test"
const templates = Layer.succeed(
  MailTemplates,
  MailTemplates.of({
    render: (template) => {
      const text = JSON.stringify(template)
      return Effect.succeed({ subject: template.kind, html: `<p>${text}</p>`, text })
    }
  })
)

const servers: Array<TestServer> = []
afterEach(() => Promise.all(servers.splice(0).map(({ stop }) => stop())))

/** Every name is a promotion. */
const ANY = { any: true } as const

/** A server whose claims mail by `send`, and what was mailed. */
const start = async (
  send: (request: SendRequest) => Effect.Effect<SendResult, NotBegun> = () => Effect.succeed(sent),
  promos: ReadonlyArray<string> | typeof ANY = ["welcome"]
) => {
  const mails: Array<SendRequest> = []
  const access = MemoryAccess.layer({
    embedded: true,
    promos: "any" in promos ? undefined : promos,
    database: MemoryAccess.makeAccessDatabase()
  }).pipe(Layer.provide(NodeCrypto.layer))
  const mailer = Layer.succeed(
    Mailer,
    Mailer.of({
      send: (request) => {
        mails.push(request)
        return send(request)
      }
    })
  )
  const promoClaims = PromoClaims.layer({ baseUrl: BASE_URL }).pipe(
    Layer.provide([access, templates, mailer])
  )
  const server = await startServer({ access, promoClaims, baseUrl: BASE_URL })
  servers.push(server)
  return { server, mails }
}

const claim = (server: TestServer, email: unknown, promo = "welcome") =>
  call(server, `/api/promo/${promo}/claim`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email })
  })

const linkOf = (mail: SendRequest | undefined) =>
  new URL((JSON.parse(mail!.text!) as { readonly url: string }).url)

describe("a claim", () => {
  it("mails a link that signs the customer in, in category auth, to the address as it was written", async () => {
    const { mails, server } = await start()
    const answer = await claim(server, " Ana <Ana@X.test> ")
    expect([answer.status, answer.json]).toEqual([
      200,
      { claimed: true, emailSent: true, message: expect.stringContaining("15 minutes") }
    ])
    expect(mails).toHaveLength(1)
    expect(mails[0]).toMatchObject({ to: "Ana@x.test", category: "auth", source: "api:promo" })
    expect(JSON.parse(mails[0]!.text!)).toMatchObject({ kind: "magic-link", promo: "welcome", minutes: 15 })
    const link = linkOf(mails[0])
    expect(`${link.origin}${link.pathname}`).toBe(`${BASE_URL}/auth/magic`)
    expect(answer.text).not.toContain(link.searchParams.get("token"))
    const used = await call(server, "/auth/magic", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: link.searchParams.toString()
    })
    expect([used.status, used.headers["set-cookie"]]).toEqual([
      200,
      [expect.stringMatching(/^postlane_session=[\w-]{43}; /)]
    ])
    expect(used.text).toContain("ana@x.test")
  })

  it("is answered alike whether or not the address is known; each claim has a link of its own", async () => {
    const { mails, server } = await start()
    const answers = [await claim(server, "a@x.test"), await claim(server, "a@x.test")]
    expect(answers[0]!.text).toBe(answers[1]!.text)
    expect(new Set(mails.map((mail) => linkOf(mail).href)).size).toBe(2)
  })

  const common = {
    sendId: anyId("0199a000-0000-7000-8000-000000000001"),
    provider: null,
    failedOver: false,
    idempotencyKey: "k",
    suppressedRecipients: [],
    providerMessageId: null
  }
  it.each([
    [
      "suppressed",
      Effect.succeed({ ok: false, status: "suppressed", error: "suppressed: complaint", ...common })
    ],
    ...(["rejected", "unavailable", "ambiguous"] as const).map(
      (kind) =>
        [
          kind,
          Effect.succeed({ ok: false, status: "failed", error: `was ${kind}`, kind, ...common })
        ] as const
    ),
    ["not begun", Effect.fail(new InvalidRequest({ issues: [{ path: "to", message: "is wrong" }] }))]
  ] as ReadonlyArray<readonly [string, Effect.Effect<SendResult, NotBegun>]>)(
    "whose mail does not go out (%s) says so and what to do; the log says why, without the link",
    async (_, result) => {
      const { mails, server } = await start(() => result)
      const answer = await claim(server, "a@x.test")
      expect([answer.status, answer.json]).toEqual([
        200,
        { claimed: true, emailSent: false, message: expect.stringContaining("request a link yourself") }
      ])
      const line = server.logs.find((one) => one.includes("a magic link was not mailed"))
      expect(line).toMatch(/"error":"[^"]+"/)
      expect(server.logs.join("\n")).not.toContain(linkOf(mails[0]).searchParams.get("token"))
    }
  )

  it("whose mail is queued counts as sent", async () => {
    const { server } = await start(() =>
      Effect.succeed({ ok: true, status: "deferred", ...common, provider: "provider_a" })
    )
    const { emailSent, message } = (await claim(server, "a@x.test")).json
    expect(emailSent).toBe(true)
    expect(message).toMatch(/may take some minutes.*claim again/)
  })

  it("gives its mail no longer than its link works", async () => {
    const before = Date.now()
    const { mails, server } = await start()
    await claim(server, "a@x.test")
    const expiresAt = Date.parse(mails[0]?.expiresAt ?? "")
    expect(expiresAt).toBeGreaterThanOrEqual(before + 15 * 60_000)
    expect(expiresAt).toBeLessThanOrEqual(Date.now() + 15 * 60_000)
  })
})

describe("no claim", () => {
  it("none is missed by the case of its promotion's name", async () => {
    const { mails, server } = await start()
    expect((await claim(server, "a@x.test", "Welcome")).status).toBe(200)
    expect(mails).toHaveLength(1)
  })

  it("404 for a promotion that does not run", async () => {
    const { mails, server } = await start()
    const answer = await claim(server, "a@x.test", "spring")
    expect([answer.status, answer.json.code]).toEqual([404, "NOT_FOUND"])
    expect(mails).toEqual([])
  })

  it.each(["wel.come", "welcome%20", "wel/come", "..", "%00", "%3Cb%3E", "welcome%0d%0a", "x".repeat(900)])(
    "404 for %s, which no promotion is called, also where every name is one",
    async (promo) => {
      const { mails, server } = await start(undefined, ANY)
      const answer = await claim(server, "a@x.test", promo)
      expect([answer.status, answer.json.code]).toEqual([404, "NOT_FOUND"])
      expect(mails).toEqual([])
    }
  )

  it.each([
    undefined,
    null,
    7,
    "",
    " ",
    "a",
    "a@",
    "@x.test",
    "a@x.test, b@x.test",
    "a@x.test\r\nbcc: b@x.test",
    "a\0@x.test",
    ["a@x.test"],
    { $ne: "" },
    `${"a".repeat(400)}@x.test`
  ])("400 that names email for %j", async (email) => {
    const { mails, server } = await start()
    const answer = await claim(server, email)
    expect([answer.status, answer.json.code, answer.json.issues[0].path]).toEqual([
      400,
      "INVALID_REQUEST",
      "email"
    ])
    expect(mails).toEqual([])
  })

  it("415, 413 and 400 for bodies of another kind; 405 for another method", async () => {
    const { server } = await start()
    const post = (type: string, body: string) =>
      call(server, "/api/promo/welcome/claim", { method: "POST", headers: { "content-type": type }, body })
    const answers = [
      await post("text/plain", '{"email":"a@x.test"}'),
      await post("application/json", `{"email":"a@x.test","pad":"${"x".repeat(5000)}"}`),
      await post("application/json", "{"),
      await post("application/json", "[]"),
      await call(server, "/api/promo/welcome/claim")
    ]
    expect(answers.map(({ status }) => status)).toEqual([415, 413, 400, 400, 405])
  })

  it("429 with Retry-After for the twenty-first of one address in an hour, however it is written", async () => {
    const { mails, server } = await start()
    for (let index = 0; index < 20; index += 1) {
      expect((await claim(server, index % 2 === 0 ? "a@x.test" : "A@X.TEST")).status).toBe(200)
    }
    const answer = await claim(server, "<a@x.test>")
    expect([answer.status, answer.json.code, answer.json.retryable]).toEqual([429, "RATE_LIMITED", true])
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(60)
    expect((await claim(server, "b@x.test")).status).toBe(200)
    expect(mails).toHaveLength(21)
  })

  it("503 while claims cannot be stored", async () => {
    const links = Layer.mock(MagicLinks, {
      claim: () => Effect.fail(storeDown("password=hunter2"))
    })
    const promoClaims = PromoClaims.layer({ baseUrl: BASE_URL }).pipe(
      Layer.provide([links, templates, Layer.mock(Mailer, {})])
    )
    const server = await startServer({ promoClaims })
    servers.push(server)
    const answer = await claim(server, "a@x.test")
    expect([answer.status, answer.json.code]).toEqual([503, "UNAVAILABLE"])
    expect(answer.text).not.toContain("hunter2")
  })
})
