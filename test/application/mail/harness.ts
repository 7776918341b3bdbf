import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Clock, Context, Effect, Exit, Layer, Option, Scope } from "effect"

import { makeDeferBroker } from "../../../src/adapters/memory/mail/defer-queue.ts"
import { makeMemoryProvider } from "../../../src/adapters/memory/mail/mail-provider.ts"
import { makeMailDatabase } from "../../../src/adapters/memory/mail/mail-store.ts"
import { layer as layerMailer, Mailer } from "../../../src/application/mail/mailer.ts"
import { RetryWatch } from "../../../src/application/mail/retry-watch.ts"
import { layer as layerRetry, RetryHandler } from "../../../src/application/mail/retry.ts"
import { MailerConfig } from "../../../src/application/mail/sending.ts"
import { decodeDeferredSend } from "../../../src/domain/mail/deferred-send.ts"
import type { SendRequest } from "../../../src/domain/mail/message.ts"
import type { Provider } from "../../../src/domain/mail/provider.ts"
import { DeferQueue } from "../../../src/ports/mail/defer-queue.ts"
import { MailProviders } from "../../../src/ports/mail/mail-provider.ts"
import { MailStore } from "../../../src/ports/mail/mail-store.ts"
import type { SimulatedOutcome } from "../../../src/ports/mail/simulated-mail.ts"
import { mailerConfig } from "../../support/mailer-config.ts"

export const mail = (change: Partial<SendRequest> = {}): SendRequest => ({
  to: "a@x.test",
  subject: "Hello",
  text: "t",
  category: "transactional",
  source: "api:test",
  ...change
})

/** A mailer and a retry handler in memory, with everything around them in the test's hands. */
export const makeHarness = Effect.fnUntraced(function* (
  options: {
    readonly primary?: Provider
    readonly fallback?: Provider
    readonly queue?: boolean
    readonly store?: (real: MailStore["Service"]) => MailStore["Service"]
    readonly broker?: (real: DeferQueue["Service"]) => DeferQueue["Service"]
    readonly missing?: Provider
    readonly wrapProviders?: (
      real: MailProviders["Service"]
    ) => Effect.Effect<MailProviders["Service"], never, Scope.Scope>
  } = {}
) {
  const database = makeMailDatabase()
  const broker = makeDeferBroker({ visibilitySeconds: 60 })
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
  const scope = yield* Scope.make()
  const plain = MailProviders.of({
    get: (name) => (name === options.missing ? undefined : providers[name].provider)
  })
  const storeClock = yield* Clock.Clock
  /** The store's clock is its own, whatever the process's shows. */
  const inTime = (store: MailStore["Service"]): MailStore["Service"] => {
    const at = <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.provideService(call, Clock.Clock, storeClock)
    return {
      ...store,
      begin: (entry) => at(store.begin(entry)),
      beginRetry: (entry) => at(store.beginRetry(entry)),
      record: (entry) => at(store.record(entry))
    }
  }
  const { queue } = broker.attach()
  const context = yield* Layer.buildWithScope(
    Layer.mergeAll(layerMailer, layerRetry).pipe(
      Layer.provide(
        Layer.mergeAll(
          Layer.succeed(MailerConfig, {
            ...mailerConfig,
            primary: options.primary ?? "provider_a",
            fallback: options.fallback
          }),
          Layer.succeed(MailStore, options.store?.(inTime(database.store)) ?? inTime(database.store)),
          Layer.succeed(DeferQueue, {
            ...(options.broker?.(queue) ?? queue),
            configured: options.queue ?? true
          }),
          Layer.effect(MailProviders, options.wrapProviders?.(plain) ?? Effect.succeed(plain)),
          Layer.succeed(RetryWatch, { lookedAt: Number.NEGATIVE_INFINITY, warned: false }),
          NodeCrypto.layer
        )
      )
    ),
    scope
  )
  const mailer = Context.get(context, Mailer)
  const retry = Context.get(context, RetryHandler)
  return {
    database,
    scripts,
    providers,
    send: mailer.send,
    retry: retry.handle,
    /** A process that takes from the queue and makes no retry. */
    consume: Effect.forkScoped(queue.consume(() => Effect.never, { concurrency: 1 })),
    /** Messages on the queue, oldest first. */
    queued: Effect.map(broker.pending, (all) =>
      all.map(({ body }) => Option.getOrThrow(decodeDeferredSend(body)))
    ),
    copies: Effect.map(Effect.all([providers.provider_a.copies, providers.provider_b.copies]), ([a, b]) => ({
      provider_a: a.length,
      provider_b: b.length
    })),
    received: Effect.map(
      Effect.all([providers.provider_a.received, providers.provider_b.received]),
      ([a, b]) => ({ provider_a: a, provider_b: b })
    ),
    /** What SIGTERM does. */
    shutDown: Scope.close(scope, Exit.void)
  }
})
