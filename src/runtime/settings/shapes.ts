import { Effect, Redacted, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"

import { hookUrlFault } from "../../domain/delivery/event-hooks.ts"
import { asciiDomain, parseMailbox } from "../../domain/mail/address.ts"
import { isReturnLocal } from "../../domain/mail/return-address.ts"
import { decodedPercent } from "./percent-encoding.ts"

/** Where deferred sends wait (`EMAIL_DEFER_QUEUE_URL`). */
export type DeferQueueAddress =
  | { readonly _tag: "None" }
  | { readonly _tag: "Sqs"; readonly url: string }
  | { readonly _tag: "Postgres"; readonly name: string }

/** The supervised parts of a process (`POSTLANE_ROLES`). */
const ROLES = ["api", "leader", "retry", "send", "worker", "intake"] as const
export type Role = (typeof ROLES)[number]

/**
 * The shape of a setting: decodes its text, trimmed and not empty. `must` says what the text has to be and never repeats
 * it: a secret may be there by mistake.
 */
const parsed = <A>(must: string, parse: (text: string) => A | undefined): Schema.Codec<A, string> =>
  Schema.String.pipe(
    Schema.decodeTo(
      Schema.declare((value: unknown): value is A => value !== undefined),
      SchemaTransformation.transformEffect<A, string>({
        decode: (text) => {
          const value = parse(text)
          return value === undefined
            ? Effect.fail(new SchemaIssue.InvalidValue({ message: must }))
            : Effect.succeed(value)
        },
        encode: () => Effect.fail(new SchemaIssue.InvalidValue({ message: "settings are only read" }))
      })
    )
  )

const matching = (pattern: RegExp, must: string) =>
  Schema.String.check(Schema.isPattern(pattern, { message: must }))

const anyOf = (options: ReadonlyArray<string>): string =>
  options.length === 1 ? options[0]! : `${options.slice(0, -1).join(", ")} or ${options.at(-1)}`

const split = (text: string): ReadonlyArray<string> => text.split(/[\s,]+/).filter((part) => part !== "")

/** The same text as a secret. */
export const redacted = (shape: Schema.Codec<string>): Schema.Codec<Redacted.Redacted, string> =>
  shape.pipe(
    Schema.decodeTo(
      Schema.Redacted(Schema.String),
      SchemaTransformation.transform({ decode: (text) => Redacted.make(text), encode: Redacted.value })
    )
  )

export const text = Schema.String

/** The value of a header. */
export const userAgent = matching(/^[ -~]{1,200}$/, "must be printable ASCII, 200 characters at most")

export const oneOf = <const A extends string>(options: ReadonlyArray<A>) =>
  Schema.Literals(options).annotate({ message: `must be ${anyOf(options)}` })

export const integer = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) => {
  const range =
    maximum === Number.MAX_SAFE_INTEGER ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`
  return parsed(`must be a whole number ${range}`, (value) => {
    const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN
    return number >= minimum && number <= maximum ? number : undefined
  })
}

/** 0 lets the system choose. */
export const port = integer(0, 65_535)

/** A price or a time: zero or more, with a point. */
export const decimal = parsed("must be a number of zero or more, such as 0.0004", (value) =>
  /^\d{1,12}(?:\.\d{1,12})?$/.test(value) ? Number(value) : undefined
)

export const flag = parsed("must be 1 or 0 (or true or false)", (value) => {
  if (/^(?:1|true|yes|on)$/i.test(value)) return true
  return /^(?:0|false|no|off)$/i.test(value) ? false : undefined
})

/** Codes of languages as Tesseract has them: `eng`, `chi_sim`. They name packages, so that nothing else is allowed. */
export const languages = parsed("must be language codes such as eng,deu, separated by commas", (value) => {
  const codes = [...new Set(split(value.toLowerCase()))]
  return codes.length > 0 &&
    codes.length <= 20 &&
    codes.every((code) => /^[a-z]{3}(?:_[a-z]{3,4})?$/.test(code))
    ? codes
    : undefined
})

/** Words, separated by commas. */
export const words = parsed("must be words, separated by commas", split)

const NETWORK =
  /^(?:\d{1,3}(?:\.\d{1,3}){3}(?:\/(?:[12]?\d|3[0-2]))?|(?=[^/]*:)[\da-f:]{2,39}(?:\/(?:\d{1,2}|1[01]\d|12[0-8]))?)$/i
const NETWORKS = "addresses or networks (such as 10.0.0.0/8), separated by commas"

const parseNetworks = (value: string) =>
  split(value).every((word) => NETWORK.test(word)) ? split(value) : undefined

/** Addresses, and networks by the length of their prefix. */
export const networks = parsed(`must be ${NETWORKS}`, parseNetworks)

/** Where events are posted to, as a hook's address has to be. */
export const hookUrl = parsed(
  "must be an address that starts with https:// or http://, without a user name",
  (value) => (hookUrlFault(value) === undefined ? value : undefined)
)

/** One signing secret, or two separated by a space. */
export const hookSecrets = parsed(
  "must be whsec_ and the base64 of 24 to 64 bytes, or two of them with a space between",
  (value) => {
    const secrets = value.split(/\s+/)
    const areWhole = secrets.every((secret) =>
      /^whsec_(?:[A-Za-z\d+/]{4}){8,}(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/.test(secret)
    )
    return areWhole && secrets.length <= 2 && value.length <= 200 ? secrets.join(" ") : undefined
  }
)

/** Proxies: how many there are one behind another, or their addresses and networks. */
export const proxies = parsed<number | ReadonlyArray<string>>(
  `must be a number of proxies, or ${NETWORKS}`,
  (value) => (/^\d{1,2}$/.test(value) ? Number(value) : parseNetworks(value))
)

export const roles = parsed<ReadonlyArray<Role>>(
  `must be all, or a list of ${anyOf(ROLES)}, separated by commas`,
  (value) => {
    if (value === "all") return ROLES
    const wanted = split(value)
    const known = ROLES.filter((role) => wanted.includes(role))
    return wanted.every((word) => known.some((role) => role === word)) && known.length > 0 ? known : undefined
  }
)

// No interface: the type of the settings spells it out.
type BatchFaults = {
  readonly failed?: number
  readonly unfinished?: number
  readonly stop?: number
  readonly expires?: boolean
  readonly stops?: boolean
  readonly fails?: boolean
}

/** What goes wrong at the local batch service: shares of the records, and the seconds that a stop takes. */
export const batchFaults = parsed<BatchFaults>(
  "must be words of failed=SHARE, unfinished=SHARE, stop=SECONDS, expires, stops and fails",
  (value) => {
    const found: Record<string, number | boolean> = {}
    for (const word of split(value)) {
      if (!/^(?:(?:failed|unfinished)=(?:0(?:\.\d{1,6})?|1)|stop=\d{1,6}|expires|stops|fails)$/.test(word)) {
        return undefined
      }
      const [name = "", number] = word.split("=")
      found[name] = number === undefined ? true : Number(number)
    }
    return found
  }
)

const urlOf = (value: string) => (URL.canParse(value) ? new URL(value) : undefined)

/** A check of an address, after which no other problem is reported. */
const address = (holds: (url: URL) => boolean, must: string) =>
  Schema.makeFilter<string>((value) => holds(new URL(value)), { message: must }).abort()

/** An address without a slash at its end, so that paths can be appended. */
export const httpUrl = parsed("must be an address that starts with http:// or https://", (value) => {
  const url = urlOf(value)
  return url !== undefined && /^https?:$/.test(url.protocol) ? url.href.replace(/(?<!\/)\/+$/, "") : undefined
}).check(
  address(
    ({ password, username }) => username === "" && password === "",
    "must not hold a user name or a password"
  ),
  address(({ hash, search }) => search === "" && hash === "", "must be an address without ? and #")
)

/** Drivers decode each of these, and fail to start on a `%` that encodes nothing. */
const decodable = address(
  ({ hostname, password, pathname, username }) =>
    [hostname, password, pathname, username].every((part) => decodedPercent(part) !== undefined),
  "must have %25 for each % of a user name, a password or a database's name"
)

const SSL_MODES = /^(?:disable|allow|prefer|require|verify-ca|verify-full)$/

/** A `postgres:` URL with a host and a database; it may hold a password. */
export const databaseUrl = parsed(
  "must look like postgres://user@host:5432/database, with one host",
  (value) => {
    const url = urlOf(value)
    const isComplete =
      url !== undefined &&
      /^postgres(?:ql)?:$/.test(url.protocol) &&
      url.hostname !== "" &&
      ![url.hostname, url.searchParams.get("host")].some((host) => host?.includes(",")) &&
      url.pathname.length > 1
    return isComplete ? value : undefined
  }
).check(
  decodable,
  // The driver passes over parameters that it does not know: the password would be sent unencrypted. Of a mode that it does not know it
  // makes a database that never answers.
  address(
    ({ searchParams }) =>
      [...searchParams].every(([name, value]) =>
        name === "sslmode" ? SSL_MODES.test(value) : !/ssl|tls/i.test(name)
      ),
    "must ask for TLS by sslmode=require, and by no other parameter; Node reads the authority of a certificate from NODE_EXTRA_CA_CERTS"
  )
)

/** A `redis:` or `rediss:` URL with a host; it may hold a password. */
export const redisUrl = parsed("must look like redis://host:6379 or rediss://host:6379", (value) => {
  const url = urlOf(value)
  return url !== undefined && /^rediss?:$/.test(url.protocol) && url.hostname !== "" ? value : undefined
}).check(decodable)

/** A bare address that leaves room for a token. */
export const returnAddress = parsed(
  "must be a bare address with at most 11 letters, digits, dots and hyphens before the @, such as bounce@bounces.example.com",
  (value) => {
    const at = value.lastIndexOf("@")
    const local = value.slice(0, Math.max(at, 0)).toLowerCase()
    const found = asciiDomain(value.slice(at + 1))
    return found !== undefined && isReturnLocal(local) ? { local, domain: found.toLowerCase() } : undefined
  }
)

/** A `smtp:` or `smtps:` URL with a host; it may hold a user name with its password. */
export const relayUrl = parsed(
  "must look like smtps://user:password@host:465 or smtp://user:password@host:587",
  (value) => {
    const url = urlOf(value)
    const isWhole =
      url !== undefined &&
      /^smtps?:$/.test(url.protocol) &&
      url.hostname !== "" &&
      /^\/?$/.test(url.pathname) &&
      url.search + url.hash === "" &&
      (url.username === "") === (url.password === "")
    return isWhole ? value : undefined
  }
).check(decodable)

const decodeHttpUrl = Schema.decodeUnknownResult(httpUrl)

/** Several of them. */
export const httpUrls = parsed<ReadonlyArray<string>>(
  "must be addresses that start with http:// or https://, without a user name, ? and #, separated by commas",
  (value) => {
    const urls = split(value).map((word) => decodeHttpUrl(word))
    return urls.every(Result.isSuccess) ? urls.map(({ success }) => success) : undefined
  }
)

/** The beginning of a day, milliseconds. */
export const day = parsed("must be a day, such as 2027-01-31", (value) => {
  const at = /^\d{4}-\d\d-\d\d$/.test(value) ? Date.parse(value) : Number.NaN
  // An engine may take the 31st of February for the 3rd of March.
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(value) ? at : undefined
})

export const queueAddress = parsed<DeferQueueAddress>(
  "must be an https:// address of an SQS queue, postgres:NAME (letters, digits, - and _), or empty for no queue",
  (value) => {
    const name = /^postgres:([A-Za-z0-9_-]{1,63})$/.exec(value)?.[1]
    if (name !== undefined) return { _tag: "Postgres", name }
    const url = decodeHttpUrl(value)
    return Result.isSuccess(url) ? { _tag: "Sqs", url: url.success } : undefined
  }
)

/** Three waits in seconds. */
export const delays = parsed<readonly [number, number, number]>(
  "must be exactly three numbers of seconds, zero or more, separated by commas: 120,600,900",
  (value) => {
    const parts = value.split(",").map((part) => part.trim())
    const [a, b, c] = parts.map((part) => (/^\d{1,6}(?:\.\d{1,3})?$/.test(part) ? Number(part) : undefined))
    return a === undefined || b === undefined || c === undefined || parts.length > 3 ? undefined : [a, b, c]
  }
)

export const domain = parsed("must be a domain name, such as mail.example.com", asciiDomain)

export const mailbox = parsed("must be one mail address, such as Postlane <noreply@example.com>", (value) =>
  Result.getOrUndefined(parseMailbox(value))
)

const decodeServiceAccountKey = Schema.decodeUnknownResult(
  Schema.fromJsonString(Schema.Struct({ client_email: Schema.String, private_key: Schema.String }))
)

/** A service account's JSON key, kept as it was written. */
export const serviceAccountKey = parsed(
  "must be the whole JSON of a service-account key, with client_email and private_key",
  (value) => (Result.isSuccess(decodeServiceAccountKey(value)) ? value : undefined)
)

/** A name that object stores take for a bucket. */
export const bucket = matching(
  /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
  "must be a bucket name: 3 to 63 lower-case letters, digits, dots and hyphens"
)

export const region = matching(/^[a-z0-9-]{2,32}$/, "must be a region, such as us-east-1")

/** Part of names at the cloud: of queues, log groups and a function. */
export const installation = matching(
  /^[a-z][a-z0-9-]{0,19}$/,
  "must be the name of an installation: up to 20 small letters, digits and -, a letter first"
)

export const configurationSet = matching(
  /^[A-Za-z0-9_-]{1,64}$/,
  "must be the name of a configuration set: up to 64 letters, digits, - and _"
)
