import { Layer } from "effect"
import { layerWebCrypto } from "effect/crypto/SecureRandom"

import * as MailTemplates from "../adapters/parse5/mail-templates.ts"
import * as Store from "../adapters/postgres/audit-digest-store.ts"
import type { ReadSql, WriteSql } from "../adapters/postgres/client.ts"
import * as SendRelay from "../adapters/web/send-relay.ts"
import * as Digest from "../domain/delivery/audit-digest.ts"
import type { Settings } from "./settings.ts"

/** The digest on PostgreSQL, sent through `INTERNAL_SEND_EMAIL_URL`; runs where there is no Node. */
export const layer = (
  settings: Pick<Settings, "access" | "events" | "http">
): Layer.Layer<Digest.AuditDigest, never, ReadSql | WriteSql> =>
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
