import { afterEach, describe, expect, it, vi } from "vitest"

import { auditDigest, handleFunction } from "../../../src/runtime/entries/functions.ts"

const digest = (secret: string) =>
  new Request("https://functions.test/audit-digest?cadence=daily", {
    method: "POST",
    headers: { "x-proxy-secret": secret }
  })

/** Log lines of these calls are of no interest. */
const quietly = () => vi.spyOn(console, "log").mockImplementation(() => {})

describe("a function that is handed no bindings", () => {
  afterEach(() => {
    vi.unstubAllEnvs()
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
  })

  it("takes its settings from the process", async () => {
    quietly()
    vi.stubEnv("PROXY_SHARED_SECRET", "of-the-process")
    vi.stubEnv("DB_URL", "")
    // The test runner sets one of its own.
    vi.stubEnv("BASE_URL", "")
    expect((await auditDigest(digest("another"))).status).toBe(403)
    for (const call of [auditDigest, handleFunction]) {
      const answer = await call(digest("of-the-process"))
      expect([answer.status, (await answer.json()).detail]).toEqual([500, expect.stringContaining("DB_URL")])
    }
  })

  it("refuses everybody where there is no process, and does not reject", async () => {
    quietly()
    vi.stubGlobal("process", undefined)
    const answers = await Promise.all([auditDigest(digest("")), handleFunction(digest("x"))])
    expect(answers.map(({ status }) => status)).toEqual([403, 403])
  })

  it("refuses names in its query that it does not know, as the server does", async () => {
    quietly()
    const wrong = new Request("https://functions.test/audit-digest?cadance=daily", {
      method: "POST",
      headers: { "x-proxy-secret": "s" }
    })
    const answer = await auditDigest(wrong, { PROXY_SHARED_SECRET: "s" })
    expect([answer.status, (await answer.json()).issues]).toEqual([
      400,
      [{ path: "cadance", message: "is not known here; did you mean cadence?" }]
    ])
  })

  it("takes its settings from the process where a runtime hands over something else: its connection, its server", async () => {
    quietly()
    vi.stubEnv("PROXY_SHARED_SECRET", "of-the-process")
    vi.stubEnv("DB_URL", "")
    vi.stubEnv("BASE_URL", "")
    // Deno's second argument has getters of its class alone, Bun's is the server.
    class ServeHandlerInfo {
      get remoteAddr() {
        return { transport: "tcp", hostname: "192.0.2.1", port: 4711 }
      }
    }
    const others = [new ServeHandlerInfo(), { port: 3000, hostname: "localhost" }, { waitUntil() {} }]
    for (const other of [...others, null, "text"])
      expect((await auditDigest(digest("of-the-process"), other as object)).status).toBe(500)
  })

  it("takes nothing from the process where there are bindings", async () => {
    quietly()
    vi.stubEnv("PROXY_SHARED_SECRET", "of-the-process")
    for (const bindings of [
      {},
      Object.create(null),
      { PROXY_SHARED_SECRET: "" },
      { DB_URL: "postgres://u@h/d" }
    ])
      expect((await auditDigest(digest("of-the-process"), bindings)).status).toBe(403)
  })
})
