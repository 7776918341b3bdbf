import { randomBytes } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setImmediate as turn } from "node:timers/promises"

import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Clock, Context, Duration, Effect, Exit, Layer, Logger, Result, Scope } from "effect"

import * as MemoryDeliveryLog from "../../adapters/memory/delivery/delivery-log.ts"
import { makeDeferBroker } from "../../adapters/memory/mail/defer-queue.ts"
import { makeMailDatabase, type MailDatabase } from "../../adapters/memory/mail/mail-store.ts"
import readMessage from "../../adapters/message-view/message-view-program.ts"
import * as Simulated from "../../adapters/simulated/simulated-mail.ts"
import { vendorRequests } from "../../adapters/simulated/vendor-event.ts"
import * as Mailer from "../../application/mail/mailer.ts"
import * as Retry from "../../application/mail/retry.ts"
import { outboxMail, type OutboxMail } from "../../application/outbox-mail.ts"
import { DeliveryIntake, DeliveryLog } from "../../ports/delivery/delivery-log.ts"
import { DeferQueue } from "../../ports/mail/defer-queue.ts"
import { MailProviders } from "../../ports/mail/mail-provider.ts"
import { MailStore } from "../../ports/mail/mail-store.ts"
import type { MessageContent } from "../../ports/mail/message-views.ts"
import { SimulatedMail, type SimulatedEvent } from "../../ports/mail/simulated-mail.ts"
import * as Intake from "../compose/delivery/delivery-intake.ts"
import { mailerConfig } from "../compose/mail/mail.ts"
import { replaceSending } from "../compose/node-library.ts"
import {
  envOf,
  type MailRuntime,
  makeSendEmail,
  type OpenMailer,
  type SendEmail,
  SettingsRefused
} from "../edge/plain-send-email.ts"
import { lineLogger, scrubOf } from "../process/log-lines.ts"
import { layerTracedProviders } from "../process/traced.ts"
import { withGeneratedSecrets } from "../settings/generated-secrets.ts"
import { PROVIDER_AREAS } from "../settings/providers.ts"
import { decodeSettings, type Settings } from "../settings/settings.ts"
import { SETTINGS } from "../settings/table.ts"
import { makeTestOutbox, type TestOutbox } from "./outbox.ts"
import { makeControl, makeReports, type ProviderControl, type ProviderReports } from "./provider-control.ts"
import { makeShiftedClock, type ShiftedClock } from "./shifted-clock.ts"

/** Time that can be put forward. */
export interface TestClock {
  /** Puts it forward: milliseconds, or a text such as `2 minutes`. What is due then happens. */
  readonly advance: (by: Duration.Input) => Promise<void>
}

/** A row of the send log. */
export interface LoggedMail {
  readonly sendId: string
  readonly to: ReadonlyArray<string>
  readonly subject: string | null
  readonly status: string
  readonly provider: string | null
  readonly lastEvent: string | null
  readonly idempotencyKey: string | null
}

/** The library on simulated providers, in this process alone. */
export interface SimulatedEmail extends ProviderReports, AsyncDisposable {
  /** `sendEmail` on the simulated providers. The one of `postlane` sends here, too, until it is closed. */
  readonly sendEmail: SendEmail
  readonly outbox: TestOutbox
  readonly provider: ProviderControl
  readonly clock: TestClock
  /** The addresses that get no mail, with the reason. */
  readonly suppressions: () => ReadonlyArray<{ readonly email: string; readonly reason: string }>
  /** The rows of the send log, oldest first; a retry has a separate row. */
  readonly log: () => ReadonlyArray<LoggedMail>
  readonly close: () => Promise<void>
}

export interface SimulatedEmailOptions {
  /** Settings by name, in place of those of `process.env`. Databases, queues and providers in it are not used. */
  readonly env?: Readonly<Record<string, unknown>> | undefined
  /** Receives each line of the log. By default the log is dropped, since tests provoke failures on purpose. */
  readonly log?: ((line: string) => void) | undefined
}

export const FOLDER = "postlane-mail-"

/** Settings of these areas are ignored: they name external services, which are simulated. */
const OUTSIDE: ReadonlySet<string> = new Set(["database", ...PROVIDER_AREAS, "cloud"])
const OUTSIDE_NAMES: ReadonlySet<string> = new Set([
  ...SETTINGS.filter(({ area }) => OUTSIDE.has(area)).flatMap(({ alias, name }) => [name, alias ?? name]),
  "EMAIL_DEFER_QUEUE_URL"
])

export const settingsFor = async (env: SimulatedEmailOptions["env"], folder: string): Promise<Settings> => {
  const given = Object.entries(envOf({ env }, process.env)).filter(([name]) => !OUTSIDE_NAMES.has(name))
  const complete = await Effect.runPromise(withGeneratedSecrets(Object.fromEntries(given), folder))
  const decoded = decodeSettings(complete, { embedded: true })
  if (Result.isFailure(decoded)) throw new SettingsRefused({ problems: decoded.failure })
  return decoded.success
}

/** Records what a simulated provider reports, by the way of the vendor's own words. */
const makeRecorder = (settings: Settings, database: MailDatabase) =>
  Effect.gen(function* () {
    const intake = yield* DeliveryIntake
    const log = yield* DeliveryLog
    /** By the webhook of the request's path; what has none there comes by the bus. */
    const read = ({ body, headers, path }: ReturnType<typeof vendorRequests>[number]) => {
      const reader = Object.entries(intake.webhooks).find(([name]) => path.endsWith(`/${name}`))?.[1]
      return reader === undefined
        ? Effect.succeed(intake.bus(JSON.parse(body)))
        : Effect.map(Effect.fromResult(reader.read(new TextEncoder().encode(body), headers)), (incoming) => [
            incoming
          ])
    }
    return Effect.fnUntraced(function* (event: SimulatedEvent) {
      for (const request of vendorRequests(event, settings))
        for (const one of yield* read(request)) if (one._tag === "Event") yield* log.record(one.event)
    }, Effect.orDie)
  }).pipe(Effect.provide([Intake.layer(settings), MemoryDeliveryLog.layer(database)]))

/** Everything that sends, and the consumer of its retries; with spans of the attempts where they are `traced`. */
export const open = Effect.fnUntraced(function* (settings: Settings, folder: string, traced = false) {
  const database = makeMailDatabase(randomBytes(32))
  const { queue } = makeDeferBroker({ visibilitySeconds: 60 }).attach()
  const simulated = Simulated.layer({ dataDir: folder, onEvent: yield* makeRecorder(settings, database) })
  const providers = Layer.effect(
    MailProviders,
    Effect.map(SimulatedMail, ({ provider }) => MailProviders.of({ get: provider }))
  )
  const context = yield* Layer.buildWithScope(
    Layer.mergeAll(Mailer.layer, Retry.layer).pipe(
      Layer.provide([
        mailerConfig(settings),
        traced ? Layer.provide(layerTracedProviders, providers) : providers,
        Layer.succeed(MailStore, database.store),
        Layer.succeed(DeferQueue, queue),
        NodeCrypto.layer
      ]),
      Layer.provideMerge(simulated)
    ),
    yield* Effect.scope
  )
  const { handle } = Context.get(context, Retry.RetryHandler)
  yield* Effect.forkScoped(queue.consume(handle, { concurrency: 4 }))
  return {
    context,
    database,
    mailer: Context.get(context, Mailer.Mailer),
    simulated: Context.get(context, SimulatedMail)
  }
})

const contentOf = async ({ outbox }: SimulatedMail["Service"], id: string): Promise<OutboxMail> => {
  const [entry, raw] = await Effect.runPromise(Effect.all([outbox.entry(id), outbox.get(id)]))
  if (entry === undefined || raw === undefined) throw new Error(`There is no mail ${id} any more`)
  const answer = await readMessage({ kind: "content", raw })
  if (answer.kind === "unreadable") throw new Error(`The mail ${id} cannot be read. ${answer.message}`)
  return outboxMail(entry, answer.value as MessageContent)
}

const logOf = ({ rows }: MailDatabase): ReadonlyArray<LoggedMail> =>
  rows().map(({ id, idempotencyKey, lastEvent, provider, status, subject, to }) => ({
    sendId: id,
    to,
    subject,
    status,
    provider,
    lastEvent,
    idempotencyKey
  }))

const reportsOf = ({ outbox, report }: SimulatedMail["Service"], on: ShiftedClock): ProviderReports =>
  makeReports((id, type, recipients) =>
    Effect.gen(function* () {
      const entry = yield* outbox.entry(id)
      if (entry === undefined) return yield* Effect.die(new Error(`There is no mail ${id} any more`))
      if (!(yield* report(entry, type, recipients)))
        return yield* Effect.die(new Error(`${entry.via} reports no events`))
    }).pipe(Effect.provideService(Clock.Clock, on), Effect.runPromise)
  )

/**
 * Puts simulated providers behind `sendEmail` and the drop-ins of this process, until it is closed: no server, no database. A send has
 * its key, its suppressions, its fail-over and its retries as with a database; they are kept in memory.
 */
export const simulateEmail = async (options: SimulatedEmailOptions = {}): Promise<SimulatedEmail> => {
  const folder = await mkdtemp(join(tmpdir(), FOLDER))
  const clock = makeShiftedClock()
  const scope = Scope.makeUnsafe()
  const end = async () => {
    await Effect.runPromise(Effect.provideService(Scope.close(scope, Exit.void), Clock.Clock, clock))
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const settings = await settingsFor(options.env, folder)
    const logSink = { write: (line: string) => options.log?.(line) }
    const loggers = new Set([lineLogger(logSink, scrubOf(settings))])
    const inTime = <A, E>(effect: Effect.Effect<A, E>) =>
      effect.pipe(
        Effect.provideService(Clock.Clock, clock),
        Effect.provideService(Logger.CurrentLoggers, loggers)
      )
    const { context, database, mailer, simulated } = await Effect.runPromise(
      inTime(Effect.provideService(open(settings, folder), Scope.Scope, scope))
    )
    const opened: OpenMailer = { context, mailer, settings, loggers }
    const runtime: MailRuntime = {
      ambientEnv: () => ({}),
      withMailer: (_, use) => inTime(use(opened)),
      logSink
    }
    const restore = replaceSending(runtime)
    const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runPromise(inTime(effect))
    let closing: Promise<void> | undefined
    const close = () => {
      restore()
      return (closing ??= end())
    }
    return {
      sendEmail: makeSendEmail(runtime),
      outbox: makeTestOutbox({
        list: async (address) =>
          (await run(simulated.outbox.list({ address }))).map(({ category, key, ...entry }) => ({
            ...entry,
            category: category ?? null,
            idempotencyKey: key ?? null
          })),
        content: (id) => contentOf(simulated, id),
        clear: () => run(simulated.outbox.clear("~"))
      }),
      provider: makeControl(settings.sending.primary, ({ for: target, otherwise, outcomes, provider }) =>
        run(simulated.script(provider, outcomes, otherwise, target))
      ),
      ...reportsOf(simulated, clock),
      clock: {
        advance: async (by) => {
          clock.advance(Duration.toMillis(by))
          // What is due gets a turn.
          await turn()
        }
      },
      suppressions: () => database.suppressions().map(({ email, reason }) => ({ email, reason })),
      log: () => logOf(database),
      close,
      [Symbol.asyncDispose]: close
    }
  } catch (cause) {
    await end()
    throw cause
  }
}
