import { Effect, Layer } from "effect"
import { afterAll, beforeEach, describe, expect, it } from "vitest"

import {
  AuditDigest,
  type DigestReport,
  RelayUnconfigured
} from "../../../../../src/application/delivery/audit-digest.ts"
import type { DigestCadence } from "../../../../../src/domain/delivery/audit-digest-period.ts"
import type { StoreUnavailable } from "../../../../../src/ports/store-unavailable.ts"
import { storeDown } from "../../../../support/worlds/store-down.ts"
import { call, PROXY_SECRET, startServer } from "../../harness.ts"

let runs: Array<DigestCadence>
let outcome: Effect.Effect<DigestReport, StoreUnavailable | RelayUnconfigured>
beforeEach(() => {
  runs = []
  outcome = Effect.succeed({ ok: true, sent: 2, suppressed: 1, failed: 0 })
})
const server = await startServer({
  digest: Layer.succeed(
    AuditDigest,
    AuditDigest.of({
      run: ({ cadence }) =>
        Effect.suspend(() => {
          runs.push(cadence)
          return outcome
        })
    })
  )
})
afterAll(() => server.stop())

const post = (query: string, headers: Record<string, string> = { "x-proxy-secret": PROXY_SECRET }) =>
  call(server, `/functions/v1/audit-digest${query}`, { method: "POST", headers })

describe("POST /functions/v1/audit-digest", () => {
  it("runs the cadence and answers with the counts", async () => {
    for (const cadence of ["daily", "weekly"] as const) {
      const { json, status } = await post(`?cadence=${cadence}`)
      expect([status, json]).toEqual([200, { ok: true, sent: 2, suppressed: 1, failed: 0 }])
    }
    expect(runs).toEqual(["daily", "weekly"])
  })

  it("403 without the secret, before anything else is looked at", async () => {
    for (const query of ["?cadence=daily", "", "?cadence=hourly"]) {
      for (const headers of [{}, { "x-proxy-secret": "wrong" }, { "x-proxy-secret": "" }]) {
        const { json, status } = await post(query, headers)
        expect([status, json.code]).toEqual([403, "FORBIDDEN"])
      }
    }
    expect(runs).toEqual([])
  })

  it("400 for another cadence", async () => {
    for (const query of [
      "",
      "?cadence=",
      "?cadence=hourly",
      "?cadence=DAILY",
      "?cadence=daily&cadence=weekly"
    ]) {
      const { json, status } = await post(query)
      expect([status, json.code]).toEqual([400, "INVALID_REQUEST"])
    }
    expect(runs).toEqual([])
  })

  it("502 with the counts where any failed", async () => {
    outcome = Effect.succeed({ ok: false, sent: 1, suppressed: 0, failed: 2 })
    const { json, status } = await post("?cadence=daily")
    expect([status, json]).toMatchObject([
      502,
      { code: "DIGEST_FAILED", retryable: true, ok: false, sent: 1, suppressed: 0, failed: 2 }
    ])
  })

  it("500 where the relay's address is unset, or the database does not answer", async () => {
    outcome = Effect.fail(new RelayUnconfigured())
    const unset = await post("?cadence=daily")
    expect([unset.status, unset.json.code]).toEqual([500, "INTERNAL"])
    expect(unset.json.detail).toContain("INTERNAL_SEND_EMAIL_URL")
    outcome = Effect.fail(storeDown("password=hunter2"))
    const down = await post("?cadence=daily")
    expect([down.status, down.json.code, down.json.retryable]).toEqual([500, "INTERNAL", true])
    expect(down.text).not.toContain("hunter2")
  })
})
