import { randomUUID } from "node:crypto"

import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Clock, Context, Effect, Layer, Option, Scope } from "effect"

import { makeDeferBroker } from "../../../src/adapters/memory/mail/defer-queue.ts"
import { makeMemoryProvider } from "../../../src/adapters/memory/mail/mail-provider.ts"
import { layer as layerMailer, Mailer } from "../../../src/application/mail/mailer.ts"
import { layer as layerRetry, RetryHandler } from "../../../src/application/mail/retry.ts"
import { MailerConfig } from "../../../src/application/mail/sending.ts"
import { type DeferredSend, decodeDeferredSend } from "../../../src/domain/mail/deferred-send.ts"
import type { SendRequest } from "../../../src/domain/mail/message.ts"
import type { Provider } from "../../../src/domain/mail/provider.ts"
import { DeferQueue } from "../../../src/ports/mail/defer-queue.ts"
import { type MailProvider, MailProviders } from "../../../src/ports/mail/mail-provider.ts"
import { MailStore } from "../../../src/ports/mail/mail-store.ts"
import type { SimulatedOutcome } from "../../../src/ports/mail/simulated-mail.ts"
import type { StoreUnavailable } from "../../../src/ports/store-unavailable.ts"
import { clockAhead } from "../later.ts"
import { mailerConfig } from "../mailer-config.ts"
import type { MailWorld } from "./mail-world.ts"
import { storeDown } from "./store-down.ts"

/** How a provider answers its next request; an effect where the test decides when. */
type Answer = SimulatedOutcome | Effect.Effect<SimulatedOutcome>

/** Processes that share providers, a queue and a mail store, each with a memory of its own. Time passes by hand. */
export const makeKeyWorld = (
  world: MailWorld,
  options: { readonly primary: Provider; readonly fallback?: Provider; readonly queue?: boolean }
) =>
  Effect.gen(function* () {
    const scripts: Record<Provider, Array<Answer>> = {
      provider_a: [],
      provider_b: [],
      smtp: [],
      postmark: []
    }
    const broker = makeDeferBroker({ visibilitySeconds: 60 })
    const real = yield* Clock.Clock
    let offsetMs = 0
    /** How far the store's clock is ahead; time that passes is also time that a process was up, and that a provider remembers. */
    let aheadMs = 0
    const monotonic = () => real.monotonicTimeNanosUnsafe() + BigInt(offsetMs) * 1_000_000n
    const clock = clockAhead(real, () => aheadMs, monotonic)
    const provider = (name: Provider) =>
      makeMemoryProvider({
        provider: name,
        outcome: () =>
          Effect.suspend(() => {
            const next = scripts[name].shift() ?? "ok"
            return typeof next === "string" ? Effect.succeed(next) : next
          })
      })
    const providers = {
      provider_a: provider("provider_a"),
      provider_b: provider("provider_b"),
      smtp: provider("smtp"),
      postmark: provider("postmark")
    }
    /** Worlds share a log: their messages have ids of their own. */
    const prefix = randomUUID()
    const adapter = (name: Provider): MailProvider => ({
      ...providers[name].provider,
      send: (request) =>
        providers[name].provider.send(request).pipe(
          Effect.map(({ messageId }) => ({ messageId: `${prefix}-${messageId}` })),
          Effect.provideService(
            Clock.Clock,
            clockAhead(real, () => offsetMs)
          )
        )
    })
    /** The operations of the store that fail, in every process. */
    const away = new Set<keyof MailStore["Service"]>()
    const road = <A>(
      operation: keyof MailStore["Service"],
      call: Effect.Effect<A, StoreUnavailable>
    ): Effect.Effect<A, StoreUnavailable> =>
      Effect.suspend(() => (away.has(operation) ? Effect.fail(storeDown()) : call))
    const store = MailStore.of({
      configured: true,
      begin: (entry) => road("begin", world.store.begin(entry)),
      moveClaim: (entry) => road("moveClaim", world.store.moveClaim(entry)),
      findEvidence: (entry) => road("findEvidence", world.store.findEvidence(entry)),
      deferralEnd: (entry) => road("deferralEnd", world.store.deferralEnd(entry)),
      beginRetry: (entry) => road("beginRetry", world.store.beginRetry(entry)),
      record: (entry) => road("record", world.store.record(entry)),
      noteUnclaimed: (count) => road("noteUnclaimed", world.store.noteUnclaimed(count)),
      noteSign: world.store.noteSign,
      tagSecret: world.store.tagSecret
    })
    const { queue } = broker.attach()

    const spawn = Effect.gen(function* () {
      const context = yield* Layer.buildWithScope(
        Layer.mergeAll(layerMailer, layerRetry).pipe(
          Layer.provide(
            Layer.mergeAll(
              Layer.succeed(MailerConfig, {
                ...mailerConfig,
                primary: options.primary,
                fallback: options.fallback
              }),
              Layer.succeed(MailStore, store),
              Layer.succeed(DeferQueue, { ...queue, configured: options.queue ?? true }),
              Layer.succeed(MailProviders, { get: adapter }),
              NodeCrypto.layer
            )
          )
        ),
        yield* Scope.make()
      )
      const at = Effect.provideService(Clock.Clock, clock)
      return {
        send: (request: SendRequest) => at(Context.get(context, Mailer).send(request)),
        retry: (message: DeferredSend) => at(Context.get(context, RetryHandler).handle(message))
      }
    })

    return {
      scripts,
      spawn,
      /** The store does not answer these operations; without any, none of them. */
      storeAway: (...operations: ReadonlyArray<keyof MailStore["Service"]>) =>
        Effect.sync(() => {
          const all = [
            "begin",
            "moveClaim",
            "findEvidence",
            "deferralEnd",
            "beginRetry",
            "record",
            "noteUnclaimed"
          ] as const
          for (const operation of operations.length === 0 ? all : operations) away.add(operation)
        }),
      storeBack: Effect.sync(() => away.clear()),
      pass: (ms: number) =>
        Effect.gen(function* () {
          offsetMs += ms
          yield* world.advance(ms)
          aheadMs = (yield* world.inItsTime(Clock.currentTimeMillis)) - real.currentTimeMillisUnsafe()
        }),
      queued: Effect.map(broker.pending, (all) =>
        all.map(({ body }) => Option.getOrThrow(decodeDeferredSend(body)))
      ),
      copies: Effect.map(
        Effect.all([providers.provider_a.copies, providers.provider_b.copies]),
        ([a, b]) => ({ provider_a: a.length, provider_b: b.length })
      ),
      received: Effect.map(
        Effect.all([providers.provider_a.received, providers.provider_b.received]),
        ([a, b]) => ({ provider_a: a, provider_b: b })
      )
    }
  })
