import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer } from "effect"
import * as Mac from "effect/crypto/Mac"
import { afterAll, beforeEach, describe, expect, it } from "vitest"

import {
  type CampaignDatabase,
  makeCampaignDatabase
} from "../../../../../src/adapters/memory/outreach/campaign-book.ts"
import { layer, Unsubscribing } from "../../../../../src/application/outreach/unsubscribe.ts"
import { MailPreferences } from "../../../../../src/ports/mail/preferences.ts"
import { Unsubscribes } from "../../../../../src/ports/outreach/campaign-book.ts"
import { storeDown } from "../../../../support/worlds/store-down.ts"
import { call, startServer } from "../../harness.ts"

let database: CampaignDatabase
let down: boolean
beforeEach(() => {
  database = makeCampaignDatabase()
  down = false
})
const unsubscribing = layer.pipe(
  Layer.provide([
    Layer.succeed(
      Unsubscribes,
      Unsubscribes.of({
        key: Effect.suspend(() => database.unsubscribes.key),
        add: (entry) => (down ? Effect.fail(storeDown("password=hunter2")) : database.unsubscribes.add(entry))
      })
    ),
    Layer.effect(
      MailPreferences,
      Effect.sync(() => {
        const now = () => database.preferences
        return MailPreferences.of({
          of: (email) => Effect.suspend(() => now().of(email)),
          leave: (entry) => Effect.suspend(() => now().leave(entry)),
          comeBack: (entry) => Effect.suspend(() => now().comeBack(entry)),
          leaveAll: (batch) => Effect.suspend(() => now().leaveAll(batch)),
          page: (filter) => Effect.suspend(() => now().page(filter))
        })
      })
    ),
    Mac.layerWebCrypto
  ]),
  Layer.provide(NodeCrypto.layer)
)
const server = await startServer({ unsubscribing })
afterAll(() => server.stop())

const tokenOf = (email: string) =>
  Effect.runPromise(
    Unsubscribing.use((service) => service.token({ email, campaign: "spring" })).pipe(
      Effect.provide(unsubscribing)
    )
  )
const listToken = (email: string, list?: string) =>
  Effect.runPromise(
    Unsubscribing.use((service) => service.token({ email, list })).pipe(Effect.provide(unsubscribing))
  )
const leftBy = (email: string) => Effect.runPromise(database.preferences.of(email))
const HOSTILE = `"<script>alert(1)</script>"@x.test`

describe("/unsubscribe/:token", () => {
  it("POST unsubscribes at once, again and again, whatever its body is, without a cookie", async () => {
    const token = await tokenOf("a@x.test")
    const bodies: ReadonlyArray<readonly [string | undefined, Record<string, string>]> = [
      ["List-Unsubscribe=One-Click", { "content-type": "application/x-www-form-urlencoded" }],
      [undefined, {}],
      ["{not json", { "content-type": "application/json" }],
      ["x".repeat(3_000_000), { "content-type": "multipart/form-data; boundary=b" }],
      ["gibberish", { "content-encoding": "gzip", "content-type": "nonsense" }]
    ]
    for (const [body, headers] of bodies) {
      const answer = await call(server, `/unsubscribe/${token}`, {
        method: "POST",
        headers,
        ...(body === undefined ? {} : { body })
      })
      expect([answer.status, answer.headers["set-cookie"]]).toEqual([200, undefined])
      expect(database.unsubscribed()).toEqual({ "a@x.test": "one_click" })
    }
  })

  it("GET shows one button that posts to the link itself, and changes nothing", async () => {
    const answer = await call(server, `/unsubscribe/${await tokenOf(HOSTILE)}`)
    expect(answer.status).toBe(200)
    expect(answer.headers["content-type"]).toBe("text/html; charset=utf-8")
    expect(answer.headers["content-security-policy"]).toContain("form-action 'self'")
    expect(answer.headers["content-security-policy"]).toContain("default-src 'none'")
    expect(answer.text.match(/<button/g)).toHaveLength(1)
    expect(answer.text).toContain('<form method="post"><button type="submit">')
    expect(answer.text).toMatch(/<html lang="en">[\s\S]*<title>[^<]+<\/title>[\s\S]*<h1>/)
    expect(answer.text).not.toContain("<script")
    expect(answer.text).toContain("&lt;script&gt;")
    expect(database.unsubscribed()).toEqual({})
  })

  it("one click leaves the link's list and nothing else; the page knows it and leads back (MAIL-67)", async () => {
    const path = `/unsubscribe/${await listToken("a@x.test", "weekly")}`
    const before = await call(server, path)
    expect(before.text).toContain("a@x.test gets mail of the list weekly")
    expect(await leftBy("a@x.test")).toEqual({ all: false, lists: [] })
    await call(server, path, { method: "POST", body: "List-Unsubscribe=One-Click" })
    expect(await leftBy("a@x.test")).toEqual({ all: false, lists: ["weekly"] })
    const after = await call(server, path)
    expect(after.text).toContain("<h1>You are unsubscribed</h1>")
    expect(after.text).toContain('action="?choice=return"')
    await call(server, `${path}?choice=return`, { method: "POST" })
    expect(await leftBy("a@x.test")).toEqual({ all: false, lists: [] })
  })

  it("the same page leaves all marketing, and comes back to it", async () => {
    const path = `/unsubscribe/${await listToken("a@x.test", "weekly")}`
    await call(server, `${path}?choice=leave-all`, { method: "POST" })
    expect(await leftBy("a@x.test")).toEqual({ all: true, lists: [] })
    expect((await call(server, path)).text).toContain('action="?choice=return-to-all"')
    await call(server, `${path}?choice=return-to-all`, { method: "POST" })
    expect(await leftBy("a@x.test")).toEqual({ all: false, lists: [] })
    const all = `/unsubscribe/${await listToken("a@x.test")}`
    await call(server, all, { method: "POST" })
    expect(await leftBy("a@x.test")).toEqual({ all: true, lists: [] })
    expect((await call(server, `${all}?choice=everything`, { method: "POST" })).status).toBe(400)
  })

  it("404 for a forged or truncated token, a page for people, and nothing is recorded", async () => {
    const token = await tokenOf("a@x.test")
    const forged = [token.slice(0, -1), token.slice(1), `${token}x`, "x", "%00", "a.b", "x".repeat(950)]
    for (const path of forged) {
      for (const method of ["GET", "POST"]) {
        const program = await call(server, `/unsubscribe/${path}`, { method })
        expect([program.status, program.json.code]).toEqual([404, "NOT_FOUND"])
        const person = await call(server, `/unsubscribe/${path}`, {
          method,
          headers: { accept: "text/html,*/*;q=0.8" }
        })
        expect([person.status, person.headers["content-type"]]).toEqual([404, "text/html; charset=utf-8"])
        expect(person.text).toContain("<h1>This link does not work</h1>")
      }
    }
    expect(database.unsubscribed()).toEqual({})
  })

  it("503 where it cannot be recorded now, without a word of why", async () => {
    down = true
    const answer = await call(server, `/unsubscribe/${await tokenOf("a@x.test")}`, { method: "POST" })
    expect([answer.status, answer.json.code, answer.json.retryable]).toEqual([503, "UNAVAILABLE", true])
    expect(answer.text).not.toContain("hunter2")
  })

  it("takes no other method", async () => {
    const answer = await call(server, `/unsubscribe/${await tokenOf("a@x.test")}`, { method: "PUT" })
    expect(answer.status).toBe(405)
  })

  it("429 for a flood from one address", async () => {
    const flooded = await startServer({ unsubscribing })
    try {
      const statuses = new Set<number>()
      // A slow machine lets more of them through: the allowance is refilled meanwhile.
      while (!statuses.has(429)) {
        const flood = Array.from({ length: 300 }, () => call(flooded, "/unsubscribe/x", { method: "POST" }))
        for (const { status } of await Promise.all(flood)) statuses.add(status)
      }
      expect(statuses).toEqual(new Set([404, 429]))
    } finally {
      await flooded.stop()
    }
  })
})
