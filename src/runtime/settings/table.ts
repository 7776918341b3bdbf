import { Record, Schema } from "effect"

import { DEFAULT_DEFER_DELAYS_SECONDS } from "../../domain/mail/deferred-send.ts"
import { DEFAULT_PRIMARY, Provider } from "../../domain/mail/provider.ts"
import { cloud } from "./cloud.ts"
import { area, open, secret, type Setting, vendor } from "./setting.ts"
import {
  bucket,
  configurationSet,
  databaseUrl,
  day,
  decimal,
  delays,
  domain,
  flag,
  hookSecrets,
  hookUrl,
  httpUrl,
  httpUrls,
  integer,
  mailbox,
  networks,
  oneOf,
  port,
  proxies,
  queueAddress,
  redisUrl,
  region,
  relayUrl,
  returnAddress,
  roles,
  serviceAccountKey,
  text,
  userAgent,
  words
} from "./shapes.ts"
import { batch, conversion } from "./table-conversion.ts"

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const

/**
 * Every setting there is, by area. The decoder, the configuration page and the warning about unknown names all read this table;
 * a default that is a plain value is written as text and read like a value that somebody set.
 */
export const AREAS = {
  service: area("The service", {
    host: open("HOST", text, { fallback: "127.0.0.1" })`Address that the HTTP server listens on.`,
    port: open("PORT", port, { fallback: "8787" })`
      Port of the HTTP server; 0: the system chooses, and the log names it.`,
    baseUrl: open("BASE_URL", httpUrl, { otherwise: "http://{HOST}:{PORT}" })`
      Public address of the API; links in mails and pages start with it.`,
    olderBaseUrls: open("OLDER_BASE_URLS", httpUrls, { otherwise: "none" })`
      Earlier public addresses of the API, separated by commas. Requests there are still answered.`,
    olderBaseUrlsUntil: open("OLDER_BASE_URLS_UNTIL", day)`
      The last day of those addresses, such as 2027-01-31 (UTC).`,
    trustedProxies: open("TRUSTED_PROXIES", proxies, {
      otherwise: "none: the peer is the caller"
    })`
      Proxies with a trusted X-Forwarded-For: their addresses and networks, separated by commas, or their number in a chain.
      A number is safe only if no caller can reach the server past them.`,
    maxConnections: open("HTTP_MAX_CONNECTIONS", integer(16, 1_000_000), { fallback: "2048" })`
      HTTP connections at once; each open page holds one. A client has at most 256, unless it is a trusted proxy or this machine.`,
    embedded: open("POSTLANE_EMBEDDED", flag, {
      otherwise: "1 under postlane start, 0 under postlane serve"
    })`
      1: each part that is not configured is embedded or simulated (PostgreSQL, providers, objects on disk). 0: nothing is.`,
    roles: open("POSTLANE_ROLES", roles, { fallback: "all" })`
      What this process does: all, or a list of api, leader, retry, send, worker, intake.`,
    dataDir: open("POSTLANE_DATA_DIR", text, { fallback: ".postlane" })`
      Folder of the embedded PostgreSQL, objects, outbox and generated tokens.`
  }),

  access: area("Access", {
    proxySharedSecret: secret("PROXY_SHARED_SECRET", text, { generated: true })`
      The header x-proxy-secret of callers of the relay, alert, poll and digest routes. Unset, every caller is refused.`,
    adminToken: secret("ADMIN_TOKEN", text, { generated: true })`
      Embedded only: bearer token of the dev admin.`,
    ownerToken: secret("OWNER_TOKEN", text, { generated: true })`
      Embedded only: bearer token of the dev owner.`,
    redisUrl: secret("REDIS_URL", redisUrl)`
      redis://host:6379 or rediss://host:6379 of a Redis or Valkey that counts rate limits. Unset, PostgreSQL does.`
  }),

  domains: area("Domains and senders", {
    sender: open("SENDER_DOMAIN", domain, { fallback: "postlane.test" })`
      The domain that mail is sent from.`,
    legacy: open("LEGACY_DOMAIN", domain, { fallback: "legacy.postlane.test" })`
      The older domain: a From address on it or a subdomain is rewritten to SENDER_DOMAIN.`,
    inbound: open("INBOUND_DOMAIN", domain, { fallback: "in.postlane.test" })`
      The domain of the mailboxes that take documents.`,
    from: open("EMAIL_FROM", mailbox, { otherwise: "Postlane <noreply@{SENDER_DOMAIN}>" })`
      From of a send request that names none.`
  }),

  database: area("Database", {
    url: secret("DB_URL", databaseUrl)`
      postgres://user@host:port/database, PostgreSQL 15 or later. Unset, mail goes out without log row and suppression check.`,
    secretKey: secret("DB_SECRET_KEY", text, { alias: "DB_SERVICE_KEY" })`
      Database password, if DB_URL has none.`,
    serviceRoleKey: secret("DB_SERVICE_ROLE_KEY", text)`
      Database password, if neither DB_URL nor DB_SECRET_KEY gives one.`,
    prepare: open("DB_PREPARE", flag, { fallback: "1" })`
      0: no named prepared statements, for a pooler that does not keep them (PgBouncer before 1.21).`
  }),

  sending: area("Sending", {
    primary: open("EMAIL_PRIMARY", oneOf([...Provider.literals, "none"]), { otherwise: DEFAULT_PRIMARY })`
      Tried first: ${Provider.literals.join(", ")}; or none, for documents alone.`,
    fallback: open("EMAIL_FALLBACK", oneOf(Provider.literals))`
      Tried when the primary is unavailable. Unset, there is no fail-over (provider_b, if all are simulated and EMAIL_PRIMARY is
      unset too).`,
    attemptTimeoutMs: open("EMAIL_ATTEMPT_TIMEOUT_MS", integer(1, 600_000), {
      fallback: "15000",
      unit: "milliseconds"
    })`
      Limit of one attempt at a provider; after it the attempt is ambiguous.`,
    dbTimeoutMs: open("EMAIL_DB_TIMEOUT_MS", integer(1, 600_000), { fallback: "2500", unit: "milliseconds" })`
      Limit of the suppression look-up with the claim, and of the log write.`
  }),

  providerA: area("provider_a (Resend)", {
    apiKey: secret("PROVIDERA_API_KEY", text)`
      API key; required if provider_a is primary or fallback. Embedded and unset, provider_a is simulated.`,
    webhookSecrets: secret("PROVIDERA_WEBHOOK_SECRET", text, { generated: true })`
      Signing secret of the event webhook; during a rotation several, separated by spaces. Unset, every event is refused.`,
    baseUrl: open("PROVIDERA_BASE_URL", httpUrl, vendor)`Address of the provider's API.`,
    userAgent: open("PROVIDERA_USER_AGENT", userAgent, {
      fallback: "postlane"
    })`User agent of sends.`,
    costUsd: open("EMAIL_PROVIDERA_COST_USD", decimal, { fallback: "0.0004", unit: "USD a message" })`
      Price in email_log.cost_usd: the Pro plan (resend.com/pricing).`
  }),

  providerB: area("provider_b (Amazon SES)", {
    region: open("PROVIDERB_REGION", region, { otherwise: "{CLOUD_REGION}, else us-east-1" })`
      Region of Amazon SES.`,
    configurationSet: open("EMAIL_PROVIDERB_CONFIGURATION_SET", configurationSet)`
      Configuration set of sends that name none. Unset, the identity's default.`,
    outreachConfigurationSet: open("PROVIDERB_CONFIGURATION_SET", configurationSet, {
      fallback: "outreach-set"
    })`
      Configuration set of outreach mail.`,
    outreachFooter: open("OUTREACH_FOOTER", text, { otherwise: "a line that names SENDER_DOMAIN" })`
      Last lines of outreach mail: your postal address, which most laws require, and why the reader gets it.`,
    webhookSecret: secret("PROVIDERB_WEBHOOK_SECRET", text, { generated: true })`
      The header X-Webhook-Secret of the event bus. Unset, every event is refused.`,
    endpoint: open("PROVIDERB_ENDPOINT", httpUrl, vendor)`Address of the SES v2 API.`,
    costUsd: open("EMAIL_PROVIDERB_COST_USD", decimal, { fallback: "0.0001", unit: "USD a message" })`
      Price in email_log.cost_usd (aws.amazon.com/ses/pricing).`
  }),

  smtp: area("smtp (a relay of your own)", {
    url: secret("SMTP_URL", relayUrl)`
      smtps://user:password@host:465 or smtp://user:password@host:587, user name and password percent-encoded; required if smtp is
      primary or fallback. Embedded and unset, smtp is simulated.`,
    tls: open("SMTP_TLS", oneOf(["required", "optional"]), { fallback: "required" })`
      optional: smtp:// works without TLS if the relay offers no STARTTLS; a password goes without TLS to this machine only.`,
    bounceAddress: open("BOUNCE_ADDRESS", returnAddress)`
      Where delivery reports of smtp return to, such as bounce@bounces.example.com. Unset, the From address.`
  }),

  postmark: area("postmark (Postmark)", {
    serverToken: secret("POSTMARK_SERVER_TOKEN", text)`
      Server token. Embedded and unset, postmark is simulated.`,
    messageStream: open("POSTMARK_MESSAGE_STREAM", text, { fallback: "outbound" })`
      Message stream of its mail; marketing goes to broadcast.`,
    webhookUser: open("POSTMARK_WEBHOOK_USER", text, { fallback: "postlane" })`User name of its webhooks.`,
    webhookPassword: secret("POSTMARK_WEBHOOK_PASSWORD", text, { generated: true })`
      Their password. Unset, every event is refused.`,
    baseUrl: open("POSTMARK_BASE_URL", httpUrl, vendor)`Address of the provider's API.`,
    costUsd: open("EMAIL_POSTMARK_COST_USD", decimal, { fallback: "0.0015", unit: "USD a message" })`
      Price of a message (postmarkapp.com/pricing).`
  }),

  cloud,

  retryQueue: area("Delayed retry queue", {
    address: open("EMAIL_DEFER_QUEUE_URL", queueAddress, {
      otherwise: "postgres:email-defer with a database, else none"
    })`
      Where an ambiguous send waits for its retry: https://sqs.… (SQS) or postgres:NAME (in the database). Set but empty: no queue,
      an ambiguous send ends failed.`,
    delaysSeconds: open("EMAIL_DEFER_DELAYS_SECONDS", delays, {
      fallback: DEFAULT_DEFER_DELAYS_SECONDS.join(","),
      unit: "seconds"
    })`
      The waits before the three retries.`,
    visibilitySeconds: open("EMAIL_DEFER_VISIBILITY_SECONDS", integer(1, 43_200), {
      fallback: "60",
      unit: "seconds"
    })`
      How long a received message stays hidden unless its consumer extends it.`
  }),

  sendQueue: area("Send queue", {
    concurrency: open("EMAIL_QUEUE_CONCURRENCY", integer(1, 1_000), { fallback: "32" })`
      Queued mails that one process sends at once.`,
    maxAgeHours: open("EMAIL_QUEUE_MAX_AGE_HOURS", decimal, { fallback: "24", unit: "hours" })`
      A queued mail that providers refuse for this long ends failed.`,
    rateA: open("PROVIDERA_RATE_PER_SECOND", decimal, {
      otherwise: "2, raised to what its ratelimit-limit header says; simulated: 0",
      unit: "requests a second"
    })`
      Requests to provider_a, over all processes. 0: no limit.`,
    rateB: open("PROVIDERB_RATE_PER_SECOND", decimal, {
      otherwise: "the account's MaxSendRate, 14 until it is known; simulated: 0",
      unit: "requests a second"
    })`
      Requests to provider_b, over all processes. 0: no limit.`,
    vendorLimits: open("SIMULATE_VENDOR_LIMITS", flag, { fallback: "0" })`
      1: the simulated provider_a takes two requests a second, as Resend does.`
  }),

  events: area("Delivery events and alerts", {
    internalAlertUrl: open("INTERNAL_ALERT_URL", httpUrl, {
      otherwise: "{BASE_URL}/internal/email-alert on Node, else none"
    })`
      Where the functions post delivery-failure alerts. On Node, another service's address gets those about provider_a's mail.`,
    internalSendEmailUrl: open("INTERNAL_SEND_EMAIL_URL", httpUrl, {
      otherwise: "{BASE_URL}/internal/send-email on Node, else none"
    })`
      Where the customer digest posts its mails, if its process does not send mail itself.`,
    pollSeconds: open("EVENTS_POLL_SECONDS", integer(1), { fallback: "900", unit: "seconds" })`
      How often provider_a is asked for events.`,
    logKeepDays: open("EMAIL_LOG_KEEP_DAYS", integer(30), { otherwise: "for ever", unit: "days" })`
      How long log rows are kept, at least a month. Statistics stay, and rows with an open key, retry or alert.`,
    alertEmail: open("ALERT_EMAIL", mailbox, {
      otherwise: "alerts@{SENDER_DOMAIN} if all providers are simulated, else none"
    })`
      The inbox that admin alerts go to.`,
    chatBotToken: secret("CHAT_BOT_TOKEN", text)`Token of the Telegram bot that posts admin alerts.`,
    chatId: open("CHAT_ID", text)`The chat that admin alerts go to.`,
    chatApiBaseUrl: open("CHAT_API_BASE_URL", httpUrl, vendor)`Address of the Telegram Bot API.`
  }),

  eventHooks: area("Event hooks", {
    url: open("EVENT_HOOK_URL", hookUrl)`
      A receiver of all events (Standard Webhooks); admins make more. Needs EVENT_HOOK_SECRET.`,
    secrets: secret("EVENT_HOOK_SECRET", hookSecrets)`
      What signs them: whsec_ and the base64 of 24 to 64 random bytes; during a rotation two, separated by a space.`,
    privateNetworks: open("EVENT_HOOK_PRIVATE_NETWORKS", networks, {
      otherwise: "embedded: this machine, else none"
    })`
      Private networks (such as 10.0.0.0/8) that receivers may be in, separated by commas.`
  }),

  intake: area("Convert-by-email", {
    smtpPort: open("SMTP_PORT", port, { fallback: "2525" })`Port of the SMTP intake.`,
    tlsCert: open("SMTP_TLS_CERT", text)`
      File of the intake's certificate (PEM, with its chain). Unset, STARTTLS is not offered.`,
    tlsKey: open("SMTP_TLS_KEY", text)`File of that certificate's private key (PEM).`,
    trustedHops: open("TRUSTED_MAIL_HOPS", words, {
      otherwise: "none; embedded on loopback the peer; on the edge mx.cloudflare.net"
    })`
      Names of mail servers with trusted Authentication-Results, separated by commas.`,
    hopSecret: secret("TRUSTED_MAIL_HOP_SECRET", text)`
      The header X-Postlane-Hop of the hops' mails. If set, a mail without it is not believed. Exchange Online requires it.`,
    trustedPeers: open("TRUSTED_MAIL_PEERS", networks, { otherwise: "none" })`
      Networks (such as 10.0.0.0/8) that also hand over the hops' mails, separated by commas.`,
    replyChannel: open("CONVERT_REPLY_CHANNEL", oneOf(["workspace", "library"]), {
      otherwise: "workspace if MAILAPI_SERVICE_ACCOUNT_KEY is set, else library"
    })`
      How replies go out: by the workspace mail API or the library.`,
    bucket: open("CONVERT_EMAIL_BUCKET", bucket, { fallback: "convert-email-files" })`
      Object storage of mails in progress; on the edge an R2 binding.`,
    registerUrl: open("REGISTER_URL", httpUrl, { otherwise: "{BASE_URL}/register" })`
      Where the reply to an unregistered sender leads.`,
    buyCreditsUrl: open("BUY_CREDITS_URL", httpUrl, { otherwise: "{BASE_URL}/credits" })`
      Where the reply to a sender without enough credits leads.`,
    serviceAccountKey: secret("MAILAPI_SERVICE_ACCOUNT_KEY", serviceAccountKey)`
      JSON of the service-account key with domain-wide delegation.`,
    sender: open("MAIL_SENDER", mailbox)`The mailbox that the workspace mail API sends as.`,
    mailApiUrl: open("MAILAPI_BASE_URL", httpUrl, vendor)`Address of the workspace mail API.`,
    authUrl: open("AUTH_URL", httpUrl, vendor)`Token endpoint of the workspace mail API.`
  }),

  submission: area("SMTP submission", {
    port: open("SUBMISSION_PORT", port, { otherwise: "2587 under postlane start, else off" })`
      Port for programs with a sender token, in a process with the role intake; 0: the system chooses, and the log names it.`,
    tls: open("SUBMISSION_TLS", oneOf(["starttls", "implicit"]), { fallback: "starttls" })`
      starttls (required except from this machine), or implicit: TLS from the first byte.`,
    tlsCert: open("SUBMISSION_TLS_CERT", text, { otherwise: "SMTP_TLS_CERT" })`
      File of its certificate (PEM, with its chain).`,
    tlsKey: open("SUBMISSION_TLS_KEY", text, { otherwise: "SMTP_TLS_KEY" })`
      File of that certificate's private key (PEM).`
  }),

  conversion,
  batch,

  telemetry: area("Logs, metrics and traces", {
    logLevel: open("POSTLANE_LOG_LEVEL", oneOf(LOG_LEVELS), { fallback: "info" })`
      The least severe log line that is written: ${LOG_LEVELS.join(", ")}.`,
    otlpEndpoint: open("OTEL_EXPORTER_OTLP_ENDPOINT", httpUrl)`
      Address of an OpenTelemetry collector (OTLP over HTTP) for traces, metrics and logs.`,
    otlpHeaders: secret("OTEL_EXPORTER_OTLP_HEADERS", text)`
      Headers for the collector: name=value, separated by commas, values percent-encoded.`,
    serviceName: open("OTEL_SERVICE_NAME", text, { fallback: "postlane" })`
      Name of this service at the collector.`,
    tracesSampler: open("OTEL_TRACES_SAMPLER", text, { fallback: "parentbased_always_on" })`
      OpenTelemetry's sampler: always_on, always_off, traceidratio, or parentbased_ and one of these.`,
    tracesSamplerArg: open("OTEL_TRACES_SAMPLER_ARG", text, { otherwise: "1" })`
      Share of traces that a ratio sampler records, 0 to 1.`
  })
} as const

/** The name of an area. */
type Area = keyof typeof AREAS

type SettingsOf<A extends Area> = (typeof AREAS)[A]["settings"]

/** The name of a setting. */
export type SettingName = {
  [A in Area]: SettingsOf<A>[keyof SettingsOf<A>] extends { readonly name: infer N extends string }
    ? N
    : never
}[Area]

/** All values by area and field: a plain default is in place, everything else that is unset is `undefined`. */
export const Values = Schema.Struct(
  Record.map(AREAS, ({ schema }) => schema) as unknown as {
    readonly [A in Area]: (typeof AREAS)[A]["schema"]
  }
)
export type Values = typeof Values.Type

/** One setting, and where its value is. */
interface Entry extends Setting {
  readonly name: SettingName
  readonly area: Area
  readonly field: string
}

/** The settings in the order of the table. */
export const SETTINGS = Object.entries(AREAS).flatMap(([name, { settings }]) =>
  Object.entries<Setting>(settings).map(([field, setting]) => ({ ...setting, area: name, field }))
) as unknown as ReadonlyArray<Entry>
