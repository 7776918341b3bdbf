import { Effect, Layer } from "effect"
import { afterEach, describe, expect, it } from "vitest"

import { EventPoll, PollFailure, type PollResult } from "../../../../../src/application/delivery/poll.ts"
import { ListFailure } from "../../../../../src/ports/delivery/event-poll.ts"
import { storeDown } from "../../../../support/worlds/store-down.ts"
import { call, PROXY_SECRET, startServer, type TestServer } from "../../harness.ts"

const counts = { pages: 1, seen: 3, recorded: 2, backfilled: 1, alerts: 1, alertsFailed: 0 }
const failed = (cause: PollFailure["cause"]) => Effect.fail(new PollFailure({ cause, counts }))
const list = (kind: ListFailure["kind"]) => failed(new ListFailure({ kind, message: "no" }))

let server: TestServer
let runs = 0
const serve = async (run: Effect.Effect<PollResult, PollFailure>) => {
  runs = 0
  const counted = Effect.andThen(
    Effect.sync(() => (runs += 1)),
    run
  )
  server = await startServer({ poll: Layer.succeed(EventPoll, EventPoll.of({ run: counted })) })
}
afterEach(() => server.stop())
const poll = (headers: Record<string, string> = { "x-proxy-secret": PROXY_SECRET }) =>
  call(server, "/functions/v1/provider-a-events-fetcher", { method: "POST", headers })

describe("POST /functions/v1/provider-a-events-fetcher", () => {
  it("answers with the counts, and not ok where mails are left", async () => {
    await serve(Effect.succeed({ ...counts, truncated: false }))
    const whole = await poll()
    expect([whole.status, whole.json]).toEqual([200, { ok: true, truncated: false, ...counts }])
    await server.stop()
    await serve(Effect.succeed({ ...counts, truncated: true }))
    const cut = await poll()
    expect([cut.status, cut.json]).toEqual([200, { ok: false, truncated: true, ...counts }])
  })

  it("polls for nobody who has not the secret", async () => {
    await serve(Effect.succeed({ ...counts, truncated: false }))
    for (const headers of [{}, { "x-proxy-secret": "" }, { "x-proxy-secret": `${PROXY_SECRET}x` }]) {
      const refused = await poll(headers)
      expect([refused.status, refused.json.code]).toEqual([403, "FORBIDDEN"])
    }
    expect(runs).toBe(0)
  })

  it("answers 502 with the counts so far where the provider does not let it read", async () => {
    for (const kind of ["refused", "cursor", "throttled", "unavailable"] as const) {
      await serve(list(kind))
      const answer = await poll()
      expect([answer.status, answer.json]).toMatchObject([502, { code: "POLL_FAILED", ...counts }])
      await server.stop()
    }
    await serve(list("unconfigured"))
    const answer = await poll()
    expect([answer.status, answer.json.code]).toEqual([503, "UNAVAILABLE"])
  })

  it("answers 500 where the log did not take an event, and leaks nothing (E1)", async () => {
    await serve(failed(storeDown("password=hunter2")))
    const answer = await poll()
    expect([answer.status, answer.json.code, answer.json.retryable]).toEqual([500, "INTERNAL", true])
    expect(answer.text).not.toContain("hunter2")
  })
})
