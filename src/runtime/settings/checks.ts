import { Redacted } from "effect"

import { webhookSecretForm } from "../../domain/doctor/webhook-secret.ts"
import { append, greatest } from "../../domain/lists.ts"
import type { Provider } from "../../domain/mail/failover.ts"
import type { DecodeOptions, SettingProblem, Settings } from "./shape.ts"
import type { SettingName, Values } from "./table.ts"

/** Longest delay of a message that Amazon SQS takes. */
const SQS_MAX_DELAY_SECONDS = 900

/**
 * Inconsistent settings: problems, and warnings for what only degrades the service. Consequences of a setting that could not be
 * read are left out.
 */
export const contradictions = (
  values: Values,
  settings: Settings,
  options: DecodeOptions,
  unreadable: ReadonlySet<string>
) => {
  const problems: Array<SettingProblem> = []
  const warnings: Array<SettingProblem> = []
  const degrading = options.library === true || settings.embedded ? warnings : problems
  const { primary, fallback } = settings.sending
  const { address } = settings.retryQueue
  const readable = (...names: ReadonlyArray<SettingName>) => names.every((name) => !unreadable.has(name))

  const usesProviderA = primary === "provider_a" || fallback === "provider_a"
  const keyIsMissing = usesProviderA && !settings.embedded && settings.providerA.apiKey === undefined
  if (keyIsMissing && readable("EMAIL_PRIMARY", "EMAIL_FALLBACK")) {
    const use = primary === "provider_a" ? "EMAIL_PRIMARY" : "EMAIL_FALLBACK"
    degrading.push({
      setting: "PROVIDERA_API_KEY",
      message: `is required, since provider_a is ${use}: set it, or choose provider_b`
    })
  }
  if (values.EMAIL_FALLBACK === primary && readable("EMAIL_PRIMARY")) {
    warnings.push({ setting: "EMAIL_FALLBACK", message: "is ignored, since it equals EMAIL_PRIMARY" })
  }
  const { CLOUD_ACCESS_KEY_ID: id, CLOUD_SECRET_ACCESS_KEY: key, CLOUD_SESSION_TOKEN: token } = values
  if ((id !== undefined || token !== undefined) && key === undefined) {
    problems.push({
      setting: "CLOUD_SECRET_ACCESS_KEY",
      message: "is required beside CLOUD_ACCESS_KEY_ID: set both, or neither for the instance role"
    })
  }
  if ((key !== undefined || token !== undefined) && id === undefined) {
    problems.push({
      setting: "CLOUD_ACCESS_KEY_ID",
      message: "is required beside CLOUD_SECRET_ACCESS_KEY: set both, or neither for the instance role"
    })
  }
  const { webhookSecrets } = settings.providerA
  if (webhookSecrets.some((secret) => webhookSecretForm(Redacted.value(secret)) === "malformed")) {
    const which = webhookSecrets.length > 1 ? "holds one that is" : "is"
    degrading.push({
      setting: "PROVIDERA_WEBHOOK_SECRET",
      message: `${which} no signing secret, so that every event would be refused: copy it (whsec_… and base64) from Resend's webhooks page`
    })
  }
  const longest = greatest(settings.retryQueue.delaysSeconds)
  if (address._tag === "Sqs" && longest > SQS_MAX_DELAY_SECONDS && readable("EMAIL_DEFER_DELAYS_SECONDS")) {
    problems.push({
      setting: "EMAIL_DEFER_DELAYS_SECONDS",
      message: `holds ${longest}: an SQS queue delays a message by ${SQS_MAX_DELAY_SECONDS} s at most`
    })
  }
  if (
    address._tag === "Postgres" &&
    settings.database === undefined &&
    !settings.embedded &&
    readable("DB_URL")
  ) {
    degrading.push({
      setting: "EMAIL_DEFER_QUEUE_URL",
      message: "is a queue in the database, and there is none: set DB_URL, or use an SQS queue"
    })
  }
  if (
    values.CONVERT_REPLY_CHANNEL === "workspace" &&
    values.MAILAPI_SERVICE_ACCOUNT_KEY === undefined &&
    readable("MAILAPI_SERVICE_ACCOUNT_KEY")
  ) {
    problems.push({
      setting: "CONVERT_REPLY_CHANNEL",
      message: "is workspace, which needs MAILAPI_SERVICE_ACCOUNT_KEY: set it, or use library"
    })
  }
  if ((values.SMTP_TLS_CERT === undefined) !== (values.SMTP_TLS_KEY === undefined)) {
    const missing = values.SMTP_TLS_CERT === undefined ? "SMTP_TLS_CERT" : "SMTP_TLS_KEY"
    problems.push({
      setting: missing,
      message: "is unset: a certificate needs its key, and a key its certificate"
    })
  }
  if ((values.CHAT_BOT_TOKEN === undefined) !== (values.CHAT_ID === undefined)) {
    const missing = values.CHAT_ID === undefined ? "CHAT_ID" : "CHAT_BOT_TOKEN"
    warnings.push({ setting: missing, message: "is unset: alerts cannot go to the chat without it" })
  }
  if (settings.batch.enabled && !settings.embedded) {
    for (const name of ["BATCH_CONVERSION_S3_BUCKET", "BATCH_CONVERSION_ROLE_ARN"] as const) {
      if (values[name] === undefined && readable(name)) {
        warnings.push({ setting: name, message: "is unset: the batch lane stays off without it" })
      }
    }
  }
  if (settings.batch.minRecords > settings.batch.maxRecords) {
    problems.push({
      setting: "BATCH_CONVERSION_MIN_RECORDS",
      message: "is more than BATCH_CONVERSION_MAX_RECORDS: lower it"
    })
  }
  return { problems, warnings }
}

/** What `npm run serve` cannot do without, and what to do about it. Empty: it can start. */
export const requirements = (settings: Settings): ReadonlyArray<SettingProblem> => {
  const missing: Array<SettingProblem> = []
  if (settings.database === undefined) {
    missing.push({
      setting: "DB_URL",
      message:
        "is unset: give it a PostgreSQL 15 or later, postgres://user@host:port/database, with the password in DB_SECRET_KEY, and run npm run migrate"
    })
  }
  if (settings.sending.primary === "provider_a" && settings.providerA.apiKey === undefined) {
    missing.push({
      setting: "PROVIDERA_API_KEY",
      message: "is unset: give it a Resend API key, or set EMAIL_PRIMARY=provider_b"
    })
  }
  if (settings.access.proxySharedSecret === undefined) {
    missing.push({
      setting: "PROXY_SHARED_SECRET",
      message: "is unset: give it a long random text, which callers of the relay send as x-proxy-secret"
    })
  }
  return missing
}

/** Providers in use whose events cannot arrive, since their webhook refuses everybody. */
const deafness = ({ providerA, providerB, roles, sending }: Settings): ReadonlyArray<SettingProblem> => {
  if (!roles.includes("api")) return []
  const unset = (setting: SettingName, provider: Provider) => ({
    setting,
    message: `is unset: the webhook of ${provider} refuses everybody, and its bounces and complaints are neither logged in time nor suppressed`
  })
  const uses = (provider: Provider) => sending.primary === provider || sending.fallback === provider
  return [
    ...(uses("provider_a") && providerA.webhookSecrets.length === 0
      ? [unset("PROVIDERA_WEBHOOK_SECRET", "provider_a")]
      : []),
    ...(uses("provider_b") && providerB.webhookSecret === undefined
      ? [unset("PROVIDERB_WEBHOOK_SECRET", "provider_b")]
      : [])
  ]
}

/** Why no mail is taken in without a trusted hop: every mail would be dropped as unverified. */
export const NO_HOPS =
  "is unset: nothing vouches for senders, and the SMTP intake does not start; name the mail server that checks DMARC before it"

/** What production can start without, but should have. */
export const advice = (settings: Settings): ReadonlyArray<SettingProblem> => {
  const notes: Array<SettingProblem> = [...settings.warnings]
  if (settings.domains.sender.endsWith(".test")) {
    notes.push({
      setting: "SENDER_DOMAIN",
      message: "is a .test domain, from which no provider delivers: set your own"
    })
  }
  if (!settings.http.baseUrlIsSet) {
    notes.push({
      setting: "BASE_URL",
      message: "is unset: links in mails lead to the listener's own address"
    })
  }
  append(notes, deafness(settings))
  if (settings.retryQueue.address._tag === "None") {
    notes.push({
      setting: "EMAIL_DEFER_QUEUE_URL",
      message: "is unset: an ambiguous send ends failed instead of being tried again"
    })
  }
  if (settings.roles.includes("intake") && settings.intake.trustedHops.length === 0) {
    notes.push({ setting: "TRUSTED_MAIL_HOPS", message: NO_HOPS })
  }
  return notes
}
