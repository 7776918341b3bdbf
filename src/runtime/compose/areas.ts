import { Duration, Effect, Layer } from "effect"

import * as Resolver from "../../adapters/dns/resolver.ts"
import * as ResendFront from "../../adapters/drop-ins/resend-front.ts"
import type { CredentialSource } from "../../adapters/ses/credentials.ts"
import { ConfiguredProviders } from "../../application/configured-providers.ts"
import * as SenderDomain from "../../application/doctor/sender-domain.ts"
import { ConvertByEmail } from "../../application/inbound/convert-by-email.ts"
import { Provider, providersNamed } from "../../domain/mail/provider.ts"
import { DeferQueue } from "../../ports/mail/defer-queue.ts"
import type { MailProviders } from "../../ports/mail/mail-provider.ts"
import type { SimulatedMail } from "../../ports/mail/simulated-mail.ts"
import * as MetricsPage from "../process/metrics-page.ts"
import { VERSION } from "../process/package.ts"
import * as Readiness from "../process/readiness.ts"
import { Supervisors } from "../process/supervisor.ts"
import { layerTraced, layerTracedProviders } from "../process/traced.ts"
import type { Settings } from "../settings/settings.ts"
import { accounts } from "./accounts.ts"
import { conversion } from "./conversion.ts"
import { database, type databaseAt, databaseCheck } from "./database/database.ts"
import { delivery, health } from "./delivery/delivery.ts"
import { inbound } from "./inbound/inbound.ts"
import { mail } from "./mail/mail-server.ts"
import { queueChecks } from "./mail/queue-checks.ts"
import { nodeCrypto } from "./node-crypto.ts"
import { objectChecks } from "./objects.ts"
import { outreach } from "./outreach.ts"
import * as SenderRecords from "./sender-records.ts"

/** How long a mail may be due and unclaimed before readiness reports it. */
const MAIL_WAITS = Duration.minutes(15)

/** Mails that are due and that no process works on, including those in an object store that no process has. */
const waitingMails = Effect.map(ConvertByEmail, (intake): Readiness.Check => ({
  name: "mails-waiting",
  advisory: true,
  run: Effect.flatMap(intake.waitingSince(MAIL_WAITS), (count) =>
    count === 0
      ? Effect.void
      : Effect.fail(new Error(`${count} mails have been due for 15 minutes, and no process works on them`))
  )
}))

const readiness = (settings: Settings) =>
  Layer.unwrap(
    Effect.gen(function* () {
      return Readiness.layer([
        yield* databaseCheck,
        ...queueChecks(yield* DeferQueue, settings.roles.includes("retry")),
        ...(yield* objectChecks(settings)),
        ...(settings.roles.includes("intake") ? [yield* waitingMails] : [])
      ])
    })
  )

/** What the areas are built on that the settings alone do not decide. */
interface Parts {
  readonly credentials: CredentialSource
  readonly providers: Layer.Layer<MailProviders>
  /** Of an embedded run. */
  readonly outbox: Layer.Layer<SimulatedMail> | undefined
  /** Absent where a server looks first whether it can work on its database. */
  readonly database?: ReturnType<typeof databaseAt>
}

/** Everything but listener and roles: each area is built on those below it. */
export const areas = (settings: Settings, parts: Parts) => {
  const { credentials, outbox, providers } = parts
  const onlySimulated = Provider.literals.every((provider) => settings.sending.simulates[provider])
  const named = Layer.succeed(ConfiguredProviders, providersNamed(settings.sending))
  const traced = settings.telemetry.otlpEndpoint !== undefined
  const untraced = mail(settings, {
    providers: traced ? Layer.provide(layerTracedProviders, providers) : providers,
    credentials,
    crypto: nodeCrypto
  })
  return MetricsPage.layer({ version: VERSION, figures: settings.roles.includes("leader") }).pipe(
    Layer.provideMerge(ResendFront.layer),
    Layer.provideMerge(readiness(settings)),
    Layer.provideMerge(health(settings)),
    Layer.provideMerge(
      Layer.provide(SenderDomain.layer, [Resolver.layer(), SenderRecords.layer({ settings, credentials })])
    ),
    Layer.provideMerge(delivery(settings, { outbox, onlySimulated, traced })),
    Layer.provideMerge(outreach(settings)),
    Layer.provideMerge(inbound(settings)),
    Layer.provideMerge(conversion(settings, credentials)),
    Layer.provideMerge(accounts(settings, { onlySimulated })),
    Layer.provideMerge(traced ? Layer.provideMerge(layerTraced, untraced) : untraced),
    Layer.provideMerge(parts.database ?? database(settings)),
    Layer.provideMerge(Supervisors.layer),
    Layer.provideMerge(named)
  )
}
