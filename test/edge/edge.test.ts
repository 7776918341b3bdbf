import { Effect, ManagedRuntime, Schema } from "effect"
import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, expect, it } from "vitest"

import { WriteSql } from "../../src/adapters/postgres/client.ts"
import type { SendRequest } from "../../src/domain/mail/message.ts"
import { SendResult } from "../../src/domain/mail/send-result.ts"
import { layerPostgres, TestDatabase } from "../support/postgres/postgres.ts"
import { bundleForEdge, type EdgeBundle } from "../support/processes/edge-bundle.ts"
import {
  type EdgeWorker,
  type EdgeWorkerOptions,
  type RunningWorker,
  startEdgeWorker,
  withEdgeWorker
} from "../support/processes/edge-worker.ts"
import { fakeResend, type ResendPayload } from "../support/vendors/fake-resend.ts"
import { fakeSes } from "../support/vendors/fake-ses.ts"
import { sqsCredentials, startSqs } from "../support/vendors/sqs.ts"
import type { Call } from "./worker.ts"

const REQUEST = {
  to: "a@x.test",
  subject: "s",
  text: "t",
  category: "transactional",
  source: "edge:test"
} as const satisfies SendRequest

interface Worker {
  readonly send: (call: unknown) => Promise<SendResult>
  /** Several calls in one request to the worker. */
  readonly sendAll: (calls: ReadonlyArray<Call>) => Promise<ReadonlyArray<SendResult>>
  readonly lines: ReadonlyArray<string>
}

/** The test server does not ask for it. */
const SECRET = "database-password"

const decodeResults = Schema.decodeUnknownSync(Schema.NonEmptyArray(SendResult))
const resend = fakeResend()
const ses = fakeSes()
let bundle: EdgeBundle

const sender = ({ post, lines }: EdgeWorker): Worker => ({
  send: async (call) => decodeResults(await post([call]))[0],
  sendAll: async (calls) => decodeResults(await post(calls)),
  lines
})

/** In a worker of its own. */
const inWorker = (
  bindings: EdgeWorkerOptions["bindings"],
  use: (worker: Worker) => Promise<void>,
  outbound: NonNullable<EdgeWorkerOptions["outbound"]>
): Promise<void> =>
  withEdgeWorker({ script: bundle.script, bindings, outbound }, (worker) => use(sender(worker)))

const postgres = ManagedRuntime.make(layerPostgres)
let bindings: Readonly<Record<string, string>>
let running: RunningWorker
/** The worker that most tests share: its start takes a second of processor time. Other settings come as `env`. */
let worker: Worker

beforeAll(async () => {
  await Promise.all([resend.listen(), ses.listen()])
  bundle = await bundleForEdge(new URL("worker.ts", import.meta.url))
  const { url } = await postgres.runPromise(TestDatabase)
  bindings = {
    DB_URL: url,
    DB_SECRET_KEY: SECRET,
    PROVIDERA_API_KEY: "re_key",
    PROVIDERA_BASE_URL: resend.url
  }
  running = await startEdgeWorker({ script: bundle.script, bindings })
  worker = sender(running)
})
afterAll(async () => {
  await running.dispose()
  await Promise.all([resend.close(), ses.close(), postgres.dispose()])
})
beforeEach(() => resend.always("ok"))
afterEach(() => {
  resend.accepted.length = 0
  resend.requests.length = 0
  ses.requests.length = 0
})

describe("the bundle", () => {
  it("holds nothing that only Node has", () => {
    const foreign =
      /imds|credential-provider|nodemailer|node-http-handler|platform-node|embedded|\/smtp\/|library\.ts/
    assert.deepStrictEqual(
      bundle.inputs.filter((path) => foreign.test(path)),
      []
    )
    // An optional part of the provider's SDK.
    assert.deepStrictEqual(bundle.externals, ["@react-email/render"])
  })

  it("runs where there is nothing but fetch; a database is what needs more, and says so", async () => {
    const database = { DB_URL: "postgres://nobody@127.0.0.1:1/none", DB_SECRET_KEY: SECRET }
    const env = { PROVIDERA_API_KEY: "re_key", PROVIDERA_BASE_URL: resend.url }
    await withEdgeWorker({ script: bundle.script, bindings: {}, withNode: false }, async (plain) => {
      const { lines, send } = sender(plain)
      expect(await send({ request: REQUEST, env })).toMatchObject({ ok: true, status: "sent" })
      expect(await send({ request: REQUEST, env: { ...env, ...database } })).toMatchObject({
        ok: false,
        kind: "unavailable"
      })
      expect(lines.join("\n")).toMatch(/A database needs node:\w+, which is not there.*nodejs_compat/)
    })
    assert.lengthOf(resend.accepted, 1)
  })

  it("weighs less than half of what a worker may (3 MB packed)", () => {
    assert.isBelow(bundle.packedBytes, 1_500_000)
  })
})

describe("without env", () => {
  it("sends with the passed key, without a row and without a check, and says so once", async () => {
    const hosts: Array<string> = []
    const outbound = async (request: Request) => {
      const { host, pathname } = new URL(request.url)
      hosts.push(host)
      const headers = Object.fromEntries(request.headers)
      return fetch(`${resend.url}${pathname}`, {
        method: request.method,
        headers,
        body: await request.text()
      })
    }
    await inWorker(
      { PROVIDERA_API_KEY: "re_bound", DB_URL: "postgres://nobody:secret@127.0.0.1:1/none" },
      async ({ lines, send }) => {
        for (let round = 0; round < 2; round += 1) {
          const result = await send({ request: REQUEST, apiKey: "re_passed" })
          expect(result).toMatchObject({ ok: true, status: "sent", provider: "provider_a" })
        }
        assert.lengthOf(lines.join("\n").match(/without logging or suppression/g) ?? [], 1)
        assert.notInclude(lines.join("\n"), "mail store")
      },
      outbound
    )
    assert.deepStrictEqual(hosts, ["api.resend.com", "api.resend.com"])
    assert.deepStrictEqual(
      resend.requests.map(({ headers }) => headers.authorization),
      ["Bearer re_passed", "Bearer re_passed"]
    )
  })

  it("fails clearly with neither env nor key, and never rejects (S5)", async () => {
    const neither = await worker.send({ request: REQUEST })
    expect(neither).toMatchObject({ ok: false, status: "failed", kind: "unavailable" })
    assert.match(neither.ok ? "" : neither.error, /env.*apiKey/)
    const unset = await worker.send({ request: REQUEST, env: {} })
    assert.include(unset.ok ? "" : unset.error, "PROVIDERA_API_KEY")
    const garbage = await worker.send({ request: 17, apiKey: { no: "text" } })
    expect(garbage).toMatchObject({ ok: false, status: "failed", kind: "rejected" })
  })
})

describe("provider_b", () => {
  it("gets a signed request, with the session token", async () => {
    const env = {
      EMAIL_PRIMARY: "provider_b",
      PROVIDERB_ENDPOINT: ses.url,
      CLOUD_ACCESS_KEY_ID: "AKIAEDGE",
      CLOUD_SECRET_ACCESS_KEY: "secret",
      CLOUD_SESSION_TOKEN: "token"
    }
    const result = await worker.send({ request: REQUEST, env })
    expect(result).toMatchObject({ ok: true, status: "sent", provider: "provider_b" })
    const headers = ses.requests[0]?.headers ?? {}
    assert.match(
      headers.authorization ?? "",
      /^AWS4-HMAC-SHA256 Credential=AKIAEDGE\/\d{8}\/us-east-1\/ses\/aws4_request/
    )
    assert.strictEqual(headers["x-amz-security-token"], "token")
  })

  it("is unavailable without keys: there is no instance role", async () => {
    const result = await worker.send({ request: REQUEST, env: { EMAIL_PRIMARY: "provider_b" } })
    expect(result).toMatchObject({ ok: false, kind: "unavailable", provider: "provider_b" })
  })
})

describe("with bindings", () => {
  const rows = <A extends object>(
    text: string,
    ...values: ReadonlyArray<string>
  ): Promise<ReadonlyArray<A>> => postgres.runPromise(WriteSql.use((sql) => sql.unsafe<A>(text, values)))

  const sessions = () =>
    rows<{ readonly pid: number }>(
      "select pid from pg_stat_activity where datname = current_database() and application_name = 'postlane'"
    )

  it("writes the row, before it answers", async () => {
    const result = await worker.send({ request: REQUEST, env: "bindings" })
    const found = await rows("select * from email_log where id = $1", result.sendId)
    expect(found).toMatchObject([
      {
        status: "sent",
        category: "transactional",
        source: "edge:test",
        to_addresses: ["a@x.test"],
        provider: "provider_a",
        provider_message_id: result.providerMessageId,
        idempotency_key: result.idempotencyKey
      }
    ])
  })

  it("drops a suppressed recipient, and sends nothing where none is left (S7)", async () => {
    await rows("insert into email_suppressions (email, reason) values ('blocked@x.test', 'manual')")
    const some = await worker.send({
      request: { ...REQUEST, to: ["Blocked@x.test", "b@x.test"] },
      env: "bindings"
    })
    expect(some).toMatchObject({ status: "sent", suppressedRecipients: ["blocked@x.test"] })
    const none = await worker.send({ request: { ...REQUEST, to: "blocked@x.test" }, env: "bindings" })
    expect(none).toMatchObject({ ok: false, status: "suppressed" })
    const found = await rows("select status from email_log where id = $1", none.sendId)
    assert.deepStrictEqual(found, [{ status: "suppressed" }])
    assert.deepStrictEqual(
      resend.accepted.map(({ payload }) => (payload as ResendPayload).to),
      [["b@x.test"]]
    )
  })

  it("answers a repeated key with the first result (S9)", async () => {
    const { send } = worker
    const request = { ...REQUEST, idempotencyKey: "edge-order-17" }
    const first = await send({ request, env: "bindings" })
    assert.deepStrictEqual(await send({ request, env: "bindings" }), first)
    assert.lengthOf(resend.accepted, 1)
    const other = await send({ request: { ...request, subject: "another" }, env: "bindings" })
    expect(other).toMatchObject({ ok: false, kind: "rejected", idempotencyKey: "edge-order-17" })
  })

  it("queues an ambiguous send in the database", async () => {
    await resend.always("reset-after")
    const env = { ...bindings, EMAIL_DEFER_QUEUE_URL: "postgres:edge-defer" }
    const result = await worker.send({ request: REQUEST, env })
    expect(result).toMatchObject({ ok: true, status: "deferred", provider: "provider_a" })
    const log = await rows("select status from email_log where id = $1", result.sendId)
    assert.deepStrictEqual(log, [{ status: "deferred" }])
    const queued = await rows<{ readonly element: string }>(
      "select element, state from email_defer_queue where queue_name = 'edge-defer'"
    )
    expect(queued).toMatchObject([{ state: "pending" }])
    assert.include(queued[0]?.element, "edge:test")
  })

  it("queues an ambiguous send on SQS", () =>
    Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const sqs = yield* startSqs
          const { url } = yield* sqs.createQueue("edge-defer", 3)
          const queue = {
            EMAIL_DEFER_QUEUE_URL: url,
            SQS_ENDPOINT: sqs.endpoint,
            CLOUD_ACCESS_KEY_ID: sqsCredentials.accessKeyId,
            CLOUD_SECRET_ACCESS_KEY: sqsCredentials.secretAccessKey
          }
          yield* Effect.promise(async () => {
            await resend.always("reset-after")
            const result = await worker.send({ request: REQUEST, env: { ...bindings, ...queue } })
            expect(result).toMatchObject({ ok: true, status: "deferred" })
          })
          assert.strictEqual(yield* sqs.count(url), 1)
        })
      )
    ))

  it("closes a call's connection with the call, not with the request", async () => {
    const before = await sessions()
    const { DB_URL: _, ...degraded } = bindings
    await resend.script(["ok", "slow"])
    const sending = worker.sendAll([
      { request: REQUEST, env: "bindings" },
      { request: REQUEST, env: degraded }
    ])
    await resend.until(() => resend.requests.length === 2)
    // The server notes the end of a session a moment after its client.
    while ((await sessions()).length > before.length);
    resend.release()
    expect(await sending).toMatchObject([{ status: "sent" }, { status: "sent" }])
  })

  it("sends on where the database cannot be reached (S6)", async () => {
    const env = { ...bindings, DB_URL: "postgres://nobody@127.0.0.1:1/none", EMAIL_DB_TIMEOUT_MS: "300" }
    const result = await worker.send({ request: REQUEST, env })
    expect(result).toMatchObject({ ok: true, status: "sent" })
    assert.notInclude(worker.lines.join("\n"), SECRET)
  })
})
