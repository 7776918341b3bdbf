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

  it("takes nothing from the process where there are bindings", async () => {
    quietly()
    vi.stubEnv("PROXY_SHARED_SECRET", "of-the-process")
    expect((await auditDigest(digest("of-the-process"), {})).status).toBe(403)
  })
})
