import { Effect } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"

import { makeMailDatabase } from "../../../../../src/adapters/memory/mail/mail-store.ts"
import { makeSendQueue } from "../../../../../src/adapters/memory/mail/send-queue.ts"
import { fixedRate } from "../../../../../src/domain/mail/rate.ts"
import { ADMIN_TOKEN, call, startServer, type TestServer } from "../../harness.ts"

const { queue } = makeSendQueue(makeMailDatabase())
const actors: Array<string | undefined> = []
const admin = { authorization: `Bearer ${ADMIN_TOKEN}` }
let server: TestServer

beforeAll(async () => {
  server = await startServer({
    sendQueue: {
      ...queue,
      cancel: (id, actor) => {
        actors.push(actor)
        return queue.cancel(id)
      }
    }
  })
})
afterAll(() => server.stop())

const PATH = "/api/admin/email-queue"
const post = (path: string, body?: string, headers: Record<string, string> = {}) =>
  call(server, `${PATH}/${path}`, {
    method: "POST",
    headers: { ...admin, ...headers },
    ...(body === undefined ? {} : { body })
  })
const enqueue = (subject: string, category = "transactional") =>
  Effect.runPromise(
    queue.enqueue([
      { request: { to: "a@x.test", subject, text: "t", category, source: "api:test" }, payloadHash: "p" }
    ])
  )

it("pauses and resumes all without a body, and one category with it", async () => {
  const json = { "content-type": "application/json" }
  for (const [body, headers] of [
    [undefined, {}],
    ["", json],
    ["null", json],
    ["{}", json]
  ] as const) {
    expect(await post("pause", body, headers)).toMatchObject({
      status: 200,
      json: { scope: "*", paused: true, changed: true }
    })
    expect((await post("resume", body, headers)).json).toEqual({ scope: "*", paused: false, changed: true })
  }
  const one = await post("pause", '{"category":"marketing"}', json)
  expect(one.json).toEqual({ scope: "marketing", paused: true, changed: true })
  expect(await post("pause", '{"category":"none"}', json)).toMatchObject({
    status: 400,
    json: { code: "INVALID_REQUEST" }
  })
  expect(await post("pause", "no JSON", json)).toMatchObject({ status: 400 })
})

it("lists one category, and cancels what waits once, for the admin who asks", async () => {
  const [first] = await enqueue("first")
  await enqueue("second", "marketing")
  const listed = await call(server, `${PATH}?category=marketing&limit=5`, { headers: admin })
  expect(listed.json.upcoming).toMatchObject([{ subject: "second" }])
  expect((await call(server, `${PATH}?category=none`, { headers: admin })).status).toBe(400)

  expect(await post(`${first?.id}/cancel`)).toMatchObject({
    status: 200,
    json: { queueId: first?.id, state: "cancelled" }
  })
  expect(actors).toEqual(["admin"])
  for (const id of ["0199a000-0000-7000-8000-000000000009", "nonsense"])
    expect(await post(`${id}/cancel`)).toMatchObject({ status: 404, json: { code: "NOT_FOUND" } })
})

it("what is being sent is not cancelled", async () => {
  const [sending] = await enqueue("third")
  await Effect.runPromise(
    queue.take({
      paces: [{ provider: "provider_a", ...fixedRate(0) }],
      primary: "provider_a",
      limit: 10,
      leaseMs: 1000
    })
  )
  expect(await post(`${sending?.id}/cancel`)).toMatchObject({
    status: 409,
    json: { code: "NOT_QUEUED", state: "sending" }
  })
})
