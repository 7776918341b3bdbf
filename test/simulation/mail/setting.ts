import { Clock, Context, Deferred, Effect, Exit, Layer, Scope } from "effect"

import { type DeferBroker, makeDeferBroker } from "../../../src/adapters/memory/mail/defer-queue.ts"
import { type MailDatabase, makeMailDatabase } from "../../../src/adapters/memory/mail/mail-store.ts"
import type { KeyHash } from "../../../src/domain/ids.ts"
import type { Provider } from "../../../src/domain/mail/failover.ts"
import { layer as layerMailer, Mailer } from "../../../src/domain/mail/mailer.ts"
import { layer as layerRetry, RetryHandler } from "../../../src/domain/mail/retry.ts"
import { MailerConfig } from "../../../src/domain/mail/sending.ts"
import { DeferQueue } from "../../../src/ports/mail/defer-queue.ts"
import { MailProviders } from "../../../src/ports/mail/mail-provider.ts"
import { MailStore } from "../../../src/ports/mail/mail-store.ts"
import type { StoreUnavailable } from "../../../src/ports/store-unavailable.ts"
import { storeDown } from "../../support/worlds/store-down.ts"
import { type Chance, makeChance, type SimClock } from "../kernel.ts"
import { alive, call, makeProcess, noted, type Road, type SimProcess, traced } from "../process.ts"
import { simCrypto } from "../sim-crypto.ts"
import { type Chronicle, makeChronicle, type RunOptions } from "../world.ts"
import { breakHandler, breakMailer, breakProvider, breakStore, type Bug, BUGS } from "./bugs.ts"
import { type Attempt, makeProviderModel, type Mood, type ProviderModel } from "./provider-model.ts"

export const VISIBILITY_SECONDS = 60
export const ATTEMPT_TIMEOUT_MS = 15_000

/** Faults of this world; each draws its chances whether or not it happens, so that leaving one out moves little else. */
export const FAULTS = [
  "kill",
  "freeze",
  "provider loses requests",
  "provider loses answers",
  "provider is slow",
  "provider is unavailable",
  "provider rejects",
  "provider breaks before it accepts",
  "provider breaks after it accepted",
  "database and queue lose requests",
  "database and queue lose answers",
  "database is slow",
  "queue duplicates",
  "events are late",
  "events come twice",
  "events never come"
] as const
type Fault = (typeof FAULTS)[number]

/** Everything that lives outside the simulated processes, and survives them. */
export interface World {
  readonly chance: Chance
  readonly happens: (fault: Fault) => boolean
  readonly chronicle: Chronicle
  readonly database: MailDatabase
  readonly broker: DeferBroker
  readonly providers: Readonly<Record<Provider, ProviderModel>>
  readonly violations: Array<string>
  readonly processes: Array<SimProcess & { readonly mailer: Mailer["Service"] }>
  readonly calm: { now: boolean }
  readonly spawn: Effect.Effect<void>
  readonly events: { pending: number }
}

const CALM: Road = { requestLost: 0, responseLost: 0, slow: 0, slowMs: 2, lostAfterMs: 100 }

const config = (chance: Chance) => ({
  primary: chance.pick<Provider>(["provider_a", "provider_b"]),
  fallback: chance.pick<Provider | undefined>(["provider_a", "provider_b", undefined]),
  defaults: {
    from: { name: undefined, local: "noreply", domain: "postlane.test" },
    domains: { sender: "postlane.test", legacy: "legacy.test" }
  },
  attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
  dbTimeoutMs: 2_500,
  deferDelaysSeconds: [120, 600, 900] as const,
  costUsd: { provider_a: 0.0004, provider_b: 0.0001 }
})

const programs = Layer.mergeAll(layerMailer, layerRetry)

/** The world of a seed. `bug`: one of {@link Bug}, planted. */
export const makeWorld = (seed: number, { bug, limits, story }: RunOptions, kernelClock: SimClock): World => {
  const chance = makeChance(seed + 1_000_003)
  const faults: ReadonlySet<string> = new Set(limits.faults)
  const happens = (fault: Fault) => faults.has(fault)
  const share = (fault: Fault, often: number) => (happens(fault) ? often : 0)
  const planted = BUGS.find((name): name is Bug => name === bug)
  const chronicle = makeChronicle(story === true, kernelClock)
  const { note, saw } = chronicle
  const database = makeMailDatabase()
  const broker = makeDeferBroker({ visibilitySeconds: VISIBILITY_SECONDS })
  const calm = { now: false }
  const events = { pending: 0 }
  /** When the database first held proof that a provider accepted a key. */
  const provenAt = new Map<string, number>()
  const violations: Array<string> = []
  const settings = config(chance)
  /** Some worlds have no queue: there an ambiguous send ends failed. */
  const hasQueue = chance.bool(0.8)

  /** Half of the worlds have a database and a queue that lose requests and answers, too. */
  const storeFails = seed % 2 === 0

  const roadToProvider = (): Road =>
    calm.now
      ? CALM
      : {
          requestLost: share("provider loses requests", 0.08),
          responseLost: share("provider loses answers", 0.12),
          slow: share("provider is slow", 0.1),
          slowMs: 20_000,
          lostAfterMs: chance.bool(0.5) ? 200 : Infinity
        }
  const roadToStore = (): Road =>
    calm.now
      ? CALM
      : {
          requestLost: storeFails ? share("database and queue lose requests", 0.06) : 0,
          responseLost: storeFails ? share("database and queue lose answers", 0.06) : 0,
          slow: share("database is slow", 0.05),
          slowMs: storeFails ? 6_000 : 800,
          lostAfterMs: chance.bool(0.5) ? 100 : Infinity
        }
  const mood = (): Mood =>
    calm.now
      ? { rejects: 0, unavailable: 0, breaksBefore: 0, breaksAfter: 0 }
      : {
          rejects: share("provider rejects", 0.03),
          unavailable: share("provider is unavailable", 0.15),
          breaksBefore: share("provider breaks before it accepts", 0.08),
          breaksAfter: share("provider breaks after it accepted", 0.1)
        }

  const noteProof = (provider: Provider | null, keyHash: KeyHash) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const proof = `${provider} ${keyHash}`
      provenAt.set(proof, Math.min(provenAt.get(proof) ?? Infinity, now))
    })

  /** Tells the database what the provider knows, late, twice, out of order, or never. */
  const announce = (
    provider: Provider,
    { keyHash, keyTag }: Pick<Attempt, "keyHash" | "keyTag">,
    messageId: string,
    recipients: ReadonlyArray<string>
  ) =>
    Effect.gen(function* () {
      if (chance.bool(0.3) && happens("events never come")) return saw("event never comes")
      const copies = chance.bool(0.3) && happens("events come twice") ? 2 : 1
      for (let copy = 0; copy < copies; copy++) {
        for (const event of chance.bool(0.5) ? ["delivered"] : ["delivered", "sent"]) {
          events.pending++
          const soon = chance.bool(0.4) || !happens("events are late")
          const wait = soon ? chance.int(0, 3_000) : chance.int(0, 1_500_000)
          yield* Effect.gen(function* () {
            yield* Effect.sleep(wait)
            yield* database.recordEvent({
              provider,
              providerMessageId: messageId,
              event,
              keyTag: keyTag ?? undefined,
              recipients
            })
            // Of a send that had no claim, and no row yet, the store does not know what key its event is about.
            const isKnown = database
              .rows()
              .some((row) => row.providerMessageId === messageId && row.keyHash === keyHash)
            if (isKnown) yield* noteProof(provider, keyHash)
            saw("event recorded")
            note(() => `the event ${event} of ${messageId} is recorded`)
            events.pending--
          }).pipe(Effect.forkDetach)
        }
      }
    })

  const provider = (name: Provider) =>
    makeProviderModel({
      provider: name,
      chance,
      mood,
      road: roadToProvider,
      onAttempt: (attempt, asked) => {
        const proven = provenAt.get(`${name} ${attempt.keyHash}`) ?? Infinity
        if (proven < asked)
          violations.push(
            `S4: ${attempt.process} sent ${attempt.key} at ${attempt.startedAt}: proven at ${proven}, asked at ${asked}`
          )
      },
      onAccepted: (attempt, messageId) => {
        note(() => `${name} accepts ${attempt.key} of ${attempt.process} as ${messageId}`)
        return announce(name, attempt, messageId, attempt.recipients)
      }
    })
  const providers = { provider_a: provider("provider_a"), provider_b: provider("provider_b") }

  const storeOf = (process: SimProcess): MailStore["Service"] => {
    const inner = breakStore(planted, database.store)
    const road = <A>(operation: string, apply: Effect.Effect<A, StoreUnavailable>) =>
      call(process, chance, roadToStore(), apply, () => {
        saw(`store ${operation} lost`)
        return storeDown("connection lost")
      })
    /** Notes when the database let this process send a key: proof that was there before must have stopped it (S4). */
    const asked = <A>(operation: string, apply: Effect.Effect<A, StoreUnavailable>) =>
      noted(kernelClock, apply, (applied) => road(operation, applied))
    return MailStore.of({
      configured: true,
      begin: (entry) =>
        Effect.tap(asked("begin", inner.begin(entry)), ({ decision }) =>
          Effect.sync(() =>
            saw(
              `claim ${decision._tag}${decision._tag === "Claimed" && decision.takeover ? " takeover" : ""}`
            )
          )
        ),
      moveClaim: (entry) => road("moveClaim", inner.moveClaim(entry)),
      findEvidence: (entry) => asked("findEvidence", inner.findEvidence(entry)),
      deferralEnd: (entry) => road("deferralEnd", inner.deferralEnd(entry)),
      beginRetry: (entry) =>
        Effect.tap(asked("beginRetry", inner.beginRetry(entry)), (began) =>
          Effect.sync(() => saw(`retry ${began._tag}`))
        ),
      tagSecret: inner.tagSecret,
      noteUnclaimed: (count) => road("noteUnclaimed", inner.noteUnclaimed(count)),
      record: (entry) =>
        road(
          "record",
          Effect.tap(inner.record(entry), () =>
            entry.outcome === "sent" ? noteProof(entry.provider, entry.details.keyHash) : Effect.void
          )
        )
    })
  }

  const queueOf = (process: SimProcess, inner: DeferQueue["Service"]): DeferQueue["Service"] => ({
    ...inner,
    configured: hasQueue,
    enqueue: (message, delay) =>
      call(process, chance, roadToStore(), inner.enqueue(message, delay), () => {
        saw("enqueue lost")
        return storeDown("connection lost")
      })
  })

  const processes: World["processes"] = []
  let serial = 0

  /** Starts a process: a mailer and a retry consumer on roads of its own. Nothing of it is ever closed: it can only die. */
  const spawn = Effect.gen(function* () {
    const process = makeProcess(`P${serial++}`, kernelClock)
    const attached = broker.attach()
    yield* Deferred.await(process.died).pipe(Effect.andThen(attached.kill), Effect.forkDetach)
    const queue = queueOf(process, attached.queue)
    const connected = {
      provider_a: breakProvider(planted, providers.provider_a.connect(process)),
      provider_b: breakProvider(planted, providers.provider_b.connect(process))
    }
    const outside = simCrypto(chance).pipe(
      Context.add(MailerConfig, settings),
      Context.add(MailStore, storeOf(process)),
      Context.add(DeferQueue, queue),
      Context.add(MailProviders, { get: (name) => connected[name] })
    )
    const scope = yield* Scope.make()
    const context: Context.Context<Mailer | RetryHandler> = yield* Layer.buildWithScope(
      programs.pipe(Layer.provide(Layer.succeedContext(outside))),
      scope
    )
    const handler = breakHandler(planted, Context.get(context, RetryHandler))
    yield* attached.queue
      .consume((message) => Effect.andThen(alive(process), traced(handler.handle(message))), {
        concurrency: 3
      })
      .pipe(
        Effect.exit,
        Effect.tap((exit) =>
          Exit.isFailure(exit) && !process.dead ? Effect.sync(() => saw("consumer ended")) : Effect.void
        ),
        Effect.provideService(Clock.Clock, process.clock),
        Effect.forkDetach
      )
    const mailer = breakMailer(planted, Context.get(context, Mailer))
    const inside = Mailer.of({
      send: (request) =>
        Effect.andThen(
          alive(process),
          Effect.provideService(traced(mailer.send(request)), Clock.Clock, process.clock)
        )
    })
    processes.push(Object.assign(process, { mailer: inside }))
  })

  return {
    chance,
    happens,
    chronicle,
    database,
    broker,
    providers,
    violations,
    processes,
    calm,
    spawn,
    events
  }
}
