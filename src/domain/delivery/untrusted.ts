import { KeyTag } from "../ids.ts"
import { asciiDomain, withoutInvisibleEdges } from "../mail/address.ts"
import { decodeTag } from "../mail/tag.ts"

/** The fields of a notification of unknown shape; every reader here is total. */
export type Fields = Readonly<Record<string, unknown>>

/** Longest message id that is accepted, characters; the database's index allows little more. */
const MAX_ID = 500

/** Longest mailbox that is read, with its display name, and longest address, characters: the database's index allows little more. */
const MAX_MAILBOX = 1000
const MAX_ADDRESS = 500

/** Most addresses of a list: no provider takes a mail to more. */
const MAX_ADDRESSES = 150

const IN_BRACKETS = /<([^<>]+)>\s*$/

/** The log cannot store the year 10000, and there is no event from before 1970. */
const LATEST = Date.UTC(9999, 11, 31)

const KEY_TAG_VALUE = /^[0-9a-f]{64}$/
const TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d+)?)(Z|[+-]\d\d(?::?\d\d)?)$/

/** The members of an object; none of anything else. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {}

/** A text that is not blank. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value : undefined

export const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** A message id; undefined where the value cannot be one. */
export const idOf = (value: unknown): string | undefined => {
  const text = textOf(value)
  return text === undefined || text.length > MAX_ID ? undefined : text
}

/**
 * Bare lower-case address of a mailbox with or without a display name. Read by a simple rule, not by the full grammar: a
 * notification may hold thousands, and a crafted one costs a parser milliseconds. One with an invisible character inside stays: what
 * is left out would make a mail to two look like one to one.
 */
export const bareAddressOf = (value: unknown): string | undefined => {
  const text = textOf(value)
  if (text === undefined || text.length > MAX_MAILBOX) return undefined
  const whole = withoutInvisibleEdges(text.trim())
  const bare = withoutInvisibleEdges((IN_BRACKETS.exec(whole)?.[1] ?? whole).trim())
  const at = bare.lastIndexOf("@") + 1
  const domain = at === 0 ? undefined : asciiDomain(bare.slice(at))
  const address = (domain === undefined ? bare : bare.slice(0, at) + domain).normalize("NFC").toLowerCase()
  return address.length > MAX_ADDRESS ? undefined : address
}

/** Distinct bare lower-case addresses; values that are no address are left out. */
export const bareAddressesOf = (value: unknown): ReadonlyArray<string> => [
  ...new Set(
    listOf(value)
      .slice(0, MAX_ADDRESSES)
      .flatMap((one) => bareAddressOf(one) ?? [])
  )
]

/** Milliseconds since the epoch of an ISO 8601 time with a zone, as either vendor writes it (`+00`, six digits). */
export const timeOf = (value: unknown): number | undefined => {
  const parts = typeof value === "string" ? TIME.exec(value.trim()) : null
  if (parts === null) return undefined
  const zone = parts[3]!.length === 3 ? `${parts[3]}:00` : parts[3]!
  const time = Date.parse(`${parts[1]}T${parts[2]}${zone}`)
  return time >= 0 && time <= LATEST ? time : undefined
}

/** Tags as the sender wrote them. */
export const tagsOf = (entries: Iterable<readonly [string, unknown]>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...entries].flatMap(([name, value]) =>
      typeof value === "string" ? [[decodeTag(name), decodeTag(value)] as const] : []
    )
  )

/** The tag of a key's use, where the value can be one. */
export const keyTagOf = (value: string | undefined): KeyTag | undefined =>
  value !== undefined && KEY_TAG_VALUE.test(value) ? KeyTag.make(value) : undefined

/** Whether lists and objects are nested more than `limit` deep: deeper than the log stores. */
export const isDeeperThan = (value: unknown, limit: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (limit === 0 || Object.values(value).some((inner) => isDeeperThan(inner, limit - 1)))
