import { readFile } from "node:fs/promises"

import { Effect, Latch } from "effect"
import { TestClock } from "effect/testing"
import { assert, describe, it } from "vitest"

import { makeDeferBroker } from "../../src/adapters/memory/mail/defer-queue.ts"
import { decodeWebhookEvent } from "../../src/adapters/resend/webhook-event.ts"
import { decodeBusEvents } from "../../src/adapters/ses/bus-event.ts"
import { deferredSend } from "../contracts/mail/defer-queue.ts"
import { deliveryWorld } from "../simulation/delivery/run.ts"
import { mailWorld } from "../simulation/mail/run.ts"
import { anyId } from "../support/any-id.ts"
import { fakeResend, type FakeResendOptions } from "../support/vendors/fake-resend.ts"
import { fakeSes, type FakeSesOptions } from "../support/vendors/fake-ses.ts"

/** Hosts whose pages speak for a vendor. */
const VENDORS = ["resend.com", "docs.aws.amazon.com"]

interface Row {
  readonly id: string
  readonly page: string
  readonly twins: ReadonlyArray<string>
}

const ROW = /^\| ([a-z0-9-]+) \| .+ \| <(https:[^>]+)> \| (.+) \|$/
const root = new URL("../../", import.meta.url)

const table: ReadonlyArray<Row> = (await readFile(new URL("test/support/vendors/README.md", root), "utf8"))
  .split("\n")
  .flatMap((line) => {
    const [, id = "", page = "", twins = ""] = ROW.exec(line) ?? []
    return id === "" ? [] : [{ id, page, twins: [...twins.matchAll(/`([^`]+)`/g)].map(([, path]) => path!) }]
  })

const mail = { from: "a@mail.example", to: ["b@x.example"], subject: "s", text: "t" }

/** What the twin answers to requests of one team or account, one after another. */
const resend = async (
  options: FakeResendOptions,
  asked: ReadonlyArray<[path: string, body?: object, key?: string]>
) => {
  const fake = await fakeResend(options).listen()
  const answers: Array<{
    readonly status: number
    readonly retryAfter: string | null
    readonly body: Record<string, unknown>
  }> = []
  for (const [path, body, key] of asked) {
    const response = await fetch(`${fake.url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: "Bearer re_any", ...(key === undefined ? {} : { "idempotency-key": key }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    answers.push({
      status: response.status,
      retryAfter: response.headers.get("retry-after"),
      body: (await response.json()) as Record<string, unknown>
    })
  }
  const copies = fake.accepted.length
  await fake.close()
  return { answers, copies }
}

const SIGNED = `AWS4-HMAC-SHA256 Credential=AKID/20260101/eu/ses/aws4_request, SignedHeaders=host, Signature=${"0".repeat(64)}`

const ses = async (options: FakeSesOptions, asked: ReadonlyArray<[path: string, body?: object]>) => {
  const fake = await fakeSes(options).listen()
  const answers: Array<{
    readonly status: number
    readonly error: string | null
    readonly body: Record<string, unknown>
  }> = []
  for (const [path, body] of asked) {
    const response = await fetch(`${fake.url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: SIGNED, "x-amz-date": "20260101T000000Z" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    answers.push({
      status: response.status,
      error: response.headers.get("x-amzn-errortype"),
      body: (await response.json()) as Record<string, unknown>
    })
  }
  const copies = fake.accepted.length
  await fake.close()
  return { answers, copies }
}

const SEND = "/v2/email/outbound-emails"
const sesMail = (to = ["b@x.example"]) => ({
  FromEmailAddress: "a@mail.example",
  Destination: { ToAddresses: to },
  Content: { Simple: { Subject: { Data: "s" }, Body: { Text: { Data: "t" } } } }
})
const many = (count: number) => Array.from({ length: count }, (_, n) => `p${n}@x.example`)

const eventsOf = async <E>(name: string) =>
  JSON.parse(await readFile(new URL(`test/support/vendors/${name}.json`, root), "utf8")) as ReadonlyArray<E>

/** What the probes read of an event as Resend sends it. */
interface ResendEvent {
  readonly created_at: string
  readonly data: { readonly created_at?: string; readonly email_id?: string }
}

/** What the probes read of an event as the bus hands over SES's. */
interface SesEvent {
  readonly detail: {
    readonly eventType: string
    readonly mail: {
      readonly messageId: string
      readonly timestamp: string
      readonly tags?: Readonly<Record<string, unknown>>
    }
    readonly bounce?: { readonly bouncedRecipients: ReadonlyArray<{ readonly emailAddress: string }> }
  }
}

/** What happened in some runs of a world. */
const seenIn = async (world: typeof mailWorld, seeds: number) => {
  const seen = new Set<string>()
  for (let seed = 1; seed <= seeds; seed++)
    for (const what of (await world.simulate(seed, { limits: world.full })).seen.keys()) seen.add(what)
  return seen
}

const statuses = (answers: ReadonlyArray<{ readonly status: number }>) => answers.map(({ status }) => status)

/** By the row's id: the behaviour, tried on its twin. */
const PROBES: Readonly<Record<string, () => Promise<void>>> = {
  "resend-key-window": async () => {
    let now = 0
    const options = { now: () => now }
    const same = await resend(options, [
      ["/emails", mail, "k"],
      ["/emails", mail, "k"]
    ])
    assert.strictEqual(same.copies, 1)
    assert.deepStrictEqual(same.answers[0]?.body, same.answers[1]?.body)
    const fake = await fakeResend(options).listen()
    const post = () =>
      fetch(`${fake.url}/emails`, {
        method: "POST",
        headers: { authorization: "Bearer re_any", "idempotency-key": "k" },
        body: JSON.stringify(mail)
      })
    await post()
    now = 24 * 60 * 60_000
    await post()
    assert.strictEqual(fake.accepted.length, 2)
    await fake.close()
  },
  "resend-key-payload": async () => {
    const { answers, copies } = await resend({}, [
      ["/emails", mail, "k"],
      ["/emails", { ...mail, subject: "another" }, "k"]
    ])
    assert.deepStrictEqual(
      [copies, answers[1]?.status, answers[1]?.body["name"]],
      [1, 409, "invalid_idempotent_request"]
    )
  },
  "resend-key-team": async () =>
    assert.isTrue((await seenIn(mailWorld, 40)).has("another installation sends the key")),
  "resend-rate": async () => {
    const { answers } = await resend({ perSecond: 2, now: () => 0 }, [
      ["/emails", mail],
      ["/emails?limit=1"],
      ["/emails", mail]
    ])
    assert.deepStrictEqual(statuses(answers), [200, 200, 429])
    assert.deepStrictEqual([answers[2]?.body["name"], answers[2]?.retryAfter], ["rate_limit_exceeded", "1"])
    assert.isTrue((await seenIn(mailWorld, 40)).has("provider's rate refuses"))
  },
  "resend-recipients": async () =>
    assert.deepStrictEqual(
      statuses(
        (
          await resend({}, [
            ["/emails", { ...mail, to: many(50) }],
            ["/emails", { ...mail, to: many(51) }]
          ])
        ).answers
      ),
      [200, 422]
    ),
  "resend-tags": async () => {
    const tagged = (value: string): [string, object] => ["/emails", { ...mail, tags: [{ name: "n", value }] }]
    assert.deepStrictEqual(
      statuses((await resend({}, [tagged("a_b-1"), tagged("ä"), tagged("x".repeat(257))])).answers),
      [200, 422, 422]
    )
  },
  "resend-domain": async () =>
    assert.deepStrictEqual(
      statuses((await resend({ verifiedDomains: ["other.example"] }, [["/emails", mail]])).answers),
      [403]
    ),
  "resend-pages": async () => {
    const listed = ["c", "b", "a"].map((id) => ({ id }))
    const { answers } = await resend({ listed: () => listed }, [
      ["/emails?limit=2"],
      ["/emails?limit=2&after=b"],
      ["/emails?limit=101"]
    ])
    assert.deepStrictEqual(
      answers
        .slice(0, 2)
        .map(({ body }) => [body["has_more"], (body["data"] as typeof listed).map(({ id }) => id)]),
      [
        [true, ["c", "b"]],
        [false, ["a"]]
      ]
    )
    assert.strictEqual(answers[2]?.status, 422)
  },
  "resend-send-only": async () => {
    const { answers } = await resend({ sendOnly: true }, [["/domains"]])
    assert.deepStrictEqual([answers[0]?.status, answers[0]?.body["name"]], [401, "restricted_api_key"])
  },
  "resend-webhook-fields": async () => {
    for (const event of await eventsOf<ResendEvent>("resend-events")) {
      assert.isString(event.data.created_at)
      assert.notStrictEqual(event.data.created_at, event.created_at)
      if (decodeWebhookEvent(event)._tag === "Event") assert.isString(event.data.email_id)
    }
  },
  "resend-webhook-team": async () =>
    assert.isTrue((await seenIn(deliveryWorld, 10)).has("mail sent by hand")),
  "resend-webhook-again": async () =>
    assert.isTrue((await seenIn(deliveryWorld, 10)).has("notification lost on the way")),
  "ses-no-key": async () =>
    assert.strictEqual(
      (
        await ses({}, [
          [SEND, sesMail()],
          [SEND, sesMail()]
        ])
      ).copies,
      2
    ),
  "ses-rate": async () => {
    const { answers } = await ses({ perSecond: 1, now: () => 0 }, [
      [SEND, sesMail()],
      [SEND, sesMail()]
    ])
    assert.deepStrictEqual([statuses(answers), answers[1]?.error], [[200, 429], "TooManyRequestsException"])
  },
  "ses-recipients": async () =>
    assert.deepStrictEqual(
      statuses(
        (
          await ses({}, [
            [SEND, sesMail(many(50))],
            [SEND, sesMail(many(51))]
          ])
        ).answers
      ),
      [200, 400]
    ),
  "ses-domain": async () =>
    assert.strictEqual(
      (await ses({ verifiedDomains: [] }, [[SEND, sesMail()]])).answers[0]?.error,
      "MessageRejected"
    ),
  "ses-pages": async () => {
    const suppressed = many(3).map((EmailAddress) => ({ EmailAddress, Reason: "BOUNCE" }))
    const list = "/v2/email/suppression/addresses"
    const { answers } = await ses({ account: () => ({ suppressed }) }, [
      [`${list}?PageSize=2`],
      [`${list}?PageSize=2&NextToken=2`]
    ])
    assert.deepStrictEqual(
      answers.map(({ body }) => [
        (body["SuppressedDestinationSummaries"] as ReadonlyArray<unknown>).length,
        body["NextToken"]
      ]),
      [
        [2, "2"],
        [1, undefined]
      ]
    )
  },
  "ses-event-fields": async () => {
    for (const { detail } of await eventsOf<SesEvent>("ses-events")) {
      assert.isString(detail.eventType)
      assert.isString(detail.mail.messageId)
      assert.isNotNaN(Date.parse(detail.mail.timestamp))
      assert.isTrue(Object.values(detail.mail.tags ?? {}).every((value) => Array.isArray(value)))
    }
  },
  "ses-bus-account": async () =>
    assert.isTrue((await seenIn(mailWorld, 40)).has("another installation sends the key")),
  "ses-bounce-recipients": async () => {
    const bounces = (await eventsOf<SesEvent>("ses-events")).filter(
      ({ detail }) => detail.eventType === "Bounce"
    )
    assert.isNotEmpty(bounces)
    for (const envelope of bounces) {
      const [event] = decodeBusEvents(envelope, { outreachSet: undefined })
      const bounced = envelope.detail.bounce?.bouncedRecipients.map(({ emailAddress }) =>
        emailAddress.toLowerCase()
      )
      assert.isNotEmpty(bounced)
      if (event?._tag === "Event" && event.event.event === "bounced")
        assert.deepStrictEqual(event.event.suppress, bounced)
    }
  },
  "sqs-at-least-once": () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const broker = makeDeferBroker({ visibilitySeconds: 60 })
        const [dying, living] = [broker.attach(), broker.attach()]
        const message = deferredSend(anyId())
        yield* dying.queue.enqueue(message, 0)
        assert.strictEqual(yield* broker.duplicate(message.rowId), 1)
        const held = yield* Latch.make()
        let holds = 0
        const hold = Effect.suspend(() =>
          (holds += 1) === 2 ? Effect.andThen(held.open, Effect.never) : Effect.never
        )
        yield* Effect.forkChild(dying.queue.consume(() => hold, { concurrency: 2 }))
        yield* held.await
        yield* dying.kill
        const received: Array<string> = []
        yield* Effect.forkChild(
          living.queue.consume(({ rowId }) => Effect.sync(() => void received.push(rowId)), {
            concurrency: 2
          })
        )
        yield* TestClock.adjust("59 seconds")
        assert.deepStrictEqual(received, [])
        yield* TestClock.adjust("61 seconds")
        assert.deepStrictEqual(received, [message.rowId, message.rowId])
      }).pipe(Effect.provide(TestClock.layer()))
    )
}

describe("the table of vendors and their twins (test/support/vendors/README.md)", () => {
  it("has a probe for each row, and a row for each probe", () => {
    assert.deepStrictEqual(table.map(({ id }) => id).sort(), Object.keys(PROBES).sort())
  })

  it.each(table)("$id: the page is the vendor's, and the twins are there", async ({ page, twins }) => {
    const { hostname } = new URL(page)
    assert.include(VENDORS, hostname)
    assert.isNotEmpty(twins)
    for (const twin of twins) {
      const path = twin.includes("/") ? twin : `test/support/vendors/${twin}`
      assert.isNotEmpty(await readFile(new URL(path, root), "utf8"), path)
    }
  })

  it.each(table)("$id: its twin does so", async ({ id }) => {
    const probe = PROBES[id]
    assert.isDefined(probe)
    await probe?.()
  })
})
