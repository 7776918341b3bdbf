import { readFileSync } from "node:fs"
import { resolve } from "node:path"

import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Context, Effect, Layer, Result, Schema } from "effect"
import { HttpServer } from "effect/http"

import * as EmbeddedPostgres from "../adapters/embedded-postgres/embedded-postgres.ts"
import { embeddedHttpLayer, httpLayer } from "../adapters/http/http-layer.ts"
import { choosePort } from "../adapters/http/server/node-server.ts"
import * as AuditLog from "../adapters/postgres/accounts/audit-log.ts"
import * as Postgres from "../adapters/postgres/client.ts"
import * as DeliveryLog from "../adapters/postgres/delivery/delivery-log.ts"
import * as EmailLogQuery from "../adapters/postgres/delivery/email-log-query.ts"
import * as EmailStats from "../adapters/postgres/delivery/email-stats.ts"
import * as Leases from "../adapters/postgres/leadership.ts"
import * as Deferrals from "../adapters/postgres/mail/deferrals.ts"
import * as SuppressionList from "../adapters/postgres/mail/suppression-list.ts"
import { UndiciResend } from "../adapters/resend/undici-resend.ts"
import { imdsCredentials } from "../adapters/ses/imds-credentials.ts"
import * as Simulated from "../adapters/simulated/simulated-mail.ts"
import * as EventRecording from "../domain/delivery/event-recording.ts"
import { RetryHandler } from "../domain/mail/retry.ts"
import { DeferQueue } from "../ports/mail/defer-queue.ts"
import { access, promoClaims, callers, contactSweepTicks } from "./layers/accounts.ts"
import { alerts, recordedAlerts } from "./layers/alerts.ts"
import * as AuditDigestLayer from "./layers/audit-digest.ts"
import * as AuditDigest from "./layers/audit-digest.ts"
import { conversion, conversionAnchor, conversionWorkers } from "./layers/conversion.ts"
import { migrateDatabase, requireMigrated, shownUrl } from "./layers/database.ts"
import * as DeliveryIntake from "./layers/delivery-intake.ts"
import * as DeliveryWatch from "./layers/delivery-watch.ts"
import * as EventPollLayer from "./layers/event-poll.ts"
import * as EventPoll from "./layers/event-poll.ts"
import { intakeWorkers } from "./layers/inbound-roles.ts"
import { convertByEmail, pipelineAnswers } from "./layers/inbound.ts"
import { realProviders } from "./layers/mail-providers.ts"
import { cloudCredentials, mailerWithRetries } from "./layers/mail.ts"
import { objectChecks } from "./layers/objects.ts"
import { outreach, outreachTicks } from "./layers/outreach.ts"
import { bulkMessageTicks, sharing } from "./layers/sharing.ts"
import { embeddedProviders, simulates, makeSimulatedEvents } from "./layers/simulated-mail.ts"
import { announce, type Place } from "./process/banner.ts"
import * as Housekeeping from "./process/housekeeping.ts"
import * as Leadership from "./process/leadership.ts"
import * as Readiness from "./process/readiness.ts"
import { CannotStart } from "./process/run-program.ts"
import { startersOf, starterGone } from "./process/starter.ts"
import { background, Supervisors } from "./process/supervisor.ts"
import { layerTelemetry, surviveClosedOutput, layerTraced } from "./process/telemetry.ts"
import { withGeneratedSecrets } from "./settings/generated-secrets.ts"
import { decodeSettings, type Env, formatProblems, type Settings } from "./settings/settings.ts"

/** Retries under way at once in one process. */
const RETRY_CONCURRENCY = 8

/** The version that is reported to collectors and shown at the start. */
const { version: VERSION } = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ version: Schema.String }))
)(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))

const refuse = (problems: Parameters<typeof formatProblems>[0]) =>
  new CannotStart({
    message: `These settings are wrong or missing:\n${formatProblems(problems)}\nAll settings: docs/configuration.md`
  })

/**
 * The settings of this process: decoded, complete, with every problem reported at once; and the environment they were decoded
 * from.
 */
const readSettings = Effect.fnUntraced(function* (given: Env, embeddedByDefault: boolean) {
  const first = decodeSettings(given, { embedded: embeddedByDefault, server: true })
  if (Result.isFailure(first)) return yield* refuse(first.failure)
  if (!first.success.embedded) return { env: given, settings: first.success }
  const env = yield* withGeneratedSecrets(given, resolve(first.success.dataDir)).pipe(
    Effect.mapError(({ message }) => new CannotStart({ message }))
  )
  const settings = decodeSettings(env, { embedded: embeddedByDefault })
  return Result.isFailure(settings) ? yield* refuse(settings.failure) : { env, settings: settings.success }
})

/** With `PORT=0` the system chooses now, so that `BASE_URL`, where it is unset, is the listener's address. */
const withPort = Effect.fnUntraced(function* ({
  env,
  settings
}: {
  readonly env: Env
  readonly settings: Settings
}) {
  const { baseUrlIsSet, host, port } = settings.http
  const chosen = port === 0 && !baseUrlIsSet ? yield* choosePort(host) : undefined
  if (chosen === undefined) return { settings, beforeListen: Effect.void }
  const again = decodeSettings({ ...env, PORT: String(chosen.port) }, { embedded: settings.embedded })
  return Result.isFailure(again)
    ? yield* refuse(again.failure)
    : { settings: again.success, beforeListen: chosen.release }
})

/** The database that is configured, or the embedded one; migrated either way. */
const database = (settings: Settings) => {
  const { database: configured } = settings
  if (configured !== undefined) {
    return Layer.unwrap(
      Effect.as(requireMigrated(configured.url), Postgres.layer({ url: configured.url }))
    ).pipe(
      Layer.provideMerge(
        Layer.succeed(DatabasePlace, { shown: shownUrl(configured.url), whyDown: Effect.succeed(undefined) })
      )
    )
  }
  const place = Layer.effect(
    DatabasePlace,
    Effect.map(EmbeddedPostgres.EmbeddedPostgres, (embedded) => ({
      shown: `embedded, ${embedded.cluster}`,
      whyDown: Effect.map(embedded.state, (state) =>
        state.status === "up" ? undefined : (state.reason ?? "starting")
      )
    }))
  )
  const clients = Layer.unwrap(
    Effect.gen(function* () {
      const { url } = yield* EmbeddedPostgres.EmbeddedPostgres
      yield* migrateDatabase(url)
      return Postgres.layer({ url })
    })
  )
  return Layer.mergeAll(clients, place).pipe(Layer.provide(EmbeddedPostgres.layer(resolve(settings.dataDir))))
}

/** Where the database is, for the banner and for readiness. */
class DatabasePlace extends Context.Service<
  DatabasePlace,
  {
    readonly shown: string
    /** Why an embedded server is not up, as far as its supervisor knows. */
    readonly whyDown: Effect.Effect<string | undefined>
  }
>()("postlane/runtime/DatabasePlace") {}

/** The fibers that each role stands for. */
const roles = (settings: Settings) => {
  const has = (role: Settings["roles"][number]) => settings.roles.includes(role)
  const retry = Layer.unwrap(
    Effect.gen(function* () {
      const queue = yield* DeferQueue
      const { handle } = yield* RetryHandler
      return has("retry") && queue.configured
        ? background("retry", queue.consume(handle, { concurrency: RETRY_CONCURRENCY }))
        : Layer.empty
    })
  )
  // Work that one process at a time does is merged here, as `leaderTicking` layers.
  const leader = Layer.mergeAll(
    Housekeeping.layer,
    EventPoll.ticks(settings),
    AuditDigest.ticks,
    Layer.provide(DeliveryWatch.layer, recordedAlerts(settings)),
    conversionAnchor(settings),
    bulkMessageTicks,
    contactSweepTicks,
    outreachTicks
  ).pipe(Layer.provideMerge(Layer.provide(Leadership.layer(), Leases.layer)))
  return Layer.mergeAll(
    retry,
    has("leader") ? leader : Layer.empty,
    has("worker") ? conversionWorkers(settings) : Layer.empty,
    has("intake") ? intakeWorkers(settings) : Layer.empty
  )
}

const readiness = (settings: Settings) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const sql = yield* Postgres.ReadSql
      const { whyDown } = yield* DatabasePlace
      const queue = yield* DeferQueue
      const stores = yield* objectChecks(settings)
      return Readiness.layer([
        {
          name: "database",
          run: Effect.gen(function* () {
            const down = yield* whyDown
            if (down !== undefined) return yield* Effect.fail(new Error(down))
            yield* sql`select 1`
          })
        },
        { name: "queue", run: queue.check },
        ...stores
      ])
    })
  )

/** Everything that one process runs. */
const app = (settings: Settings, beforeListen: Effect.Effect<void>) => {
  const listener = {
    host: settings.http.host,
    port: settings.http.port,
    beforeListen,
    proxySecret: settings.access.proxySharedSecret,
    baseUrl: settings.http.baseUrl,
    trustedProxies: settings.http.trustedProxies,
    webhookSecret: settings.providerB.webhookSecret,
    api: settings.roles.includes("api")
  }
  const imds = imdsCredentials({ endpoint: settings.cloud.imdsEndpoint, now: Date.now })
  const credentials = cloudCredentials(settings, imds)
  const stand = simulates(settings)
  const events = makeSimulatedEvents(settings)
  const outbox = Layer.orDie(Simulated.layer({ dataDir: resolve(settings.dataDir), onEvent: events.onEvent }))
  const untraced = mailerWithRetries(settings, {
    providers: settings.embedded
      ? Layer.provide(embeddedProviders(settings, credentials), outbox)
      : realProviders(settings, credentials, UndiciResend),
    credentials,
    crypto: NodeCrypto.layer
  })
  const mail =
    settings.telemetry.otlpEndpoint === undefined ? untraced : Layer.provideMerge(layerTraced, untraced)
  const http = settings.embedded
    ? Layer.provideMerge(events.layer, Layer.provide(embeddedHttpLayer(listener), outbox))
    : httpLayer(listener)
  return Layer.mergeAll(http, roles(settings)).pipe(
    Layer.provideMerge(readiness(settings)),
    Layer.provideMerge(
      Layer.mergeAll(AuditLog.layer, EmailLogQuery.layer, EmailStats.layer, SuppressionList.layer)
    ),
    Layer.provide([EventPollLayer.layer(settings), AuditDigestLayer.layer(settings), outreach(settings)]),
    Layer.provide(
      Layer.provideMerge(Layer.provide(EventRecording.layer, recordedAlerts(settings)), DeliveryLog.layer)
    ),
    Layer.provide(DeliveryIntake.layer(settings)),
    Layer.provideMerge(alerts(settings, { outbox, onlySimulated: stand.provider_a && stand.provider_b })),
    Layer.provide(promoClaims(settings)),
    Layer.provide([convertByEmail(settings), pipelineAnswers]),
    Layer.provideMerge(sharing(settings)),
    Layer.provide(callers(settings, { onlySimulated: stand.provider_a && stand.provider_b })),
    Layer.provideMerge(mail),
    Layer.provideMerge(conversion(settings, credentials)),
    Layer.provideMerge(access(settings)),
    Layer.provideMerge(Deferrals.layer),
    Layer.provideMerge(database(settings)),
    Layer.provideMerge(Supervisors.layer)
  )
}

/** Runs one process for ever. `embedded` is what holds where `POSTLANE_EMBEDDED` is unset. */
export const run = (options: { readonly embedded: boolean }) =>
  Effect.gen(function* () {
    const starters = startersOf(process.env, process.ppid)
    yield* surviveClosedOutput([process.stdout, process.stderr])
    const read = yield* readSettings(process.env, options.embedded)
    const { beforeListen, settings } = yield* withPort(read)
    const telemetry = layerTelemetry(settings, { sink: process.stdout, version: VERSION })
    return yield* Effect.gen(function* () {
      const context = yield* Layer.build(app(settings, beforeListen))
      const place: Place = {
        address: Context.get(context, HttpServer.HttpServer).address,
        database: Context.get(context, DatabasePlace).shown,
        queue: Context.get(context, DeferQueue).configured,
        simulates: simulates(settings),
        seconds: process.uptime()
      }
      yield* announce(settings, place)
      yield* starterGone(settings.embedded ? starters : [])
      yield* Effect.logWarning("npm, which started this process, is gone: it ends, too")
      process.kill(process.pid, "SIGTERM")
      return yield* Effect.never
    }).pipe(Effect.scoped, Effect.provide(telemetry))
  }).pipe(Effect.scoped)
