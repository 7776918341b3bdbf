import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Logger, Queue, Schedule, Scope } from "effect"

import { makeMemoryProvider } from "../../src/adapters/memory/mail/mail-provider.ts"
import { layerSqlClient, WriteSql } from "../../src/adapters/postgres/client.ts"
import * as PostgresQueue from "../../src/adapters/postgres/mail/defer-queue.ts"
import * as MailStoreAdapter from "../../src/adapters/postgres/mail/mail-store.ts"
import * as SqsQueue from "../../src/adapters/sqs/defer-queue.ts"
import { layer as layerMailer, Mailer } from "../../src/application/mail/mailer.ts"
import { layer as layerRetry, RetryHandler } from "../../src/application/mail/retry.ts"
import { MailerConfig } from "../../src/application/mail/sending.ts"
import { MAX_RECEIVES } from "../../src/domain/mail/deferred-send.ts"
import { DeferQueue } from "../../src/ports/mail/defer-queue.ts"
import { MailProviders } from "../../src/ports/mail/mail-provider.ts"
import type { SimulatedOutcome } from "../../src/ports/mail/simulated-mail.ts"
import { empty } from "../support/postgres/empty.ts"
import { layerClients, layerPostgres } from "../support/postgres/postgres.ts"
import { sqsCredentials, sqsRegion, startSqs } from "../support/vendors/sqs.ts"

const VISIBILITY_SECONDS = 1
let serial = 0

const queues = {
  SQS: Effect.gen(function* () {
    const sqs = yield* startSqs
    const { url } = yield* sqs.createQueue(`outage-${++serial}`, MAX_RECEIVES)
    return SqsQueue.layer({
      queueUrl: url,
      visibilitySeconds: VISIBILITY_SECONDS,
      endpoint: sqs.endpoint,
      region: sqsRegion,
      credentials: sqsCredentials
    })
  }),
  PostgreSQL: Effect.sync(() => {
    const name = PostgresQueue.QueueName.make(`outage-${++serial}`)
    return PostgresQueue.layer({ name, visibilitySeconds: VISIBILITY_SECONDS }).pipe(
      Layer.provide(layerSqlClient)
    )
  })
}

/** A process on real PostgreSQL and a real queue, whose provider knows no idempotency key. */
const world = Effect.fnUntraced(function* (queueOf: (typeof queues)[keyof typeof queues]) {
  // Message ids begin anew with each provider.
  yield* empty("email_log, email_send_claims, email_defer_queue")
  const script: Array<SimulatedOutcome> = ["ambiguous-lost"]
  const provider = yield* Effect.sync(() =>
    makeMemoryProvider({
      provider: "provider_b",
      outcome: () => Effect.sync(() => script.shift() ?? "ok")
    })
  )
  const clients = Layer.succeedContext(yield* Layer.build(Layer.fresh(layerClients())))
  const queue = Layer.succeedContext(yield* Layer.build(Layer.provide(yield* queueOf, clients)))
  const ports = Layer.mergeAll(
    NodeCrypto.layer,
    queue,
    Layer.provide(MailStoreAdapter.layer, clients),
    Layer.succeed(MailProviders, {
      get: (name) => (name === "provider_b" ? provider.provider : undefined)
    }),
    Layer.succeed(MailerConfig, {
      primary: "provider_b",
      fallback: undefined,
      defaults: {
        from: { name: undefined, local: "noreply", domain: "postlane.test" },
        domains: { sender: "postlane.test", legacy: "legacy.test" }
      },
      attemptTimeoutMs: 500,
      dbTimeoutMs: 300,
      deferDelaysSeconds: [1, 1, 1] as const,
      costUsd: { provider_a: 0.0004, provider_b: 0.0001, smtp: 0, postmark: 0.0015 }
    })
  )
  const context = yield* Layer.build(Layer.mergeAll(layerMailer, layerRetry).pipe(Layer.provideMerge(ports)))
  const send = (key: string) =>
    Context.get(context, Mailer).send({
      to: "a@x.test",
      subject: "Hello",
      text: "t",
      category: "transactional",
      source: "api:outage",
      idempotencyKey: key
    })
  const handled = yield* Queue.unbounded<string>()
  const handler = Context.get(context, RetryHandler)
  const consume = Context.get(context, DeferQueue)
    .consume((message) => Effect.ensuring(handler.handle(message), Queue.offer(handled, message.rowId)), {
      concurrency: 2
    })
    .pipe(Effect.retry(Schedule.spaced("100 millis")), Effect.forkScoped)
  return { send, queue: Context.get(context, DeferQueue), consume, handled, copies: provider.copies, script }
})

const statusesOf = Effect.fnUntraced(function* (key: string) {
  const sql = yield* WriteSql
  const rows = yield* sql<{ status: string }>`
    select status from email_log where idempotency_key = ${key} order by created_at`
  return rows.map(({ status }) => status)
})

const until = (key: string, status: string) =>
  statusesOf(key).pipe(
    Effect.repeat({ schedule: Schedule.spaced("100 millis"), until: (all) => all.at(-1) === status })
  )

/** Nothing can be claimed while this scope is open; everything else answers. */
const lockClaims = Effect.gen(function* () {
  const sql = yield* WriteSql
  const connection = yield* sql.reserve
  const run = (text: string) => Effect.orDie(connection.executeRaw(text, []))
  yield* Effect.acquireRelease(
    Effect.andThen(run("begin"), run("lock table email_send_claims in access exclusive mode")),
    () => run("rollback")
  )
})

layer(layerPostgres, { excludeTestServices: true })("an outage of the store", (it) => {
  for (const [name, queueOf] of Object.entries(queues)) {
    it.effect(`D1 D2 (${name}): costs a retry none of its receives, however long it lasts`, () =>
      Effect.gen(function* () {
        const { consume, copies, handled, queue, send } = yield* world(queueOf)
        const key = `away-${name}`
        assert.strictEqual((yield* send(key)).status, "deferred")
        const outage = yield* Scope.make()
        yield* Scope.provide(lockClaims, outage)
        yield* consume
        for (let receive = 0; receive < 2 * MAX_RECEIVES; receive++) yield* Queue.take(handled)
        assert.lengthOf(yield* copies, 0)
        yield* Scope.close(outage, yield* Effect.exit(Effect.void))
        yield* until(key, "sent")
        assert.lengthOf(yield* copies, 1)
        assert.deepStrictEqual(yield* queue.deadLetters({ limit: 10 }), [])
      }).pipe(Effect.scoped, Effect.provide(Logger.layer([])))
    )

    it.effect(
      `D3 (${name}): a dead letter that is redriven within 24 hours is sent, and after them ends failed, ambiguous`,
      () =>
        Effect.gen(function* () {
          const { consume, copies, queue, script, send } = yield* world(queueOf)
          const young = `young-${name}`
          const old = `old-${name}`
          script.push("ambiguous-lost")
          for (const key of [young, old]) assert.strictEqual((yield* send(key)).status, "deferred")
          const crashing = yield* Scope.make()
          yield* queue
            .consume(() => Effect.die("a crash"), { concurrency: 2 })
            .pipe(Effect.forkScoped, Scope.provide(crashing))
          const dead = yield* queue
            .deadLetters({ limit: 10 })
            .pipe(
              Effect.repeat({ schedule: Schedule.spaced("200 millis"), until: (all) => all.length === 2 })
            )
          yield* Scope.close(crashing, yield* Effect.exit(Effect.void))
          const sql = yield* WriteSql
          yield* sql`update email_send_claims set first_attempt_at = first_attempt_at - interval '24 hours'
            where key_hash = (select key_hash from email_log where idempotency_key = ${old})`
          for (const { id } of dead) assert.isTrue(yield* queue.redrive(id))
          yield* consume
          yield* until(young, "sent")
          yield* until(old, "failed")
          assert.lengthOf(yield* copies, 1)
        }).pipe(Effect.scoped, Effect.provide(Logger.layer([])))
    )
  }
})
