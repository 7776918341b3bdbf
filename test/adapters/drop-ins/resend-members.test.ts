import { fileURLToPath } from "node:url"

import { ManagedRuntime } from "effect"
import { Resend as VendorResend } from "resend"
import { Webhook } from "standardwebhooks"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest"

import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import { close } from "../../../src/runtime/entries/library.ts"
import { Resend } from "../../../src/runtime/entries/resend.ts"
import { membersDeclared } from "../../support/declared-members.ts"
import { layerPostgres, TestDatabase } from "../../support/postgres/postgres.ts"
import { fakeResend, type ResendPayload } from "../../support/vendors/fake-resend.ts"

const email = { from: "Shop <shop@x.test>", to: "a@x.test", subject: "Hello", html: "<p>Hi</p>" }
const mock = fakeResend()
const other = fakeResend()
const postgres = ManagedRuntime.make(layerPostgres)
let database: Record<string, string>

beforeAll(async () => {
  await Promise.all([mock.listen(), other.listen()])
  const { url } = await postgres.runPromise(TestDatabase)
  database = { DB_URL: url, DB_SECRET_KEY: "database-password" }
})
afterAll(async () => {
  await close()
  await Promise.all([mock.close(), other.close(), postgres.dispose()])
})
beforeEach(() => {
  for (const name of ["PROVIDERA_API_KEY", "PROVIDERA_BASE_URL", "DB_URL", "RESEND_USER_AGENT"])
    vi.stubEnv(name, undefined)
})
afterEach(() => {
  vi.unstubAllEnvs()
  for (const one of [mock, other]) {
    one.requests.length = 0
    one.accepted.length = 0
  }
})

/** The members of an object and of its class. */
const membersOf = (object: object): ReadonlyArray<string> =>
  [object, Object.getPrototypeOf(object) as object]
    .flatMap((one) => Object.getOwnPropertyNames(one))
    .filter((name) => name !== "constructor")

/** Private in the SDK's types. */
const PRIVATE = new Set(["debug", "headers", "logError", "resend"])

describe("where the SDK would ask", () => {
  it.each(["RESEND_BASE_URL", "baseUrl"])("mails and everything else reach the mock of %s", async (by) => {
    vi.stubEnv("RESEND_API_KEY", "re_env")
    vi.stubEnv("RESEND_BASE_URL", by === "RESEND_BASE_URL" ? mock.url : other.url)
    const options = by === "RESEND_BASE_URL" ? {} : { baseUrl: mock.url }
    const agent = { ...options, userAgent: "shop/1" }
    for (const make of [() => new VendorResend(undefined, agent), () => new Resend(undefined, agent)]) {
      mock.requests.length = 0
      const resend = make()
      expect((await resend.emails.send(email)).error).toBeNull()
      expect((await resend.domains.list()).error).toBeNull()
      expect(
        mock.requests.map(({ headers, path }) => [path, headers.authorization, headers["user-agent"]])
      ).toEqual([
        ["/emails", "Bearer re_env", "shop/1"],
        ["/domains", "Bearer re_env", "shop/1"]
      ])
    }
    expect(other.requests).toEqual([])
  })

  it("takes the settings' key and address first, and the constructor's key before the environment's", async () => {
    vi.stubEnv("RESEND_API_KEY", "re_env")
    vi.stubEnv("RESEND_BASE_URL", other.url)
    const keys = [
      new Resend("re_given", { env: { PROVIDERA_API_KEY: "re_setting", PROVIDERA_BASE_URL: mock.url } }),
      new Resend("re_given", { env: { RESEND_API_KEY: "re_own", RESEND_BASE_URL: mock.url } }),
      new Resend(undefined, { env: { RESEND_API_KEY: "re_own", RESEND_BASE_URL: mock.url } })
    ]
    for (const resend of keys) expect((await resend.emails.send(email)).error).toBeNull()
    expect(mock.requests.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer re_setting",
      "Bearer re_given",
      "Bearer re_own"
    ])
    expect(other.requests).toEqual([])
  })

  it("refuses an option that it does not know", () => {
    expect(() => new Resend("re_key", { baseURL: mock.url } as object)).toThrow(
      "baseURL is not known here; did you mean baseUrl?"
    )
  })
})

describe("what the SDK has beside", () => {
  const theirs = new VendorResend("re_key")
  const ours = new Resend("re_key", { env: {} })

  it("every member of it is there, and of its emails and batch", () => {
    const missing = (given: object, here: object) =>
      membersOf(given).filter((name) => !PRIVATE.has(name) && typeof Reflect.get(here, name) === "undefined")
    expect(missing(theirs, ours)).toEqual([])
    expect(missing(theirs.emails, ours.emails)).toEqual([])
    expect(missing(theirs.batch, ours.batch)).toEqual([])
    expect(missing(theirs.emails.attachments, ours.emails.attachments)).toEqual([])
    const inbound = new Set(["forwardPassthrough", "forwardWrapped", "downloadRaw"])
    expect(
      missing(theirs.emails.receiving, ours.emails.receiving).filter((name) => !inbound.has(name))
    ).toEqual([])
  })

  it("refuses what it cannot do, and what would send past it", async () => {
    const { emails } = ours
    const answers = await Promise.all([
      emails.share(),
      emails.metrics(),
      emails.attachments.list(),
      emails.receiving.forward(),
      ours.post("/emails", email),
      ours.post("/emails/batch", [email]),
      ours.fetchRequest("/emails", { method: "POST" })
    ])
    expect(answers.map(({ error }) => error?.name)).toEqual(answers.map(() => "invalid_parameter"))
  })

  it("verifies webhooks as the SDK does", () => {
    const webhookSecret = "whsec_c2VjcmV0"
    const payload = JSON.stringify({ type: "email.sent", data: {} })
    const now = new Date()
    const headers = {
      id: "msg_1",
      timestamp: String(Math.floor(now.getTime() / 1000)),
      signature: new Webhook(webhookSecret).sign("msg_1", now, payload)
    }
    expect(ours.webhooks.verify({ payload, webhookSecret, headers })).toEqual(JSON.parse(payload))
    expect(() => ours.webhooks.verify({ payload: "{}", webhookSecret, headers })).toThrow(
      "No matching signature"
    )
  })
})

describe("the mails that were sent", () => {
  const resendOf = (env: Record<string, string> = database) =>
    new Resend("re_key", { env: { ...env, RESEND_BASE_URL: mock.url } })

  it("are read from the send log, by either id, page by page in both directions", async () => {
    const resend = resendOf()
    const ids: Array<string> = []
    for (const subject of ["one", "two", "three"]) {
      const { data } = await resend.emails.send({ ...email, subject, cc: "c@x.test" })
      ids.unshift(data?.id ?? "")
    }
    const { data } = await resend.emails.get(ids[0] ?? "")
    expect(data).toMatchObject({
      object: "email",
      id: ids[0],
      to: ["a@x.test"],
      bcc: ["c@x.test"],
      subject: "three",
      last_event: "sent",
      html: null
    })
    const vendorId = mock.accepted.at(-1)?.id ?? ""
    expect((await resend.emails.get(vendorId)).data?.id).toBe(ids[0])
    const idsOf = async (options: { limit?: number; after?: string; before?: string }) => {
      const page = await resend.emails.list(options)
      return [page.data?.data.map(({ id }) => id), page.data?.has_more]
    }
    expect(await idsOf({})).toEqual([ids, false])
    expect(await idsOf({ limit: 2 })).toEqual([ids.slice(0, 2), true])
    expect(await idsOf({ limit: 1, after: ids[0]! })).toEqual([[ids[1]], true])
    expect(await idsOf({ after: ids[1]! })).toEqual([[ids[2]], false])
    expect(await idsOf({ limit: 1, before: ids[2]! })).toEqual([[ids[1]], true])
    expect(await idsOf({ before: ids[2]! })).toEqual([ids.slice(0, 2), false])
  })

  it("answers not_found, and what is wrong", async () => {
    const resend = resendOf()
    const unknown = "00000000-0000-7000-8000-000000000000"
    const answers = await Promise.all([
      resend.emails.get(unknown),
      resend.emails.get("no id"),
      resend.emails.list({ after: unknown }),
      resend.emails.list({ limit: 0 }),
      resend.emails.list({ after: unknown, before: unknown }),
      resend.emails.get(unknown, { signal: new AbortController().signal }),
      resend.emails.list({}, { headers: { "x-a": "1" } }),
      resendOf({}).emails.get(unknown)
    ])
    expect(answers.map(({ error }) => [error?.name, error?.statusCode])).toEqual([
      ["not_found", 404],
      ["not_found", 404],
      ["not_found", 404],
      ["invalid_parameter", 422],
      ["invalid_parameter", 422],
      ["invalid_parameter", 422],
      ["invalid_parameter", 422],
      ["application_error", 503]
    ])
    expect(answers.at(-2)?.error?.message).toBe("headers is not known here: nothing is")
    expect(answers.at(-1)?.error?.message).toContain("DB_URL")
  })
})

describe("the send queue", () => {
  const resendOf = (env: Record<string, string>) =>
    new Resend("re_key", { env: { ...env, RESEND_BASE_URL: mock.url } })
  const inQueue = (keys: string) =>
    postgres.runPromise(
      WriteSql.use(
        (sql) =>
          sql<{ readonly id: string }>`select id, idempotency_key, state from email_send_queue
            where idempotency_key like ${keys} order by idempotency_key`
      )
    )
  const later = () => new Date(Date.now() + 3_600_000).toISOString()

  it("takes a batch as a whole, once; nothing of it is sent by this process", async () => {
    const resend = resendOf(database)
    const emails = Array.from({ length: 3 }, (_, at) => ({ ...email, subject: `mail ${at}` }))
    const first = await resend.batch.send(emails, { idempotencyKey: "batch" })
    expect(first.error).toBeNull()
    expect(await resend.batch.send(emails, { idempotencyKey: "batch" })).toEqual(first)
    const rows = await inQueue("batch/%")
    expect(rows.map(({ id }) => id)).toEqual(first.data?.data.map(({ id }) => id))
    expect(mock.accepted).toEqual([])
    const repeated = await resend.batch.send([email], { idempotencyKey: "batch" })
    expect([repeated.error?.name, repeated.error?.statusCode]).toEqual(["invalid_idempotent_request", 409])
    const shorter = await resend.batch.send(emails.slice(0, 2), { idempotencyKey: "batch" })
    expect(shorter.error?.name).toBe("invalid_idempotent_request")
    expect(await inQueue("batch/%")).toEqual(rows)
    expect((await resend.batch.send(emails, { idempotencyKey: "b".repeat(256) })).error).toBeNull()
    expect((await resend.batch.send([])).data).toEqual({ data: [] })
  })

  it("takes none of a strict batch with one that is not valid, and the rest of a permissive one", async () => {
    const resend = resendOf(database)
    const tooLate = new Date(Date.now() + 31 * 24 * 3_600_000).toISOString()
    const strict = await resend.batch.send([email, { ...email, scheduledAt: tooLate }], {
      idempotencyKey: "strict"
    })
    expect(strict.error).toEqual({
      name: "validation_error",
      statusCode: 422,
      message: "emails.1.scheduledAt: is more than 30 days ahead"
    })
    expect(await inQueue("strict/%")).toEqual([])
    const permissive = await resend.batch.send([{ ...email, to: "none" }, email], {
      idempotencyKey: "permissive",
      batchValidation: "permissive"
    })
    const [row] = await inQueue("permissive/%")
    expect(permissive.data).toEqual({
      data: [{ id: row?.id }],
      errors: [{ index: 0, message: expect.any(String) }]
    })
  })

  it("sends later what has scheduledAt, shows it and cancels it", async () => {
    const resend = resendOf(database)
    const scheduled_at = later()
    const { data, error } = await resend.emails.send({
      ...email,
      cc: "c@x.test",
      scheduled_at
    } as typeof email)
    expect([error, data?.status]).toEqual([null, "queued"])
    const id = data?.id ?? ""
    expect((await resend.emails.get(id)).data).toMatchObject({
      object: "email",
      id,
      from: email.from,
      to: ["a@x.test"],
      bcc: ["c@x.test"],
      subject: "Hello",
      last_event: "scheduled",
      scheduled_at
    })
    expect(await resend.emails.cancel(id)).toMatchObject({ data: { object: "email", id } })
    expect((await resend.emails.get(id)).data?.last_event).toBe("canceled")
    expect(mock.accepted).toEqual([])
    const tooLate = new Date(Date.now() + 31 * 24 * 3_600_000).toISOString()
    expect((await resend.emails.send({ ...email, scheduledAt: tooLate })).error?.message).toBe(
      "scheduledAt: is more than 30 days ahead"
    )
  })

  it("moves what waits to another time, and what has left stays as it is", async () => {
    const resend = resendOf(database)
    const first = new Date(Date.now() + 3_600_000).toISOString()
    const second = new Date(Date.now() + 7_200_000).toISOString()
    const { data } = await resend.emails.send({ ...email, scheduledAt: first })
    const id = data?.id ?? ""
    expect(await resend.emails.update({ id, scheduledAt: second })).toMatchObject({
      data: { object: "email", id },
      error: null
    })
    expect((await resend.emails.get(id)).data).toMatchObject({
      last_event: "scheduled",
      scheduled_at: second
    })
    // The name of the HTTP API, too.
    expect((await resend.emails.update({ id, scheduled_at: first } as never)).error).toBeNull()
    expect((await resend.emails.get(id)).data?.scheduled_at).toBe(first)
    const tooLate = new Date(Date.now() + 31 * 24 * 3_600_000).toISOString()
    const refused = [
      await resend.emails.update({ id, scheduledAt: tooLate }),
      await resend.emails.update({ id, scheduledAt: "in 1 hour" }),
      await resend.emails.update({ id } as never),
      await resend.emails.update({ id, scheduledAt: second, subject: "x" } as never),
      await resend.emails.update({ id: "none", scheduledAt: second }),
      await resend.emails.update({ id: "00000000-0000-7000-8000-000000000000", scheduledAt: second })
    ]
    expect(refused.map(({ error }) => [error?.name, error?.statusCode])).toEqual([
      ["validation_error", 422],
      ["validation_error", 422],
      ["missing_required_field", 422],
      ["invalid_parameter", 422],
      ["not_found", 404],
      ["not_found", 404]
    ])
    expect(refused[0]?.error?.message).toBe("scheduledAt: is more than 30 days ahead")
    expect((await resend.emails.get(id)).data?.scheduled_at).toBe(first)
    await resend.emails.cancel(id)
    const ended = (await resend.emails.update({ id, scheduledAt: second })).error
    expect(ended?.message).toContain("it is cancelled")
    expect((await resendOf({}).emails.update({ id, scheduledAt: second })).error?.name).toBe(
      "application_error"
    )
  })

  it("cancels nothing that was sent or never there", async () => {
    const resend = resendOf(database)
    const { data } = await resend.emails.send({ ...email, scheduledAt: later() })
    await postgres.runPromise(
      WriteSql.use(
        (sql) => sql`update email_send_queue set state = 'sending' where id = ${data?.id ?? ""}::uuid`
      )
    )
    const answers = await Promise.all([
      resend.emails.cancel(data?.id ?? ""),
      resend.emails.cancel("00000000-0000-7000-8000-000000000000"),
      resend.emails.cancel("no id")
    ])
    expect(answers.map(({ error }) => [error?.name, error?.statusCode])).toEqual([
      ["validation_error", 422],
      ["not_found", 404],
      ["not_found", 404]
    ])
    expect(answers[0]?.error?.message).toContain("it is sending")
  })

  it("is not there without a database: a batch is sent mail by mail, and nothing is scheduled", async () => {
    const resend = resendOf({})
    const sent = await resend.batch.send([email, email])
    expect([sent.data?.data.length, mock.accepted.length]).toEqual([2, 2])
    const scheduled = [
      (await resend.emails.send({ ...email, scheduledAt: later() })).error,
      (await resend.batch.send([email, { ...email, scheduledAt: later() }])).error
    ]
    for (const error of scheduled) {
      expect(error?.name).toBe("invalid_parameter")
      expect(error?.message).toContain("DB_URL")
    }
    expect(mock.accepted.length).toBe(2)
  })

  it("says that nothing was queued where the database is away", async () => {
    const away = { DB_URL: "postgres://nobody@127.0.0.1:1/none", DB_SECRET_KEY: "p" }
    const { error } = await resendOf(away).batch.send([email, email])
    expect([error?.name, error?.statusCode]).toEqual(["application_error", 503])
    expect(mock.accepted).toEqual([])
  })
})

describe("the same calls to both", () => {
  const listed = (value: string | ReadonlyArray<string> | undefined) =>
    value === undefined ? [] : [value].flat()
  /** Every member of a mail; one address and a list of one are the same, and our tag of the send is beside the caller's. */
  const withoutOurs = ({ attachments, bcc, cc, reply_to, tags, to, ...rest }: ResendPayload) => ({
    ...rest,
    to: listed(to),
    cc: listed(cc),
    bcc: listed(bcc),
    reply_to: listed(reply_to),
    tags: (tags ?? []).filter(({ name }) => name === "order"),
    attachments: attachments ?? []
  })
  it.each([
    { to: ["Ann <a@x.test>", "b@x.test"], replyTo: "r@x.test" },
    { tags: [{ name: "order", value: "17" }], headers: { "X-Order": "17" } },
    { attachments: [{ filename: "a.txt", content: Buffer.from("hi"), contentType: "text/plain" }] },
    {
      attachments: [
        { filename: "a.bin", content: new Uint8Array([1, 2, 255]) },
        { filename: "b.bin", content: new Uint8Array([1, 2, 255]).buffer, contentId: "b" }
      ]
    },
    { text: "plain", html: undefined }
  ])("leave the same mail: %j", async (part) => {
    const options = { baseUrl: mock.url }
    const mail = { ...email, ...part }
    await new VendorResend("re_key", options).emails.send(mail as typeof email)
    await new Resend("re_key", { ...options, env: {} }).emails.send(mail)
    expect(mock.accepted.length).toBe(2)
    const [theirs, ours] = mock.accepted.map(({ payload }) => withoutOurs(payload as ResendPayload))
    expect(ours).toEqual(theirs)
  })

  it("keeps a name with brackets, and refuses what would be lost", async () => {
    const resend = new Resend("re_key", { baseUrl: mock.url, env: {} })
    expect((await resend.emails.send({ ...email, to: "Ann (Sales) <a@x.test>" })).error).toBeNull()
    expect(JSON.stringify(mock.accepted[0]?.payload)).toContain("Ann (Sales)")
    const both = [{ filename: "a", content: "aGk=", path: "https://x.test/a" }]
    const twice = [
      { name: "a", value: "1" },
      { name: "a", value: "2" }
    ]
    expect((await resend.emails.send({ ...email, attachments: both })).error?.name).toBe("invalid_attachment")
    expect((await resend.emails.send({ ...email, tags: twice })).error?.message).toContain("twice")
    expect(mock.accepted.length).toBe(1)
  })
})

describe("each option of the SDK's types", () => {
  const types = fileURLToPath(import.meta.resolve("resend")).replace(/\.mjs$/, ".d.mts")
  const attached = (part: object) => ({ attachments: [{ filename: "a.txt", content: "aGk=", ...part }] })
  /** Of each member a mail or the options of a call that hold it; what is carried holds the word "mark". */
  const MAIL: ReadonlyArray<readonly [string, object]> = [
    ["from", { from: "Mark <mark@x.test>" }],
    ["to", { to: ["a@x.test", "mark@x.test"] }],
    ["cc", { cc: "mark@x.test" }],
    ["bcc", { bcc: ["mark@x.test"] }],
    ["replyTo", { replyTo: "mark@x.test" }],
    ["subject", { subject: "mark" }],
    ["html", { html: "<p>mark</p>" }],
    ["text", { text: "mark" }],
    ["headers", { headers: { "X-Order": "mark" } }],
    ["tags", { tags: [{ name: "order", value: "mark" }] }],
    ["attachments", attached({ filename: "mark" })],
    ["topicId", { topicId: "mark" }],
    ["scheduledAt", { scheduledAt: "2999-01-01T00:00:00Z" }],
    ["react", { react: {} }],
    ["template", { template: { id: "t" } }]
  ]
  const ATTACHMENT: ReadonlyArray<readonly [string, object]> = [
    ["content", attached({ content: Buffer.from("a remark") })],
    ["filename", attached({ filename: "mark" })],
    ["path", attached({ path: "https://x.test/a" })],
    ["contentType", attached({ contentType: "text/mark" })],
    ["contentId", attached({ contentId: "mark" })]
  ]
  const TAG: ReadonlyArray<readonly [string, object]> = [
    ["name", { tags: [{ name: "mark", value: "1" }] }],
    ["value", { tags: [{ name: "order", value: "mark" }] }]
  ]
  const CALL: ReadonlyArray<readonly [string, object]> = [
    ["idempotencyKey", { idempotencyKey: "mark" }],
    ["query", { query: { a: "1" } }],
    ["headers", { headers: { "X-A": "1" } }],
    ["signal", { signal: new AbortController().signal }]
  ]

  it.each([
    [["CreateEmailBaseOptions", "EmailRenderOptions$1", "EmailTemplateOptions"], MAIL, 15],
    [["Attachment"], ATTACHMENT, 5],
    [["RequestOptions", "PostOptions", "IdempotentRequest"], CALL, 2]
  ] as const)("has its trial below: %j", (interfaces, trials, least) => {
    const declared = interfaces.flatMap((name) => membersDeclared(types, name))
    expect(declared.length).toBeGreaterThanOrEqual(least)
    const tried = new Set<string>(trials.map(([name]) => name))
    expect(declared.filter((name) => !tried.has(name))).toEqual([])
  })

  it.each([
    ...[...MAIL, ...ATTACHMENT, ...TAG].map(([name, part]) => [name, part, {}] as const),
    ...CALL.map(([name, options]) => [name, {}, options] as const)
  ])("is carried, or refused by its name: %s", async (name, part, options) => {
    const resend = new Resend("re_key", { baseUrl: mock.url, env: {} })
    const { error } = await resend.emails.send({ ...email, ...part }, options)
    const said = mock.accepted.map(({ key, payload }) => JSON.stringify([key, payload])).join("")
    const carried = said.replaceAll(Buffer.from("a remark").toString("base64"), "a remark")
    const isRefused = error?.message.includes(name) ?? false
    expect([isRefused, carried.includes("mark"), mock.accepted.length]).toEqual(
      error === null ? [false, true, 1] : [true, false, 0]
    )
  })
})
