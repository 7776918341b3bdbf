import { request } from "node:http"

import { Effect, Layer } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"

import type { EmailStat } from "../../../../src/domain/delivery/email-log-row.ts"
import { EmailStats } from "../../../../src/ports/delivery/email-log-query.ts"
import type { HealthFacts } from "../../../../src/ports/delivery/health-board.ts"
import type { ReadinessReport } from "../../../../src/ports/readiness.ts"
import { storeDown } from "../../../support/worlds/store-down.ts"
import { accessWith, admin, ADMIN_TOKEN, call, startServer, type TestServer } from "../harness.ts"

const HOSTILE = `<img src=x onerror=alert(1)>"'&amp;`
const AT = "2026-11-20T10:11:13.000000Z"

const facts: HealthFacts = {
  alarms: [{ name: "dead_letters", since: AT, detail: HOSTILE }],
  past: [{ alarm: "failovers", begunAt: AT, endedAt: AT, detail: "9 sends failed over" }],
  queues: [
    { name: "retries", waiting: 3, oldestAt: AT },
    { name: "alerts", waiting: 0, oldestAt: null },
    { name: "chunks", waiting: 10_000, oldestAt: AT }
  ],
  batch: [{ state: "submitted", count: 2 }],
  spentUsd: 3.2,
  budgetUsd: 10,
  newestMailAt: AT,
  processes: []
}
const report: ReadinessReport = {
  ready: false,
  checks: [{ name: "queue", ok: false, lastError: HOSTILE }],
  supervisors: [{ name: "alarms", state: "backing-off", restarts: 4, lastRunAt: AT, lastError: HOSTILE }]
}
const stat: EmailStat = {
  day: "2026-11-20",
  category: "transactional",
  provider: "provider_b",
  status: "bounced",
  count: 1234,
  failedOver: 2,
  undelivered: 0,
  costUsd: 0
}

let down = false
let asked: Array<number> = []
let server: TestServer
let ownersServer: TestServer
let ownPair: TestServer
let fleet: TestServer
let known: HealthFacts["processes"] = []
let firing: HealthFacts["alarms"] = []
beforeAll(async () => {
  server = await startServer({
    health: Effect.suspend(() => (down ? Effect.fail(storeDown("password=hunter2")) : Effect.succeed(facts))),
    report,
    stats: Layer.succeed(EmailStats, {
      lastHours: Effect.suspend(() =>
        down ? Effect.fail(storeDown("password=hunter2")) : Effect.succeed([])
      ),
      since: (days) => {
        asked.push(days)
        const day = new Date().toISOString().slice(0, 10)
        return Effect.succeed({ from: "2026-11-01", stats: [{ ...stat, day }] })
      }
    })
  })
  ownPair = await startServer({
    providers: ["smtp", "postmark"],
    health: Effect.succeed(facts),
    report
  })
  fleet = await startServer({
    health: Effect.sync(() => ({ ...facts, alarms: firing, processes: known }))
  })
  ownersServer = await startServer({ access: accessWith(["owner"], ADMIN_TOKEN) })
})
beforeEach(() => {
  down = false
  firing = []
  asked = []
})
afterAll(() => Promise.all([server.stop(), ownersServer.stop(), ownPair.stop(), fleet.stop()]))

const open = (query = "") => call(server, `/admin${query}`, { headers: { ...admin, accept: "text/html" } })

describe("the overview", () => {
  it("is complete as it is served, with every text escaped", async () => {
    const { status, text } = await open("?days=7&provider=provider_b")
    expect(status).toBe(200)
    for (const part of [
      "Deferred mails could not be retried",
      '<a href="/admin/dead-letters">',
      "Past alarms (1)",
      "9 sends failed over",
      "at least 10,000",
      "$3.20 of $10.00",
      "2 at the batch service",
      "The process that answers is not well: queue, alarms",
      '<caption id="mails-table" class="hidden">Mails a day</caption>',
      "Mails a day: 1,234 mails, most 1,234",
      "1,234 · limit 2.0 %"
    ])
      expect(text).toContain(part)
    expect(text).toMatch(
      /href="\/admin\/email-log\?status=bounced&amp;provider=provider_b&amp;since=\d{4}-\d\d-\d\d"/
    )
    expect(text).not.toContain("<img")
    expect(text).not.toContain("needs JavaScript")
    // The period before, too; and no row of work that does not wait.
    expect(asked).toEqual([14])
    expect(text).not.toContain("Alerts that have not gone out")
  })

  it("names the providers of the settings, and another one only where it is asked for", async () => {
    const named = async (path: string) => {
      const { text } = await call(ownPair, path, { headers: { ...admin, accept: "text/html" } })
      const [, select = ""] = /<select [^>]*name="provider"[^>]*>(.*?)<\/select>/s.exec(text) ?? []
      return [...select.matchAll(/value="(\w+)"/g)].map(([, name]) => name)
    }
    expect(await named("/admin")).toEqual(["smtp", "postmark"])
    expect(await named("/admin/email-log")).toEqual(["smtp", "postmark"])
    expect(await named("/admin?provider=provider_b")).toEqual(["smtp", "postmark", "provider_b"])
  })

  it("takes an address that means nothing for the last day of every provider", async () => {
    for (const query of [
      "?days=366",
      "?days=1e9&provider=%00",
      "?days=-7",
      `?days=${"7".repeat(900)}`,
      "?provider=provider_c"
    ]) {
      const { status, text } = await open(query)
      expect([query, status]).toEqual([query, 200])
      expect(text).toContain('<option value="1" selected>')
      expect(text).toContain('<option value="" selected>Any')
    }
    expect(asked).toEqual([])
  })

  it("shows every process that the database knows, and begins with those that are not well", async () => {
    const well = { ready: true, checks: [{ name: "database", ok: true, lastError: null }], supervisors: [] }
    const others = { version: "1.2.3", roles: ["api", "leader"], beganAt: AT, notedAt: AT, isSilent: false }
    const shown = async (processes: HealthFacts["processes"]) => {
      known = processes
      return (await call(fleet, "/admin", { headers: { ...admin, accept: "text/html" } })).text
    }
    const one = { ...well, ...others, process: "one:1" }
    expect(await shown([one])).toContain("The one process is well.")
    const calm = await shown([one, { ...one, process: "two:2" }])
    expect(calm).toContain("All 2 processes are well.")
    expect(calm).toContain("No alarm is firing, and every process is well.")
    expect(calm).not.toContain("The process that answers")
    const ill = await shown([
      one,
      { ...one, ...report, process: HOSTILE },
      { ...one, process: "3", isSilent: true }
    ])
    expect(ill).not.toContain("<img")
    expect(ill).toContain("2 processes of 3 not well.")
    expect(ill).toContain("The process 3 is silent")
    expect(ill.indexOf("is not well</h3>")).toBeLessThan(ill.indexOf('<h2 id="mail-title"'))
    expect(ill.match(/<a href="#process">Show the processes<\/a>/g)).toHaveLength(2)
  })

  it("leads from mails that were set aside to where they are shown: the send queue has only what waits", async () => {
    firing = [{ name: "queue_set_aside", since: AT, detail: "1 mails were set aside" }]
    const { text } = await call(fleet, "/admin", { headers: { ...admin, accept: "text/html" } })
    expect(text).toContain('<a href="/admin/email-log?status=failed">Show the failed mails</a>')
  })

  it("shows what there is while the database does not answer, and not why", async () => {
    down = true
    const { status, text } = await open()
    expect(status).toBe(200)
    expect(text.match(/cannot be read now/g)).toHaveLength(3)
    expect(text).toContain("The process that answers is not well")
    expect(text).not.toContain("hunter2")
  })
})

/** The first event of a stream; the connection is given up then. */
const firstEvent = (headers: Record<string, string>) =>
  new Promise<{
    readonly status: number | undefined
    readonly type: string | undefined
    readonly text: string
  }>((resolve, reject) => {
    const asking = request(`${server.url}/admin/stream?days=1`, { headers }, (response) => {
      response.setEncoding("utf8")
      response.once("data", (text: string) => {
        resolve({ status: response.statusCode, type: response.headers["content-type"], text })
        asking.destroy()
      })
    })
    asking.on("error", reject)
    asking.end()
  })

describe("the stream of the overview", () => {
  it("begins with the version that the page has", async () => {
    const { text } = await open("?days=1")
    const version = /data-version="([^"]+)"/.exec(text)?.[1]
    const stream = await firstEvent({ authorization: `Bearer ${ADMIN_TOKEN}` })
    expect([stream.status, stream.type]).toEqual([200, "text/event-stream"])
    expect(stream.text).toMatch(/^event: version\ndata: "[\w-]+"\nid: [\w-]+\n\n$/)
    expect(stream.text).toContain(`data: "${version}"\n`)
    down = true
    expect(await firstEvent({ authorization: `Bearer ${ADMIN_TOKEN}` })).not.toEqual(stream)
  })

  it("is for admins", async () => {
    const stranger = await call(server, "/admin/stream")
    expect([stranger.status, stranger.json.code]).toEqual([401, "UNAUTHENTICATED"])
    const owner = await call(ownersServer, "/admin/stream", { headers: admin })
    expect([owner.status, owner.json.code]).toEqual([403, "FORBIDDEN"])
  })
})
