import { Effect, Layer } from "effect"
import { afterAll, beforeEach, describe, expect, it } from "vitest"

import {
  Outreach,
  type OutreachFailure,
  type OutreachMail,
  type OutreachResult
} from "../../../../../src/application/outreach/outreach.ts"
import { IdempotencyInProgress, InvalidRequest } from "../../../../../src/domain/mail/send-result.ts"
import { storeDown } from "../../../../support/worlds/store-down.ts"
import { admin, call, sent, startServer } from "../../harness.ts"

const ROW = "0199a000-0000-7000-8000-00000000000a"
let asked: Array<OutreachMail>
let outcome: Effect.Effect<OutreachResult, OutreachFailure>
beforeEach(() => {
  asked = []
  outcome = Effect.succeed({ _tag: "Ended", id: ROW, result: sent })
})
const server = await startServer({
  outreach: Layer.succeed(
    Outreach,
    Outreach.of({
      send: (mail) =>
        Effect.suspend(() => {
          asked.push(mail)
          return outcome
        })
    })
  )
})
afterAll(() => server.stop())

const mail = {
  email: "a@x.test",
  name: "Ann",
  campaign: "spring",
  subject: "Hello",
  paragraphs: ["One"],
  action: { text: "Look", url: "https://p.test/" }
}
const post = (body: unknown, headers: Record<string, string> = admin) =>
  call(server, "/api/admin/outreach/sends", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body)
  })

describe("POST /api/admin/outreach/sends", () => {
  it("sends, and says whether it was before", async () => {
    const first = await post(mail)
    expect([first.status, first.json]).toEqual([
      200,
      { id: ROW, status: "sent", sentBefore: false, providerMessageId: "m-1" }
    ])
    expect(asked).toEqual([mail])
    outcome = Effect.succeed({ _tag: "SentBefore", id: ROW, status: "opened", providerMessageId: "m-1" })
    expect((await post(mail)).json).toEqual({
      id: ROW,
      status: "opened",
      sentBefore: true,
      providerMessageId: "m-1"
    })
  })

  it("401 for anybody but an admin", async () => {
    for (const headers of [{}, { authorization: "Bearer nobody" }]) {
      expect((await post(mail, headers as Record<string, string>)).status).toBe(401)
    }
    expect(asked).toEqual([])
  })

  it("400 that names the field", async () => {
    const wrong = [
      { ...mail, email: undefined },
      { ...mail, campaign: "a b" },
      { ...mail, paragraphs: [] },
      { ...mail, paragraphs: ["\0"] },
      { ...mail, subject: "" },
      { ...mail, action: { text: "" } },
      "{",
      "[]"
    ]
    for (const body of wrong) {
      const { json, status } = await post(body)
      expect([status, json.code]).toEqual([400, "INVALID_REQUEST"])
    }
    expect(asked).toEqual([])
  })

  it.each([
    [Effect.succeed({ _tag: "Unsubscribed" } as const), 422, "UNSUBSCRIBED", false],
    [Effect.fail(storeDown("hunter2")), 503, "UNAVAILABLE", true],
    [Effect.fail(new IdempotencyInProgress({ idempotencyKey: "k" })), 409, "IDEMPOTENCY_IN_PROGRESS", true],
    [
      Effect.fail(new InvalidRequest({ issues: [{ path: "email", message: "is none" }] })),
      400,
      "INVALID_REQUEST",
      false
    ],
    [
      Effect.succeed({
        _tag: "Ended",
        id: ROW,
        result: { ...sent, ok: false, status: "suppressed", error: "e", providerMessageId: null }
      } as const),
      422,
      "EMAIL_SUPPRESSED",
      false
    ],
    [
      Effect.succeed({
        _tag: "Ended",
        id: ROW,
        result: {
          ...sent,
          ok: false,
          status: "failed",
          error: "e",
          kind: "unavailable",
          providerMessageId: null
        }
      } as const),
      500,
      "EMAIL_FAILED",
      true
    ]
  ] as const)("%# ends in its own status", async (end, status, code, retryable) => {
    outcome = end
    const answer = await post(mail)
    expect([answer.status, answer.json.code, answer.json.retryable]).toEqual([status, code, retryable])
    expect(answer.text).not.toContain("hunter2")
  })
})
