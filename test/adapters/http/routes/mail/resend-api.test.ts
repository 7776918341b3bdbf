import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Effect, Layer, Redacted } from "effect"
import fc from "fast-check"
import { Resend } from "resend"
import { afterAll, beforeAll, expect, it } from "vitest"

import { makeMailDatabase } from "../../../../../src/adapters/memory/mail/mail-store.ts"
import { makeSendQueue } from "../../../../../src/adapters/memory/mail/send-queue.ts"
import * as MemorySenderTokens from "../../../../../src/adapters/memory/mail/sender-tokens.ts"
import type { SenderToken } from "../../../../../src/domain/mail/sender-token.ts"
import { SenderTokens } from "../../../../../src/ports/mail/sender-tokens.ts"
import { StoreUnavailable } from "../../../../../src/ports/store-unavailable.ts"
import { anyId } from "../../../../support/any-id.ts"
import { type Answer, call, startServer, type TestServer } from "../../harness.ts"

const { queue } = makeSendQueue(makeMailDatabase())
const requests: Array<Readonly<Record<string, unknown>>> = []
let isAway = false
let server: TestServer
let token = ""
const texts = new Map<string, string>()

const TOKENS: ReadonlyArray<Omit<SenderToken, "id">> = [
  { name: "any", categories: [], from: [], ratePerMinute: undefined },
  { name: "bound", categories: ["notification"], from: ["@x.test"], ratePerMinute: undefined },
  { name: "slow", categories: [], from: [], ratePerMinute: 1 }
]

const senders = Layer.effectDiscard(
  SenderTokens.use((tokens) =>
    Effect.forEach(TOKENS, (one) =>
      Effect.map(tokens.create(one, "test"), (made) => texts.set(one.name, Redacted.value(made.token)))
    )
  )
).pipe(Layer.orDie, Layer.provideMerge(MemorySenderTokens.layer()), Layer.provide(NodeCrypto.layer))

beforeAll(async () => {
  server = await startServer({
    senders,
    sendQueue: {
      ...queue,
      enqueue: (entries, batch) => {
        if (isAway)
          return Effect.fail(
            new StoreUnavailable({ operation: "enqueue", reason: "away", isRetryable: true })
          )
        requests.push(...entries.map(({ request }) => request as Readonly<Record<string, unknown>>))
        return queue.enqueue(entries, batch)
      }
    }
  })
  token = texts.get("any") ?? ""
})
afterAll(() => server.stop())

const sdk = (key = token) => new Resend(key, { baseUrl: `${server.url}/resend` })
const mail = { from: "Shop <shop@x.test>", to: "ann@y.test", subject: "s", text: "t" }
const stateOf = (id: string) => Effect.runPromise(queue.find(anyId(id)))

/** A request as another SDK than Node's writes it. */
const wire = (
  method: string,
  path: string,
  body?: string,
  headers: Record<string, string> = {}
): Promise<Answer> =>
  call(server, `/resend${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      ...(body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }),
      ...headers
    },
    ...(body === undefined ? {} : { body })
  })

it("queues a mail of Resend's own SDK, reads, reschedules and cancels it (FRONT-8)", async () => {
  const resend = sdk()
  const at = new Date(Date.now() + 3_600_000).toISOString()
  const { data, error } = await resend.emails.send({
    ...mail,
    to: ["ann@y.test", "bob@y.test"],
    cc: "carl@y.test",
    replyTo: "help@x.test",
    html: "<p>t</p>",
    headers: { "X-Order": "17" },
    tags: [{ name: "campaign", value: "c1" }],
    attachments: [
      { filename: "a.txt", content: Buffer.from("abc") },
      { filename: "l.png", content: "AQID", contentType: "image/png", contentId: "logo" }
    ],
    scheduledAt: at
  })
  expect(error).toBeNull()
  expect(requests.at(-1)).toMatchObject({
    from: "Shop <shop@x.test>",
    to: ["ann@y.test", "bob@y.test"],
    category: "transactional",
    source: "resend:any",
    tags: { campaign: "c1" },
    attachments: [
      { filename: "a.txt", content: "YWJj" },
      { filename: "l.png", content: "AQID", contentType: "image/png", contentId: "logo" }
    ],
    sendAt: at
  })
  const id = data!.id
  const got = await resend.emails.get(id)
  expect(got.data).toMatchObject({ object: "email", id, last_event: "scheduled", scheduled_at: at })
  const later = new Date(Date.now() + 7_200_000).toISOString()
  // Another program's mail does not exist for it.
  const stranger = sdk(texts.get("bound"))
  for (const refused of [
    await stranger.emails.get(id),
    await stranger.emails.cancel(id),
    await stranger.emails.update({ id, scheduledAt: later })
  ])
    expect(refused.error?.name).toBe("not_found")
  expect((await stateOf(id))!.sendAt).toBe(Date.parse(at))
  expect((await resend.emails.update({ id, scheduledAt: later })).data).toEqual({ object: "email", id })
  expect((await stateOf(id))!.sendAt).toBe(Date.parse(later))
  expect((await resend.emails.cancel(id)).data).toEqual({ object: "email", id })
  expect((await stateOf(id))!.state).toBe("cancelled")
  expect((await resend.emails.update({ id, scheduledAt: later })).error).toMatchObject({
    name: "validation_error",
    message: "The mail cannot be changed any more: it is cancelled"
  })
})

it("takes a batch as a whole, or, permissive, what is valid of it", async () => {
  const resend = sdk()
  const wrong = { ...mail, to: "no address" }
  const all = await resend.batch.send([mail, { ...mail, subject: "2" }], { idempotencyKey: "batch" })
  expect(all.data!.data).toHaveLength(2)
  const again = await resend.batch.send([mail, { ...mail, subject: "2" }], { idempotencyKey: "batch" })
  expect(again.data!.data).toEqual(all.data!.data)
  const before = requests.length
  expect((await resend.batch.send([mail, wrong])).error).toMatchObject({ name: "validation_error" })
  expect(requests.length).toBe(before)
  const some = await resend.batch.send([wrong, mail], { batchValidation: "permissive" })
  expect(some.data).toMatchObject({ data: [{ id: expect.any(String) }], errors: [{ index: 0 }] })
  for (const body of ["[]", "{}", JSON.stringify(Array.from({ length: 101 }, () => mail))])
    expect((await wire("POST", "/emails/batch", body)).json).toMatchObject({ statusCode: 422 })
})

it("takes a batch's key for this batch alone: shorter, longer, reordered or changed it is a conflict (FRONT-8)", async () => {
  const resend = sdk()
  const mails = ["a", "b", "c"].map((subject) => ({ ...mail, subject }))
  const [a, b, c] = mails as [typeof mail, typeof mail, typeof mail]
  const send = (batch: Array<typeof mail>, idempotencyKey: string) =>
    resend.batch.send(batch, { idempotencyKey, batchValidation: "permissive" })
  for (const key of ["whole", "l".repeat(256)]) {
    const first = await send(mails, key)
    const others = [[a], [a, b], [...mails, a], [b, a, c], [c], [{ ...a, text: "other" }, b, c]]
    for (const other of others)
      expect((await send(other, key)).error).toMatchObject({
        statusCode: 409,
        name: "invalid_idempotent_request"
      })
    expect((await send(mails, key)).data).toEqual(first.data)
    for (const { id } of first.data!.data) expect((await stateOf(id))!.state).toBe("queued")
  }
  // What a permissive batch left out holds no place: the valid mail is not queued anew under another key.
  const wrong = { ...mail, to: "no address" }
  const some = await send([wrong, a], "some")
  expect((await send([a], "some")).data!.data).toEqual(some.data!.data)
  expect((await send([b, a], "some")).error?.name).toBe("invalid_idempotent_request")
})

it("answers a batch under a used key with its first ids if it is the same, and else with a conflict", async () => {
  const resend = sdk()
  const subjects = fc.array(fc.constantFrom("a", "b", "wrong"), { minLength: 1, maxLength: 4 })
  let used = 0
  await fc.assert(
    fc.asyncProperty(subjects, subjects, async (one, two) => {
      const options = { idempotencyKey: `drawn-${(used += 1)}`, batchValidation: "permissive" } as const
      const send = (batch: ReadonlyArray<string>) => {
        const mails = batch.map((subject) => ({
          ...mail,
          subject,
          ...(subject === "wrong" ? { to: "nobody" } : {})
        }))
        return resend.batch.send(mails, options)
      }
      const valid = (batch: ReadonlyArray<string>) => batch.filter((subject) => subject !== "wrong")
      const first = await send(one)
      expect(first.data!.data).toHaveLength(valid(one).length)
      const second = await send(two)
      const isSame = valid(one).join() === valid(two).join()
      const isFree = valid(one).length === 0 || valid(two).length === 0
      expect([second.error?.name, second.data?.data.length]).toEqual(
        isSame || isFree ? [undefined, valid(two).length] : ["invalid_idempotent_request", undefined]
      )
      expect(second.data?.data.every(({ id }, at) => id === first.data!.data[at]?.id) ?? false).toBe(
        isSame || valid(two).length === 0
      )
    }),
    { numRuns: 60 }
  )
})

it("keeps to an idempotency key, and answers as Resend does where it cannot (FRONT-8)", async () => {
  const resend = sdk()
  const first = await resend.emails.send(mail, { idempotencyKey: "k" })
  expect((await resend.emails.send(mail, { idempotencyKey: "k" })).data).toEqual(first.data)
  const other = await resend.emails.send({ ...mail, subject: "other" }, { idempotencyKey: "k" })
  expect(other.error).toMatchObject({ statusCode: 409, name: "invalid_idempotent_request" })
  const long = await resend.emails.send(mail, { idempotencyKey: "k".repeat(257) })
  expect(long.error).toMatchObject({ statusCode: 400, name: "invalid_idempotency_key" })
  expect((await resend.emails.send(mail, { idempotencyKey: "k".repeat(256) })).error).toBeNull()
  expect((await resend.batch.send([mail], { idempotencyKey: "b".repeat(256) })).error).toBeNull()
})

it("takes what the SDKs of Go, Python and Ruby write", async () => {
  // Go: numbers, a line feed at the end, `<` escaped; no base path without its slash, so that it asks with two.
  const go = await wire(
    "POST",
    "//emails",
    `{"from":"Shop \\u003cshop@x.test\\u003e","to":["ann@y.test"],"subject":"s","bcc":null,"cc":null,"reply_to":null,"html":null,"text":"t","tags":null,"attachments":[{"content":[104,105],"filename":"a.txt","path":null}],"headers":null,"scheduled_at":null}\n`
  )
  expect([go.status, go.headers["content-type"]]).toEqual([200, "application/json"])
  expect(requests.at(-1)).toMatchObject({ attachments: [{ filename: "a.txt", content: "aGk=" }] })
  // Python: a body with GET and with cancel.
  const { id } = go.json
  // The id is in the body, too: Python's and Go's name of it, and Ruby's.
  for (const name of ["id", "email_id"])
    expect(
      (
        await wire(
          "PATCH",
          `/emails/${id}`,
          JSON.stringify({ [name]: id, scheduled_at: new Date(Date.now() + 60_000).toISOString() })
        )
      ).json
    ).toEqual({ object: "email", id })
  expect((await wire("GET", `/emails/${id}`, "{}")).json).toMatchObject({ id, last_event: "scheduled" })
  expect((await wire("POST", `/emails/${id}/cancel`, "{}")).json).toEqual({ object: "email", id })
  expect((await wire("POST", `/emails/${id}/cancel`)).json).toEqual({ object: "email", id })
  const bytes = await wire(
    "POST",
    "/emails",
    JSON.stringify({ ...mail, attachments: [{ filename: "a", content: [256] }] })
  )
  expect(bytes.json).toMatchObject({ statusCode: 422, name: "invalid_attachment" })
})

it("says what it lacks, and what is wrong, in Resend's words", async () => {
  const resend = sdk()
  const refused = async (body: unknown) => {
    const { headers, json, status } = await wire(
      "POST",
      "/emails",
      typeof body === "string" ? body : JSON.stringify(body)
    )
    expect(headers["content-type"]).toBe("application/json")
    expect(json.statusCode).toBe(status)
    return [status, json.name, json.message]
  }
  expect(await refused({ ...mail, from: undefined })).toEqual([
    422,
    "missing_required_field",
    "Missing `from` field."
  ])
  expect(await refused({ ...mail, to: [] })).toEqual([422, "missing_required_field", "Missing `to` field."])
  expect(await refused("{")).toEqual([400, "validation_error", "The body must be JSON"])
  for (const [member, word] of [
    [{ template: { id: "t" } }, /^template: .*html/],
    [{ topic_id: "t" }, /^topic/],
    [{ scheduled_at: "in 1 min" }, /scheduledAt.*words such as/],
    [{ attachments: [{ path: "https://x.test/a", filename: "a" }] }, /nothing is fetched/],
    [{ attachments: [null] }, /list of objects/],
    [{ tags: [null] }, /tags/],
    [{ unknown: 1 }, /^unknown /]
  ] as const) {
    const [status, , message] = await refused({ ...mail, ...member })
    expect(status).toBe(422)
    expect(message).toMatch(word)
  }
  for (const body of [null, [], 3, { to: {}, from: 3, subject: [] }])
    expect((await refused(body))[0]).toBe(422)
  expect((await resend.emails.get("no-such-id")).error).toMatchObject({ statusCode: 404, name: "not_found" })
  expect((await resend.emails.list()).error).toMatchObject({ statusCode: 405, name: "method_not_allowed" })
  expect((await resend.domains.list()).error).toMatchObject({ statusCode: 404, name: "not_found" })
  expect((await wire("GET", "/no/such/route")).json).toMatchObject({ statusCode: 404 })
  expect(
    (await wire("PATCH", `/emails/${anyId("0199a000-0000-7000-8000-000000000001")}`, '{"subject":"s"}')).json
  ).toMatchObject({
    statusCode: 422
  })
})

it("holds a caller to its token: 401 without, 403 unknown or not allowed, 429 beyond its rate", async () => {
  expect((await call(server, "/resend/emails", { method: "POST" })).json).toMatchObject({
    statusCode: 401,
    name: "missing_api_key"
  })
  expect((await sdk("re_wrong").emails.send(mail)).error).toMatchObject({
    statusCode: 403,
    name: "invalid_api_key"
  })
  const bound = sdk(texts.get("bound"))
  expect((await bound.emails.send({ ...mail, from: "a@z.test" })).error).toMatchObject({
    statusCode: 403,
    message: expect.stringMatching(/^from: /)
  })
  expect((await bound.emails.send(mail)).error).toBeNull()
  expect(requests.at(-1)).toMatchObject({ category: "notification", source: "resend:bound" })
  const slow = sdk(texts.get("slow"))
  expect((await slow.emails.send(mail)).error).toBeNull()
  const over = await slow.emails.send(mail)
  expect(over.error).toMatchObject({ statusCode: 429, name: "rate_limit_exceeded" })
  expect(Number(over.headers?.["retry-after"])).toBeGreaterThan(0)
})

it("answers 503 while nothing can be queued", async () => {
  isAway = true
  expect((await sdk().emails.send(mail)).error).toMatchObject({ statusCode: 503, name: "application_error" })
  isAway = false
})
