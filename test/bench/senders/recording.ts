import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { Reactivity } from "effect/reactivity"

import { makeBatcher } from "../../../src/adapters/postgres/batcher.ts"
import { layer as clients, WriteSql } from "../../../src/adapters/postgres/client.ts"
import * as PostgresMailStore from "../../../src/adapters/postgres/mail/mail-store.ts"
import { toEntry } from "../../../src/adapters/postgres/mail/send-entry.ts"
import { isAboutData } from "../../../src/adapters/postgres/statement.ts"
import { IdempotencyKey, KeyHash, KeyTag } from "../../../src/domain/ids.ts"
import { MailStore, type RecordSend } from "../../../src/ports/mail/mail-store.ts"
import { anyId } from "../../support/any-id.ts"
import { FROM, next, type OpenSender, recipient, type Sender, SUBJECT, type Targets } from "./sender.ts"

const HASH = "0".repeat(64)

/** Rows that delivery events are about, for each writer of events. */
export const EVENT_ROWS = 200_000

const open = async <A, E>(
  make: Effect.Effect<A, E, Scope.Scope>,
  senderOf: (made: A) => () => Effect.Effect<unknown, unknown>
): Promise<Sender> => {
  const scope = Scope.makeUnsafe()
  const send = senderOf(await Effect.runPromise(Scope.provide(make, scope)))
  return {
    send: () => Effect.runPromise(send()),
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

/** The driver alone, with a connection for every caller. */
const driver = ({ databaseUrl }: Targets, concurrency: number) =>
  PgClient.make({ url: Redacted.make(databaseUrl), maxConnections: concurrency }).pipe(
    Effect.provide(Reactivity.layer)
  )

const ACCEPTED = {
  provider: "provider_a",
  outcome: "accepted",
  reason: null,
  code: null,
  startedAt: Date.UTC(2026, 0, 1),
  durationMs: 12
} as const

const row = (n: number): RecordSend => ({
  rowId: anyId(),
  details: {
    category: "transactional",
    source: "bench",
    from: FROM,
    to: [recipient(n)],
    others: [],
    subject: SUBJECT,
    idempotencyKey: IdempotencyKey.make(`bench-${n}`),
    keyHash: KeyHash.make(HASH),
    keyTag: KeyTag.make(HASH)
  },
  outcome: "sent",
  provider: "provider_a",
  providerMessageId: `bench-${process.pid}-${n}`,
  failedOver: false,
  error: null,
  errorKind: null,
  costUsd: 0.0004,
  attempts: [ACCEPTED],
  retryAt: null,
  settle: undefined
})

/** `record_email_send` through the driver alone, one row a call. */
export const driverSends: OpenSender = (targets, concurrency) =>
  open(
    driver(targets, concurrency),
    (sql) => () => sql`select * from record_email_send(${JSON.stringify(toEntry(row(next())))}::jsonb)`
  )

/** The same rows through our mail store. */
export const storeSends: OpenSender = ({ databaseUrl }) =>
  open(
    Layer.build(PostgresMailStore.layer.pipe(Layer.provide(clients({ url: Redacted.make(databaseUrl) })))),
    (context) => {
      const store = Context.get(context, MailStore)
      return () => store.record(row(next()))
    }
  )

const EVENTS = ["delivered", "opened", "clicked"] as const

const eventJson = (prefix: string, n: number) => ({
  provider: "provider_a",
  provider_message_id: `${prefix}-${n % EVENT_ROWS}`,
  event: EVENTS[Math.floor(n / EVENT_ROWS) % EVENTS.length],
  occurred_at: new Date(1_790_000_000_000 + n).toISOString(),
  recipients: [recipient(n)],
  subject: SUBJECT,
  from: FROM,
  raw: {
    type: "email.delivered",
    data: { email_id: `${prefix}-${n}`, to: [recipient(n)], subject: SUBJECT }
  },
  key_hash: HASH
})

/** `record_email_events` through the driver alone, one event a call. */
export const driverEvents: OpenSender = (targets, concurrency) =>
  open(
    driver(targets, concurrency),
    (sql) => () =>
      sql`select * from record_email_events(${JSON.stringify([eventJson("driver", next())])}::jsonb)`
  )

/** The same events through our batcher. */
export const batchedEvents: OpenSender = ({ databaseUrl }) =>
  open(
    Effect.gen(function* () {
      const context = yield* Layer.build(clients({ url: Redacted.make(databaseUrl) }))
      const sql = Context.get(context, WriteSql)
      return yield* makeBatcher({
        isAboutItem: (cause) => isAboutData({ cause }),
        onOverflow: () => new Error("too many events wait"),
        run: (events: ReadonlyArray<object>) =>
          Effect.map(sql`select * from record_email_events(${JSON.stringify(events)}::jsonb)`, (rows) =>
            rows.map((each) => Exit.succeed(each))
          )
      })
    }),
    (record) => () => record(eventJson("batched", next()))
  )
