import { Redacted } from "effect"

import { modelFacts } from "../../adapters/bedrock/models.ts"
import { webhookSecretForm } from "../../domain/doctor/webhook-secret.ts"
import { EXCHANGE_ONLINE } from "../../domain/inbound/sender-authenticity.ts"
import { greatest } from "../../domain/lists.ts"
import { Provider } from "../../domain/mail/provider.ts"
import { nearestName } from "../../domain/nearest-name.ts"
import type { complete, Env, SettingProblem, Settings } from "./complete.ts"
import { needsOf } from "./providers.ts"
import { SETTINGS, type SettingName, type Values } from "./table.ts"

/** Longest delay of a message that Amazon SQS takes. */
const SQS_MAX_DELAY_SECONDS = 900

/** What the contradictions are looked for in. */
interface Given {
  readonly values: Values
  readonly settings: ReturnType<typeof complete>
  /** Whether all of these could be read: the consequences of one that could not are left out. */
  readonly readable: (...names: ReadonlyArray<SettingName>) => boolean
}

/** Whether mail may go to this provider. */
const uses = ({ sending }: Pick<Settings, "sending">, provider: Provider): boolean =>
  !sending.isOff && (sending.primary === provider || sending.fallback === provider)

/** One problem where it holds, with the words that follow. */
const when =
  (holds: boolean, setting: SettingName) =>
  (words: TemplateStringsArray, ...values: ReadonlyArray<string | number>): ReadonlyArray<SettingProblem> =>
    holds ? [{ setting, message: String.raw(words, ...values).trim() }] : []

/** What cannot be had where there is no Node. */
export const edgeLimits = ({ settings }: Given) =>
  when(uses(settings, "smtp"), settings.sending.primary === "smtp" ? "EMAIL_PRIMARY" : "EMAIL_FALLBACK")`
    is smtp, which needs a process on Node: there is no SMTP on the edge`

/** Contradictions that stop every start. */
export const contradictions = ({
  readable,
  settings,
  values: { cloud, eventHooks, intake, sending }
}: Given) => {
  const { batch, retryQueue, submission } = settings
  const { accessKeyId: id, secretAccessKey: key, sessionToken: token } = cloud
  const longest = greatest(retryQueue.delaysSeconds)
  const isTooLong = retryQueue.address._tag === "Sqs" && longest > SQS_MAX_DELAY_SECONDS
  const lacksAccount = intake.replyChannel === "workspace" && intake.serviceAccountKey === undefined
  const lacksCert = intake.tlsCert === undefined && intake.tlsKey !== undefined
  const lacksCertKey = intake.tlsCert !== undefined && intake.tlsKey === undefined
  const { tlsCert, tlsKey } = submission
  const lacksSubmissionCert = tlsCert === undefined && (tlsKey !== undefined || submission.implicitTls)
  const isOwnPair = tlsCert !== intake.tlsCert || tlsKey !== intake.tlsKey
  return [
    ...when(lacksSubmissionCert && (isOwnPair || submission.implicitTls), "SUBMISSION_TLS_CERT")`
      is unset: ${submission.implicitTls ? "SUBMISSION_TLS=implicit needs a certificate and its key" : "a key needs its certificate"}`,
    ...when(isOwnPair && tlsCert !== undefined && tlsKey === undefined, "SUBMISSION_TLS_KEY")`
      is unset: a certificate needs its key`,
    ...when((id !== undefined || token !== undefined) && key === undefined, "CLOUD_SECRET_ACCESS_KEY")`
      is required with CLOUD_ACCESS_KEY_ID: set both, or neither for the machine's own credentials`,
    ...when((key !== undefined || token !== undefined) && id === undefined, "CLOUD_ACCESS_KEY_ID")`
      is required with CLOUD_SECRET_ACCESS_KEY: set both, or neither for the machine's own credentials`,
    ...when(
      cloud.s3AccessKeyId !== undefined && cloud.s3SecretAccessKey === undefined,
      "S3_SECRET_ACCESS_KEY"
    )`
      is required with S3_ACCESS_KEY_ID: set both, or neither for the account's keys`,
    ...when(cloud.s3SecretAccessKey !== undefined && cloud.s3AccessKeyId === undefined, "S3_ACCESS_KEY_ID")`
      is required with S3_SECRET_ACCESS_KEY: set both, or neither for the account's keys`,
    ...when(sending.primary === "none" && sending.fallback !== undefined, "EMAIL_FALLBACK")`
      is set, and EMAIL_PRIMARY is none, so that no mail goes out: take one of them out`,
    ...when(isTooLong && readable("EMAIL_DEFER_DELAYS_SECONDS"), "EMAIL_DEFER_DELAYS_SECONDS")`
      holds ${longest}: an SQS queue delays a message by ${SQS_MAX_DELAY_SECONDS} s at most`,
    ...when(lacksAccount && readable("MAILAPI_SERVICE_ACCOUNT_KEY"), "CONVERT_REPLY_CHANNEL")`
      is workspace, which needs MAILAPI_SERVICE_ACCOUNT_KEY: set it, or use library`,
    ...when(lacksCert || lacksCertKey, lacksCert ? "SMTP_TLS_CERT" : "SMTP_TLS_KEY")`
      is unset: a certificate needs its key, and a key its certificate`,
    ...when(
      eventHooks.url !== undefined && eventHooks.secrets === undefined && readable("EVENT_HOOK_SECRET"),
      "EVENT_HOOK_SECRET"
    )`
      is required with EVENT_HOOK_URL: whsec_ and the base64 of 32 random bytes (openssl rand -base64 32)`,
    ...when(batch.minRecords > batch.maxRecords, "BATCH_CONVERSION_MIN_RECORDS")`
      is more than BATCH_CONVERSION_MAX_RECORDS: lower it`
  ]
}

/**
 * What the providers that mail may go to lack: neither a server nor a layer begins without it, and `sendEmail` says so in each result.
 * Of provider_b nothing: it may have the machine's own credentials.
 */
export const providerNeeds = (
  settings: Pick<Settings, "embedded" | "sending">,
  readable: Given["readable"] = () => true
) => {
  const { embedded, sending } = settings
  return embedded || !readable("EMAIL_PRIMARY", "EMAIL_FALLBACK")
    ? []
    : Provider.literals.flatMap((provider) => {
        const needs = needsOf(provider)
        if (needs === undefined || !uses(settings, provider) || !readable(needs.setting)) return []
        const place = sending.primary === provider ? "EMAIL_PRIMARY" : "EMAIL_FALLBACK"
        return when(!sending.isConfigured[provider], needs.setting)`
          is required, since ${provider} is ${place}: ${needs.how}`
      })
}

/** What stops a start in production, and degrades the library and an embedded run. */
export const degradations = ({ readable, settings }: Given) => {
  const { database, embedded, providerA, retryQueue } = settings
  const secrets = providerA.webhookSecrets
  const isMalformed = secrets.some((secret) => webhookSecretForm(Redacted.value(secret)) === "malformed")
  const lacksDatabase = retryQueue.address._tag === "Postgres" && database === undefined && !embedded
  return [
    ...providerNeeds(settings, readable),
    ...when(isMalformed, "PROVIDERA_WEBHOOK_SECRET")`
      ${secrets.length > 1 ? "holds one that is" : "is"} no signing secret, so that every event would be refused: copy it (whsec_… and base64) from Resend's webhooks page`,
    ...when(lacksDatabase && readable("DB_URL"), "EMAIL_DEFER_QUEUE_URL")`
      is a queue in the database, and there is none: set DB_URL, or use an SQS queue`
  ]
}

/** A `HOST` that other machines do not reach. */
const THIS_MACHINE = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i

/** What is odd, and stops nothing. */
export const oddities = ({ readable, settings, values: { conversion, events, sending } }: Given) => {
  const { batch, embedded } = settings
  const lacksChat = (events.chatBotToken === undefined) !== (events.chatId === undefined)
  const lacks = (value: unknown, name: SettingName) =>
    when(batch.enabled && !embedded && value === undefined && readable(name), name)`
      is unset: the batch lane stays off without it`
  const { http, submission } = settings
  const isClear = submission.port !== undefined && !embedded && !THIS_MACHINE.test(http.host)
  return [
    ...when(
      isClear && submission.tlsCert === undefined && readable("SUBMISSION_PORT"),
      "SUBMISSION_TLS_CERT"
    )`
      is unset, and so is SMTP_TLS_CERT: SMTP submission takes no token in clear, so that programs on other machines cannot log in`,
    ...when(sending.fallback === settings.sending.primary && readable("EMAIL_PRIMARY"), "EMAIL_FALLBACK")`
      is ignored, since it equals EMAIL_PRIMARY`,
    ...when(lacksChat, events.chatId === undefined ? "CHAT_ID" : "CHAT_BOT_TOKEN")`
      is unset: alerts cannot go to the chat without it`,
    ...when(
      conversion.temperature !== undefined && modelFacts(conversion.modelId).takesTemperature === false,
      "HIFI_TEMPERATURE"
    )`is set, and this HIFI_MODEL_ID refuses it: every call would be answered 400; take it out`,
    ...when(
      !embedded &&
        !modelFacts(conversion.modelId).isPriceKnown &&
        (conversion.inputUsdPerMtok === undefined || conversion.outputUsdPerMtok === undefined),
      "HIFI_INPUT_USD_PER_MTOK"
    )`
      or HIFI_OUTPUT_USD_PER_MTOK is unset, and the price of this HIFI_MODEL_ID is not known: costs and the daily budget count with the dearest known one`,
    ...lacks(batch.bucket, "BATCH_CONVERSION_S3_BUCKET"),
    ...lacks(batch.roleArn, "BATCH_CONVERSION_ROLE_ARN")
  ]
}

/** What `postlane serve` cannot do without, and what to do about it. Empty: it can start. */
export const requirements = ({ access, database }: Pick<Settings, "access" | "database">) => [
  ...when(database === undefined, "DB_URL")`
    is unset: give it a PostgreSQL 15 or later, postgres://user@host:port/database, with the password in DB_SECRET_KEY, and apply the migrations (postlane migrate)`,
  ...when(access.proxySharedSecret === undefined, "PROXY_SHARED_SECRET")`
    is unset: give it a long random text, which callers of the relay send as x-proxy-secret`
]

/** Why no mail is accepted without a trusted hop: every mail would be dropped as unverified. */
const NO_HOPS =
  "is unset: nothing vouches for senders, and the SMTP intake does not start; name the mail server that checks DMARC before it"

const DAY_MS = 86_400_000

/** The older addresses are for a time of change: who owns their names later must not pass for us. */
const olderAddresses = ({ olderBaseUrls, olderBaseUrlsUntil: until }: Settings["http"], now: number) => {
  const taken = olderBaseUrls.length > 0
  return [
    ...when(taken && until === undefined, "OLDER_BASE_URLS_UNTIL")`
      is unset: pages from OLDER_BASE_URLS are taken for ours without end; name the last day`,
    ...when(taken && until !== undefined && now >= until + DAY_MS, "OLDER_BASE_URLS")`
      is past its last day: take it out, since pages from there are still taken for ours`
  ]
}

/** What production can start without, but should have, as of `now` (milliseconds). */
export const advice = (settings: Settings, now: number): ReadonlyArray<SettingProblem> => {
  const { domains, http, intake, postmark, providerA, providerB, retryQueue, roles, sending } = settings
  const deaf = (provider: Provider, isDeaf: boolean, name: SettingName) =>
    when(roles.includes("api") && uses(settings, provider) && isDeaf, name)`
      is unset: the webhook of ${provider} refuses everybody, and its bounces and complaints are neither logged in time nor suppressed`
  return [
    ...settings.warnings,
    ...when(domains.sender.endsWith(".test") && !sending.isOff, "SENDER_DOMAIN")`
      is a .test domain, from which no provider delivers: set your own`,
    ...when(!http.baseUrlIsSet, "BASE_URL")`
      is unset: links in mails lead to the listener's own address`,
    ...when(http.baseUrlIsSet && !http.baseUrl.startsWith("https://"), "BASE_URL")`
      does not begin with https://: no mail service takes its unsubscribe links, so that outreach is refused and marketing goes out without one`,
    ...olderAddresses(http, now),
    ...when(sending.fallback === undefined && !sending.isOff, "EMAIL_FALLBACK")`
      is unset: mail that ${sending.primary} does not take ends failed, since no other provider is tried`,
    ...deaf("provider_a", providerA.webhookSecrets.length === 0, "PROVIDERA_WEBHOOK_SECRET"),
    ...deaf("provider_b", providerB.webhookSecret === undefined, "PROVIDERB_WEBHOOK_SECRET"),
    ...deaf("postmark", postmark.webhookPassword === undefined, "POSTMARK_WEBHOOK_PASSWORD"),
    ...when(retryQueue.address._tag === "None", "EMAIL_DEFER_QUEUE_URL")`
      is empty: there is no retry queue, and an ambiguous send ends failed instead of being tried again`,
    ...when(roles.includes("intake") && intake.trustedHops.length === 0, "TRUSTED_MAIL_HOPS")`
      ${settings.bounceAddress === undefined ? NO_HOPS : "is unset: nothing vouches for senders, and the SMTP intake takes delivery reports alone"}`,
    ...when(
      roles.includes("intake") &&
        intake.hopSecret === undefined &&
        intake.trustedHops.some((hop) => hop.toLowerCase() === EXCHANGE_ONLINE),
      "TRUSTED_MAIL_HOP_SECRET"
    )`
      is unset: mail from Exchange Online is not believed without it, since its hosts hand over everybody's`
  ]
}

/** Prefixes used by Postlane only: an unknown name with one is probably a typo. */
const OUR_PREFIX = /^(?:EMAIL|POSTLANE|POSTMARK|PROVIDERA|PROVIDERB|BATCH_CONVERSION|MAILAPI|HIFI)_/

const names: ReadonlyArray<string> = SETTINGS.flatMap(({ alias, name }) =>
  alias === undefined ? [name] : [name, alias]
)

/** Names that look like ours and are not. */
export const unknownNames = (env: Env): ReadonlyArray<SettingProblem> =>
  Object.keys(env)
    .filter((name) => OUR_PREFIX.test(name) && !names.includes(name))
    .map((name) => {
      const nearest = nearestName(name, names)
      return {
        setting: name,
        message: `is not a setting, and is ignored${nearest === undefined ? "" : `; did you mean ${nearest}?`}`
      }
    })
