import { randomUUID } from "node:crypto"

import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import * as fc from "fast-check"
import { Webhook } from "standardwebhooks"

import * as Clients from "../../src/adapters/postgres/client.ts"
import * as DeliveryLog from "../../src/adapters/postgres/delivery/delivery-log.ts"
import * as PollLog from "../../src/adapters/postgres/delivery/poll-log.ts"
import * as PostgresMailStore from "../../src/adapters/postgres/mail/mail-store.ts"
import * as SentMailList from "../../src/adapters/resend/list-mails.ts"
import { Alerts } from "../../src/application/delivery/alerts.ts"
import * as EventRecording from "../../src/application/delivery/event-recording.ts"
import * as Poll from "../../src/application/delivery/poll.ts"
import type { FailedSend } from "../../src/domain/delivery/delivery-event.ts"
import { isTerminal, statusOfEvent, statusRank } from "../../src/domain/mail/status.ts"
import { MailStore } from "../../src/ports/mail/mail-store.ts"
import * as Intake from "../../src/runtime/compose/delivery/delivery-intake.ts"
import { decodeSettings } from "../../src/runtime/settings/settings.ts"
import { type Answer, call, PROXY_SECRET, startServer, type TestServer } from "../adapters/http/harness.ts"
import { anyId } from "../support/any-id.ts"
import { layerDatabase, TestDatabase } from "../support/postgres/postgres.ts"
import { until } from "../support/until.ts"
import { fakeResend, type ListedItem } from "../support/vendors/fake-resend.ts"
import {
  busEnvelope,
  eventName,
  type Happening,
  HAPPENINGS,
  listItem,
  occurredAt,
  type Story,
  webhookBody
} from "./vendor-events.ts"

/** How long stories are made up, milliseconds, and how many at most. */
const BUDGET_MS = 12_000
const RUNS = 60

const SIGNING = `whsec_${Buffer.from("a secret that has 24 byt").toString("base64")}`
const BUS = "bus-secret-4711"

const settings = decodeSettings({ PROVIDERA_WEBHOOK_SECRET: SIGNING }, { embedded: true })
if (settings._tag === "Failure") throw new Error("settings")
const intake = Intake.layer(settings.success)

/** One way in which a mail's events come. `arrivals` counts how often each arrives; 0: it is lost. */
interface Plan {
  readonly provider: "provider_a" | "provider_b"
  readonly happened: ReadonlyArray<Happening>
  readonly arrivals: ReadonlyArray<number>
  readonly polled: boolean
  /** Whether the library writes its row, too. */
  readonly logged: boolean
}

const plan: fc.Arbitrary<Plan> = fc
  .record({
    provider: fc.constantFrom("provider_a" as const, "provider_b" as const),
    happened: fc.shuffledSubarray([...HAPPENINGS], { minLength: 1 }),
    polled: fc.boolean(),
    logged: fc.boolean()
  })
  .chain((one) =>
    fc
      .array(fc.constantFrom(0, 1, 1, 2, 3), {
        minLength: one.happened.length,
        maxLength: one.happened.length
      })
      .map((arrivals) => ({ ...one, arrivals }))
  )

/** A request on its way, in an order that the run chooses. */
type Delivery = () => Promise<Answer | void>

interface Row {
  readonly provider_message_id: string
  readonly id: string
  readonly status: string
  readonly last_event: string | null
  readonly alerted: boolean
  readonly confirmed: boolean
}

const world = Effect.gen(function* () {
  const { url } = yield* TestDatabase
  const alerts: Array<FailedSend> = []
  let listed: ReadonlyArray<ListedItem> = []
  const resend = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const fake = fakeResend({ listed: () => listed })
      await fake.listen()
      return fake
    }),
    (fake) => Effect.promise(() => fake.close())
  )
  const clients = Layer.orDie(Clients.layer({ url: Redacted.make(url) }))
  const recording = EventRecording.layer.pipe(
    Layer.provide(Layer.provide(DeliveryLog.layer, clients)),
    Layer.provide(
      Layer.mock(Alerts, {
        raise: (failed) =>
          Effect.sync(() => {
            alerts.push(failed)
            return { delivery: "delivered", escalated: undefined } as const
          })
      })
    )
  )
  const poll = Poll.layer({ pause: 0 }).pipe(
    Layer.provide([
      SentMailList.layer({ apiKey: Redacted.make("re_1"), baseUrl: resend.url }),
      Layer.provide(PollLog.layer, clients),
      recording
    ])
  )
  const server = yield* Effect.acquireRelease(
    Effect.promise(() => startServer({ intake, recording, poll, webhookSecret: BUS })),
    (started) => Effect.promise(started.stop)
  )
  const context = yield* Layer.build(Layer.provideMerge(PostgresMailStore.layer, clients))
  return {
    server,
    alerts,
    sql: Context.get(context, Clients.ReadSql),
    store: Context.get(context, MailStore),
    list: (items: ReadonlyArray<ListedItem>) => {
      listed = items
    }
  }
})

const answered200 =
  (server: TestServer, path: string, headers: Record<string, string>, body: string) => async () => {
    const answer = await call(server, path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body
    })
    assert.strictEqual(answer.status, 200, answer.text)
    return answer
  }

const webhook = (server: TestServer, body: string): Delivery => {
  const now = new Date()
  const id = `msg_${randomUUID()}`
  return answered200(
    server,
    "/functions/v1/provider-a-webhook",
    {
      "svix-id": id,
      "svix-timestamp": String(Math.floor(now.getTime() / 1000)),
      "svix-signature": new Webhook(SIGNING).sign(id, now, body)
    },
    body
  )
}

const bus = (server: TestServer, body: object): Delivery =>
  answered200(server, "/api/webhooks/providerb-events", { "x-webhook-secret": BUS }, JSON.stringify(body))

const poll = (server: TestServer): Delivery =>
  answered200(server, "/functions/v1/provider-a-events-fetcher", { "x-proxy-secret": PROXY_SECRET }, "{}")

const libraryRow = (store: MailStore["Service"], story: Story, provider: Plan["provider"]): Delivery => {
  return () =>
    Effect.runPromise(
      store.record({
        rowId: anyId(),
        details: {
          category: "transactional",
          source: "api:test",
          from: "hello@shop.test",
          to: [story.to],
          others: [],
          subject: "Your order",
          idempotencyKey: anyId(story.id),
          keyHash: anyId(story.id)
        },
        outcome: "sent",
        provider,
        providerMessageId: story.id,
        failedOver: false,
        error: null,
        errorKind: null,
        costUsd: 0.0004,
        attempts: [],
        retryAt: null,
        settle: undefined
      })
    ).then(() => undefined)
}

/** The events that arrived by any source, in the order in which they occurred. */
const heardOf = ({ happened, polled, provider, arrivals }: Plan) =>
  happened.flatMap((what, index) => {
    const byList = polled && provider === "provider_a" && index === happened.length - 1
    return (arrivals[index] ?? 0) > 0 || byList
      ? [{ what, name: eventName(provider, what), pushed: (arrivals[index] ?? 0) > 0 }]
      : []
  })

describe("delivery events over HTTP, on PostgreSQL", () => {
  it.live(
    "L2 L3 A1 P1 E1: in any order, repeated, some lost, by webhook, bus and poll at once, they end in the in-order row, one alert and the right suppressions",
    () =>
      Effect.gen(function* () {
        const { alerts, list, server, sql, store } = yield* world
        const query = <A extends object>(text: string) => Effect.runPromise(sql.unsafe<A>(text))
        const base = Date.now() - 3_600_000
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(
              fc.array(plan, { minLength: 1, maxLength: 6 }),
              fc.array(fc.nat(), { minLength: 8, maxLength: 8 }),
              fc.integer({ min: 1, max: 4 }),
              async (plans, dice, batch) => {
                alerts.length = 0
                const run = plans.map((each) => {
                  const id = randomUUID()
                  return { ...each, story: { id, to: `${id}@inbox.test`, happened: each.happened } }
                })
                list(
                  run
                    .filter(({ polled, provider }) => polled && provider === "provider_a")
                    .map(({ story }) => listItem(story))
                )
                const deliveries: Array<Delivery> = [poll(server), poll(server)]
                const envelopes: Array<object> = []
                for (const { happened, logged, provider, story, arrivals } of run) {
                  if (logged) deliveries.push(libraryRow(store, story, provider))
                  happened.forEach((what, index) => {
                    for (let time = 0; time < (arrivals[index] ?? 0); time++) {
                      const at = occurredAt(base, index)
                      if (provider === "provider_a")
                        deliveries.push(webhook(server, webhookBody(story, what, at)))
                      else envelopes.push(busEnvelope(story, what, at))
                    }
                  })
                }
                const shuffled = <A>(items: ReadonlyArray<A>): ReadonlyArray<A> =>
                  items
                    .map((item, index) => ({
                      item,
                      at: ((dice[index % 8] ?? 0) * (index + 7919)) % 1_000_003
                    }))
                    .sort((a, b) => a.at - b.at)
                    .map(({ item }) => item)
                const mixed = shuffled(envelopes)
                for (let from = 0; from < mixed.length; from += batch) {
                  deliveries.push(bus(server, mixed.slice(from, from + batch)))
                }
                const waiting = [...shuffled(deliveries)]
                const lane = async () => {
                  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await next()
                }
                await Promise.all(Array.from({ length: 12 }, lane))

                const ids = run.map(({ story }) => `'${story.id}'`).join(", ")
                // The bus is answered once its events are recorded; what they alert about goes out after that.
                const rows = await until("the alerts are confirmed", async () => {
                  const found = await query<Row>(
                    `select l.id, provider_message_id, status, last_event, alerted_at is not null as alerted,
                        a.confirmed_at is not null as confirmed
                      from email_log l left join email_alerts a on a.send_id = l.id where provider_message_id in (${ids})`
                  )
                  return found.every(({ alerted, confirmed }) => !alerted || confirmed) && found
                })
                const suppressed = await query<{ email: string; reason: string }>(
                  `select email, reason from email_suppressions
                  where email in (${run.map(({ story }) => `'${story.to}'`).join(", ")}) order by email, reason`
                )
                for (const each of run) {
                  const heard = heardOf(each)
                  const mine = rows.filter((row) => row.provider_message_id === each.story.id)
                  const about = JSON.stringify({ each, heard, mine })
                  if (heard.length === 0 && !each.logged) {
                    assert.lengthOf(mine, 0, about)
                    continue
                  }
                  assert.lengthOf(mine, 1, about)
                  const [row] = mine
                  const asked = heard.flatMap(({ name }) => statusOfEvent(name) ?? [])
                  const ends = asked.filter(isTerminal)
                  const raised = alerts.filter(({ sendId }) => sendId === row?.id)
                  if (ends.length === 0) {
                    const furthest = Math.max(statusRank("sent"), ...asked.map(statusRank))
                    assert.strictEqual(row && statusRank(row.status as "sent"), furthest, about)
                    assert.deepStrictEqual([row?.alerted, raised.length], [false, 0], about)
                  } else {
                    // Of several ends the first that was recorded; the alert is about that one.
                    assert.include(ends, row?.status, about)
                    assert.deepStrictEqual([row?.alerted, row?.confirmed], [true, true], about)
                    assert.deepStrictEqual(
                      raised.map(({ event }) => event),
                      [row?.status],
                      about
                    )
                  }
                  assert.strictEqual(row?.last_event ?? undefined, heard.at(-1)?.name, about)
                  assert.deepStrictEqual(
                    suppressed.filter(({ email }) => email === each.story.to).map(({ reason }) => reason),
                    [
                      ...(heard.some(({ name }) => name === "complained") ? ["complaint"] : []),
                      ...(heard.some(({ pushed, what }) => what === "bounced" && pushed)
                        ? ["hard_bounce"]
                        : [])
                    ],
                    about
                  )
                }
              }
            ),
            { numRuns: RUNS, plugins: [fc.interruptAfterTimeLimit(BUDGET_MS)] }
          )
        )
      }).pipe(Effect.scoped, Effect.provide(layerDatabase))
  )
})
