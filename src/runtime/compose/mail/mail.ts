import { Effect, Layer, Redacted } from "effect"
import type { Digest } from "effect/crypto/Digest"
import * as Mac from "effect/crypto/Mac"
import * as SecureRandom from "effect/crypto/SecureRandom"

import * as NoDeferQueue from "../../../adapters/memory/mail/defer-queue.ts"
import * as NoMailStore from "../../../adapters/memory/mail/mail-store.ts"
import type * as Postgres from "../../../adapters/postgres/client.ts"
import { type CredentialSource, credentialSource } from "../../../adapters/ses/credentials.ts"
import * as Mailer from "../../../application/mail/mailer.ts"
import { MailerConfig } from "../../../application/mail/sending.ts"
import type { DeferQueue } from "../../../ports/mail/defer-queue.ts"
import type { MailProviders } from "../../../ports/mail/mail-provider.ts"
import type { MailStore } from "../../../ports/mail/mail-store.ts"
import type { MailSettings, Settings } from "../../settings/settings.ts"

/** Services that the database-backed parts need. */
export type Database = Postgres.Clients

/**
 * The database of the settings; `undefined` where its address or its password is missing (MAIL-5). Connections are opened lazily,
 * so that an unreachable database fails calls, not the start. The driver is loaded here and not before: an installation without a
 * database does not need it.
 */
export const mailDatabase = (
  settings: Pick<Settings, "database">,
  connect: (postgres: typeof Postgres, options: Postgres.PostgresOptions) => ReturnType<typeof Postgres.layer>
): Layer.Layer<Database> | undefined => {
  const { database } = settings
  if (database === undefined || !database.hasPassword) return undefined
  return Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("../../../adapters/postgres/client.ts")),
      (postgres) => connect(postgres, database)
    )
  ).pipe(Layer.orDie)
}

/** For a call on the edge: one connection, closed with it; what was opened for one request cannot be used in another. */
export const edgeDatabase = (settings: Pick<Settings, "database">): Layer.Layer<Database> | undefined =>
  mailDatabase(settings, (postgres, options) => postgres.layerSingle(options))

/** What a mailer is built on that the settings alone do not decide. */
export interface MailParts {
  readonly providers: Layer.Layer<MailProviders>
  /** Signs the calls to the queue. */
  readonly credentials: CredentialSource
  readonly crypto: Layer.Layer<Digest | SecureRandom.SecureRandom>
}

/** The cloud keys of the settings, else `otherwise` (what the machine gives on Node, nothing on the edge). */
export const cloudCredentials = (settings: MailSettings, otherwise?: CredentialSource): CredentialSource => {
  const { credentials } = settings.cloud
  return credentialSource(
    {
      accessKeyId: credentials === undefined ? undefined : Redacted.value(credentials.accessKeyId),
      secretAccessKey: credentials?.secretAccessKey,
      sessionToken: credentials?.sessionToken
    },
    otherwise
  )
}

/** The mailer's part of the settings. */
export const mailerConfig = ({ domains, retryQueue, sending }: MailSettings): Layer.Layer<MailerConfig> =>
  Layer.succeed(MailerConfig, {
    primary: sending.primary,
    fallback: sending.fallback,
    defaults: { from: sending.from, domains: { sender: domains.sender, legacy: domains.legacy } },
    attemptTimeoutMs: sending.attemptTimeoutMs,
    dbTimeoutMs: sending.dbTimeoutMs,
    deferDelaysSeconds: retryQueue.delaysSeconds,
    costUsd: sending.costUsd
  })

/** Log, suppressions and claims in the database. */
const mailStore: Layer.Layer<MailStore, never, Database> = Layer.unwrap(
  Effect.map(
    Effect.promise(() => import("../../../adapters/postgres/mail/mail-store.ts")),
    (adapter) => adapter.layer
  )
)

/** The delayed retry queue of the settings, unless it is in the database. */
const queueWithoutDatabase = (
  settings: MailSettings,
  parts: Pick<MailParts, "credentials">
): Layer.Layer<DeferQueue> => {
  const { address, visibilitySeconds } = settings.retryQueue
  if (address._tag !== "Sqs") return NoDeferQueue.layerNone
  const { region, sqsEndpoint } = settings.cloud
  return Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("../../../adapters/sqs/defer-queue.ts")),
      (adapter) =>
        adapter.layer({
          queueUrl: address.url,
          visibilitySeconds,
          region,
          credentials: parts.credentials,
          ...(sqsEndpoint === undefined ? {} : { endpoint: sqsEndpoint })
        })
    )
  )
}

/** The delayed retry queue of the settings. */
export const deferQueue = (
  settings: MailSettings,
  parts: Pick<MailParts, "credentials">
): Layer.Layer<DeferQueue, never, Database> => {
  const { address, visibilitySeconds } = settings.retryQueue
  if (address._tag !== "Postgres") return queueWithoutDatabase(settings, parts)
  return Layer.unwrap(
    Effect.map(
      Effect.promise(() =>
        Promise.all([
          import("../../../adapters/postgres/client.ts"),
          import("../../../adapters/postgres/mail/defer-queue.ts")
        ])
      ),
      ([postgres, adapter]) =>
        adapter
          .layer({ name: adapter.QueueName.make(address.name), visibilitySeconds })
          .pipe(Layer.provide(postgres.layerSqlClient))
    )
  )
}

/** Links by which readers leave marketing and lists; mail services take https alone (RFC 8058). */
const unsubscribeLinks = ({ http }: MailSettings): Layer.Layer<never, never, Database> =>
  http.baseUrl.startsWith("https://")
    ? Layer.unwrap(
        Effect.map(
          Effect.promise(() =>
            Promise.all([
              import("../../../adapters/postgres/outreach/campaign-book.ts"),
              import("../../../application/outreach/unsubscribe.ts")
            ])
          ),
          ([adapter, { layerLinks }]) =>
            layerLinks(http.baseUrl).pipe(Layer.provide([adapter.layerUnsubscribes, Mac.layerWebCrypto]))
        )
      ).pipe(Layer.provide(SecureRandom.layerWebCrypto))
    : Layer.empty

/** What mail is sent with, on a database. */
export const mailPorts = (settings: MailSettings, parts: MailParts) =>
  Layer.mergeAll(
    unsubscribeLinks(settings),
    mailerConfig(settings),
    parts.providers,
    parts.crypto,
    mailStore,
    deferQueue(settings, parts)
  )

/** What mail is sent with. Without a database it is degraded: mail goes out without logging or suppression. */
export const mailPortsOn = (
  settings: MailSettings,
  parts: MailParts,
  database: Layer.Layer<Database> | undefined
) =>
  database === undefined
    ? Layer.mergeAll(
        mailerConfig(settings),
        parts.providers,
        parts.crypto,
        NoMailStore.layerNone,
        queueWithoutDatabase(settings, parts)
      )
    : Layer.provide(mailPorts(settings, parts), database)

/** The mailer alone: a process that only sends leaves the retries to one that consumes the queue. */
export const mailer = (
  settings: MailSettings,
  parts: MailParts,
  database: Layer.Layer<Database> | undefined
): Layer.Layer<Mailer.Mailer> => Layer.provide(Mailer.layer, mailPortsOn(settings, parts, database))
