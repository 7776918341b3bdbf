import { Clock, Console, Effect, Redacted } from "effect"
import type { HttpServer } from "effect/http"

import { type Provider, PROVIDERS } from "../../domain/mail/provider.ts"
import { convertAddress } from "../compose/inbound/inbound-parts.ts"
import { usesLocalModel } from "../compose/objects.ts"
import { advice, type Settings } from "../settings/settings.ts"
import { isCheckout, typed } from "./package.ts"

/** What turned out at the start. */
export interface Place {
  readonly address: HttpServer.HttpServer["Service"]["address"]
  readonly database: string
  readonly queue: boolean
  readonly simulates: Readonly<Record<Provider, boolean>>
  readonly seconds: number
}

const shown = (secret: Redacted.Redacted | undefined) =>
  secret === undefined ? "unset" : Redacted.value(secret)

const listening = ({ address }: Place): string => {
  switch (address._tag) {
    case "InetAddressV4":
      return `http://${String(address.address)}:${address.port}`
    case "InetAddressV6":
      return `http://[${String(address.address)}]:${address.port}`
    default:
      return "a socket of this machine"
  }
}

const providerLine = (settings: Settings, place: Place): string => {
  const one = (provider: Provider) =>
    `${provider} (${place.simulates[provider] ? "simulated" : PROVIDERS[provider].vendor})`
  const { fallback, isOff, primary } = settings.sending
  if (isOff) return "none: EMAIL_PRIMARY is none, so that no mail goes out"
  return fallback === undefined ? `${one(primary)}, no fallback` : `${one(primary)}, then ${one(fallback)}`
}

/** Where mail to be converted comes in. */
const mailLine = (settings: Settings): string => {
  const { host } = settings.http
  const { smtpPort } = settings.intake
  if (!settings.roles.includes("intake")) return "none here: the role intake is off"
  const place =
    smtpPort === 0
      ? "a port that the log names"
      : `smtp://${host.includes(":") ? `[${host}]` : host}:${smtpPort}`
  return `${place}, for ${convertAddress(settings)}`
}

/** Where programs hand over mail. */
const programLine = ({ http: { host }, roles, submission: { implicitTls, port } }: Settings): string => {
  if (port === undefined || !roles.includes("intake"))
    return "none: SUBMISSION_PORT is unset, or the role intake is off"
  const place =
    port === 0
      ? "SMTP on a port that the log names"
      : `${implicitTls ? "smtps" : "smtp"}://${host.includes(":") ? `[${host}]` : host}:${port}`
  return `${place}, with a token: ${typed("token create --right send")}`
}

/** The document of a checkout that anybody may try with. */
const SAMPLE = "examples/sample.pdf"

/** How to mail a file to it; `demo:mail` gets an argument for each address that is not the default. */
const mailHint = (settings: Settings, place: Place): string => {
  if (!settings.roles.includes("intake")) return ""
  const { host } = settings.http
  const { smtpPort } = settings.intake
  const url = listening(place)
  const to = convertAddress(settings)
  if (!isCheckout) return `\n  or mail it to ${to} through the SMTP server of this machine.\n`
  const options = [
    ["127.0.0.1", "0.0.0.0", "::"].includes(host) ? "" : `--host ${host} `,
    smtpPort === 2525 ? "" : `--port ${smtpPort === 0 ? "PORT" : smtpPort} `,
    url.endsWith("127.0.0.1:8787") ? "" : `--url ${url} `,
    to === "convert@legacy.postlane.test" ? "" : `--to ${to} `
  ]
  return `
  or mail it to ${to}${place.simulates[settings.sending.primary] ? `, and read the answers at ${url}/dev` : ""}:

    npm run demo:mail -- ${options.join("")}${SAMPLE}
`
}

/** Where the mail of the example ends. */
const readHint = ({ sending: { isOff, primary } }: Settings, place: Place): string => {
  if (isOff) return "which is refused here, since EMAIL_PRIMARY is none."
  return place.simulates[primary]
    ? `and read it at ${listening(place)}/dev.`
    : `with an address of yours in place of you@example.com: ${PROVIDERS[primary].vendor} sends it for real.`
}

const opened = (secret: Redacted.Redacted | undefined) =>
  secret === undefined ? null : Redacted.value(secret)

/** Reports where everything is as one line of JSON, for the program that started this one. */
export const announceJson = (settings: Settings, place: Place): Effect.Effect<void> => {
  const url = listening(place)
  const { access, dataDir, sending } = settings
  return Console.log(
    JSON.stringify({
      ok: true,
      url,
      outbox: settings.embedded ? `${url}/dev` : null,
      dashboard: `${url}/dashboard`,
      admin: `${url}/admin`,
      database: place.database,
      dataDir,
      primary: sending.isOff ? "none" : sending.primary,
      fallback: sending.fallback ?? null,
      simulates: place.simulates,
      proxySecret: opened(access.proxySharedSecret),
      adminToken: opened(access.adminToken),
      ownerToken: opened(access.ownerToken),
      seconds: Math.round(place.seconds * 10) / 10
    })
  )
}

/** Reports where everything is: as a page on a terminal, else as one log line without secrets. */
export const announce = (settings: Settings, place: Place): Effect.Effect<void> =>
  Effect.gen(function* () {
    const url = listening(place)
    const notes = settings.embedded ? settings.warnings : advice(settings, yield* Clock.currentTimeMillis)
    for (const { setting, message } of notes) yield* Effect.logWarning(`${setting} ${message}`)
    if (!settings.embedded) {
      return yield* Effect.logInfo("Postlane is up").pipe(
        Effect.annotateLogs({
          url,
          database: place.database,
          providers: providerLine(settings, place),
          roles: settings.roles.join(",")
        })
      )
    }
    const secret = shown(settings.access.proxySharedSecret)
    yield* Console.log(`
  Postlane is up (${place.seconds.toFixed(1)} s)

  dashboard   ${url}/dashboard   (sign in with the owner token; with the admin token: ${url}/admin)
  outbox      ${url}/dev
  API         ${url}   (to read: ${url}/docs; for programs: ${url}/openapi.json)
  mail in     ${mailLine(settings)}
  programs    ${programLine(settings)}
  health      ${url}/health   ${url}/ready   ${url}/metrics
  sends by    ${providerLine(settings, place)}
  database    ${place.database}
  retries     ${place.queue ? "queued" : "none: an ambiguous send ends failed"}
  converts by ${usesLocalModel(settings) ? "the layout tier, also in place of the model" : settings.conversion.model.id}
  data        ${settings.dataDir}

  admin token ${shown(settings.access.adminToken)}
  owner token ${shown(settings.access.ownerToken)}

  Send a mail:

    curl -sS ${url}/internal/send-email -H "x-proxy-secret: ${secret}" -H "content-type: application/json" \\
      -d '{"to":"you@example.com","subject":"Hello","text":"First mail","category":"transactional","source":"api:readme"}'

  ${readHint(settings, place)} Convert a PDF or a Word document:

    ${typed(`convert ${isCheckout ? SAMPLE : "FILE.pdf"}`)}
${mailHint(settings, place)}
  or upload it at ${url}/dashboard, pictures (PNG, JPEG) too. Ctrl-C stops everything; the data stays.
`)
  })
