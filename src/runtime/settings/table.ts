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
      Port of the HTTP server; 0: one that the system chooses, which the log names.`,
    baseUrl: open("BASE_URL", httpUrl, { otherwise: "http://{HOST}:{PORT}" })`
      Public address of the API; links in mails and pages start with it.`,
    olderBaseUrls: open("OLDER_BASE_URLS", httpUrls, { otherwise: "none" })`
      Public addresses that the API had before, separated by commas: requests there are answered, and pages that came from there are ours.`,
    olderBaseUrlsUntil: open("OLDER_BASE_URLS_UNTIL", day)`
      The last day of those addresses, such as 2027-01-31 (UTC).`,
    trustedProxies: open("TRUSTED_PROXIES", proxies, {
      otherwise: "none: the peer of a connection is the caller"
    })`
      Proxies in front of the HTTP server whose X-Forwarded-For is believed, so that callers are distinguished by their own addresses:
      their addresses and networks, separated by commas, or how many stand one behind another. A number is safe only where nobody
      reaches the server past them.`,
    maxConnections: open("HTTP_MAX_CONNECTIONS", integer(16, 1_000_000), { fallback: "2048" })`
      HTTP connections at once; each open page and each watched conversion holds one. One client address holds 256 at most, unless it is
      a trusted proxy's or this machine's. The file descriptors that the process may open are a limit, too.`,
    embedded: open("POSTLANE_EMBEDDED", flag, {
      otherwise: "1 under postlane start, 0 under postlane serve"
    })`
      1: each part that is not configured is simulated or embedded (embedded Postgres, simulated providers, objects on disk).
      0: nothing is simulated.`,
    roles: open("POSTLANE_ROLES", roles, { fallback: "all" })`
      Which supervised parts this process runs: all, or a list of api, leader (driver, event poll, digests, alarms), retry,
      send (the send queue), worker (chunks), intake (SMTP).`,
    dataDir: open("POSTLANE_DATA_DIR", text, { fallback: ".postlane" })`
      Folder of the embedded Postgres, of objects, of the outbox and of generated tokens.`
  }),

  access: area("Access", {
    proxySharedSecret: secret("PROXY_SHARED_SECRET", text, { generated: true })`
      What callers of the relay, alert, poll and digest routes send in the header x-proxy-secret. Unset, every caller is refused.`,
    adminToken: secret("ADMIN_TOKEN", text, { generated: true })`
      Embedded only: bearer token of the dev admin.`,
    ownerToken: secret("OWNER_TOKEN", text, { generated: true })`
      Embedded only: bearer token of the dev owner.`,
    redisUrl: secret("REDIS_URL", redisUrl)`
      redis://host:6379 or rediss://host:6379: Redis or Valkey counts the rate limits of all processes. Unset, PostgreSQL does.`
  }),

  domains: area("Domains and senders", {
    sender: open("SENDER_DOMAIN", domain, { fallback: "postlane.test" })`
      The domain that mail is sent from.`,
    legacy: open("LEGACY_DOMAIN", domain, { fallback: "legacy.postlane.test" })`
      The older domain: a From address on it, or on a subdomain of it, is rewritten to SENDER_DOMAIN.`,
    inbound: open("INBOUND_DOMAIN", domain, { fallback: "in.postlane.test" })`
      The domain of the mailboxes that take documents.`,
    from: open("EMAIL_FROM", mailbox, { otherwise: "Postlane <noreply@{SENDER_DOMAIN}>" })`
      From of a send request that names none.`
  }),

  database: area("Database", {
    url: secret("DB_URL", databaseUrl)`
      postgres://user@host:port/database, PostgreSQL 15 or later. Unset, mail goes out without a log row and without a
      suppression check.`,
    secretKey: secret("DB_SECRET_KEY", text, { alias: "DB_SERVICE_KEY" })`
      Password of the database, where DB_URL holds none.`,
    serviceRoleKey: secret("DB_SERVICE_ROLE_KEY", text)`
      Password of the database, where neither DB_URL nor DB_SECRET_KEY gives one.`,
    prepare: open("DB_PREPARE", flag, { fallback: "1" })`
      0: statements are not prepared by name, for a pooler in transaction mode that does not keep prepared statements (PgBouncer before
      1.21).`
  }),

  sending: area("Sending", {
    primary: open("EMAIL_PRIMARY", oneOf([...Provider.literals, "none"]), { otherwise: DEFAULT_PRIMARY })`
      Tried first: ${Provider.literals.join(", ")}; or none, for documents alone.`,
    fallback: open("EMAIL_FALLBACK", oneOf(Provider.literals))`
      Tried when the primary is unavailable. Unset, there is no fail-over (where all are simulated and
      EMAIL_PRIMARY is unset, too: provider_b).`,
    attemptTimeoutMs: open("EMAIL_ATTEMPT_TIMEOUT_MS", integer(1, 600_000), {
      fallback: "15000",
      unit: "milliseconds"
    })`
      How long one attempt at a provider may take; after it the attempt is ambiguous.`,
    dbTimeoutMs: open("EMAIL_DB_TIMEOUT_MS", integer(1, 600_000), { fallback: "2500", unit: "milliseconds" })`
      How long the suppression look-up (with the relay's claim) may delay a send, and how long the log write may.`
  }),

  providerA: area("provider_a (Resend)", {
    apiKey: secret("PROVIDERA_API_KEY", text)`
      API key; required whenever provider_a is primary or fallback. Embedded and unset, provider_a is simulated.`,
    webhookSecrets: secret("PROVIDERA_WEBHOOK_SECRET", text, { generated: true })`
      Signing secret of the event webhook; several, separated by spaces, while one is being replaced. Unset, every event is
      refused.`,
    baseUrl: open("PROVIDERA_BASE_URL", httpUrl, vendor)`Address of the provider's API.`,
    userAgent: open("PROVIDERA_USER_AGENT", userAgent, {
      fallback: "postlane"
    })`What sends call themselves there.`,
    costUsd: open("EMAIL_PROVIDERA_COST_USD", decimal, { fallback: "0.0004", unit: "USD a message" })`
      Price of a message in email_log.cost_usd: Resend's Pro plan (resend.com/pricing).`
  }),

  providerB: area("provider_b (Amazon SES)", {
    region: open("PROVIDERB_REGION", region, { otherwise: "{CLOUD_REGION}, else us-east-1" })`
      Region of Amazon SES.`,
    configurationSet: open("EMAIL_PROVIDERB_CONFIGURATION_SET", configurationSet)`
      Configuration set of sends that name none. Unset, the identity's default set applies.`,
    outreachConfigurationSet: open("PROVIDERB_CONFIGURATION_SET", configurationSet, {
      fallback: "outreach-set"
    })`
      Configuration set of outreach mail.`,
    outreachFooter: open("OUTREACH_FOOTER", text, { otherwise: "a line that names SENDER_DOMAIN" })`
      Last lines of outreach mail: the sender's postal address, which the law of most places asks for, and why the reader gets
      it.`,
    webhookSecret: secret("PROVIDERB_WEBHOOK_SECRET", text, { generated: true })`
      What the event bus sends in the header X-Webhook-Secret. Unset, every event is refused.`,
    endpoint: open("PROVIDERB_ENDPOINT", httpUrl, vendor)`Address of the SES v2 API.`,
    costUsd: open("EMAIL_PROVIDERB_COST_USD", decimal, { fallback: "0.0001", unit: "USD a message" })`
      Price of a message in email_log.cost_usd (aws.amazon.com/ses/pricing).`
  }),

  smtp: area("smtp (a relay of your own)", {
    url: secret("SMTP_URL", relayUrl)`
      smtps://user:password@host:465 or smtp://user:password@host:587; required whenever smtp is primary or fallback. %-encode user
      name and password. Embedded and unset, smtp is simulated.`,
    tls: open("SMTP_TLS", oneOf(["required", "optional"]), { fallback: "required" })`
      optional: with smtp://, a relay that offers no STARTTLS is used without TLS. A password is sent without TLS to this machine alone.`,
    bounceAddress: open("BOUNCE_ADDRESS", returnAddress)`
      Where delivery reports about mail of smtp come back to, such as bounce@bounces.example.com. Unset, to the From address.`
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
      otherwise: "postgres:email-defer where there is a database, else none"
    })`
      Where an ambiguous send waits for its retry on the same key: https://sqs.… (SQS) or postgres:NAME (a queue in the
      database). Set but empty: no queue, an ambiguous send ends failed.`,
    delaysSeconds: open("EMAIL_DEFER_DELAYS_SECONDS", delays, {
      fallback: DEFAULT_DEFER_DELAYS_SECONDS.join(","),
      unit: "seconds"
    })`
      The waits before the three retries.`,
    visibilitySeconds: open("EMAIL_DEFER_VISIBILITY_SECONDS", integer(1, 43_200), {
      fallback: "60",
      unit: "seconds"
    })`
      How long a received message stays hidden before it comes back, unless its consumer keeps extending it.`
  }),

  sendQueue: area("Send queue", {
    concurrency: open("EMAIL_QUEUE_CONCURRENCY", integer(1, 1_000), { fallback: "32" })`
      Queued mails that one process sends at once.`,
    maxAgeHours: open("EMAIL_QUEUE_MAX_AGE_HOURS", decimal, { fallback: "24", unit: "hours" })`
      A queued mail that providers refuse for so long ends failed.`,
    rateA: open("PROVIDERA_RATE_PER_SECOND", decimal, {
      otherwise: "2, raised to what its ratelimit-limit header says; simulated: 0",
      unit: "requests a second"
    })`
      How often provider_a is asked, over all processes. 0: no pace.`,
    rateB: open("PROVIDERB_RATE_PER_SECOND", decimal, {
      otherwise: "the account's MaxSendRate, 14 until it is known; simulated: 0",
      unit: "requests a second"
    })`
      How often provider_b is asked, over all processes. 0: no pace.`,
    vendorLimits: open("SIMULATE_VENDOR_LIMITS", flag, { fallback: "0" })`
      1: the simulated provider_a takes two requests a second and refuses the rest, as Resend does by default.`
  }),

  events: area("Delivery events and alerts", {
    internalAlertUrl: open("INTERNAL_ALERT_URL", httpUrl, {
      otherwise: "{BASE_URL}/internal/email-alert on Node, else none"
    })`
      Where the functions post delivery-failure alerts. On Node an address of another service gets those about provider_a's mail;
      the process's own route is not called, the alert is raised in place.`,
    internalSendEmailUrl: open("INTERNAL_SEND_EMAIL_URL", httpUrl, {
      otherwise: "{BASE_URL}/internal/send-email on Node, else none"
    })`
      Where the customer digest posts its mails. A process that sends mail itself does not call its own route, but sends in place.`,
    pollSeconds: open("EVENTS_POLL_SECONDS", integer(1), { fallback: "900", unit: "seconds" })`
      How often provider_a is asked for events.`,
    logKeepDays: open("EMAIL_LOG_KEEP_DAYS", integer(30), { otherwise: "for ever", unit: "days" })`
      How long rows of the send log are kept, a month at least; statistics stay. Rows with an open key, retry or alert are kept longer.`,
    alertEmail: open("ALERT_EMAIL", mailbox, {
      otherwise: "alerts@{SENDER_DOMAIN} where all providers are simulated, else none"
    })`
      The inbox that admin alerts go to.`,
    chatBotToken: secret("CHAT_BOT_TOKEN", text)`Token of the Telegram bot that posts admin alerts.`,
    chatId: open("CHAT_ID", text)`The chat that admin alerts go to.`,
    chatApiBaseUrl: open("CHAT_API_BASE_URL", httpUrl, vendor)`Address of the Telegram Bot API.`
  }),

  eventHooks: area("Event hooks", {
    url: open("EVENT_HOOK_URL", hookUrl)`
      A receiver of all events of mails, suppressions and documents (Standard Webhooks); admins make more. Needs EVENT_HOOK_SECRET.`,
    secrets: secret("EVENT_HOOK_SECRET", hookSecrets)`
      What signs them: whsec_ and the base64 of 24 to 64 random bytes; two, separated by a space, while one is being replaced: both sign.`,
    privateNetworks: open("EVENT_HOOK_PRIVATE_NETWORKS", networks, {
      otherwise: "this machine where embedded, else none"
    })`
      Private addresses and networks (such as 10.0.0.0/8) that receivers may be at, separated by commas.`
  }),

  intake: area("Convert-by-email", {
    smtpPort: open("SMTP_PORT", port, { fallback: "2525" })`Port of the SMTP intake.`,
    tlsCert: open("SMTP_TLS_CERT", text)`
      File of the certificate (PEM, with its chain) of the SMTP intake. Unset, STARTTLS is not offered.`,
    tlsKey: open("SMTP_TLS_KEY", text)`File of that certificate's private key (PEM).`,
    trustedHops: open("TRUSTED_MAIL_HOPS", words, {
      otherwise: "none; embedded on loopback, the peer is trusted; on the edge, mx.cloudflare.net"
    })`
      Names of the mail servers with trusted Authentication-Results, separated by commas.`,
    hopSecret: secret("TRUSTED_MAIL_HOP_SECRET", text)`
      What the trusted hops write into the header X-Postlane-Hop of each mail. Set, a mail without it is not believed; Exchange Online
      (protection.outlook.com) is trusted only with it, since its hosts relay the mail of all its customers.`,
    trustedPeers: open("TRUSTED_MAIL_PEERS", networks, { otherwise: "none" })`
      Addresses and networks (such as 10.0.0.0/8) that hand over the mails of the trusted hops, separated by commas, besides this
      machine, the hops' own addresses and what their names lead to.`,
    replyChannel: open("CONVERT_REPLY_CHANNEL", oneOf(["workspace", "library"]), {
      otherwise: "workspace where MAILAPI_SERVICE_ACCOUNT_KEY is set, else library"
    })`
      How replies go out: workspace (the workspace mail API) or library (the mailer).`,
    bucket: open("CONVERT_EMAIL_BUCKET", bucket, { fallback: "convert-email-files" })`
      Object storage of mails in progress. On the edge, the name of an R2 bucket's binding.`,
    registerUrl: open("REGISTER_URL", httpUrl, { otherwise: "{BASE_URL}/register" })`
      Where the reply to an unregistered sender leads to. Unset, a page that says whom to ask.`,
    buyCreditsUrl: open("BUY_CREDITS_URL", httpUrl, { otherwise: "{BASE_URL}/credits" })`
      Where the reply to a sender without enough credits leads to. Unset, a page that says whom to ask.`,
    serviceAccountKey: secret("MAILAPI_SERVICE_ACCOUNT_KEY", serviceAccountKey)`
      Whole JSON of the service-account key with domain-wide delegation.`,
    sender: open("MAIL_SENDER", mailbox)`The mailbox that the workspace mail API sends as.`,
    mailApiUrl: open("MAILAPI_BASE_URL", httpUrl, vendor)`Address of the workspace mail API.`,
    authUrl: open("AUTH_URL", httpUrl, vendor)`Token endpoint of the workspace mail API.`
  }),

  submission: area("SMTP submission", {
    port: open("SUBMISSION_PORT", port, { otherwise: "2587 under postlane start, else none: off" })`
      Port on which programs with a sender token hand over mail, in a process with the role intake; 0: one that the system chooses,
      which the log names.`,
    tls: open("SUBMISSION_TLS", oneOf(["starttls", "implicit"]), { fallback: "starttls" })`
      starttls, which is required but from this machine, or implicit: TLS from the first byte on.`,
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
      Address of an OpenTelemetry collector (OTLP over HTTP). Set, traces, metrics and logs are sent there too.`,
    otlpHeaders: secret("OTEL_EXPORTER_OTLP_HEADERS", text)`
      Headers for the collector, name=value, separated by commas, values percent-encoded.`,
    serviceName: open("OTEL_SERVICE_NAME", text, { fallback: "postlane" })`
      Name of this service at the collector.`,
    tracesSampler: open("OTEL_TRACES_SAMPLER", text, { fallback: "parentbased_always_on" })`
      Which traces are recorded, as OpenTelemetry names it: always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off or parentbased_traceidratio.`,
    tracesSamplerArg: open("OTEL_TRACES_SAMPLER_ARG", text, { otherwise: "1" })`
      The share of traces that the samplers by ratio record, from 0 to 1.`
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
