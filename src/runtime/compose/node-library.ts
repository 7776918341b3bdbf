import {
  Context,
  Data,
  Effect,
  Exit,
  Layer,
  Logger,
  MutableHashMap,
  MutableHashSet,
  Option,
  RcMap,
  type Result,
  Scope
} from "effect"

import { withDeadline } from "../../application/deadline.ts"
import { type Circuits, KeptCircuits } from "../../application/mail/circuits.ts"
import { layer as layerMailer, Mailer } from "../../application/mail/mailer.ts"
import { layer as layerRetry, type RetryHandler } from "../../application/mail/retry.ts"
import * as Enqueue from "../../application/send-queue/enqueue.ts"
import type { InvalidCursor } from "../../ports/cursor.ts"
import { EmailLogQuery } from "../../ports/delivery/email-log-query.ts"
import { DeferQueue } from "../../ports/mail/defer-queue.ts"
import { SendQueue } from "../../ports/mail/send-queue.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import {
  envOf,
  type MailRuntime,
  makeSendEmail,
  type OpenMailer,
  openMailer,
  type SendEmail,
  type SendOptions,
  readSettings,
  type SettingsRefused
} from "../edge/plain-send-email.ts"
import { lineLogger, type LogSink, scrubOf } from "../process/log-lines.ts"
import { Supervisors } from "../process/supervisor.ts"
import { layerTracedProviders } from "../process/traced.ts"
import type { Env, Settings } from "../settings/settings.ts"
import { mailDatabase, mailerConfig, mailPortsOn } from "./mail/mail.ts"
import { nodeProviders } from "./mail/node-providers.ts"
import { retryWorker } from "./mail/retry-worker.ts"
import { nodeCredentials } from "./node-credentials.ts"
import { nodeCrypto } from "./node-crypto.ts"

/**
 * How long an unused mailer keeps its connections. They keep a process alive, so this is also how long a script runs on after its
 * last send; {@link close} spares it the wait.
 */
const IDLE_TIME_TO_LIVE = "1 second"

/** Time limit of {@link close} for sends in progress; a drain takes 9 seconds at most. */
const CLOSE_TIME_LIMIT = "10 seconds"

/** Few connections of a kind: the process belongs to somebody else. */
const MAX_CONNECTIONS = 2

/** Stdout is the host's. */
const logSink: LogSink = { write: (line) => process.stderr.write(line) }

const databaseOf = (settings: Settings) =>
  mailDatabase(settings, (postgres, options) =>
    postgres.layer({
      ...options,
      maxSendConnections: MAX_CONNECTIONS,
      maxSlowConnections: MAX_CONNECTIONS,
      maxWriteConnections: MAX_CONNECTIONS
    })
  )

/**
 * The mailer, and the handler of its retries: they share what the process remembers of its keys. What it knows of providers that hang
 * outlives the mailer.
 */
const layerOf = (
  settings: Settings,
  circuits?: Circuits,
  traced = false
): Layer.Layer<Mailer | RetryHandler | DeferQueue> => {
  const credentials = nodeCredentials(settings)
  const plain = nodeProviders(settings, credentials)
  const providers = traced ? Layer.provide(layerTracedProviders, plain) : plain
  const ports = mailPortsOn(settings, { providers, credentials, crypto: nodeCrypto }, databaseOf(settings))
  return Layer.merge(layerMailer, layerRetry).pipe(
    Layer.provide(Layer.succeed(KeptCircuits, circuits)),
    Layer.provideMerge(ports)
  )
}

/** Consumes the retry queue for as long as the scope is open (`retry: true`). */
const retries = Effect.gen(function* () {
  const { configured } = yield* DeferQueue
  yield* Layer.build(Layer.provide(retryWorker, Supervisors.layer))
  if (!configured)
    yield* Effect.logWarning("retry: true has no queue to take from: set DB_URL, or EMAIL_DEFER_QUEUE_URL")
})

/** The settings name no database. */
class NoDatabase extends Data.TaggedError("NoDatabase") {
  override readonly message =
    "There is no database, and so neither a send log nor a send queue: set DB_URL and DB_SECRET_KEY"
}

/** The log and the queue of these settings, on separate connections: a process that only sends opens none. */
const openStores = Effect.fnUntraced(function* (env: Env) {
  const settings = yield* readSettings(env, false)
  const database = databaseOf(settings)
  if (database === undefined) return yield* new NoDatabase()
  const [emailLog, sendQueue] = yield* Effect.promise(() =>
    Promise.all([
      import("../../adapters/postgres/delivery/email-log-query.ts"),
      import("../../adapters/postgres/mail/send-queue.ts")
    ])
  )
  const context = yield* Layer.buildWithMemoMap(
    Layer.mergeAll(emailLog.layer, Layer.provideMerge(Enqueue.layer, sendQueue.layer)).pipe(
      Layer.provide([database, mailerConfig(settings), nodeCrypto])
    ),
    Layer.makeMemoMapUnsafe(),
    yield* Effect.scope
  )
  return {
    log: Context.get(context, EmailLogQuery),
    queue: Context.get(context, SendQueue),
    enqueue: Context.get(context, Enqueue.Enqueue),
    loggers: new Set([lineLogger(logSink, scrubOf(settings))])
  }
})

/** What the database of an installation offers beside the send itself. */
interface Stores {
  readonly log: EmailLogQuery["Service"]
  readonly queue: SendQueue["Service"]
  readonly enqueue: Enqueue.Enqueue["Service"]
}

/** One mailer per environment, shared by all calls and closed when it has been idle for a while. */
interface Shared {
  readonly scope: Scope.Closeable
  readonly mailers: RcMap.RcMap<Env, OpenMailer<RetryHandler | DeferQueue>, SettingsRefused>
  /** The environments whose retries this process makes. */
  readonly retrying: MutableHashSet.MutableHashSet<Env>
  readonly stores: RcMap.RcMap<
    Env,
    Effect.Success<ReturnType<typeof openStores>>,
    SettingsRefused | NoDatabase
  >
}

let shared: Shared | undefined

const acquire = (): Shared => {
  if (shared !== undefined) return shared
  const scope = Scope.makeUnsafe()
  const circuits = MutableHashMap.empty<Env, Circuits>()
  const circuitsOf = (env: Env): Circuits => {
    const kept = Option.getOrElse(MutableHashMap.get(circuits, env), () => new Map())
    MutableHashMap.set(circuits, env, kept)
    return kept
  }
  const make = RcMap.make({
    lookup: (env: Env) =>
      openMailer(env, { edge: false, layer: (settings) => layerOf(settings, circuitsOf(env)), logSink }),
    idleTimeToLive: IDLE_TIME_TO_LIVE
  })
  const makeStores = RcMap.make({ lookup: openStores, idleTimeToLive: IDLE_TIME_TO_LIVE })
  return (shared = {
    scope,
    retrying: MutableHashSet.empty(),
    mailers: Effect.runSync(Scope.provide(make, scope)),
    stores: Effect.runSync(Scope.provide(makeStores, scope))
  })
}

/** Keeps the mailer of these settings until {@link close}, and makes its retries. */
const startRetries = Effect.fnUntraced(
  function* ({ mailers, retrying }: Shared, env: Env) {
    if (MutableHashSet.has(retrying, env)) return
    MutableHashSet.add(retrying, env)
    const { context, loggers } = yield* RcMap.get(mailers, env)
    yield* retries.pipe(Effect.provideContext(context), Effect.provideService(Logger.CurrentLoggers, loggers))
  },
  (starting, { scope }) => Scope.provide(starting, scope)
)

const runtime: MailRuntime = {
  ambientEnv: () => process.env,
  withMailer: (env, use, retry) =>
    Effect.scoped(
      Effect.gen(function* () {
        const opened = acquire()
        const { mailers } = opened
        const ready = yield* RcMap.get(mailers, env).pipe(
          Effect.tapCause(() => RcMap.invalidate(mailers, env))
        )
        if (retry) yield* startRetries(opened, env)
        return yield* use(ready)
      })
    ),
  logSink
}

/** `sendEmail` on Node: without `env` it reads `process.env`. */
const sendForReal: SendEmail = makeSendEmail(runtime)

/** What a test has put in place of the providers and the database: the latest last. */
const replaced: Array<{ readonly runtime: MailRuntime; readonly send: SendEmail }> = []

/** Sends on this runtime until what it returns is called. */
export const replaceSending = (by: MailRuntime): (() => void) => {
  const entry = { runtime: by, send: makeSendEmail(by) }
  replaced.push(entry)
  return () => {
    if (replaced.includes(entry)) replaced.splice(replaced.indexOf(entry), 1)
  }
}

/** Sends mail: where a test simulates it, there. */
export const sendEmail: SendEmail = (request, options) =>
  (replaced.at(-1)?.send ?? sendForReal)(request, options)

/** Uses the log and the queue of these settings; the failure says why they cannot be used, and whether there are any. */
export const useStores = <A>(
  given: Readonly<Record<string, unknown>>,
  use: (stores: Stores) => Effect.Effect<A, StoreUnavailable | InvalidCursor>
): Promise<Result.Result<A, { readonly isConfigured: boolean; readonly message: string }>> => {
  const env = envOf({ env: given }, undefined)
  const { stores } = acquire()
  return Effect.gen(function* () {
    const { loggers, ...opened } = yield* RcMap.get(stores, env).pipe(
      Effect.mapError(({ message }) => ({ isConfigured: false, message })),
      Effect.tapCause(() => RcMap.invalidate(stores, env))
    )
    return yield* use(opened).pipe(
      Effect.catchTags({
        InvalidCursor: ({ message }) => Effect.fail({ isConfigured: true, message }),
        StoreUnavailable: (error) =>
          Effect.logWarning("the database does not answer", error).pipe(
            Effect.andThen(Effect.fail({ isConfigured: true, message: "The database does not answer now" }))
          )
      }),
      Effect.provideService(Logger.CurrentLoggers, loggers)
    )
  }).pipe(Effect.result, Effect.scoped, Effect.runPromise)
}

/**
 * Finishes what is in progress and closes all connections. Calling it is optional: they close by themselves once they are idle.
 * `sendEmail` can be called again afterwards.
 */
export const close = (): Promise<void> => {
  if (shared === undefined) return Promise.resolve()
  const { scope } = shared
  shared = undefined
  return Effect.runPromise(
    withDeadline(Scope.close(scope, Exit.void), {
      duration: CLOSE_TIME_LIMIT,
      onTimeout: () => Effect.void
    })
  )
}

/**
 * The `Mailer` of Effect code, made of the same settings as `sendEmail`'s; it lives as long as the layer. Where a test simulates mail, it
 * is that test's.
 */
export const layer = (
  options?: SendOptions & { readonly traced?: boolean }
): Layer.Layer<Mailer, SettingsRefused> =>
  Layer.effect(
    Mailer,
    Effect.suspend(() => {
      const env = envOf(options, process.env)
      const real = openMailer(env, {
        edge: false,
        layer: (settings) => layerOf(settings, undefined, options?.traced)
      }).pipe(
        Effect.tap(({ context }) =>
          options?.retry === true ? Effect.provideContext(retries, context) : Effect.void
        ),
        Effect.map(({ mailer }) => mailer)
      )
      return (
        replaced
          .at(-1)
          ?.runtime.withMailer(env, ({ mailer: simulated }) => Effect.succeed(simulated), false) ?? real
      )
    })
  )
