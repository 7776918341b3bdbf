import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Context, Effect, Layer } from "effect"

import * as NoDeferQueue from "../../../src/adapters/memory/mail/defer-queue.ts"
import { makeMemoryProvider } from "../../../src/adapters/memory/mail/mail-provider.ts"
import { WriteSql } from "../../../src/adapters/postgres/client.ts"
import { layer as layerMailStore } from "../../../src/adapters/postgres/mail/mail-store.ts"
import { layer as layerSendQueue } from "../../../src/adapters/postgres/mail/send-queue.ts"
import { Mailer, layer as layerMailer } from "../../../src/application/mail/mailer.ts"
import { MailerConfig } from "../../../src/application/mail/sending.ts"
import { Enqueue, layer as layerEnqueue } from "../../../src/application/send-queue/enqueue.ts"
import { QueueConfig } from "../../../src/application/send-queue/queue-config.ts"
import { layer as layerSender, QueueSender } from "../../../src/application/send-queue/sender.ts"
import type { Provider } from "../../../src/domain/mail/provider.ts"
import { fixedRate } from "../../../src/domain/mail/rate.ts"
import { MailProviders } from "../../../src/ports/mail/mail-provider.ts"
import { MailStore } from "../../../src/ports/mail/mail-store.ts"
import { type PaceLimit, SendQueue } from "../../../src/ports/mail/send-queue.ts"
import type { SimulatedOutcome } from "../../../src/ports/mail/simulated-mail.ts"
import { untilFound } from "../until.ts"

/** What a test of the queue decides. */
interface QueueWorldOptions {
  readonly primary?: Provider
  readonly fallback?: Provider
  readonly paces?: ReadonlyArray<PaceLimit>
  readonly delays?: readonly [number, number, number]
  readonly maxAgeMs?: number
  readonly attemptTimeoutMs?: number
  /** Faults of the mail store. */
  readonly storeAs?: (store: MailStore["Service"]) => MailStore["Service"]
  /** Faults of the queue. */
  readonly queueAs?: (queue: SendQueue["Service"]) => SendQueue["Service"]
}

const unpaced: ReadonlyArray<PaceLimit> = [
  { provider: "provider_a", ...fixedRate(0) },
  { provider: "provider_b", ...fixedRate(0) }
]

/** The send queue on a database, with scripted providers and one sender, which runs once it is started. */
export const makeQueueWorld = Effect.fnUntraced(function* (options: QueueWorldOptions = {}) {
  const scripts: Record<Provider, Array<SimulatedOutcome>> = {
    provider_a: [],
    provider_b: [],
    smtp: [],
    postmark: []
  }
  const provider = (name: Provider) =>
    makeMemoryProvider({ provider: name, outcome: () => Effect.sync(() => scripts[name].shift() ?? "ok") })
  const providers = {
    provider_a: provider("provider_a"),
    provider_b: provider("provider_b"),
    smtp: provider("smtp"),
    postmark: provider("postmark")
  }
  const ports = Layer.mergeAll(
    Layer.succeed(MailerConfig, {
      primary: options.primary ?? "provider_a",
      fallback: options.fallback,
      defaults: {
        from: { name: "Postlane", local: "noreply", domain: "postlane.test" },
        domains: { sender: "postlane.test", legacy: "legacy.test" }
      },
      attemptTimeoutMs: options.attemptTimeoutMs ?? 15_000,
      dbTimeoutMs: 2_500,
      deferDelaysSeconds: options.delays ?? [120, 600, 900],
      costUsd: { provider_a: 0.0004, provider_b: 0.0001, smtp: 0, postmark: 0.0015 }
    }),
    Layer.succeed(QueueConfig, {
      concurrency: 32,
      maxAgeMs: options.maxAgeMs ?? 24 * 3_600_000,
      paces: options.paces ?? unpaced
    }),
    Layer.effect(MailStore, Effect.map(MailStore, options.storeAs ?? ((store) => store))).pipe(
      Layer.provide(layerMailStore)
    ),
    Layer.effect(SendQueue, Effect.map(SendQueue, options.queueAs ?? ((queue) => queue))).pipe(
      Layer.provide(layerSendQueue)
    ),
    NoDeferQueue.layerNone,
    Layer.succeed(MailProviders, { get: (name) => providers[name].provider }),
    NodeCrypto.layer
  )
  const context = yield* Layer.build(
    Layer.provideMerge(Layer.mergeAll(layerMailer, layerEnqueue, layerSender), ports)
  )
  const queue = Context.get(context, SendQueue)
  const sql = yield* WriteSql
  return {
    queue,
    enqueue: Context.get(context, Enqueue),
    send: Context.get(context, Mailer).send,
    sql,
    scripts,
    providers,
    /** Starts a sender; ended with the scope. */
    start: Effect.forkScoped(Context.get(context, QueueSender).run),
    /** The request once it has this state. */
    inState: (id: string, ...states: ReadonlyArray<string>) =>
      untilFound(
        `the request is ${states.join(" or ")}`,
        Effect.map(
          sql<{
            readonly state: string
            readonly error: string | null
          }>`select * from email_send_queue where id = ${id}::uuid`,
          ([row]) => (row !== undefined && states.includes(row.state) ? row : undefined)
        )
      )
  }
})
