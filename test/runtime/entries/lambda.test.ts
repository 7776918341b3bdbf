import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { promisify } from "node:util"

import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3"
import { ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import fc from "fast-check"

import { openApiDocument } from "../../../src/adapters/http/routes/api.ts"
import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import { makeLambda } from "../../../src/runtime/entries/lambda.ts"
import {
  decodeHttpEvent,
  type HttpResult,
  requestOf,
  resultOf
} from "../../../src/runtime/lambda/http-event.ts"
import type { QueueResult } from "../../../src/runtime/lambda/queue-event.ts"
import { deferredSend } from "../../contracts/mail/defer-queue.ts"
import { numbered } from "../../support/files/pdf-samples.ts"
import { layerEmptyDatabase, layerPostgres, TestDatabase } from "../../support/postgres/postgres.ts"
import { startTcpProxy } from "../../support/processes/tcp-proxy.ts"
import { fakeResend } from "../../support/vendors/fake-resend.ts"
import { httpEvent, queueEvent, scheduleEvents } from "../../support/vendors/lambda-events.ts"
import { sqsCredentials, sqsRegion, startSqs } from "../../support/vendors/sqs.ts"
import { jsonOf, run } from "../cli/harness.ts"

const SECRET = "proxy-shared-secret"
const patient = { getRemainingTimeInMillis: () => 60_000 }

const MAIL = {
  to: "ann@x.test",
  subject: "Hello",
  text: "Grüße",
  category: "transactional",
  source: "api:lambda"
}

/** A function on real PostgreSQL, with queue and bucket at an emulator and a fake of the provider. */
const worldOn = Effect.fnUntraced(function* (url: string) {
  const sqs = yield* startSqs
  const queue = yield* sqs.createQueue("defer", 3)
  const resend = fakeResend()
  yield* Effect.acquireRelease(
    Effect.promise(() => resend.listen()),
    () => Effect.promise(() => resend.close())
  )
  const store = new S3Client({
    region: sqsRegion,
    endpoint: sqs.endpoint,
    credentials: sqsCredentials,
    forcePathStyle: true
  })
  yield* Effect.promise(() => store.send(new CreateBucketCommand({ Bucket: "files" })))
  const told: Array<string> = []
  const receiver = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer((request, response) => {
        const heard = async () => {
          told.push(await text(request))
          response.writeHead(204).end()
        }
        void heard()
      })
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
      return server
    }),
    (server) => Effect.promise(() => promisify(server.close.bind(server))())
  )
  const env = {
    EVENT_HOOK_URL: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
    EVENT_HOOK_SECRET: `whsec_${Buffer.alloc(24, 8).toString("base64")}`,
    EVENT_HOOK_PRIVATE_NETWORKS: "127.0.0.1",
    DB_URL: url,
    SENDER_DOMAIN: "mail.example",
    BASE_URL: "https://api.example.com",
    FILES_BUCKET: "files",
    PROVIDERA_API_KEY: "re_key",
    PROVIDERA_BASE_URL: resend.url,
    CLOUD_ACCESS_KEY_ID: sqsCredentials.accessKeyId,
    CLOUD_SECRET_ACCESS_KEY: sqsCredentials.secretAccessKey,
    S3_ENDPOINT: sqs.endpoint,
    SQS_ENDPOINT: sqs.endpoint,
    EMAIL_DEFER_QUEUE_URL: queue.url,
    EMAIL_DEFER_DELAYS_SECONDS: "0,0,0",
    PROXY_SHARED_SECRET: SECRET,
    PROVIDERA_WEBHOOK_SECRET: `whsec_${Buffer.alloc(24, 9).toString("base64")}`,
    POSTLANE_LOG_LEVEL: "fatal"
  }
  const lambda = yield* Effect.acquireRelease(
    Effect.sync(() => makeLambda(env)),
    ({ close }) => Effect.promise(close)
  )
  const invoke = (event: unknown, context = patient) => Effect.promise(() => lambda.handler(event, context))
  const http = (parts: Parameters<typeof httpEvent>[0]) =>
    Effect.map(invoke(httpEvent(parts)), (result) => result as HttpResult)
  const relay = (key: string, more: object = {}) => {
    const body = JSON.stringify({ ...MAIL, idempotencyKey: key, ...more })
    return http({
      method: "POST",
      path: "/internal/send-email",
      headers: { "content-type": "application/json", "x-proxy-secret": SECRET },
      body: Buffer.from(body).toString("base64"),
      base64: true
    })
  }
  const client = new SQSClient({ region: sqsRegion, endpoint: sqs.endpoint, credentials: sqsCredentials })
  const receive = Effect.promise(() =>
    client.send(new ReceiveMessageCommand({ QueueUrl: queue.url, MaxNumberOfMessages: 10 }))
  ).pipe(Effect.map(({ Messages = [] }) => Messages.map(({ Body = "" }) => Body)))
  return { env, resend, told, invoke, http, relay, receive }
})
const world = Effect.flatMap(TestDatabase, ({ url }) => worldOn(url))

layer(layerPostgres, { excludeTestServices: true })("the serverless entry", (test) => {
  test.effect("answers requests, retries, the schedule – and makes no job", () =>
    Effect.gen(function* () {
      const { env, http, invoke, receive, relay, resend, told } = yield* world

      // A request as a server would answer it.
      const health = yield* http({ path: "/health" })
      assert.strictEqual(health.statusCode, 200)
      assert.isFalse(health.isBase64Encoded)
      assert.strictEqual(health.headers["x-content-type-options"], "nosniff")
      assert.include(health.headers["strict-transport-security"], "max-age")
      const page = yield* http({ path: "/prod/sign-in", stage: "prod" })
      assert.deepStrictEqual(
        [page.statusCode, page.headers["content-type"]],
        [200, "text/html; charset=utf-8"]
      )
      assert.strictEqual((yield* http({ path: "/nowhere" })).statusCode, 404)

      // A keyed send, asked for twice, is one mail.
      const first = yield* relay("order-17")
      assert.strictEqual(first.statusCode, 200, first.body)
      assert.deepStrictEqual(JSON.parse((yield* relay("order-17")).body), JSON.parse(first.body))
      assert.lengthOf(resend.accepted, 1)
      const refused = yield* http({
        method: "POST",
        path: "/internal/send-email",
        headers: { "x-proxy-secret": "guessed" }
      })
      assert.strictEqual(refused.statusCode, 403)

      // An ambiguous send waits in the queue, and the mapping's batch sends it once; what cannot be read comes back.
      yield* Effect.promise(() => resend.script(["504"]))
      const waiting = yield* relay("order-18")
      assert.strictEqual(JSON.parse(waiting.body).status, "deferred", waiting.body)
      const bodies = yield* receive
      assert.lengthOf(bodies, 1)
      const batch = queueEvent([`{"secret":"no message"}`, ...bodies, ...bodies])
      const [unreadable] = batch.Records
      const answered = (yield* invoke(batch)) as QueueResult
      assert.deepStrictEqual(answered, { batchItemFailures: [{ itemIdentifier: unreadable!.messageId }] })
      assert.deepStrictEqual(
        resend.accepted.map(({ key }) => key.includes("order-18")),
        [false, true]
      )
      // What has no time left is not begun: it is put back as it was, and costs no receive.
      const late = yield* invoke(batch, { getRemainingTimeInMillis: () => 0 })
      assert.deepStrictEqual(late, { batchItemFailures: [{ itemIdentifier: unreadable!.messageId }] })
      assert.deepStrictEqual(yield* receive, [...bodies, ...bodies])

      // Hostile requests are refused before a route sees them, or by the route.
      for (const parts of [
        { body: "%%%", base64: true, method: "POST" },
        { path: "no-slash" },
        { path: "//evil.example/x", method: "BAD METHOD" },
        { headers: { "x-a": "one\r\nx-b: two" } }
      ]) {
        assert.deepInclude(
          yield* http(parts),
          { statusCode: 400, isBase64Encoded: false },
          JSON.stringify(parts)
        )
      }
      const large = yield* http({
        method: "POST",
        path: "/internal/email-alert",
        headers: { "content-type": "application/json", "x-proxy-secret": SECRET },
        body: JSON.stringify({ text: "x".repeat(2 * 1024 * 1024) })
      })
      assert.strictEqual(large.statusCode, 413)
      assert.strictEqual(JSON.parse(large.body).code, "PAYLOAD_TOO_LARGE")

      // A conversion is requested, and nothing makes its job here.
      const cli = (...args: ReadonlyArray<string>) => run([...args, "--json"], { DB_URL: env.DB_URL })
      yield* cli("customers", "add", "ann@x.test")
      yield* cli("customers", "credit", "ann@x.test", "100", "--reference", "one")
      const made = jsonOf<{ readonly token: string }>(
        yield* cli("token", "create", "--name", "ann", "--right", "owner", "--customer", "ann@x.test")
      )
      const authorization = `Bearer ${made.token}`
      const form = new FormData()
      form.set("file", new File([new Uint8Array(numbered(3))], "three.pdf", { type: "application/pdf" }))
      const multipart = new Response(form)
      const upload = yield* http({
        method: "POST",
        path: "/api/v1/files",
        headers: { authorization, "content-type": multipart.headers.get("content-type")! },
        body: Buffer.from(yield* Effect.promise(() => multipart.arrayBuffer())).toString("base64"),
        base64: true
      })
      assert.strictEqual(upload.statusCode, 201, upload.body)
      const { id } = JSON.parse(upload.body).file
      const convert = yield* http({
        method: "POST",
        path: `/api/v1/files/${id}/convert`,
        headers: { authorization }
      })
      assert.strictEqual(convert.statusCode, 202, convert.body)

      // What is queued, and what another system is to hear of it, goes with the schedule.
      const queued = yield* relay("order-19", { queue: true })
      assert.strictEqual(queued.statusCode, 202, queued.body)
      assert.lengthOf(resend.accepted, 2)

      // Both kinds of schedule run, and do not make it either.
      for (const event of scheduleEvents) assert.isUndefined(yield* invoke(event))
      assert.include(resend.accepted.map(({ key }) => key).join(), "order-19")
      assert.deepStrictEqual(
        told
          .map((body) => JSON.parse(body))
          .flatMap(({ data, type }) => (type === "email.sent" ? (data.queueId ?? []) : [])),
        [JSON.parse(queued.body).queueId]
      )
      const sql = yield* WriteSql
      const [counts] = yield* sql<{ readonly queued: number; readonly jobs: number }>`
        select (select count(*) from convert_queue)::integer as queued,
               (select count(*) from large_conversion_jobs)::integer as jobs`
      assert.deepStrictEqual(counts, { queued: 1, jobs: 0 })
      const unknown = yield* Effect.exit(
        Effect.tryPromise(() => makeLambda(env).handler({ hello: 1 }, patient))
      )
      assert.strictEqual(unknown._tag, "Failure")
    })
  )
})

layer(layerPostgres, { excludeTestServices: true })("a function without its database", (test) => {
  test.effect(
    "D1 S6: answers, sends and hands retries back unharmed, and is whole once the database answers",
    () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const proxy = yield* startTcpProxy(Number(new URL(url).port))
        yield* proxy.setRefusing(true)
        const behind = Object.assign(new URL(url), { port: String(proxy.port) })
        const { http, invoke, receive, relay, resend } = yield* worldOn(behind.href)
        assert.strictEqual((yield* http({ path: "/health" })).statusCode, 200)
        assert.strictEqual((yield* http({ path: "/ready" })).statusCode, 503)
        const sent = yield* relay("order-1")
        assert.strictEqual(JSON.parse(sent.body).status, "sent", sent.body)
        // Nobody knows whether an event has proven its acceptance: its provider, which does not dedupe, is not asked.
        const message = deferredSend("01a2205e-65fd-7184-8fb0-3fb5a21c9370")
        const retry = JSON.stringify({
          ...message,
          request: { ...message.request, provider: "provider_b" }
        })
        for (const _ of [1, 2, 3, 4])
          assert.deepStrictEqual(yield* invoke(queueEvent([retry])), { batchItemFailures: [] })
        const again = yield* Effect.repeat(receive, { until: (bodies) => bodies.length > 0 })
        assert.deepStrictEqual(JSON.parse(again[0]!), JSON.parse(retry))

        yield* proxy.setRefusing(false)
        const sql = yield* WriteSql
        assert.strictEqual((yield* relay("order-2")).statusCode, 200)
        assert.lengthOf(yield* sql`select from email_log where idempotency_key = 'order-2'`, 1)
        assert.lengthOf(resend.accepted, 2)
      })
  )
})

layer(layerEmptyDatabase, { excludeTestServices: true })("a function on another schema", (test) => {
  test.effect("refuses to work, and names the command", () =>
    Effect.gen(function* () {
      const { env } = yield* world
      const failure = yield* Effect.flip(
        Effect.tryPromise({
          try: () => makeLambda(env).handler(httpEvent(), patient),
          catch: String
        })
      )
      assert.match(failure, /lacks \d+ migration\(s\)/)
    })
  )
})

describe("settings of a function", () => {
  it("name no queue that nothing leads to a function", async () => {
    const failure = await makeLambda({
      DB_URL: "postgres://u:p@h/d",
      PROXY_SHARED_SECRET: "x",
      EMAIL_PRIMARY: "provider_b",
      BASE_URL: "https://api.example.com",
      FILES_BUCKET: "files",
      EMAIL_DEFER_QUEUE_URL: "postgres:email-defer"
    })
      .handler(httpEvent(), patient)
      .catch((error: unknown) => error)
    assert.match(String(failure), /EMAIL_DEFER_QUEUE_URL is a queue in the database/)
  })

  it("are all named where they are missing", async () => {
    const failure = await makeLambda({
      DB_URL: "postgres://u:p@h/d",
      PROXY_SHARED_SECRET: "x",
      EMAIL_PRIMARY: "provider_b"
    })
      .handler(httpEvent(), patient)
      .catch((error: unknown) => error)
    assert.match(String(failure), /BASE_URL[^]*FILES_BUCKET/)
  })
})

const requestFrom = (parts: Parameters<typeof httpEvent>[0]) => {
  const decoded = decodeHttpEvent(httpEvent(parts))
  assert(decoded._tag === "Some")
  return requestOf(decoded.value)
}

describe("a request of a gateway", () => {
  it("has its cookies, its headers and its query as they were sent", () => {
    const request = requestFrom({
      path: "/a%20b/%2F",
      query: "tag=one&tag=two&empty=",
      cookies: ["a=1", "b=2"],
      headers: { "x-many": "one,two" }
    })
    assert.strictEqual(request?.headers.get("cookie"), "a=1; b=2")
    assert.strictEqual(request?.headers.get("x-many"), "one,two")
    assert.strictEqual(request?.url, "http://localhost/a%20b/%2F?tag=one&tag=two&empty=")
  })

  it("lacks what a gateway's stand-in writes as null", async () => {
    const absent = { body: null, cookies: null, headers: null, rawQueryString: null, isBase64Encoded: null }
    const event = Option.getOrThrow(decodeHttpEvent({ ...httpEvent({ path: "/health" }), ...absent }))
    const request = requestOf(event)!
    assert.deepStrictEqual([request.url, await request.text()], ["http://localhost/health", ""])
  })

  it("has the length of its body, whatever the caller claims", async () => {
    const body = Buffer.from([0, 255, 10])
    const request = requestFrom({
      method: "POST",
      headers: { "content-length": "9999999", "transfer-encoding": "chunked" },
      body: body.toString("base64"),
      base64: true
    })
    assert.strictEqual(request?.headers.get("content-length"), "3")
    assert.isFalse(request?.headers.has("transfer-encoding"))
    assert.deepStrictEqual(Buffer.from(await request.arrayBuffer()), body)
  })

  it("of an HTTP API, which decodes paths, names the address that was asked for", () => {
    // RFC 5322's atext, and the dot between atoms.
    const atext = "abzAZ019!#$%&'*+-/=?^_`{|}~.".split("")
    const withAddress = Object.keys(openApiDocument()["paths"] as object).filter((path) =>
      path.includes("{email}")
    )
    assert.isAtLeast(withAddress.length, 4)
    const local = fc
      .array(fc.constantFrom(...atext), { minLength: 1, maxLength: 12 })
      .map((all) => all.join(""))
    fc.assert(
      fc.property(
        fc.oneof(local, fc.constantFrom("a%61b", "o#x", "a?b", "%", "%2f", "50%25", "a/../b")),
        (name) => {
          for (const route of withAddress) {
            const [before = ""] = route.replace("{fileId}", "17").split("{email}")
            const asked = `${before}${encodeURIComponent(`${name}@x.test`)}`
            const seen = new URL(requestFrom({ path: `${before}${name}@x.test`, isApi: true })!.url)
            assert.deepStrictEqual([seen.pathname, seen.search, seen.hash], [asked, "", ""])
            assert.strictEqual(new URL(requestFrom({ path: asked })!.url).pathname, asked)
          }
        }
      )
    )
    assert.strictEqual(
      new URL(requestFrom({ path: "/prod/a%61b", stage: "prod", isApi: true })!.url).pathname,
      "/a%2561b"
    )
    assert.isUndefined(requestFrom({ path: "/\ud800", isApi: true }))
  })

  it("cannot lead to another origin", () => {
    for (const path of ["//evil.example/x", "/\\evil.example", "/@evil.example"]) {
      for (const isApi of [false, true])
        assert.strictEqual(new URL(requestFrom({ path, isApi })!.url).host, "localhost", path)
    }
  })
})

describe("an answer for a gateway", () => {
  it("names every cookie on its own, and carries bytes as base64", async () => {
    const headers = new Headers({ "content-type": "image/png" })
    headers.append("set-cookie", "a=1; Path=/")
    headers.append("set-cookie", "b=2; Expires=Thu, 01 Jan 1970 00:00:00 GMT")
    const result = await resultOf(new Response(new Uint8Array([137, 80]), { headers }), 1_000)
    assert.deepStrictEqual(result, {
      statusCode: 200,
      headers: { "content-type": "image/png" },
      cookies: ["a=1; Path=/", "b=2; Expires=Thu, 01 Jan 1970 00:00:00 GMT"],
      body: "iVA=",
      isBase64Encoded: true
    })
  })

  it("ends a stream of events that does not end by itself", async () => {
    let cancelled = false
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode("event: progress\n\n")),
      cancel: () => {
        cancelled = true
      }
    })
    const events = new Response(body, { headers: { "content-type": "text/event-stream" } })
    assert.strictEqual((await resultOf(events, 1)).body, "event: progress\n\n")
    assert.isTrue(cancelled)
  })

  it("is a problem where it would not fit, as bytes or as JSON", async () => {
    const whole = new Response(new Uint8Array(7 * 1024 * 1024), { headers: { "x-request-id": "r" } })
    const escaped = new Response("\u0001".repeat(2 * 1024 * 1024), {
      headers: { "content-type": "text/plain" }
    })
    for (const response of [whole, escaped]) {
      const result = await resultOf(response, 1_000)
      assert.deepInclude(result, { statusCode: 500, isBase64Encoded: false })
      assert.strictEqual(result.headers["content-type"], "application/problem+json")
    }
    assert.strictEqual((await resultOf(new Response(null, { status: 204 }), 1)).body, "")
  })
})
