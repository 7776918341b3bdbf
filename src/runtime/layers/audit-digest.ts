import { Effect, Layer } from "effect"
import { layerWebCrypto } from "effect/crypto/SecureRandom"

import * as SendRelay from "../../adapters/http-client/send-relay.ts"
import * as MailTemplates from "../../adapters/mail-templates/mail-templates.ts"
import type { DearSql, WriteSql } from "../../adapters/postgres/client.ts"
import * as Store from "../../adapters/postgres/delivery/audit-digest-store.ts"
import { DIGEST_CADENCES } from "../../domain/delivery/audit-digest-period.ts"
import * as Digest from "../../domain/delivery/audit-digest.ts"
import { AuditDigest } from "../../domain/delivery/audit-digest.ts"
import type { Leadership } from "../../ports/leadership.ts"
import { leaderTicking } from "../process/leadership.ts"
import type { Supervisors } from "../process/supervisor.ts"
import type { DeliverySettings } from "../settings/settings.ts"

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

/** The digest on PostgreSQL, sent through `INTERNAL_SEND_EMAIL_URL`; runs where there is no Node. */
export const layer = (
  settings: DeliverySettings
): Layer.Layer<Digest.AuditDigest, never, DearSql | WriteSql> =>
  Digest.layer.pipe(
    Layer.provide([
      Layer.succeed(Digest.AuditDigestConfig, { baseUrl: settings.http.baseUrl }),
      SendRelay.layer({
        url: settings.events.internalSendEmailUrl,
        secret: settings.access.proxySharedSecret
      }),
      MailTemplates.layer,
      Store.layer,
      layerWebCrypto
    ])
  )
