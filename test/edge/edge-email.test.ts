import { Effect, ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, beforeEach, describe, expect, it } from "vitest"

import { WriteSql } from "../../src/adapters/postgres/client.ts"
import { KeyTag } from "../../src/domain/ids.ts"
import { PIPELINE_HEADERS, PIPELINE_PATHS } from "../../src/domain/inbound/pipeline-wire.ts"
import { returnMessageId, returnPath } from "../../src/domain/mail/return-address.ts"
import { type OpenPipeline, openPipeline } from "../../src/runtime/entries/pipeline.ts"
import { deliveryReport } from "../support/files/delivery-reports.ts"
import { numbered } from "../support/files/pdf-samples.ts"
import { emptying } from "../support/postgres/empty.ts"
import { layerPostgres, TestDatabase } from "../support/postgres/postgres.ts"
import { bundleForEdge, type EdgeBundle } from "../support/processes/edge-bundle.ts"
import {
  type EdgeWorker,
  type EdgeWorkerOptions,
  emptyBucket,
  type RunningWorker,
  startEdgeWorker,
  withEdgeWorker
} from "../support/processes/edge-worker.ts"
import { startTcpProxy } from "../support/processes/tcp-proxy.ts"
import { until } from "../support/until.ts"
import { fakeGmail } from "../support/vendors/fake-gmail.ts"
import { fakeResend, type ResendPayload } from "../support/vendors/fake-resend.ts"
import { INBOUND, type Outcome, rawMail, tick, trigger, verdict } from "../support/worlds/edge-mail.ts"

const SECRET = "proxy-secret-4711"
const FROM = "ann@reader.test"
const BUCKET = "CONVERT_EMAIL_BUCKET"

const postgres = ManagedRuntime.make(layerPostgres)
const query = <A extends object>(text: string, ...values: ReadonlyArray<string>) =>
  postgres.runPromise(WriteSql.use((sql) => sql.unsafe<A>(text, values)))

const resend = fakeResend()
const gmail = fakeGmail()
let bundle: EdgeBundle
let pipeline: OpenPipeline
let bindings: Readonly<Record<string, string>>
let served: (request: Request) => Promise<Response>

beforeAll(async () => {
  await Promise.all([resend.listen(), gmail.fake.listen()])
  bundle = await bundleForEdge(new URL("email-worker.ts", import.meta.url))
  pipeline = await openPipeline({ threads: 1 })
  const { url } = await postgres.runPromise(TestDatabase)
  bindings = {
    DB_URL: url,
    DB_SECRET_KEY: "database-password",
    SENDER_DOMAIN: "sender.test",
    LEGACY_DOMAIN: "legacy.test",
    INBOUND_DOMAIN: "in.test",
    BASE_URL: "https://p.test",
    PROVIDERA_API_KEY: "re_key",
    PROVIDERA_BASE_URL: resend.url,
    PROXY_SHARED_SECRET: SECRET
  }
})
afterAll(() => Promise.all([resend.close(), gmail.fake.close(), pipeline.close(), postgres.dispose()]))
beforeEach(async () => {
  served = pipeline.fetch
  resend.accepted.length = 0
  gmail.fake.accepted.length = 0
  await query(
    emptying("intake_mails, intake_replies, intake_strangers, conversion_jobs, credit_charges, customers")
  )
})

let shared: Promise<RunningWorker> | undefined
afterAll(async () => (await shared)?.dispose())

const options = (changes: Changes = {}): EdgeWorkerOptions => ({
  script: bundle.script,
  bindings: { ...bindings, ...changes.bindings },
  ...(changes.bare === true
    ? {}
    : { buckets: [BUCKET], services: { PIPELINE: (request: Request) => served(request) } })
})

interface Changes {
  readonly bindings?: Readonly<Record<string, string>>
  /** Without the bucket and the pipeline. */
  readonly bare?: true
}

/** With changes, none if need be, a worker of its own; else the one that all others share. */
const inWorker = async (use: (worker: EdgeWorker) => Promise<void>, changes?: Changes) => {
  if (changes !== undefined) return withEdgeWorker(options(changes), use)
  shared ??= startEdgeWorker(options())
  const worker = await shared
  await emptyBucket(await worker.bucket(BUCKET))
  return use(worker)
}

/** An answer's headers for another body. */
const withoutLength = (headers: Headers): Headers => {
  const kept = new Headers(headers)
  kept.delete("content-length")
  return kept
}

const customer = (credits = 20, email = FROM) =>
  query(
    "insert into customers (email, plan_type, credits_remaining) values ($1, 'paid', $2::integer)",
    email,
    String(credits)
  )

const pdf = (pages: number, filename = "Report.pdf") => ({ filename, content: numbered(pages) })

const report = (messageId = "<one@reader.test>") =>
  rawMail({ from: FROM, subject: "Convert this", messageId, attachments: [pdf(2)] })

/** The schedule comes this often where a mail has not ended; on the platform every minute. */
const SCHEDULE_MS = 3_000

/**
 * All mails have ended, and their replies have gone: how they ended, oldest first. What an invocation did not get done, on a
 * machine that has no time, it leaves to the schedule.
 */
const settled = (worker: EdgeWorker, mails: number) => {
  let next = Date.now() + SCHEDULE_MS
  return until("all mails have ended", async () => {
    const rows = await query<{ readonly outcome: string }>(
      `select outcome from intake_mails m where outcome is not null and not exists (
        select from intake_replies r where r.mail_id = m.id and r.status = 'queued') order by received_at`
    )
    if (rows.length >= mails) return rows.map(({ outcome }) => outcome)
    if (Date.now() > next) {
      await tick(worker)
      next = Date.now() + SCHEDULE_MS
    }
    return undefined
  })
}

const replies = (): ReadonlyArray<ResendPayload> =>
  resend.accepted.map(({ payload }) => payload as ResendPayload)

/** The mail that went to somebody last, in one line. */
const lastText = (to = FROM): string =>
  replies()
    .findLast((reply) => reply.to?.includes(to) === true)
    ?.text?.replaceAll(/\s+/g, " ") ?? ""

/** Hands over a mail of any size, or with any size said of it. */
const deliver = async (
  worker: EdgeWorker,
  mail: Uint8Array,
  said: Readonly<Record<string, string>> = {}
): Promise<Outcome> => {
  const parameters = new URLSearchParams({ from: FROM, to: INBOUND, ...said })
  const { text } = await worker.request(`/deliver?${parameters}`, { method: "POST", body: mail })
  return JSON.parse(text) as Outcome
}

const stored = async (worker: EdgeWorker): Promise<ReadonlyArray<string>> => {
  const { objects } = await (await worker.bucket(BUCKET)).list({})
  return objects.map(({ key }) => key)
}

/** Every wait is over, and every lease is that of an invocation that is gone. */
const timePasses = () =>
  query(`with m as (
      update intake_mails set not_before = now(), heartbeat_at = now() - interval '1 hour' where step <> 'ended'
    ) update intake_replies set not_before = now() where status = 'queued'`)

/** One charge, one row, one result, whatever happened. */
const isConvertedOnce = async () => {
  const rows = await query(
    `select status, total_pages, credits_charged, (select credits_remaining from customers) as credits,
      (select count(*)::integer from credit_charges) as charges from conversion_jobs`
  )
  assert.deepStrictEqual(rows, [
    { status: "success", total_pages: 2, credits_charged: 2, credits: 18, charges: 1 }
  ])
  assert.lengthOf(
    replies().filter(({ attachments = [] }) => attachments.length > 0),
    1
  )
}

const TEST = { to: "you@x.test", subject: "A test", body: "It works" }

const post = (worker: EdgeWorker, path: string, body: string, secret = SECRET, type = "application/json") =>
  worker.request(path, {
    method: "POST",
    headers: { "content-type": type, "x-proxy-secret": secret },
    body
  })

describe("the bundle of the worker", () => {
  it("holds nothing that only Node has", () => {
    const foreign =
      /imds|credential-provider|nodemailer|node-http-handler|platform-node|embedded|\/smtp\/|library\.ts|\/pdf\/|pdfium|\/disk\//
    assert.deepStrictEqual(
      bundle.inputs.filter((path) => foreign.test(path)),
      []
    )
    assert.isBelow(bundle.packedBytes, 1_500_000)
  })
})

describe("a mail in workerd", () => {
  it("is answered with an acknowledgement and its HTML, for a credit a page; delivered again, with nothing (I1)", () =>
    inWorker(async (worker) => {
      await customer()
      const mail = await report()
      expect(await trigger(worker, mail, { from: FROM })).toMatchObject({ outcome: "ok" })
      assert.deepStrictEqual(await settled(worker, 1), ["success"])
      const [ack, result] = replies()
      expect(ack).toMatchObject({ to: [FROM], subject: "Re: Convert this" })
      expect(result?.headers).toMatchObject({
        "Auto-Submitted": "auto-replied",
        "In-Reply-To": "<one@reader.test>"
      })
      expect(result?.reply_to).toEqual(["convert@legacy.test"])
      const html = Buffer.from(result?.attachments?.[0]?.content ?? "", "base64").toString()
      assert.strictEqual(result?.attachments?.[0]?.filename, "Report.html")
      for (const page of [1, 2]) assert.include(html, `Page number ${page}`)
      for (let round = 2; round <= 3; round += 1) {
        expect(await trigger(worker, mail, { from: FROM })).toMatchObject({ outcome: "ok" })
        await settled(worker, round)
      }
      assert.deepStrictEqual(await settled(worker, 3), ["success", "duplicate", "duplicate"])
      await isConvertedOnce()
      // The scheduled run removes what is finished (INBOUND-8).
      await tick(worker)
      assert.deepStrictEqual(await stored(worker), [])
    }))

  it("gets each of the error replies, and is charged nothing (INBOUND-9)", () =>
    inWorker(async (worker) => {
      await customer(1)
      const large = Buffer.concat([numbered(1), Buffer.alloc(25 * 1024 * 1024)])
      const cases: ReadonlyArray<
        readonly [string, ReadonlyArray<{ filename: string; content: Buffer | string }>, RegExp]
      > = [
        ["no_attachment", [], /no attachment/],
        ["unsupported", [{ filename: "a.docx", content: Buffer.from("PK\u0003\u0004x") }], /only PDF files/],
        ["too_large", [{ filename: "a.pdf", content: large }], /larger than 25 MB/],
        ["insufficient", [pdf(3)], /Not enough credits/],
        ["error", [{ filename: "a.pdf", content: "%PDF-1.7 and no more" }], /could not be converted/]
      ]
      for (const [at, [outcome, attachments, words]] of cases.entries()) {
        const mail = await rawMail({ from: FROM, attachments: [...attachments] })
        expect(await deliver(worker, mail)).toMatchObject({ outcome: "ok" })
        assert.strictEqual((await settled(worker, at + 1)).at(-1), outcome)
        assert.match(lastText(), words)
      }
      const stranger = await rawMail({ from: "who@stranger.test" }, verdict("pass", "stranger.test"))
      await deliver(worker, stranger, { from: "who@stranger.test" })
      assert.strictEqual((await settled(worker, cases.length + 1)).at(-1), "unregistered")
      assert.match(lastText("who@stranger.test"), /does not belong to an account|not registered/)
      const rows = await query(
        `select status, credits_charged, error_message is not null as reported,
          (select credits_remaining from customers) as credits from conversion_jobs`
      )
      assert.deepStrictEqual(rows, [{ status: "error", credits_charged: 0, reported: true, credits: 1 }])
    }))

  it("gets no reply and no conversion where the routing service does not vouch for its sender (I3)", () =>
    inWorker(async (worker) => {
      await customer()
      const forged = verdict("pass")
      const above = [
        "",
        verdict("fail"),
        // Its domain has no DMARC record, and nothing of its own passed either.
        verdict("none").replaceAll("pass", "fail"),
        verdict("none").replaceAll(/(header\.d|smtp\.mailfrom)=reader/g, "$1=other"),
        verdict("fail") + forged,
        forged.replaceAll("mx.cloudflare.net", "mx.reader.test"),
        forged.replaceAll("mx.cloudflare.net", "mx.cloudflare.net.reader.test"),
        "Authentication-Results: mx.cloudflare.net; spf=pass\r\n",
        verdict("pass", "other.test")
      ]
      for (const [at, headers] of above.entries()) {
        const mail = await rawMail({ from: FROM, attachments: [pdf(1)] }, headers)
        expect(await trigger(worker, mail, { from: FROM })).toMatchObject({ outcome: "ok" })
        assert.strictEqual((await settled(worker, at + 1)).at(-1), "unverified")
      }
      assert.deepStrictEqual(replies(), [])
      assert.deepStrictEqual(await query("select 1 from conversion_jobs"), [])
    }))

  it("is refused for ever where it is for somebody else, or too large, and leaves nothing", () =>
    inWorker(async (worker) => {
      const mail = await report()
      for (const to of ["info@in.test", "convert@other.test", "xconvert@in.test", ""]) {
        const { outcome, rejectReason } = await deliver(worker, mail, { to })
        assert.deepStrictEqual([outcome, rejectReason], ["ok", "No such mailbox here"])
      }
      expect((await trigger(worker, mail, { from: FROM, to: "info@in.test" })).rejectReason).toMatch(
        /mailbox/
      )
      const said = await deliver(worker, mail, { size: String(40 * 1024 * 1024 + 1) })
      assert.match(said.rejectReason ?? "", /larger than/)
      assert.deepStrictEqual(await query("select 1 from intake_mails"), [])
      assert.deepStrictEqual(await stored(worker), [])
      // The address is taken in any case of letters.
      expect(await deliver(worker, mail, { to: "Convert@LEGACY.test" })).toMatchObject({ outcome: "ok" })
      await settled(worker, 1)
    }))
})

describe("a delivery report on the edge", () => {
  const address = { local: "bounce", domain: "in.test" }

  it("becomes an event of its mail, and no document; one that proves nothing changes nothing (RETURN-3)", () =>
    inWorker(
      async (worker) => {
        const tag = KeyTag.make("ab".repeat(32))
        await query(
          `insert into email_log (category, source, to_addresses, recipient_count, outcome, status, provider, provider_message_id,
            key_hash, key_tag) values ('transactional', 'api:test', '{gone@x.test}', 1, 'sent', 'sent', 'smtp', $1, $2, $2)`,
          returnMessageId(address, tag),
          tag
        )
        const body = deliveryReport({ recipients: [{ recipient: "gone@x.test" }] })
        const mail = Buffer.from(`Message-ID: <r@relay.test>\r\n${body}`)
        const status = () => query("select status from email_log where key_tag = $1", tag)
        const forged = returnPath(address, KeyTag.make(`${tag.slice(0, 32)}${"0".repeat(32)}`))
        for (const to of ["bounce@in.test", forged])
          expect(await trigger(worker, mail, { from: "mailer-daemon@relay.test", to })).toMatchObject({
            outcome: "ok"
          })
        assert.deepStrictEqual(await status(), [{ status: "sent" }])
        expect(
          await trigger(worker, mail, { from: "mailer-daemon@relay.test", to: returnPath(address, tag) })
        ).toMatchObject({
          outcome: "ok"
        })
        assert.deepStrictEqual(await status(), [{ status: "bounced" }])
        assert.deepStrictEqual(await query("select 1 from intake_mails"), [])
      },
      { bindings: { BOUNCE_ADDRESS: "bounce@in.test" } }
    ))
})

describe("what goes wrong on the edge", () => {
  it("a database that is away: email() throws, and the mail that comes again is converted once", () =>
    Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const url = new URL(bindings["DB_URL"] ?? "")
          const proxy = yield* startTcpProxy(Number(url.port))
          url.port = String(proxy.port)
          yield* Effect.promise(() =>
            inWorker(
              async (worker) => {
                await customer()
                const mail = await report()
                await Effect.runPromise(proxy.setRefusing(true))
                const { outcome } = await trigger(worker, mail, { from: FROM })
                assert.strictEqual(outcome, "exception")
                // The row may be there where only its answer is lost: the sweep removes the raw mail if it is not (I4).
                assert.lengthOf(await stored(worker), 1)
                assert.notInclude(worker.lines.join("\n"), "database-password")
                assert.match(worker.lines.join("\n"), /could not be stored/)
                assert.include(await tick(worker), "exception")
                await Effect.runPromise(proxy.setRefusing(false))
                for (let round = 1; round <= 2; round += 1) {
                  await trigger(worker, mail, { from: FROM })
                  await settled(worker, round)
                }
                await isConvertedOnce()
              },
              { bindings: { DB_URL: url.href } }
            )
          )
        })
      )
    ))

  it("an invocation that dies when the mail is durable: the schedule finishes it, once", () =>
    inWorker(async (worker) => {
      await customer()
      const mail = await rawMail({
        from: FROM,
        subject: "The invocation dies",
        messageId: "<dies@reader.test>",
        attachments: [pdf(2)]
      })
      // Whatever it still does before the platform ends it, it does not get past the pipeline.
      let gone = false
      served = (request) => (gone ? pipeline.fetch(request) : new Promise(() => undefined))
      expect(await trigger(worker, mail, { from: FROM })).toMatchObject({ outcome: "ok" })
      gone = true
      expect(await query("select outcome from intake_mails")).toEqual([{ outcome: null }])
      await until("the mail is converted", async () => {
        await timePasses()
        await tick(worker)
        const ended = await query("select 1 from intake_mails where outcome = 'success'")
        return ended.length > 0
      })
      await tick(worker)
      assert.deepStrictEqual(await settled(worker, 1), ["success"])
      await isConvertedOnce()
    }, {}))

  it("a pipeline that is away, or breaks off: nothing is charged until it answers", () =>
    inWorker(async (worker) => {
      await customer()
      let asked = 0
      served = async (request) => {
        asked += 1
        if (asked === 1) return new Response("busy", { status: 503 })
        const answer = await pipeline.fetch(request)
        if (asked !== 3) return answer
        const html = await answer.text()
        return new Response(html.slice(0, -10), { headers: withoutLength(answer.headers) })
      }
      await trigger(worker, await report(), { from: FROM })
      for (const steps of [1, 3]) {
        await until(
          `the pipeline was asked ${steps} times`,
          async () =>
            asked >= steps && (await query("select 1 from intake_mails where lease is null")).length > 0
        )
        assert.deepStrictEqual(await query("select 1 from credit_charges"), [])
        await timePasses()
        await tick(worker)
      }
      assert.deepStrictEqual(await settled(worker, 1), ["success"])
      await isConvertedOnce()
    }))

  it("a result that a worker's memory does not hold as a mail goes as a link", () =>
    inWorker(async (worker) => {
      await customer()
      const html = `<!doctype html><p>${"x".repeat(7 * 1024 * 1024)}`
      served = async (request) =>
        new URL(request.url).pathname === PIPELINE_PATHS.convert
          ? new Response(html, {
              headers: {
                [PIPELINE_HEADERS.standardPages]: "2",
                [PIPELINE_HEADERS.complexPages]: "0",
                [PIPELINE_HEADERS.bytes]: String(html.length)
              }
            })
          : pipeline.fetch(request)
      await trigger(worker, await report(), { from: FROM })
      assert.deepStrictEqual(await settled(worker, 1), ["success"])
      assert.deepStrictEqual(
        replies().flatMap(({ attachments = [] }) => attachments),
        []
      )
      const link = /https:\/\/p\.test(\/convert-email\/results\/[\w.-]+)/.exec(lastText())?.[1] ?? ""
      const answer = await worker.request(link, { method: "GET" })
      assert.deepStrictEqual([answer.status, answer.text.length], [200, html.length])
    }))

  it("bindings that are not set are named, and the mail stays with its sender", () =>
    inWorker(
      async (worker) => {
        const { outcome } = await trigger(worker, await report(), { from: FROM })
        assert.strictEqual(outcome, "exception")
        const named = /DB_URL .*CONVERT_EMAIL_BUCKET .*PIPELINE .*MAILAPI_SERVICE_ACCOUNT_KEY/
        assert.match(worker.lines.join("\n"), named)
        const health = await worker.request("/health", { method: "GET" })
        assert.strictEqual(health.status, 503)
        assert.match(health.text, named)
        // An unset secret refuses everybody.
        for (const secret of [SECRET, ""]) {
          assert.strictEqual((await post(worker, "/test-send", JSON.stringify(TEST), secret)).status, 403)
        }
      },
      {
        bindings: { DB_URL: "", [BUCKET]: "a-name", PROVIDERA_API_KEY: "", PROXY_SHARED_SECRET: "" },
        bare: true
      }
    ))
})

describe("the worker's routes", () => {
  it("report that it is alive, and send a test message for a caller with the secret", () =>
    inWorker(async (worker) => {
      for (const prefix of ["", "/convert-email"]) {
        const health = await worker.request(`${prefix}/health`, { method: "GET" })
        assert.deepStrictEqual(
          [health.status, JSON.parse(health.text)],
          [200, { status: "ok", channel: "library" }]
        )
        const path = `${prefix}/test-send`
        assert.strictEqual((await post(worker, path, JSON.stringify(TEST), "wrong")).status, 403)
        const wrong: ReadonlyArray<readonly [string, number]> = [
          [JSON.stringify({ ...TEST, to: "no address" }), 400],
          [JSON.stringify({ ...TEST, subject: "a\r\nBcc: b@x.test" }), 400],
          [JSON.stringify({ to: "you@x.test" }), 400],
          ["{", 400]
        ]
        for (const [body, status] of wrong) {
          const answer = await post(worker, path, body)
          assert.strictEqual(answer.status, status)
          assert.match(answer.text, /"type":"urn:postlane:problem:/)
        }
        // It is refused by its length: the answer comes before the body has gone out, which may cut the connection.
        const large = await post(worker, path, "x".repeat(600_000)).catch(() => ({ status: 413 }))
        assert.strictEqual(large.status, 413)
        assert.strictEqual((await post(worker, path, "a=b", SECRET, "text/plain")).status, 415)
        assert.strictEqual((await worker.request(path, { method: "GET" })).status, 405)
        assert.deepStrictEqual(replies(), [])
        const sent = await post(worker, path, JSON.stringify(TEST))
        assert.deepStrictEqual([sent.status, JSON.parse(sent.text)], [200, { ok: true, channel: "library" }])
        expect(replies()).toMatchObject([{ to: ["you@x.test"], subject: "A test", text: "It works" }])
        resend.accepted.length = 0
      }
      assert.strictEqual(
        (await worker.request("/internal/convert-email/convert", { method: "GET" })).status,
        404
      )
    }))

  it("serve a result that was too large to attach, by its link", () =>
    inWorker(async (worker) => {
      await customer()
      await resend.script(["ok", "422"])
      await trigger(worker, await report(), { from: FROM })
      assert.deepStrictEqual(await settled(worker, 1), ["success"])
      const link =
        /https:\/\/p\.test(\/convert-email\/results\/[\w.-]+)/.exec(replies().at(-1)?.text ?? "")?.[1] ?? ""
      const answer = await worker.request(link, { method: "GET" })
      assert.strictEqual(answer.status, 200)
      assert.include(answer.text, "Page number 2")
      for (const token of ["x", `${link.split("/").at(-1)}x`]) {
        const none = await worker.request(`/convert-email/results/${token}`, { method: "GET" })
        assert.strictEqual(none.status, 404)
      }
    }))
})

describe("replies through the workspace mail API", () => {
  it("are signed for with Web Crypto and sent as the convert mailbox", () =>
    inWorker(
      async (worker) => {
        await customer()
        await trigger(worker, await report(), { from: FROM })
        assert.deepStrictEqual(await settled(worker, 1), ["success"])
        const [ack, result] = gmail.sent().map(({ raw }) => raw)
        assert.strictEqual(gmail.state.mailbox, "convert@legacy.test")
        assert.match(ack ?? "", /^From: "Postlane" <convert@legacy\.test>/m)
        assert.match(result ?? "", /^Content-Disposition: attachment;\s+filename="Report\.html"/m)
        assert.match(result ?? "", /^In-Reply-To: <one@reader\.test>/m)
        assert.deepStrictEqual(replies(), [])
        const { text } = await worker.request("/health", { method: "GET" })
        assert.include(text, "workspace")
        assert.notInclude(worker.lines.join("\n"), "PRIVATE KEY")
      },
      {
        bindings: {
          MAILAPI_SERVICE_ACCOUNT_KEY: gmail.key,
          MAILAPI_BASE_URL: gmail.fake.url,
          AUTH_URL: `${gmail.fake.url}/token`
        }
      }
    ))
})
