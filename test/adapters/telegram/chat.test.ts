import { Effect, Logger, Redacted } from "effect"
import { afterAll, beforeEach, describe, expect, it } from "vitest"

import { makeTelegramChat } from "../../../src/adapters/telegram/chat.ts"
import { FakeHttp } from "../../support/vendors/fake-http.ts"

const TOKEN = "4711:SECRET-token_of-the-bot"
const fake = await new FakeHttp({
  scripted: () => true,
  handle: (seen, accept) => {
    accept("chat", JSON.parse(seen.body))
    return { status: 200, body: { ok: true, result: { message_id: 12 } } }
  },
  error: (status) => ({
    status,
    body: { ok: false, error_code: status, description: `bot${TOKEN} says no` }
  })
}).listen()
afterAll(() => fake.close())
beforeEach(async () => {
  await fake.always("ok")
  fake.requests.splice(0)
})

const bodies = () => fake.requests.map(({ body }) => JSON.parse(body) as { chat_id: string; text: string })

/** Posts, and gives the error's text (`undefined` for success) and everything that was logged. */
const post = async (text: string, deadlineMs = 5_000) => {
  const chat = makeTelegramChat({
    token: Redacted.make(TOKEN),
    chatId: "-100",
    baseUrl: `${fake.url}/`,
    deadlineMs
  })
  const logs: Array<string> = []
  const capture = Logger.map(Logger.formatJson, (line) => void logs.push(line))
  const error = await Effect.runPromise(
    chat.post(text).pipe(
      Effect.as(undefined),
      Effect.catch((failure) => Effect.succeed(JSON.stringify(failure) + failure.message + failure.stack)),
      Effect.provide(Logger.layer([capture]))
    )
  )
  expect(`${error}${logs.join()}`).not.toContain("SECRET")
  return error
}

const reply = (status: number, parameters: object) => ({
  reply: { status, body: { ok: false, error_code: status, description: "d", parameters } }
})

describe("Telegram's sendMessage", () => {
  it("plain text to the chat, the token in the path", async () => {
    expect(await post("hi <b>")).toBeUndefined()
    expect(fake.requests[0]?.path).toBe(`/bot${TOKEN}/sendMessage`)
    expect(bodies()).toEqual([{ chat_id: "-100", text: "hi <b>" }])
  })

  it("cuts at 4096 UTF-16 units and splits no character", async () => {
    await post("a".repeat(4096))
    await post("a".repeat(4097))
    await post(`${"a".repeat(4094)}😀😀`)
    const texts = bodies().map(({ text }) => text)
    expect(texts.map(({ length }) => length)).toEqual([4096, 4096, 4095])
    for (const text of texts) expect(text.isWellFormed()).toBe(true)
  })

  it("waits a short 429 out once", async () => {
    await fake.script([reply(429, { retry_after: 0 })])
    expect(await post("hi")).toBeUndefined()
    expect(bodies()).toHaveLength(2)
    fake.requests.splice(0)
    await fake.always(reply(429, { retry_after: 0 }))
    expect(await post("hi")).toContain("429")
    expect(bodies()).toHaveLength(2)
  })

  it("does not wait for a long 429", async () => {
    await fake.always(reply(429, { retry_after: 34 }))
    expect(await post("hi")).toContain("429")
    expect(bodies()).toHaveLength(1)
  })

  it("follows a chat to its new id, once", async () => {
    await fake.script([reply(400, { migrate_to_chat_id: -1001234567890 })])
    expect(await post("hi")).toBeUndefined()
    expect(bodies().map(({ chat_id }) => chat_id)).toEqual(["-100", "-1001234567890"])
    fake.requests.splice(0)
    await fake.always(reply(400, { migrate_to_chat_id: -1001234567890 }))
    expect(await post("hi")).toContain("400")
    expect(bodies()).toHaveLength(2)
  })

  it.each([
    "401",
    "403",
    "500",
    "502-html",
    "reset",
    "refused",
    "empty-200",
    "html-200",
    "truncated-200"
  ] as const)("%s fails, without the token", async (fault) => {
    await fake.always(fault)
    expect(await post("hi")).toContain("telegram: ")
  })

  it("no answer in time is a failure", async () => {
    await fake.always("hang")
    expect(await post("hi", 50)).toContain("no answer within 50 ms")
  })
})
