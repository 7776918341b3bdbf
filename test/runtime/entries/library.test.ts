import { Effect, ManagedRuntime, Schema } from "effect"
import fc from "fast-check"
import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, expect, it, vi } from "vitest"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import { SendResult } from "../../../src/domain/mail/send-result.ts"
import { close, layer, Mailer, sendEmail, type SendRequest } from "../../../src/runtime/entries/library.ts"
import { layerPostgres, TestDatabase } from "../../support/postgres/postgres.ts"
import { runScript } from "../../support/processes/library-script.ts"
import { fakeImds } from "../../support/vendors/fake-imds.ts"
import { fakeResend } from "../../support/vendors/fake-resend.ts"
import { fakeSes } from "../../support/vendors/fake-ses.ts"

const REQUEST = {
  to: "a@x.test",
  subject: "s",
  text: "t",
  category: "transactional",
  source: "api:test"
} as const satisfies SendRequest

const resend = fakeResend()
const ses = fakeSes()
const imds = fakeImds({
  role: undefined,
  expiration: "2099-01-01T00:00:00Z",
  generation: 0,
  tokenStatus: 200
})

const viaResend = (extra: object = {}) => ({
  PROVIDERA_API_KEY: "re_key",
  PROVIDERA_BASE_URL: resend.url,
  IMDS_ENDPOINT: imds.url,
  ...extra
})

const isResult = Schema.is(SendResult)
/** Calls as plain JavaScript can: with anything. */
const call = sendEmail as (...args: ReadonlyArray<unknown>) => Promise<SendResult>

const throws = () => {
  throw new Error("do not look")
}

beforeAll(() => Promise.all([resend.listen(), ses.listen(), imds.listen()]))
afterAll(async () => {
  await close()
  await Promise.all([resend.close(), ses.close(), imds.close()])
})
beforeEach(() => resend.always("ok"))
afterEach(() => {
  resend.accepted.length = 0
  ses.accepted.length = 0
  resend.requests.length = 0
})

describe("sendEmail", () => {
  it("sends, and says through whom", async () => {
    const result = await sendEmail(REQUEST, { env: viaResend() })
    expect(result).toMatchObject({ ok: true, status: "sent", provider: "provider_a", failedOver: false })
    assert.strictEqual(result.providerMessageId, resend.accepted[0]?.id)
    assert.strictEqual(resend.accepted[0]?.key, result.idempotencyKey)
  })

  it("fails over as the settings say", async () => {
    await resend.always("503")
    const result = await sendEmail(REQUEST, {
      env: viaResend({
        EMAIL_FALLBACK: "provider_b",
        PROVIDERB_ENDPOINT: ses.url,
        CLOUD_ACCESS_KEY_ID: "AKIA",
        CLOUD_SECRET_ACCESS_KEY: "secret",
        CLOUD_SESSION_TOKEN: "token"
      })
    })
    expect(result).toMatchObject({ ok: true, provider: "provider_b", failedOver: true })
    assert.strictEqual(ses.requests.at(-1)?.headers["x-amz-security-token"], "token")
  })

  it("answers a pinned send without credentials with a clear failure", async () => {
    const result = await sendEmail({ ...REQUEST, provider: "provider_b" }, { env: viaResend() })
    expect(result).toMatchObject({ ok: false, status: "failed", kind: "unavailable", provider: "provider_b" })
    assert.lengthOf(resend.accepted, 0)
  })

  it("ends an ambiguous send failed where there is no queue, and its sticky kind is known", async () => {
    await resend.always("reset-after")
    const result = await sendEmail(REQUEST, { env: viaResend() })
    expect(result).toMatchObject({ ok: false, status: "failed", kind: "ambiguous" })
  })

  it("sends on where the database cannot be reached (S6)", async () => {
    const env = viaResend({ DB_URL: "postgres://nobody:wrong@127.0.0.1:1/none", EMAIL_DB_TIMEOUT_MS: "500" })
    const result = await sendEmail({ ...REQUEST, idempotencyKey: "unreachable-1" }, { env })
    expect(result).toMatchObject({ ok: true, status: "sent", idempotencyKey: "unreachable-1" })
  })
})

describe("settings", () => {
  it("names every setting that cannot be used, and no value", async () => {
    const env = viaResend({ EMAIL_PRIMARY: "hunter2", EMAIL_ATTEMPT_TIMEOUT_MS: "soon" })
    const result = await sendEmail(REQUEST, { env })
    assert.isFalse(result.ok)
    if (result.ok || result.status !== "failed") return
    expect(result).toMatchObject({ kind: "unavailable", provider: null })
    assert.include(result.error, "EMAIL_PRIMARY")
    assert.include(result.error, "EMAIL_ATTEMPT_TIMEOUT_MS")
    assert.notInclude(result.error, "hunter2")
    assert.lengthOf(resend.requests, 0)
  })

  it("is not disturbed by settings that sending does not read", async () => {
    const result = await sendEmail(REQUEST, {
      env: viaResend({ PORT: "none", CHAT_ID: 7, KV: { get: throws } })
    })
    assert.isTrue(result.ok)
  })

  it("names the key that is missing", async () => {
    const result = await sendEmail(REQUEST, { env: {} })
    assert.include(result.ok ? "" : result.error, "PROVIDERA_API_KEY")
  })

  it("takes apiKey where env names no key, and env's key first", async () => {
    const { PROVIDERA_API_KEY: _, ...keyless } = viaResend()
    await sendEmail(REQUEST, { env: keyless, apiKey: "re_passed" })
    await sendEmail(REQUEST, { env: viaResend(), apiKey: "re_passed" })
    const keys = resend.requests.map((request) => request.headers.authorization)
    assert.deepStrictEqual(keys, ["Bearer re_passed", "Bearer re_key"])
  })
})

describe("sendEmail never throws and never rejects (S5)", () => {
  it.each([
    ["nothing", []],
    ["null", [null, null]],
    ["a request of another shape", [{ ...REQUEST, to: 5, attachments: "x" }, { env: viaResend() }]],
    ["a request whose fields throw", [Object.defineProperty({}, "to", { get: throws, enumerable: true })]],
    [
      "a request that throws at every touch",
      [new Proxy({}, { get: throws, has: throws, getPrototypeOf: throws, ownKeys: throws })]
    ],
    ["options that throw", [REQUEST, Object.defineProperty({}, "env", { get: throws })]],
    ["an env that throws", [REQUEST, { env: new Proxy({}, { get: throws, has: throws, ownKeys: throws }) }]],
    ["an env that is a text", [REQUEST, { env: "PROVIDERA_API_KEY=x" }]],
    ["a key that is no text", [REQUEST, { env: {}, apiKey: Symbol("key") }]],
    ["a line break in the subject", [{ ...REQUEST, subject: "a\r\nBcc: b@x.test" }, { env: viaResend() }]]
  ])("given %s", async (_name, args) => {
    const result = await call(...args)
    assert.isTrue(isResult(result), JSON.stringify(result))
    assert.isFalse(result.ok)
    if (!result.ok) assert.notStrictEqual(result.error, "")
    assert.lengthOf(resend.accepted, 0)
  })

  it("given a request that holds itself", async () => {
    const request: Record<string, unknown> = { ...REQUEST }
    request["tags"] = request
    assert.isTrue(isResult(await call(request, { env: viaResend() })))
  })

  it("whatever it is given", async () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true
    })
    const fields = fc.record(Object.fromEntries(Object.keys(REQUEST).map((field) => [field, anything])), {
      requiredKeys: []
    })
    const request = fc.oneof(
      anything,
      fields,
      fields.map((odd) => ({ ...REQUEST, ...odd }))
    )
    const options = fc.oneof(anything, fc.record({ env: anything, apiKey: anything }, { requiredKeys: [] }))
    await fc.assert(
      fc.asyncProperty(request, options, async (odd, opts) => {
        const named = {
          IMDS_ENDPOINT: imds.url,
          PROVIDERA_BASE_URL: resend.url,
          EMAIL_ATTEMPT_TIMEOUT_MS: "200"
        }
        const result = await call(
          odd,
          typeof opts === "object" && opts !== null ? { env: named, ...opts } : { env: named }
        )
        assert.isTrue(isResult(result))
      }),
      { numRuns: 200 }
    )
  })

  it("answers a refused key of the caller with that key", async () => {
    const result = await call({ ...REQUEST, to: "nobody", idempotencyKey: "order-17" }, { env: viaResend() })
    expect(result).toMatchObject({ status: "failed", kind: "rejected", idempotencyKey: "order-17" })
    assert.match(result.ok ? "" : result.error, /^to: /)
  })
})

describe("in a process of its own", () => {
  const report = "console.log(JSON.stringify(await sendEmail(request)))"
  const request = `const request = ${JSON.stringify(REQUEST)}\n`
  const processEnv = () => viaResend()

  it("reads process.env, and ends by itself after its last send", async () => {
    const ended = await runScript(request + report, processEnv())
    expect({ code: ended.code, signal: ended.signal }).toEqual({ code: 0, signal: null })
    expect(JSON.parse(ended.stdout)).toMatchObject({ ok: true, status: "sent" })
  })

  it("warns once, however many environments have no database, and on stderr", async () => {
    const source = `${request}
      const env = (from) => ({ ...process.env, EMAIL_FROM: from })
      await Promise.all([sendEmail(request), sendEmail(request)])
      await sendEmail(request, { env: env("one@postlane.test") })
      await sendEmail(request, { env: env("two@postlane.test") })
      await close()
      await sendEmail(request)`
    const ended = await runScript(source, processEnv())
    assert.strictEqual(ended.code, 0, ended.stderr)
    assert.lengthOf(ended.stderr.match(/without logging or suppression/g) ?? [], 1)
    assert.strictEqual(ended.stdout, "")
    assert.lengthOf(resend.accepted, 5)
  })

  it("takes apiKey before the key of process.env", async () => {
    await runScript(`${request} await sendEmail(request, { apiKey: "re_passed" })`, processEnv())
    assert.strictEqual(resend.requests.at(-1)?.headers.authorization, "Bearer re_passed")
  })
})

describe("with a database", () => {
  const postgres = ManagedRuntime.make(layerPostgres)
  let env: Readonly<Record<string, string>>
  const rows = (text: string, ...values: ReadonlyArray<string>) =>
    postgres.runPromise(WriteSql.use((sql) => sql.unsafe(text, values)))

  beforeAll(async () => {
    const { url } = await postgres.runPromise(TestDatabase)
    const asked = { DB_URL: url, DB_SECRET_KEY: "not asked for", EMAIL_DEFER_QUEUE_URL: "postgres:library" }
    env = viaResend(asked)
  })
  afterAll(async () => {
    await close()
    await postgres.dispose()
  })

  it("writes the row before it answers, and checks suppressions (S7)", async () => {
    await rows("insert into email_suppressions (email, reason) values ('blocked@x.test', 'complaint')")
    const sent = await sendEmail({ ...REQUEST, cc: "blocked@x.test" }, { env })
    expect(sent).toMatchObject({ status: "sent", suppressedRecipients: ["blocked@x.test"] })
    const found = await rows("select status, provider_message_id from email_log where id = $1", sent.sendId)
    assert.deepStrictEqual(found, [{ status: "sent", provider_message_id: sent.providerMessageId }])
  })

  it("queues an ambiguous send, and answers its key again with that (S9)", async () => {
    await resend.always("reset-after")
    const request = { ...REQUEST, idempotencyKey: "library-17" }
    const first = await sendEmail(request, { env })
    expect(first).toMatchObject({ ok: true, status: "deferred" })
    assert.deepStrictEqual(await sendEmail(request, { env }), first)
    const queued = await rows("select state from email_defer_queue where queue_name = 'library'")
    assert.deepStrictEqual(queued, [{ state: "pending" }])
  })

  it("makes the retries itself where it is asked to, until close (D1)", async () => {
    const { EMAIL_DEFER_QUEUE_URL: _, ...bare } = env
    const retrying = { ...bare, EMAIL_DEFER_DELAYS_SECONDS: "1,1,1" }
    await resend.always("reset-before")
    const first = await sendEmail(
      { ...REQUEST, idempotencyKey: "library-19" },
      { env: retrying, retry: true }
    )
    expect(first).toMatchObject({ ok: true, status: "deferred" })
    const consumers = () =>
      rows("select from leases where name = 'retry:email-defer' and expires_at > clock_timestamp()")
    await vi.waitFor(async () => assert.lengthOf(await consumers(), 1), 20_000)
    await resend.always("ok")
    const last =
      "select status from email_log where idempotency_key = 'library-19' order by created_at desc limit 1"
    await vi.waitFor(async () => assert.deepStrictEqual(await rows(last), [{ status: "sent" }]), 20_000)
    await close()
    assert.lengthOf(await consumers(), 0)
  })

  it("answers another payload on a key, and a key that is under way, with a failure", async () => {
    await resend.always("slow")
    const request = { ...REQUEST, idempotencyKey: "library-18" }
    const first = sendEmail(request, { env })
    await resend.until(() => resend.requests.length === 1)
    expect(await sendEmail(request, { env })).toMatchObject({
      ok: false,
      status: "failed",
      kind: "ambiguous"
    })
    resend.release()
    expect(await first).toMatchObject({ ok: true, status: "sent" })
    const other = await sendEmail({ ...request, subject: "another" }, { env })
    expect(other).toMatchObject({ ok: false, kind: "rejected", idempotencyKey: "library-18" })
  })

  it("shares the connections of one environment, and leaves none open", async () => {
    const sessions = () =>
      rows(
        "select pid from pg_stat_activity where datname = current_database() and application_name = 'postlane'"
      )
    await close()
    const before = await sessions()
    await Promise.all(Array.from({ length: 20 }, () => sendEmail(REQUEST, { env: { ...env } })))
    assert.isAtMost((await sessions()).length - before.length, 5)
    await close()
    // The server notes the end of a session a moment after its client.
    while ((await sessions()).length > before.length);
  })

  it("lets a script end by itself", async () => {
    const source = `console.log((await sendEmail(${JSON.stringify(REQUEST)})).status)`
    expect(await runScript(source, env)).toMatchObject({
      code: 0,
      signal: null,
      stdout: "sent\n",
      stderr: ""
    })
  })
})

describe("the Effect side", () => {
  it("gives the same mailer as a layer, with its errors typed", async () => {
    const send = (request: SendRequest) => Effect.flatMap(Mailer, (mailer) => mailer.send(request))
    const program = Effect.all([send(REQUEST), Effect.flip(send({ ...REQUEST, to: [] }))])
    const [sent, refused] = await Effect.runPromise(Effect.provide(program, layer({ env: viaResend() })))
    assert.strictEqual(sent.status, "sent")
    assert.strictEqual(refused._tag, "InvalidRequest")
  })

  it("refuses settings that cannot be used", async () => {
    const build = Effect.provide(Mailer, layer({ env: { EMAIL_PRIMARY: "x" } }))
    const error = await Effect.runPromise(Effect.flip(build))
    assert.strictEqual(error._tag, "SettingsRefused")
  })
})
