import { Config, ConfigProvider, Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { afterAll, assert, beforeAll, describe, expect, expectTypeOf, it } from "vitest"

import type { ConversionEvent } from "../../../src/adapters/client/events.ts"
import { ROUTES } from "../../../src/adapters/client/generated/routes.ts"
import { definedDocument } from "../../../src/adapters/http/routes/api.ts"
import { makeMailDatabase } from "../../../src/adapters/memory/mail/mail-store.ts"
import { makeSendQueue } from "../../../src/adapters/memory/mail/send-queue.ts"
import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import type { ProgressMoment } from "../../../src/domain/conversion/progress.ts"
import type { SendRequest } from "../../../src/domain/mail/message.ts"
import { makeClient, PostlaneClient } from "../../../src/runtime/entries/client-effect.ts"
import {
  type Client,
  createClient,
  type Operations,
  type ResultDocument,
  unwrap
} from "../../../src/runtime/entries/client.ts"
import { anyId } from "../../support/any-id.ts"
import { numbered } from "../../support/files/pdf-samples.ts"
import { ADMIN_TOKEN, PROXY_SECRET, sent, startServer, type TestServer } from "../http/harness.ts"
import { type FilesWorld, startFiles } from "../http/routes/conversion/files-world.ts"

const mail = {
  to: "a@x.test",
  subject: "s",
  text: "h",
  category: "transactional",
  source: "api:client"
} as const

let world: FilesWorld
beforeAll(async () => {
  world = await startFiles()
})
afterAll(() => world.stop())

describe("the client of the HTTP API", () => {
  it("has every operation of the definition, with its types", () => {
    const document = definedDocument() as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>
    }
    const defined = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`
      )
    )
    const routes = Object.entries(ROUTES).flatMap(([group, all]) =>
      Object.entries(all).map(([name, text]) => `${group}.${name} ${text.split(" ").slice(0, 2).join(" ")}`)
    )
    expect(routes.sort()).toEqual(defined.sort())
    expectTypeOf<keyof Client>().toEqualTypeOf<keyof typeof ROUTES>()

    expectTypeOf<Operations["sending.email"]["input"]["body"]>().toExtend<SendRequest>()
    expectTypeOf<ProgressMoment["event"]>().toEqualTypeOf<ConversionEvent["event"]>()
    expectTypeOf<ProgressMoment["data"]>().toExtend<ConversionEvent["data"]>()
    expectTypeOf<Operations["files.getFile"]["problem"]>().toEqualTypeOf<
      "INVALID_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "FILE_NOT_FOUND" | "RATE_LIMITED" | "UNAVAILABLE"
    >()
  })

  it("uploads with progress, converts, watches and reads the result", async () => {
    const customer = await world.customer()
    const client = createClient({ baseUrl: world.server.url, token: () => Promise.resolve(customer) })
    const body = new Blob([new Uint8Array(numbered(3))])
    const steps: Array<number> = []
    const uploaded = await client.files.uploadFile(
      { name: "Ä report.pdf", body },
      { onProgress: ({ sent: bytes }) => steps.push(bytes) }
    )
    assert(uploaded.ok)
    const { file } = uploaded.data
    expect([uploaded.status, file.name, file.pages]).toEqual([201, "Ä report.pdf", 3])
    expect(steps.at(-1)).toBe(body.size)
    expect(steps).toEqual([...steps].sort((a, b) => a - b))

    const missing = await client.files.getResult({ fileId: file.id }, { retries: 0 })
    assert(!missing.ok)
    expect(missing.error).toMatchObject({ code: "RESULT_NOT_READY", retryable: true, status: 404 })

    const { job } = unwrap(await client.files.convertFile({ fileId: file.id }))
    const watching = (async () => {
      const events: Array<ConversionEvent> = []
      for await (const event of client.files.streamConversion({ fileId: file.id })) events.push(event)
      return events
    })()
    await world.work()
    const events = await watching
    expect(events.at(-1)).toMatchObject({ event: "completed", data: { jobId: job.id, done: 3, total: 3 } })
    expect(unwrap(await client.files.getResult({ fileId: file.id }))).toContain("<!doctype html>")
    const data = unwrap(await client.files.getResult({ fileId: file.id, format: "json" }))
    expectTypeOf(data).toEqualTypeOf<ResultDocument>()
    expect(data.blocks.at(-1)?.page).toBe(3)
    const text = unwrap(await client.files.getResult({ fileId: file.id, format: "text" }))
    expectTypeOf(text).toEqualTypeOf<string>()
    expect(text).toContain("Page number 3")
    const waited = unwrap(await client.files.getFile({ fileId: file.id, wait: 60 }))
    expect(waited.file.lastJob).toMatchObject({ id: job.id, status: "completed" })
    expect(unwrap(await client.files.listFiles({ limit: 1 })).files[0]?.id).toBe(file.id)
    expect(await client.files.deleteFile({ fileId: file.id })).toMatchObject({ ok: true, status: 204 })
    const gone = await client.files.getFile({ fileId: file.id })
    expect(gone).toMatchObject({ ok: false, attempts: 1, error: { code: "FILE_NOT_FOUND" } })
  })

  it("gives up at once on a stream that it may not read, with the problem", async () => {
    const client = createClient({ baseUrl: world.server.url, token: await world.customer() })
    const first = client.files.streamConversion({ fileId: "none" }).next()
    await expect(first).rejects.toMatchObject({ name: "PostlaneError", problem: { code: "FILE_NOT_FOUND" } })
  })

  it("HTTP-16: is charged once though answers are lost: all tries of a call have one key", async () => {
    const customer = await world.customer()
    const keys: Array<string | null> = []
    let calls = 0
    const client = createClient({
      baseUrl: world.server.url,
      token: customer,
      sleep: () => Promise.resolve(),
      fetch: async (input, init) => {
        const answer = await fetch(input, init)
        keys.push(new Headers(init?.headers).get("idempotency-key"))
        calls += 1
        // Two answers of three are lost.
        if (calls % 3 === 0) return answer
        await answer.arrayBuffer()
        throw new TypeError("terminated")
      }
    })
    const body = new Blob([new Uint8Array(numbered(2))])
    const { file } = unwrap(await client.files.uploadFile({ name: "a.pdf", body }))
    const converted = await client.files.convertFile({ fileId: file.id })
    expect([converted.ok, converted.attempts]).toEqual([true, 3])
    expect(new Set(keys).size).toBe(2)
    const [held] = await world.run(
      WriteSql.use(
        (sql) => sql<{ credits: number }>`select sum(credits)::int as credits from funds_holds
          where customer_id = ${customer}::uuid`
      )
    )
    expect(held).toEqual({ credits: 2 })
    expect((await world.ask("GET", "/api/files", customer)).json.files).toHaveLength(1)
    const own = await client.files.convertFile(
      { fileId: file.id },
      { headers: { "Idempotency-Key": "not a key" } }
    )
    assert(!own.ok)
    expect([own.error.code, keys.at(-1)]).toEqual(["INVALID_REQUEST", "not a key"])
  })

  it.each([".", "..", ""])("never lets a parameter (%j) lead to another route", async (fileId) => {
    const client = createClient({ baseUrl: world.server.url, token: "t" })
    const answer = await client.files.deleteFile({ fileId })
    expect(answer).toMatchObject({ ok: false, attempts: 0, error: { code: "INVALID_REQUEST" } })
  })
})

describe("sending", () => {
  let server: TestServer
  const requests: Array<SendRequest> = []
  const { queue } = makeSendQueue(makeMailDatabase())
  beforeAll(async () => {
    server = await startServer({
      send: (request) =>
        Effect.sync(() => {
          requests.push(request)
          return sent
        }),
      sendQueue: queue
    })
  })
  afterAll(() => server.stop())

  it("names a key where the caller names none, and keeps the caller's", async () => {
    const client = createClient({ baseUrl: `${server.url}/`, secret: PROXY_SECRET, token: ADMIN_TOKEN })
    expect(unwrap(await client.sending.email({ body: mail }))).toEqual(sent)
    expect(requests.at(-1)?.idempotencyKey).toMatch(/^[\da-f]{32}$/)
    await client.sending.internal({ body: { ...mail, idempotencyKey: "order-17" } })
    expect(requests.at(-1)?.idempotencyKey).toBe("order-17")
  })

  it("answers a request that is not valid with its issues, without a retry", async () => {
    const client = createClient({ baseUrl: server.url, secret: PROXY_SECRET })
    const answer = await client.sending.email({ body: { ...mail, category: "spam" as "auth" } })
    assert(!answer.ok && answer.error.code === "INVALID_REQUEST")
    expect(answer.error.issues[0]?.path).toBe("category")
    expect(answer.attempts).toBe(1)
  })

  it("tries a send three times, other calls five, and says how often", async () => {
    const away = { code: "UNAVAILABLE", type: "t", title: "t", status: 503, detail: "d", retryable: true }
    const client = createClient({
      baseUrl: server.url,
      sleep: () => Promise.resolve(),
      fetch: () => Promise.resolve(Response.json(away, { status: 503 }))
    })
    expect((await client.sending.email({ body: mail })).attempts).toBe(3)
    expect((await client.sending.email({ body: mail }, { retries: 0 })).attempts).toBe(1)
    expect((await client.files.listFiles({})).attempts).toBe(5)
  })

  it("queues a mail or a batch, each on a key, reads where they stand, and cancels", async () => {
    const client = createClient({ baseUrl: server.url, secret: PROXY_SECRET })
    const sendAt = new Date(Date.now() + 3_600_000).toISOString()
    const queued = unwrap(await client.sending.email({ body: { ...mail, queue: true, sendAt } }))
    assert("queueId" in queued)
    expect(queued).toMatchObject({ status: "queued", sendAt })
    expect(queued.idempotencyKey).toMatch(/^[\da-f]{32}$/)

    const { emails } = unwrap(
      await client.queue.enqueueBatch({ body: { emails: [mail, { ...mail, idempotencyKey: "order-18" }] } })
    )
    expect(emails.map(({ idempotencyKey }) => idempotencyKey)).toEqual([
      expect.stringMatching(/^[\da-f]{32}$/),
      "order-18"
    ])

    const { queueId } = queued
    expect(unwrap(await client.queue.readQueued({ queueId }))).toMatchObject({ state: "queued", attempts: 0 })
    expect(unwrap(await client.queue.cancelQueued({ queueId })).state).toBe("cancelled")
    const unknown = await client.queue.cancelQueued({ queueId: "none" })
    expect(unknown).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } })

    const admin = createClient({ baseUrl: server.url, token: ADMIN_TOKEN })
    const { upcoming } = unwrap(await admin.adminQueue.readQueue({}))
    expect(upcoming.map(({ subject }) => subject)).toEqual(["s", "s"])
  })

  it("as an Effect: the definition's own client, with problems in the error channel", () =>
    Effect.gen(function* () {
      const client = yield* makeClient({
        baseUrl: server.url,
        token: Redacted.make(ADMIN_TOKEN),
        secret: Redacted.make(PROXY_SECRET)
      })
      expect(yield* client.sending.email({ payload: mail })).toMatchObject({ sendId: sent.sendId })
      expect((yield* client.admin.emailLog({ query: { limit: 5 } })).rows).toEqual([])
      const problem = yield* Effect.flip(client.files.getFile({ params: { fileId: anyId("x") }, query: {} }))
      expect(problem).toMatchObject({ _tag: "FileNotFound", code: "FILE_NOT_FOUND", retryable: false })
    }).pipe(Effect.provide(FetchHttpClient.layer), Effect.runPromise))

  it("as a service of the ConfigProvider's settings: a refusal is caught by its tag", () =>
    Effect.gen(function* () {
      const client = yield* PostlaneClient
      const file = (id: string) =>
        client.files.getFile({ params: { fileId: anyId(id) }, query: {} }).pipe(
          Effect.map((answer) => answer.file.name),
          Effect.catchTag("FileNotFound", ({ detail }) => Effect.succeed(detail))
        )
      expect(yield* file("x")).toMatch(/no such file/i)
      const [, response] = yield* client.health.health({ responseMode: "decoded-and-response" })
      expect(response.status).toBe(200)
      const refused = yield* Effect.flip(client.sending.internal({ payload: mail }))
      expect(refused).toMatchObject({ _tag: "Forbidden", status: 403 })
    }).pipe(
      Effect.provide(
        PostlaneClient.layerConfig({
          baseUrl: Config.String("POSTLANE_URL"),
          token: Config.Redacted("POSTLANE_TOKEN")
        }).pipe(
          Layer.provide(FetchHttpClient.layer),
          Layer.provide(
            ConfigProvider.layer(
              ConfigProvider.fromUnknown({ POSTLANE_URL: server.url, POSTLANE_TOKEN: ADMIN_TOKEN })
            )
          )
        )
      ),
      Effect.runPromise
    ))
})
