import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import type { StoryRow } from "../../../../../src/domain/delivery/mail-story.ts"
import { storeDown } from "../../../../support/worlds/store-down.ts"
import { call, PROXY_SECRET, startServer, type TestServer } from "../../harness.ts"

const id = (number: number) => `0199a000-0000-7000-8000-00000000000${number}`

const row = (number: number, at: string, parts: Partial<StoryRow>): StoryRow => ({
  id: id(number),
  created_at: `2026-01-${at}Z`,
  updated_at: `2026-01-${at}Z`,
  category: "transactional",
  source: "api:test",
  from_address: "n@x.test",
  to_addresses: ["a@x.test"],
  other_addresses: [],
  dropped_addresses: ["out@x.test"],
  subject: "private",
  outcome: "deferred",
  status: "deferred",
  last_event: null,
  last_event_at: null,
  error: null,
  error_kind: null,
  failed_over: false,
  cost_usd: null,
  idempotency_key: "order-17",
  provider: "provider_a",
  provider_message_id: null,
  alerted_at: null,
  attempts: [],
  retry_at: "2026-01-02T10:02:00Z",
  queued: null,
  events: [],
  suppression_marks: [],
  tags: {},
  ...parts
})

const yesterday = row(1, "01T09:00:00.000000", {
  outcome: "sent",
  status: "opened",
  provider_message_id: "m-1"
})
const deferred = row(2, "02T10:00:00.000000", {})
const gaveUp = row(3, "02T10:02:00.000000", {
  outcome: "failed",
  status: "failed",
  error: "gave up",
  error_kind: "ambiguous",
  retry_at: null
})

let rows: ReadonlyArray<StoryRow> = []
let down = false
let server: TestServer
beforeAll(async () => {
  server = await startServer({
    story: (sendId) =>
      down
        ? Effect.fail(storeDown("password=hunter2"))
        : Effect.succeed(
            rows.some((one) => one.id === sendId)
              ? { rows, claim: undefined, alerts: [], suppressions: [] }
              : undefined
          ),
    page: ({ key, limit }) =>
      Effect.succeed({
        rows: rows
          .filter(({ idempotency_key }) => idempotency_key === key)
          .toReversed()
          .slice(0, limit)
          .map((one) => ({ ...one, raw: null })),
        nextCursor: null
      })
  })
})
afterAll(() => server.stop())

const ask = (path: string, secret = PROXY_SECRET) =>
  call(server, path, { headers: { "x-proxy-secret": secret } })

describe("where a send stands", () => {
  it("is answered by the id of any of its rows, and by its key: the newest use of it", async () => {
    rows = [yesterday, deferred, gaveUp]
    const ended = {
      sendId: id(3),
      idempotencyKey: "order-17",
      outcome: "failed",
      status: "failed",
      provider: "provider_a",
      providerMessageId: null,
      failedOver: false,
      error: "gave up",
      kind: "ambiguous",
      suppressedRecipients: ["out@x.test"],
      lastEvent: null,
      lastEventAt: null,
      retryAt: null,
      createdAt: gaveUp.created_at,
      updatedAt: gaveUp.updated_at
    }
    for (const path of [id(2), id(3)].map((sendId) => `/internal/sends/${sendId}`)) {
      const answer = await ask(path)
      expect([answer.status, answer.json]).toEqual([200, ended])
    }
    expect((await ask("/internal/sends?idempotencyKey=order-17")).json).toEqual(ended)
    expect((await ask(`/internal/sends/${id(1)}`)).json).toMatchObject({
      sendId: id(1),
      outcome: "sent",
      status: "opened",
      providerMessageId: "m-1"
    })
  })

  it("is deferred while its retry is due, and sent once an event has proven it", async () => {
    rows = [deferred]
    expect((await ask(`/internal/sends/${id(2)}`)).json).toMatchObject({
      outcome: "deferred",
      retryAt: "2026-01-02T10:02:00Z"
    })
    rows = [{ ...deferred, status: "bounced", provider_message_id: "m-2" }]
    expect((await ask("/internal/sends?idempotencyKey=order-17")).json).toMatchObject({
      outcome: "sent",
      status: "bounced",
      providerMessageId: "m-2",
      retryAt: null
    })
  })

  it("404 for what the log does not have, 400 without a key, 403 without the secret, 503 without the log", async () => {
    rows = []
    for (const path of [id(9), "order-17", "%00"].map((one) => `/internal/sends/${one}`)) {
      const answer = await ask(path)
      expect([path, answer.status, answer.json.code]).toEqual([path, 404, "NOT_FOUND"])
    }
    expect((await ask("/internal/sends?idempotencyKey=none")).status).toBe(404)
    for (const query of [
      "",
      "?idempotencyKey=",
      `?idempotencyKey=${"k".repeat(257)}`,
      "?idempotencyKey=%00"
    ]) {
      const answer = await ask(`/internal/sends${query}`)
      expect([answer.status, answer.json.issues[0].path]).toEqual([400, "idempotencyKey"])
    }
    expect((await ask("/internal/sends?key=order-17")).json.issues).toContainEqual({
      path: "key",
      message: "is not known here; known are idempotencyKey"
    })
    expect((await ask(`/internal/sends/${id(9)}`, "wrong")).status).toBe(403)
    down = true
    const answer = await ask(`/internal/sends/${id(9)}`)
    down = false
    expect([answer.status, answer.text.includes("hunter2")]).toEqual([503, false])
  })
})
