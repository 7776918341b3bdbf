import { resolve } from "node:path"

import { Clock, Context, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"

import * as LinkTrier from "../../adapters/event-hooks/link-trier.ts"
import { embeddedHttpLayer, httpLayer } from "../../adapters/http/http-layer.ts"
import * as MessageViews from "../../adapters/message-view/message-views.ts"
import * as AlarmBoard from "../../adapters/postgres/delivery/alarm-board.ts"
import { runHousekeeping } from "../../adapters/postgres/housekeeping.ts"
import * as Leases from "../../adapters/postgres/leadership.ts"
import * as ShiftedTime from "../../adapters/postgres/shifted-time.ts"
import * as ReaderProcess from "../../adapters/reader-process/reader-process.ts"
import * as Simulated from "../../adapters/simulated/simulated-mail.ts"
import { CLOCK_INTERVAL, watchClock } from "../../application/delivery/clock-watch.ts"
import { DeferQueue } from "../../ports/mail/defer-queue.ts"
import { MetricsPage } from "../../ports/metrics-page.ts"
import { TimeForOthers } from "../../ports/test-time.ts"
import { announce, announceJson, type Place } from "../process/banner.ts"
import * as Leadership from "../process/leadership.ts"
import { VERSION } from "../process/package.ts"
import { PROCESS } from "../process/process-name.ts"
import { processReport } from "../process/process-report.ts"
import { startSettings } from "../process/start-settings.ts"
import { startersOf, starterGone } from "../process/starter.ts"
import { ticking } from "../process/supervisor.ts"
import { layerTelemetry, surviveClosedOutput } from "../process/telemetry.ts"
import type { Role, Settings } from "../settings/settings.ts"
import { makeShiftedClock, type ShiftedClock } from "../testing/shifted-clock.ts"
import { accountDuties } from "./accounts.ts"
import { areas } from "./areas.ts"
import { bulkMessageDuties, conversionDuties, conversionWorkers } from "./conversion.ts"
import { awaitDatabase } from "./database/database-wait.ts"
import { DatabasePlace } from "./database/database.ts"
import { temporaryData } from "./database/temporary-data.ts"
import { deliveryDuties } from "./delivery/delivery.ts"
import { intakeWorkers } from "./inbound/inbound-roles.ts"
import { submissionServer } from "./inbound/submission.ts"
import { queueSender } from "./mail/mail-server.ts"
import { nodeProviders } from "./mail/node-providers.ts"
import { retryWorker } from "./mail/retry-worker.ts"
import { embeddedProviders, makeSimulatedEvents } from "./mail/simulated-mail.ts"
import { nodeCredentials } from "./node-credentials.ts"
import { storeWatch } from "./objects.ts"
import { outreachDuties } from "./outreach.ts"

/** How often expired keys, links and sessions are deleted. */
const HOUSEKEEPING_INTERVAL = "10 minutes"

/** How often what is read for the metrics is read for a collector, which does not ask. */
const FIGURES_INTERVAL = "15 seconds"

const readFigures = MetricsPage.use((page) => page.text)

/** The work that one process at a time does, by area. */
const leader = (settings: Settings) =>
  Layer.mergeAll(
    ticking("housekeeping", HOUSEKEEPING_INTERVAL, runHousekeeping),
    deliveryDuties(settings),
    accountDuties,
    conversionDuties(settings),
    bulkMessageDuties,
    outreachDuties
  ).pipe(Layer.provideMerge(Layer.provide(Leadership.layer(), Leases.layer)))

/** The supervised fibers of the roles that this process has. */
const roles = (settings: Settings) => {
  const has = (role: Role) => settings.roles.includes(role)
  return Layer.mergeAll(
    storeWatch(settings),
    processReport(settings.roles),
    settings.telemetry.otlpEndpoint === undefined
      ? Layer.empty
      : ticking("figures", FIGURES_INTERVAL, readFigures),
    Layer.provide(ticking("clock", CLOCK_INTERVAL, watchClock(PROCESS)), AlarmBoard.layer),
    has("retry") ? retryWorker : Layer.empty,
    has("send") ? queueSender(settings) : Layer.empty,
    has("leader") ? leader(settings) : Layer.empty,
    has("worker") ? conversionWorkers(settings) : Layer.empty,
    has("intake") ? Layer.merge(intakeWorkers(settings), submissionServer(settings)) : Layer.empty
  )
}

/** The HTTP server, and the providers behind the mailer: simulated where an embedded run has no real ones. */
const outside = (settings: Settings, beforeListen: Effect.Effect<void>) => {
  const { access, dataDir, embedded, http, providerB } = settings
  const credentials = nodeCredentials(settings)
  const events = makeSimulatedEvents(settings)
  const outbox = Layer.orDie(
    Simulated.layer({
      dataDir: resolve(dataDir),
      vendorLimits: settings.sendQueue.vendorLimits,
      returns: settings.bounceAddress,
      onEvent: events.onEvent
    })
  )
  const listener = {
    host: http.host,
    port: http.port,
    beforeListen,
    proxySecret: access.proxySharedSecret,
    sendsMail: !settings.sending.isOff,
    baseUrl: http.baseUrl,
    olderBaseUrls: http.olderBaseUrls,
    trustedProxies: http.trustedProxies,
    maxConnections: http.maxConnections,
    webhookSecret: providerB.webhookSecret,
    api: settings.roles.includes("api")
  }
  return {
    credentials,
    outbox: embedded ? outbox : undefined,
    server: embedded
      ? Layer.provideMerge(
          events.layer,
          Layer.provide(embeddedHttpLayer(listener), [
            outbox,
            LinkTrier.layer(),
            Layer.provide(MessageViews.layer, ReaderProcess.layer)
          ])
        )
      : httpLayer(listener),
    providers: embedded
      ? Layer.provide(embeddedProviders(settings, credentials), outbox)
      : nodeProviders(settings, credentials)
  }
}

/** Everything that one process runs; with a clock, on a time that can be put forward. */
const app = (settings: Settings, beforeListen: Effect.Effect<void>, clock: ShiftedClock | undefined) => {
  const { server, ...parts } = outside(settings, beforeListen)
  return Layer.mergeAll(server, roles(settings)).pipe(
    Layer.provideMerge(clock === undefined ? Layer.empty : ShiftedTime.layer(clock.advance)),
    Layer.provideMerge(areas(settings, parts))
  )
}

/** How a process is started. */
export interface StartOptions {
  /** What holds where `POSTLANE_EMBEDDED` is unset. */
  readonly embedded: boolean
  /** The output is one line of JSON, which says where everything is; the log goes to the error output. */
  readonly json?: boolean
  /** For tests: the data folder is removed at the end, the system chooses the ports, and the process ends with its parent. */
  readonly temporary?: boolean
}

/** The environment of this process; of a temporary one, with what it makes for itself. */
const environment = Effect.fnUntraced(function* ({ temporary }: StartOptions) {
  if (temporary !== true) return process.env
  const POSTLANE_DATA_DIR = yield* temporaryData
  return { PORT: "0", SMTP_PORT: "0", SUBMISSION_PORT: "0", ...process.env, POSTLANE_DATA_DIR }
})

const inTestTime =
  (clock: ShiftedClock) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    effect.pipe(
      Effect.provideService(Clock.Clock, clock),
      Effect.provideService(TimeForOthers, Effect.sync(Date.now))
    )

/** Runs one process for ever. */
export const run = (options: StartOptions) =>
  Effect.gen(function* () {
    const npm = startersOf(process.env, process.ppid)
    const starters = options.temporary === true && npm.length === 0 ? [process.ppid] : npm
    yield* surviveClosedOutput([process.stdout, process.stderr])
    const { beforeListen, settings } = yield* startSettings(yield* environment(options), options.embedded)
    // Only the time of the temporary database can be put forward.
    const clock =
      options.temporary === true && settings.database === undefined ? makeShiftedClock() : undefined
    const sink = options.json === true ? process.stderr : process.stdout
    const telemetry = layerTelemetry(settings, { sink, version: VERSION })
    return yield* Effect.gen(function* () {
      const context = yield* Layer.build(app(settings, yield* awaitDatabase(settings, beforeListen), clock))
      const place: Place = {
        address: Context.get(context, HttpServer.HttpServer).address,
        database: Context.get(context, DatabasePlace).shown,
        queue: Context.get(context, DeferQueue).configured,
        simulates: settings.sending.simulates,
        seconds: process.uptime()
      }
      yield* options.json === true ? announceJson(settings, place) : announce(settings, place)
      yield* starterGone(settings.embedded ? starters : [])
      yield* Effect.logWarning(
        `${npm.length > 0 ? "npm, which" : "what"} started this process, is gone: the process ends, too`
      )
      process.kill(process.pid, "SIGTERM")
      return yield* Effect.never
    }).pipe(
      Effect.scoped,
      Effect.provide(telemetry),
      clock === undefined ? (effect) => effect : inTestTime(clock)
    )
  }).pipe(Effect.scoped)
