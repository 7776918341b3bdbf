import type { Result } from "effect"

import type { Provider } from "../../domain/mail/failover.ts"
import { CONVERSION_SETTINGS } from "./conversion.ts"
import * as Value from "./readers.ts"
import { hidden, open, type Setting, vendor } from "./setting.ts"

const PROVIDERS: ReadonlyArray<Provider> = ["provider_a", "provider_b"]
const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const

/**
 * Every setting there is. The decoder, the configuration page and the warning about unknown names all read this table;
 * a default that is a plain value is written as text and read like a value that somebody set.
 */
const SETTINGS = {
  HOST: open("service", "Address that the HTTP server listens on.", Value.text, { fallback: "127.0.0.1" }),
  PORT: open(
    "service",
    "Port of the HTTP server; 0: one that the system chooses, which the log tells.",
    Value.port,
    { fallback: "8787" }
  ),
  BASE_URL: open(
    "service",
    "Public address of the API; links in mails and pages start with it.",
    Value.httpUrl,
    {
      otherwise: "http://{HOST}:{PORT}"
    }
  ),
  TRUSTED_PROXIES: open(
    "service",
    "Proxies in front of the HTTP server whose X-Forwarded-For is believed, so that callers are distinguished by their own addresses: their addresses and networks, separated by commas, or how many stand one behind another. A number is safe only where nobody reaches the server past them.",
    Value.proxies,
    { otherwise: "none: the peer of a connection is the caller" }
  ),
  POSTLANE_EMBEDDED: open(
    "service",
    "1: each part that is not configured is simulated or embedded (embedded Postgres, simulated providers, objects on disk). 0: nothing is simulated.",
    Value.flag,
    { otherwise: "1 under npm start, 0 under npm run serve" }
  ),
  POSTLANE_ROLES: open(
    "service",
    "Which supervised parts this process runs: all, or a list of api, leader (driver, event poll, digests, alarms), retry, worker (chunks), intake (SMTP).",
    Value.roles,
    { fallback: "all" }
  ),
  POSTLANE_DATA_DIR: open(
    "service",
    "Folder of the embedded Postgres, of objects, of the outbox and of generated tokens.",
    Value.text,
    { fallback: ".postlane" }
  ),

  PROXY_SHARED_SECRET: hidden(
    "access",
    "What callers of the relay, alert, poll and digest routes send in the header x-proxy-secret. Unset, every caller is refused.",
    Value.secret,
    { generated: true }
  ),
  ADMIN_TOKEN: hidden("access", "Embedded only: bearer token of the dev admin.", Value.secret, {
    generated: true
  }),
  OWNER_TOKEN: hidden("access", "Embedded only: bearer token of the dev owner.", Value.secret, {
    generated: true
  }),

  SENDER_DOMAIN: open("domains", "The domain that mail leaves from.", Value.domain, {
    fallback: "postlane.test"
  }),
  LEGACY_DOMAIN: open(
    "domains",
    "The older synonym domain: a From address on it, or on a subdomain of it, is rewritten to SENDER_DOMAIN.",
    Value.domain,
    { fallback: "legacy.postlane.test" }
  ),
  INBOUND_DOMAIN: open("domains", "The domain of the mailboxes that take documents.", Value.domain, {
    fallback: "in.postlane.test"
  }),
  EMAIL_FROM: open("domains", "From of a send request that names none.", Value.mailbox, {
    otherwise: "Postlane <noreply@{SENDER_DOMAIN}>"
  }),

  DB_URL: hidden(
    "database",
    "postgres://user@host:port/database, PostgreSQL 15 or later. Unset, mail goes out without a log row and without a suppression check.",
    Value.databaseUrl
  ),
  DB_SECRET_KEY: hidden("database", "Password of the database, where DB_URL holds none.", Value.secret, {
    alias: "DB_SERVICE_KEY"
  }),
  DB_SERVICE_ROLE_KEY: hidden(
    "database",
    "Password of the database, where neither DB_URL nor DB_SECRET_KEY gives one.",
    Value.secret
  ),

  EMAIL_PRIMARY: open(
    "sending",
    "The provider that is tried first: provider_a or provider_b.",
    Value.oneOf(PROVIDERS),
    {
      fallback: "provider_a"
    }
  ),
  EMAIL_FALLBACK: open(
    "sending",
    "The provider that is tried when the primary is unavailable. Unset, there is no fail-over; the same as the primary, it is ignored.",
    Value.oneOf(PROVIDERS)
  ),
  EMAIL_ATTEMPT_TIMEOUT_MS: open(
    "sending",
    "How long one attempt at a provider may take; after it the attempt is ambiguous.",
    Value.integer(1, 600_000),
    { fallback: "15000", unit: "milliseconds" }
  ),
  EMAIL_DB_TIMEOUT_MS: open(
    "sending",
    "How long the suppression look-up (with the relay's claim) may hold up a send, and how long the log write may.",
    Value.integer(1, 600_000),
    { fallback: "2500", unit: "milliseconds" }
  ),

  PROVIDERA_API_KEY: hidden(
    "providerA",
    "API key; required whenever provider_a is primary or fallback. Embedded and unset, provider_a is simulated.",
    Value.secret
  ),
  PROVIDERA_WEBHOOK_SECRET: hidden(
    "providerA",
    "Signing secret of the event webhook; several, separated by spaces, while one is being replaced. Unset, every event is refused.",
    Value.secrets,
    { generated: true }
  ),
  PROVIDERA_BASE_URL: open("providerA", "Address of the provider's API.", Value.httpUrl, vendor),
  EMAIL_PROVIDERA_COST_USD: open(
    "providerA",
    "Price of a message, as email_log.cost_usd records it. The default is Resend's Pro plan, 20 USD for 50,000 mails (resend.com/pricing).",
    Value.decimal,
    { fallback: "0.0004", unit: "USD a message" }
  ),

  PROVIDERB_REGION: open("providerB", "Region of Amazon SES.", Value.region, {
    otherwise: "{CLOUD_REGION}, else us-east-1"
  }),
  EMAIL_PROVIDERB_CONFIGURATION_SET: open(
    "providerB",
    "Configuration set of sends that name none. Unset, the identity's default set applies.",
    Value.configurationSet
  ),
  PROVIDERB_CONFIGURATION_SET: open(
    "providerB",
    "Configuration set of outreach mail.",
    Value.configurationSet,
    {
      fallback: "outreach-set"
    }
  ),
  OUTREACH_FOOTER: open(
    "providerB",
    "Last lines of outreach mail: the sender's postal address, which the law of most places asks for, and why the reader gets it.",
    Value.text,
    { otherwise: "a line that names SENDER_DOMAIN" }
  ),
  PROVIDERB_WEBHOOK_SECRET: hidden(
    "providerB",
    "What the event bus sends in the header X-Webhook-Secret. Unset, every event is refused.",
    Value.secret,
    { generated: true }
  ),
  PROVIDERB_ENDPOINT: open("providerB", "Address of the SES v2 API.", Value.httpUrl, vendor),
  EMAIL_PROVIDERB_COST_USD: open(
    "providerB",
    "Price of a message, as email_log.cost_usd records it. The default is Amazon SES's 0.10 USD for 1,000 mails (aws.amazon.com/ses/pricing).",
    Value.decimal,
    { fallback: "0.0001", unit: "USD a message" }
  ),

  CLOUD_REGION: open("cloud", "Region of the cloud services.", Value.region, { fallback: "us-east-1" }),
  CLOUD_ACCESS_KEY_ID: hidden(
    "cloud",
    "Access key. Unset, the instance role is asked (IMDSv2); embedded and unset, provider_b is simulated.",
    Value.secret
  ),
  CLOUD_SECRET_ACCESS_KEY: hidden("cloud", "Secret of the access key.", Value.secret),
  CLOUD_SESSION_TOKEN: hidden(
    "cloud",
    "Session token; temporary credentials are refused without theirs.",
    Value.secret
  ),
  IMDS_ENDPOINT: open("cloud", "Address of the instance metadata service.", Value.httpUrl, vendor),
  S3_ENDPOINT: open("cloud", "Address of the S3 API.", Value.httpUrl, vendor),
  SQS_ENDPOINT: open("cloud", "Address of the SQS API.", Value.httpUrl, vendor),
  BEDROCK_ENDPOINT: open("cloud", "Address of the Bedrock API (batch jobs).", Value.httpUrl, vendor),
  BEDROCK_RUNTIME_ENDPOINT: open("cloud", "Address of the Bedrock runtime API.", Value.httpUrl, vendor),

  EMAIL_DEFER_QUEUE_URL: open(
    "retryQueue",
    "Where an ambiguous send waits for its retry on the same key: https://sqs.… (SQS) or postgres:NAME (a queue in the database). Set but empty: no queue, an ambiguous send ends failed.",
    Value.queueAddress,
    { otherwise: "postgres:email-defer embedded, else none", emptyText: "no queue" }
  ),
  EMAIL_DEFER_DELAYS_SECONDS: open("retryQueue", "The waits before the three retries.", Value.delays, {
    fallback: "120,600,900",
    unit: "seconds"
  }),
  EMAIL_DEFER_VISIBILITY_SECONDS: open(
    "retryQueue",
    "How long a received message stays hidden before it comes back, unless its consumer keeps extending it.",
    Value.integer(1, 43_200),
    { fallback: "60", unit: "seconds" }
  ),

  INTERNAL_ALERT_URL: open(
    "events",
    "Where the functions post delivery-failure alerts. On Node an address of another service gets those about provider_a's mail; the process's own route is not called, the alert is raised in place.",
    Value.httpUrl,
    {
      otherwise: "{BASE_URL}/internal/email-alert on Node, else none"
    }
  ),
  INTERNAL_SEND_EMAIL_URL: open("events", "Where the customer digest posts its mails.", Value.httpUrl, {
    otherwise: "{BASE_URL}/internal/send-email on Node, else none"
  }),
  EVENTS_POLL_SECONDS: open("events", "How often provider_a is asked for events.", Value.integer(1), {
    fallback: "900",
    unit: "seconds"
  }),
  ALERT_EMAIL: open("events", "The inbox that admin alerts go to.", Value.mailbox, {
    otherwise: "alerts@{SENDER_DOMAIN} where both providers are simulated, else none"
  }),
  CHAT_BOT_TOKEN: hidden("events", "Token of the Telegram bot that posts admin alerts.", Value.secret),
  CHAT_ID: open("events", "The chat that admin alerts go to.", Value.text),
  CHAT_API_BASE_URL: open("events", "Address of the Telegram Bot API.", Value.httpUrl, vendor),

  ...CONVERSION_SETTINGS,

  POSTLANE_LOG_LEVEL: open(
    "telemetry",
    `The least severe log line that is written: ${LOG_LEVELS.join(", ")}.`,
    Value.oneOf(LOG_LEVELS),
    { fallback: "info" }
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: open(
    "telemetry",
    "Address of an OpenTelemetry collector (OTLP over HTTP). Set, traces, metrics and logs are sent there too.",
    Value.httpUrl
  ),
  OTEL_EXPORTER_OTLP_HEADERS: hidden(
    "telemetry",
    "Headers for the collector, name=value, separated by commas, values percent-encoded.",
    Value.secret
  ),
  OTEL_SERVICE_NAME: open("telemetry", "Name of this service at the collector.", Value.text, {
    fallback: "postlane"
  })
} as const

/** The name of a setting. */
export type SettingName = keyof typeof SETTINGS

/** Values by name: a plain default is in place, everything else that is unset is `undefined`. */
export type Values = {
  readonly [K in SettingName]:
    | Extract<ReturnType<(typeof SETTINGS)[K]["read"]>, Result.Success<unknown, unknown>>["success"]
    | ((typeof SETTINGS)[K] extends { readonly fallback: string } ? never : undefined)
}

/** All names, in the order of the table. */
export const SETTING_NAMES = Object.keys(SETTINGS) as ReadonlyArray<SettingName>

/** The table with its entries' types widened, for look-ups by a name that is not a literal. */
export const settingOf = (name: SettingName): Setting => SETTINGS[name]
