import { Record as Records, Redacted, Struct } from "effect"

import { modelFacts } from "../../adapters/bedrock/models.ts"
import { addressOf, type Mailbox } from "../../domain/mail/address.ts"
import {
  DEFAULT_PRIMARY,
  FIRST_FALLBACK,
  LIMITED_PROVIDER,
  Provider,
  PROVIDERS
} from "../../domain/mail/provider.ts"
import { fixedRate } from "../../domain/mail/rate.ts"
import type { PaceLimit } from "../../ports/mail/send-queue.ts"
import { PROVIDER_AREAS, PROVIDER_SETTINGS, rateOf } from "./providers.ts"
import type { DeferQueueAddress } from "./shapes.ts"
import type { Values } from "./table.ts"

/** The process environment, or the bindings of an edge runtime. */
export type Env = Readonly<Record<string, string | undefined>>

/** One thing that is wrong, or odd, about the settings. It never repeats a value. */
export interface SettingProblem {
  readonly setting: string
  /** What is wrong and what to do, as a clause that follows the name. */
  readonly message: string
}

/** Facts that the decoder needs in addition to the environment. */
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
interface CloudCredentials {
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

/** The database's URL with the password in it; a URL that holds one keeps its own. `undefined`: no database. */
const databaseOf = ({ prepare, secretKey, serviceRoleKey, url }: Values["database"]) => {
  if (url === undefined) return undefined
  const password = secretKey ?? serviceRoleKey
  const parsed = new URL(Redacted.value(url))
  const own = parsed.password !== "" || parsed.searchParams.has("password")
  if (!own && password !== undefined) parsed.password = encodeURIComponent(Redacted.value(password))
  return { url: Redacted.make(parsed.href), prepare, hasPassword: own || password !== undefined }
}

const cloudOf = ({
  accessKeyId,
  s3AccessKeyId,
  s3Encryption,
  s3Endpoint,
  s3Region,
  s3SecretAccessKey,
  secretAccessKey,
  sessionToken,
  ...cloud
}: Values["cloud"]) => {
  const credentials: CloudCredentials | undefined =
    accessKeyId === undefined || secretAccessKey === undefined
      ? undefined
      : { accessKeyId, secretAccessKey, sessionToken }
  /** Without `credentials` the machine's own sign. */
  const s3 = {
    endpoint: s3Endpoint,
    region: s3Region ?? cloud.region,
    /** Undefined: those of the account. */
    credentials:
      s3AccessKeyId === undefined || s3SecretAccessKey === undefined
        ? undefined
        : { accessKeyId: s3AccessKeyId, secretAccessKey: s3SecretAccessKey, sessionToken: undefined },
    encryption: s3Encryption === "none" ? undefined : s3Encryption
  }
  return { ...cloud, s3, credentials }
}

type OfEach = Readonly<Record<Provider, boolean>>

/** Which providers have an account in the settings: for provider_b, access keys. */
const configuredOf = (values: Values): OfEach => Records.map(PROVIDER_SETTINGS, ({ isSet }) => isSet(values))

/** Which providers are simulated: embedded, those that are not configured. */
const simulatedOf = (values: Values, embedded: boolean): OfEach => {
  const simulates = embedded && values.sending.primary !== "none"
  return Records.map(configuredOf(values), (isConfigured) => simulates && !isConfigured)
}

/**
 * The fallback: never equal to the primary, and absent when unset (MAIL-20). A first run that names neither and simulates all
 * fails over, so that a newcomer sees it. Next to a real provider, a simulated one would swallow mail.
 */
const fallbackOf = (values: Values, embedded: boolean) => {
  const { fallback, primary } = values.sending
  if (primary === "none") return undefined
  if (fallback !== undefined) return fallback === (primary ?? DEFAULT_PRIMARY) ? undefined : fallback
  const allSimulated = Object.values(simulatedOf(values, embedded)).every(Boolean)
  return allSimulated && primary === undefined ? FIRST_FALLBACK : undefined
}

const sendingOf = (values: Values, embedded: boolean) => {
  const { domains, sending } = values
  const from: Mailbox = domains.from ?? { name: "Postlane", local: "noreply", domain: domains.sender }
  return {
    ...sending,
    /** No mail goes out: the installation is for documents alone. */
    isOff: sending.primary === "none",
    primary: sending.primary === undefined || sending.primary === "none" ? DEFAULT_PRIMARY : sending.primary,
    fallback: fallbackOf(values, embedded),
    from,
    /** USD a message. */
    costUsd: Records.map(PROVIDER_SETTINGS, ({ costUsd }) => costUsd(values)),
    isConfigured: configuredOf(values),
    simulates: simulatedOf(values, embedded)
  }
}

const providersOf = ({ cloud, domains, postmark, providerA, providerB }: Values) => ({
  postmark: {
    ...postmark,
    /** What its webhook is given; undefined: its events are refused. */
    webhook:
      postmark.webhookPassword === undefined
        ? undefined
        : { user: postmark.webhookUser, password: postmark.webhookPassword }
  },
  providerA: {
    ...providerA,
    /** Any of them may have signed an event. */
    webhookSecrets:
      providerA.webhookSecrets === undefined
        ? []
        : Redacted.value(providerA.webhookSecrets)
            .split(/\s+/)
            .map((one) => Redacted.make(one))
  },
  providerB: {
    ...providerB,
    region: providerB.region ?? cloud.region,
    outreachFooter:
      providerB.outreachFooter ??
      `Sent by Postlane, ${domains.sender}. You get this mail because we think that our service is of use to you.`
  }
})

/** The relay's URL, taken apart; `undefined`: none. */
const relayOf = ({ smtp }: Values) => {
  if (smtp.url === undefined) return undefined
  const { hostname, password, port, protocol, username } = new URL(Redacted.value(smtp.url))
  const secure = protocol === "smtps:"
  return {
    // The brackets of an IPv6 address belong to the URL.
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: port === "" ? (secure ? 465 : 587) : Number(port),
    secure,
    requiresTls: smtp.tls === "required",
    login:
      username === ""
        ? undefined
        : { user: decodeURIComponent(username), password: Redacted.make(decodeURIComponent(password)) }
  }
}

/** Where there is a database, the queue is in it; an address that is set but empty means no queue. */
const queueAddress = (env: Env, values: Values, embedded: boolean): DeferQueueAddress => {
  const { address } = values.retryQueue
  if (address !== undefined) return address
  const isEmptied = /^\s*$/.test(env["EMAIL_DEFER_QUEUE_URL"] ?? "unset")
  const hasDatabase = embedded || values.database.url !== undefined
  return hasDatabase && !isEmptied ? { _tag: "Postgres", name: "email-defer" } : { _tag: "None" }
}

const sendQueueOf = (values: Values, embedded: boolean) => {
  const { concurrency, maxAgeHours, vendorLimits } = values.sendQueue
  const isSimulated = simulatedOf(values, embedded)
  const pace = (provider: Provider, set: number | undefined): PaceLimit => {
    const isFree = isSimulated[provider] && !(vendorLimits && provider === LIMITED_PROVIDER)
    return { provider, ...(set === undefined && !isFree ? PROVIDERS[provider].pace : fixedRate(set ?? 0)) }
  }
  return {
    concurrency,
    maxAgeMs: maxAgeHours * 3_600_000,
    vendorLimits,
    paces: Provider.literals.map((provider) => pace(provider, rateOf(provider, values)))
  }
}

const eventHooksOf = ({ eventHooks: { privateNetworks, secrets, url } }: Values, embedded: boolean) => ({
  /** The hook of the settings, if they name one; `secrets`: one, or two while one is being replaced. */
  own:
    url === undefined || secrets === undefined
      ? undefined
      : {
          url,
          secrets: Redacted.value(secrets)
            .split(" ")
            .map((one) => Redacted.make(one))
        },
  privateNetworks: privateNetworks ?? (embedded ? ["127.0.0.0/8", "::1"] : [])
})

const intakeOf = (env: Env, { intake }: Values) => ({
  ...intake,
  trustedHops: intake.trustedHops ?? [],
  trustedPeers: intake.trustedPeers ?? [],
  replyChannel: intake.replyChannel ?? (intake.serviceAccountKey === undefined ? "library" : "workspace"),
  /** False: `bucket` is the default name, and such a bucket may not exist. */
  bucketIsSet: /\S/.test(env["CONVERT_EMAIL_BUCKET"] ?? "")
})

/** The port of a first run; one below 1024 would need rights, and 587 may be a mail server's. */
const EMBEDDED_SUBMISSION_PORT = 2587

const submissionOf = ({ intake, submission: { port, tls, tlsCert, tlsKey } }: Values, embedded: boolean) => ({
  /** Undefined: off. */
  port: port ?? (embedded ? EMBEDDED_SUBMISSION_PORT : undefined),
  implicitTls: tls === "implicit",
  ...(tlsCert === undefined && tlsKey === undefined
    ? { tlsCert: intake.tlsCert, tlsKey: intake.tlsKey }
    : { tlsCert, tlsKey })
})

const conversionOf = ({
  inputUsdPerMtok,
  modelId,
  ocr,
  ocrLanguages,
  ocrMaxPages,
  ocrPageSeconds,
  ocrWorkers,
  outputUsdPerMtok,
  ...rest
}: Values["conversion"]) => ({
  ...rest,
  model: {
    id: modelId,
    inputUsdPerMtok: inputUsdPerMtok ?? modelFacts(modelId).price.inputUsdPerMtok,
    outputUsdPerMtok: outputUsdPerMtok ?? modelFacts(modelId).price.outputUsdPerMtok
  },
  /** Undefined: scans stay pictures. */
  recognition:
    ocr === "off"
      ? undefined
      : {
          languages: ocrLanguages,
          threads: ocrWorkers,
          maxPages: ocrMaxPages,
          pageTimeoutMs: ocrPageSeconds * 1000
        }
})

const batchOf = ({ localDelaySeconds, localFaults, ...batch }: Values["batch"]) => ({
  ...batch,
  /** What the provider allows. */
  timeoutHours: Math.min(168, Math.max(24, batch.timeoutHours)),
  local: { delaySeconds: localDelaySeconds, faults: localFaults ?? {} }
})

/** The settings: the values by area, with the defaults that depend on other settings in place. */
export const complete = (env: Env, values: Values, options: DecodeOptions) => {
  const { access, domains, events, service, telemetry } = values
  const embedded = service.embedded ?? options.embedded
  const baseUrl = service.baseUrl ?? listenerUrl(service.host, service.port)
  const internal = (path: string) => (options.edge === true ? undefined : `${baseUrl}/internal/${path}`)
  return {
    /** True: parts that are not configured are embedded or simulated. */
    embedded,
    roles: service.roles,
    /** As it was written; relative to the working directory. */
    dataDir: service.dataDir,
    http: {
      host: service.host,
      port: service.port,
      baseUrl,
      baseUrlIsSet: service.baseUrl !== undefined,
      olderBaseUrls: service.olderBaseUrls ?? [],
      /** The beginning of their last day, milliseconds. */
      olderBaseUrlsUntil: service.olderBaseUrlsUntil,
      trustedProxies: service.trustedProxies ?? [],
      maxConnections: service.maxConnections
    },
    /** An unset secret refuses every caller. */
    access,
    domains,
    /** `hasPassword`: from the URL or from one of the key settings. */
    database: databaseOf(values.database),
    sending: sendingOf(values, embedded),
    ...Struct.pick(values, PROVIDER_AREAS),
    ...providersOf(values),
    smtp: relayOf(values),
    /** Undefined: reports about mail of the relay are not taken. */
    bounceAddress: values.smtp.bounceAddress,
    cloud: cloudOf(values.cloud),
    retryQueue: { ...values.retryQueue, address: queueAddress(env, values, embedded) },
    sendQueue: sendQueueOf(values, embedded),
    events: {
      ...events,
      internalAlertUrl: events.internalAlertUrl ?? internal("email-alert"),
      internalSendEmailUrl: events.internalSendEmailUrl ?? internal("send-email")
    },
    eventHooks: eventHooksOf(values, embedded),
    alerts: {
      /** Bare address. */
      email: events.alertEmail && addressOf(events.alertEmail)
    },
    intake: intakeOf(env, values),
    submission: submissionOf(values, embedded),
    conversion: conversionOf(values.conversion),
    batch: batchOf(values.batch),
    telemetry
  }
}

/** Every setting, decoded, with its defaults in place. Secrets are `Redacted`, so that the settings can be logged. */
export interface Settings extends Readonly<ReturnType<typeof complete>> {
  /** What is odd, and does not stop anything. */
  readonly warnings: ReadonlyArray<SettingProblem>
}
