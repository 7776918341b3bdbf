import { Redacted, Result } from "effect"

import { asciiDomain, type Mailbox, parseMailbox } from "../../domain/mail/address.ts"

/**
 * Reads the text of one setting, which is trimmed and not empty. A failure says what the value must be and never repeats it: a
 * secret may be there by mistake.
 */
export type ReadValue<A> = (text: string) => Result.Result<A, string>

/** Where deferred sends wait (`EMAIL_DEFER_QUEUE_URL`). */
export type DeferQueueAddress =
  | { readonly _tag: "None" }
  | { readonly _tag: "Sqs"; readonly url: string }
  | { readonly _tag: "Postgres"; readonly name: string }

/** The supervised parts of a process (`POSTLANE_ROLES`). */
const ROLES = ["api", "leader", "retry", "worker", "intake"] as const
export type Role = (typeof ROLES)[number]

export const text: ReadValue<string> = Result.succeed

export const secret: ReadValue<Redacted.Redacted> = (value) => Result.succeed(Redacted.make(value))

/** Several secrets, separated by white space. */
export const secrets: ReadValue<ReadonlyArray<Redacted.Redacted>> = (value) =>
  Result.succeed(value.split(/\s+/).map((part) => Redacted.make(part)))

/** A service account's JSON key: an object with `client_email` and `private_key`. */
export const serviceAccountKey: ReadValue<Redacted.Redacted> = (value) => {
  const wanted = "must be the whole JSON of a service-account key, with client_email and private_key"
  try {
    const key: unknown = JSON.parse(value)
    const complete =
      typeof key === "object" &&
      key !== null &&
      "client_email" in key &&
      typeof key.client_email === "string" &&
      "private_key" in key &&
      typeof key.private_key === "string"
    return complete ? Result.succeed(Redacted.make(value)) : Result.fail(wanted)
  } catch {
    return Result.fail(wanted)
  }
}

export const integer = (minimum: number, maximum = Number.MAX_SAFE_INTEGER): ReadValue<number> => {
  const range =
    maximum === Number.MAX_SAFE_INTEGER ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`
  return (value) => {
    const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN
    return number >= minimum && number <= maximum
      ? Result.succeed(number)
      : Result.fail(`must be a whole number ${range}`)
  }
}

/** 0 lets the system choose. */
export const port = integer(0, 65_535)

/** A price: zero or more, with a point. */
export const decimal: ReadValue<number> = (value) =>
  /^\d{1,12}(?:\.\d{1,12})?$/.test(value)
    ? Result.succeed(Number(value))
    : Result.fail("must be a number of zero or more, such as 0.0004")

export const flag: ReadValue<boolean> = (value) => {
  if (/^(?:1|true|yes|on)$/i.test(value)) return Result.succeed(true)
  if (/^(?:0|false|no|off)$/i.test(value)) return Result.succeed(false)
  return Result.fail("must be 1 or 0 (or true or false)")
}

const anyOf = (options: ReadonlyArray<string>): string =>
  options.length === 1 ? options[0]! : `${options.slice(0, -1).join(", ")} or ${options.at(-1)}`

export const oneOf =
  <const A extends string>(options: ReadonlyArray<A>): ReadValue<A> =>
  (value) => {
    const found = options.find((option) => option === value)
    return found === undefined ? Result.fail(`must be ${anyOf(options)}`) : Result.succeed(found)
  }

const split = (value: string): ReadonlyArray<string> => value.split(/[\s,]+/).filter((part) => part !== "")

/** Words, separated by commas. */
export const words: ReadValue<ReadonlyArray<string>> = (value) => Result.succeed(split(value))

const NETWORK =
  /^(?:\d{1,3}(?:\.\d{1,3}){3}(?:\/(?:[12]?\d|3[0-2]))?|(?=[^/]*:)[\da-f:]{2,39}(?:\/(?:\d{1,2}|1[01]\d|12[0-8]))?)$/i

/** Addresses, and networks by the length of their prefix. */
export const networks: ReadValue<ReadonlyArray<string>> = (value) => {
  return split(value).every((word) => NETWORK.test(word))
    ? Result.succeed(split(value))
    : Result.fail("must be addresses or networks (such as 10.0.0.0/8), separated by commas")
}

/** Proxies: how many there are one behind another, or their addresses and networks. */
export const proxies: ReadValue<number | ReadonlyArray<string>> = (value) => {
  if (/^\d{1,2}$/.test(value)) return Result.succeed(Number(value))
  return Result.mapError(
    networks(value),
    (wrong) => `must be a number of proxies, or ${wrong.replace("must be ", "")}`
  )
}

export const roles: ReadValue<ReadonlyArray<Role>> = (value) => {
  if (value === "all") return Result.succeed(ROLES)
  const wanted = split(value)
  return wanted.length > 0 && wanted.every((word) => (ROLES as ReadonlyArray<string>).includes(word))
    ? Result.succeed(ROLES.filter((role) => wanted.includes(role)))
    : Result.fail(`must be all, or a list of ${anyOf(ROLES)}, separated by commas`)
}

/** What goes wrong at the local batch service: shares of the records, and the seconds that a stop takes. */
export const batchFaults: ReadValue<{
  readonly failed?: number
  readonly unfinished?: number
  readonly stop?: number
  readonly expires?: boolean
  readonly stops?: boolean
  readonly fails?: boolean
}> = (value) => {
  const wanted = "must be words of failed=SHARE, unfinished=SHARE, stop=SECONDS, expires, stops and fails"
  const found: Record<string, number | boolean> = {}
  for (const word of split(value)) {
    const match = /^(?:(failed|unfinished)=(0(?:\.\d{1,6})?|1)|(stop)=(\d{1,6})|(expires|stops|fails))$/.exec(
      word
    )
    if (match === null) return Result.fail(wanted)
    const name = match[1] ?? match[3] ?? match[5] ?? ""
    const number = match[2] ?? match[4]
    found[name] = number === undefined ? true : Number(number)
  }
  return Result.succeed(found)
}

/** An address without a slash at its end, so that paths can be appended. */
export const httpUrl: ReadValue<string> = (value) => {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    return Result.fail("must be an address that starts with http:// or https://")
  }
  if (url.username !== "" || url.password !== "") {
    return Result.fail("must not hold a user name or a password")
  }
  if (url.search !== "" || url.hash !== "") {
    return Result.fail("must be an address without ? and #")
  }
  return Result.succeed(url.href.replace(/(?<!\/)\/+$/, ""))
}

/** A `postgres:` URL with a host and a database; it may hold a password. */
export const databaseUrl: ReadValue<Redacted.Redacted> = (value) => {
  const url = URL.canParse(value) ? new URL(value) : undefined
  const complete =
    url !== undefined &&
    /^postgres(?:ql)?:$/.test(url.protocol) &&
    url.hostname !== "" &&
    url.pathname.length > 1
  return complete
    ? Result.succeed(Redacted.make(value))
    : Result.fail("must look like postgres://user@host:5432/database")
}

export const queueAddress: ReadValue<DeferQueueAddress> = (value) => {
  const name = /^postgres:([A-Za-z0-9_-]{1,63})$/.exec(value)?.[1]
  if (name !== undefined) return Result.succeed({ _tag: "Postgres", name })
  const url = httpUrl(value)
  return Result.isSuccess(url)
    ? Result.succeed({ _tag: "Sqs", url: url.success })
    : Result.fail(
        "must be an https:// address of an SQS queue, postgres:NAME (letters, digits, - and _), or empty for no queue"
      )
}

/** Three waits in seconds. */
export const delays: ReadValue<readonly [number, number, number]> = (value) => {
  const [first, second, third, ...more] = value.split(",").map((part) => part.trim())
  const [a, b, c] = [first, second, third].map((part) =>
    part !== undefined && /^\d{1,6}(?:\.\d{1,3})?$/.test(part) ? Number(part) : undefined
  )
  return a === undefined || b === undefined || c === undefined || more.length > 0
    ? Result.fail("must be exactly three numbers of seconds, zero or more, separated by commas: 120,600,900")
    : Result.succeed([a, b, c])
}

export const domain: ReadValue<string> = (value) => {
  const ascii = asciiDomain(value)
  return ascii === undefined
    ? Result.fail("must be a domain name, such as mail.example.com")
    : Result.succeed(ascii)
}

export const mailbox: ReadValue<Mailbox> = (value) =>
  Result.mapError(
    parseMailbox(value),
    () => "must be one mail address, such as Postlane <noreply@example.com>"
  )

/** A name that object stores take for a bucket. */
export const bucket: ReadValue<string> = (value) =>
  /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(value)
    ? Result.succeed(value)
    : Result.fail("must be a bucket name: 3 to 63 lower-case letters, digits, dots and hyphens")

export const region: ReadValue<string> = (value) =>
  /^[a-z0-9-]{2,32}$/.test(value) ? Result.succeed(value) : Result.fail("must be a region, such as us-east-1")

export const configurationSet: ReadValue<string> = (value) =>
  /^[A-Za-z0-9_-]{1,64}$/.test(value)
    ? Result.succeed(value)
    : Result.fail("must be the name of a configuration set: up to 64 letters, digits, - and _")
