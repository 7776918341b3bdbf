import { Layer } from "effect"
import * as Digest from "effect/crypto/Digest"
import * as SecureRandom from "effect/crypto/SecureRandom"

import type { Mailer } from "../../application/mail/mailer.ts"
import { realProviders } from "../compose/mail/mail-providers.ts"
import { type Database, edgeDatabase } from "../compose/mail/mail.ts"
import { cloudCredentials, mailer } from "../compose/mail/mail.ts"
import type { Settings } from "../settings/settings.ts"

/** Hashes and ids by Web Crypto. */
export const edgeCrypto = Layer.mergeAll(Digest.layerWebCrypto, SecureRandom.layerWebCrypto)

/** The mailer on a database. There is no instance role on the edge: without keys there is no `provider_b`. */
export const edgeMailerOn = (
  settings: Settings,
  database: Layer.Layer<Database> | undefined
): Layer.Layer<Mailer> => {
  const credentials = cloudCredentials(settings)
  const providers = realProviders(
    settings,
    settings.cloud.credentials === undefined ? undefined : credentials
  )
  return mailer(settings, { providers, credentials, crypto: edgeCrypto }, database)
}

/** The mailer of the settings, with a database where they name one. */
export const edgeMailer = (settings: Settings): Layer.Layer<Mailer> =>
  edgeMailerOn(settings, edgeDatabase(settings))
