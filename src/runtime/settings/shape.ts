import { Redacted } from "effect"

import { addressOf, type Mailbox } from "../../domain/mail/address.ts"
import type { Provider } from "../../domain/mail/failover.ts"
import type { DeferQueueAddress, Role } from "./readers.ts"
import type { Values } from "./table.ts"

/** The process environment, or the bindings of an edge runtime. */
export type Env = Readonly<Record<string, string | undefined>>

/** One thing that is wrong, or odd, about the settings. It never repeats a value. */
export interface SettingProblem {
  readonly setting: string
  /** What is wrong and what to do, as a clause that follows the name. */
  readonly message: string
}

/** What the decoder has to know beside the environment. */
export interface DecodeOptions {
  /** What holds where `POSTLANE_EMBEDDED` is unset. */
  readonly embedded: boolean
  /** True for the library: what is missing degrades it (a warning), where it would stop the server from starting. */
  readonly library?: boolean
  /** True for a server that is to start: what production needs and lacks is a problem, too. */
  readonly server?: boolean
  /** True where there is no listener of our own (edge, serverless): the functions then have no address to post to. */
  readonly edge?: boolean
}

/** Keys of a cloud account. */
export interface CloudCredentials {
  readonly accessKeyId: Redacted.Redacted
  readonly secretAccessKey: Redacted.Redacted
  /** Required with temporary credentials. */
  readonly sessionToken: Redacted.Redacted | undefined
}

/** The address at which a listener is reached on its own machine. */
const listenerUrl = (host: string, port: number): string => {
  if (host === "0.0.0.0" || host === "::") return `http://127.0.0.1:${port}`
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`
}

/** The URL with the password in it; a URL that holds one keeps its own. */
const withPassword = (url: Redacted.Redacted, password: Redacted.Redacted | undefined) => {
  const parsed = new URL(Redacted.value(url))
  const own = parsed.password !== "" || parsed.searchParams.has("password")
  if (!own && password !== undefined) parsed.password = encodeURIComponent(Redacted.value(password))
  return { url: Redacted.make(parsed.href), hasPassword: own || password !== undefined }
}

const cloudCredentials = (values: Values): CloudCredentials | undefined =>
  values.CLOUD_ACCESS_KEY_ID === undefined || values.CLOUD_SECRET_ACCESS_KEY === undefined
    ? undefined
    : {
        accessKeyId: values.CLOUD_ACCESS_KEY_ID,
        secretAccessKey: values.CLOUD_SECRET_ACCESS_KEY,
        sessionToken: values.CLOUD_SESSION_TOKEN
      }

const clamp = (value: number, minimum: number, maximum: number): number =>
  Math.min(maximum, Math.max(minimum, value))

/** Groups the values and fills in the defaults that depend on other settings. */
export const assemble = (
  env: Env,
  values: Values,
  options: DecodeOptions,
  warnings: ReadonlyArray<SettingProblem>
) => {
  const embedded = values.POSTLANE_EMBEDDED ?? options.embedded
  const baseUrl = values.BASE_URL ?? listenerUrl(values.HOST, values.PORT)
  const internal = (path: string) => (options.edge === true ? undefined : `${baseUrl}/internal/${path}`)
  const primary: Provider = values.EMAIL_PRIMARY
  const fallback: Provider | undefined = values.EMAIL_FALLBACK === primary ? undefined : values.EMAIL_FALLBACK
  const from: Mailbox = values.EMAIL_FROM ?? {
    name: "Postlane",
    local: "noreply",
    domain: values.SENDER_DOMAIN
  }
  const noQueue = /^\s*$/.test(env["EMAIL_DEFER_QUEUE_URL"] ?? "unset")
  const defaultQueue: DeferQueueAddress =
    embedded && !noQueue ? { _tag: "Postgres", name: "email-defer" } : { _tag: "None" }
  const roles: ReadonlyArray<Role> = values.POSTLANE_ROLES
  return {
    /** True: parts that are not configured are embedded or simulated. */
    embedded,
    roles,
    /** As it was written; relative to the working directory. */
    dataDir: values.POSTLANE_DATA_DIR,
    http: {
      host: values.HOST,
      /** 0 lets the system choose. */
      port: values.PORT,
      /** No slash at its end. */
      baseUrl,
      baseUrlIsSet: values.BASE_URL !== undefined,
      trustedProxies: values.TRUSTED_PROXIES ?? []
    },
    /** An unset secret refuses every caller. */
    access: {
      proxySharedSecret: values.PROXY_SHARED_SECRET,
      adminToken: values.ADMIN_TOKEN,
      ownerToken: values.OWNER_TOKEN
    },
    domains: { sender: values.SENDER_DOMAIN, legacy: values.LEGACY_DOMAIN, inbound: values.INBOUND_DOMAIN },
    /** `hasPassword`: from the URL or from one of the key settings. */
    database:
      values.DB_URL === undefined
        ? undefined
        : withPassword(values.DB_URL, values.DB_SECRET_KEY ?? values.DB_SERVICE_ROLE_KEY),
    sending: {
      primary,
      /** Never equal to the primary. */
      fallback,
      from,
      attemptTimeoutMs: values.EMAIL_ATTEMPT_TIMEOUT_MS,
      dbTimeoutMs: values.EMAIL_DB_TIMEOUT_MS,
      /** USD a message. */
      costUsd: {
        provider_a: values.EMAIL_PROVIDERA_COST_USD,
        provider_b: values.EMAIL_PROVIDERB_COST_USD
      }
    },
    providerA: {
      apiKey: values.PROVIDERA_API_KEY,
      baseUrl: values.PROVIDERA_BASE_URL,
      /** Any of them may have signed an event. */
      webhookSecrets: values.PROVIDERA_WEBHOOK_SECRET ?? []
    },
    providerB: {
      region: values.PROVIDERB_REGION ?? values.CLOUD_REGION,
      endpoint: values.PROVIDERB_ENDPOINT,
      /** Of sends that name none; `undefined`: the identity's default set. */
      configurationSet: values.EMAIL_PROVIDERB_CONFIGURATION_SET,
      outreachConfigurationSet: values.PROVIDERB_CONFIGURATION_SET,
      outreachFooter:
        values.OUTREACH_FOOTER ??
        `Sent by Postlane, ${values.SENDER_DOMAIN}. You get this mail because we think that our service is of use to you.`,
      webhookSecret: values.PROVIDERB_WEBHOOK_SECRET
    },
    cloud: {
      region: values.CLOUD_REGION,
      /** `undefined`: the instance role. */
      credentials: cloudCredentials(values),
      imdsEndpoint: values.IMDS_ENDPOINT,
      s3Endpoint: values.S3_ENDPOINT,
      sqsEndpoint: values.SQS_ENDPOINT,
      bedrockEndpoint: values.BEDROCK_ENDPOINT,
      bedrockRuntimeEndpoint: values.BEDROCK_RUNTIME_ENDPOINT
    },
    retryQueue: {
      address: values.EMAIL_DEFER_QUEUE_URL ?? defaultQueue,
      delaysSeconds: values.EMAIL_DEFER_DELAYS_SECONDS,
      visibilitySeconds: values.EMAIL_DEFER_VISIBILITY_SECONDS
    },
    events: {
      internalAlertUrl: values.INTERNAL_ALERT_URL ?? internal("email-alert"),
      internalSendEmailUrl: values.INTERNAL_SEND_EMAIL_URL ?? internal("send-email"),
      pollSeconds: values.EVENTS_POLL_SECONDS
    },
    alerts: {
      /** Bare address. */
      email: values.ALERT_EMAIL === undefined ? undefined : addressOf(values.ALERT_EMAIL),
      chatBotToken: values.CHAT_BOT_TOKEN,
      chatId: values.CHAT_ID,
      chatApiBaseUrl: values.CHAT_API_BASE_URL
    },
    intake: {
      smtpPort: values.SMTP_PORT,
      /** Files; STARTTLS needs both. */
      tlsCert: values.SMTP_TLS_CERT,
      tlsKey: values.SMTP_TLS_KEY,
      trustedHops: values.TRUSTED_MAIL_HOPS ?? [],
      trustedPeers: values.TRUSTED_MAIL_PEERS ?? [],
      replyChannel:
        values.CONVERT_REPLY_CHANNEL ??
        (values.MAILAPI_SERVICE_ACCOUNT_KEY === undefined ? "library" : "workspace"),
      bucket: values.CONVERT_EMAIL_BUCKET,
      /** False: `bucket` is the default name, and such a bucket may not exist. */
      bucketIsSet: /\S/.test(env["CONVERT_EMAIL_BUCKET"] ?? ""),
      /** `undefined`: our own pages. */
      registerUrl: values.REGISTER_URL,
      buyCreditsUrl: values.BUY_CREDITS_URL,
      mailApi: {
        serviceAccountKey: values.MAILAPI_SERVICE_ACCOUNT_KEY,
        sender: values.MAIL_SENDER,
        baseUrl: values.MAILAPI_BASE_URL,
        authUrl: values.AUTH_URL
      }
    },
    conversion: {
      /** `undefined`: on disk. */
      filesBucket: values.FILES_BUCKET,
      heartbeatIntervalMs: values.CHUNK_HEARTBEAT_INTERVAL_MS,
      dailyBudgetUsd: values.MODEL_DAILY_BUDGET_USD,
      model: {
        id: values.HIFI_MODEL_ID,
        inputUsdPerMtok: values.HIFI_INPUT_USD_PER_MTOK,
        outputUsdPerMtok: values.HIFI_OUTPUT_USD_PER_MTOK
      }
    },
    batch: {
      enabled: values.BATCH_CONVERSION_ENABLED,
      bucket: values.BATCH_CONVERSION_S3_BUCKET,
      roleArn: values.BATCH_CONVERSION_ROLE_ARN,
      minPages: values.BATCH_CONVERSION_MIN_PAGES,
      minRecords: values.BATCH_CONVERSION_MIN_RECORDS,
      maxRecords: values.BATCH_CONVERSION_MAX_RECORDS,
      timeoutHours: clamp(values.BATCH_CONVERSION_TIMEOUT_HOURS, 24, 168),
      maxFileMb: values.BATCH_CONVERSION_MAX_FILE_MB,
      pollSeconds: values.BATCH_CONVERSION_POLL_SECONDS,
      driverTickSeconds: values.BATCH_DRIVER_TICK_SECONDS,
      local: { delaySeconds: values.LOCAL_BATCH_DELAY_SECONDS, faults: values.LOCAL_BATCH_FAULTS ?? {} }
    },
    telemetry: {
      logLevel: values.POSTLANE_LOG_LEVEL,
      otlpEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
      otlpHeaders: values.OTEL_EXPORTER_OTLP_HEADERS,
      serviceName: values.OTEL_SERVICE_NAME
    },
    /** What is odd, and does not stop anything. */
    warnings
  } as const
}

/** Every setting, decoded, with its defaults in place. Secrets are `Redacted`: it can be logged as it is. */
export type Settings = ReturnType<typeof assemble>
