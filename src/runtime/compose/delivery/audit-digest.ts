import { Effect, Layer } from "effect"
import { layerWebCrypto } from "effect/crypto/SecureRandom"

import * as SendRelay from "../../../adapters/http-client/send-relay.ts"
import * as MailTemplates from "../../../adapters/mail-templates/mail-templates.ts"
import type { SlowSql, WriteSql } from "../../../adapters/postgres/client.ts"
import * as Store from "../../../adapters/postgres/delivery/audit-digest-store.ts"
import * as Digest from "../../../application/delivery/audit-digest.ts"
import { AuditDigest } from "../../../application/delivery/audit-digest.ts"
import * as OwnRelay from "../../../application/delivery/own-relay.ts"
import type { Mailer } from "../../../application/mail/mailer.ts"
import { DIGEST_CADENCES } from "../../../domain/delivery/audit-digest-period.ts"
import type { SendRelay as Relay } from "../../../ports/delivery/audit-digest-store.ts"
import type { Leadership } from "../../../ports/leadership.ts"
import { leaderTicking } from "../../process/leadership.ts"
import type { Supervisors } from "../../process/supervisor.ts"
import type { DeliverySettings } from "../../settings/settings.ts"

/** How soon after 14:00 UTC, and after a start, what is due goes out. */
const INTERVAL = "1 minute"

/** What is due goes out once, however often this runs: a missed run is caught up on until the next period ends. */
export const tick = Effect.gen(function* () {
  const { run } = yield* AuditDigest
  for (const cadence of DIGEST_CADENCES) {
    const { ok, ...counts } = yield* run({ cadence, patient: true })
    if (!ok)
      yield* Effect.logWarning("some digests were not sent: they are tried again in a minute", {
        cadence,
        ...counts
      })
    else if (counts.sent > 0) yield* Effect.logInfo("digests were sent", { cadence, ...counts })
  }
})

/** The leader's digests: daily, and weekly on Mondays. */
export const ticks: Layer.Layer<never, never, AuditDigest | Leadership | Supervisors> = leaderTicking(
  "audit-digest",
  INTERVAL,
  tick
)

const relayAt = ({ access, events }: DeliverySettings) =>
  SendRelay.layer({ url: events.internalSendEmailUrl, secret: access.proxySharedSecret })

/** Where `INTERNAL_SEND_EMAIL_URL` names another service, that one; this process itself where it is its own route. */
const relayHere = (settings: DeliverySettings): Layer.Layer<Relay, never, Mailer> =>
  settings.events.internalSendEmailUrl === `${settings.http.baseUrl}/internal/send-email`
    ? OwnRelay.layer
    : relayAt(settings)

const digestBy = <R>(settings: DeliverySettings, relay: Layer.Layer<Relay, never, R>) =>
  Digest.layer.pipe(
    Layer.provide([
      Layer.succeed(Digest.AuditDigestConfig, { baseUrl: settings.http.baseUrl }),
      relay,
      MailTemplates.layer,
      Store.layer,
      layerWebCrypto
    ])
  )

/** The digest on PostgreSQL, sent through `INTERNAL_SEND_EMAIL_URL`; runs where there is no Node. */
export const layer = (
  settings: DeliverySettings
): Layer.Layer<Digest.AuditDigest, never, SlowSql | WriteSql> => digestBy(settings, relayAt(settings))

/** The digest of a process that sends itself. */
export const layerHere = (
  settings: DeliverySettings
): Layer.Layer<Digest.AuditDigest, never, SlowSql | WriteSql | Mailer> =>
  digestBy(settings, relayHere(settings))
