import { Result, Schema } from "effect"

import type { FieldIssue } from "../field-issues.ts"
import { strictDecoder } from "../request-body.ts"
import {
  addressKey,
  asciiDomain,
  type Mailbox,
  parseMailbox,
  rewriteSender,
  type SenderDomains
} from "./address.ts"
import { Category } from "./suppression/policy.ts"

/** Longest name of a token, characters. The source of a mail contains it: `smtp:NAME`. */
const MAX_NAME = 100

/** Most categories and From addresses that a token is bound to. */
const MAX_FROM = 100

/** Most mails a minute that a token's rate may name. */
const MAX_RATE = 100_000

/** Normalizes an entry of the From addresses; undefined for an invalid one. */
const senderRule = (text: string): string | undefined => {
  const [, domain] = /^@([^@\s]+)$/.exec(text.trim()) ?? []
  if (domain !== undefined) {
    const ascii = asciiDomain(domain)
    return ascii === undefined ? undefined : `@${ascii}`
  }
  const parsed = parseMailbox(text.trim())
  return Result.isSuccess(parsed) && parsed.success.name === undefined
    ? addressKey(parsed.success)
    : undefined
}

const Name = Schema.String.check(
  Schema.makeFilter(
    (text) => (text.trim() !== "" && text.length <= MAX_NAME) || `must have 1 to ${MAX_NAME} characters`
  ),
  Schema.makeFilter((text) => !/\p{Cc}/u.test(text) || "holds a control character")
)

const From = Schema.String.check(
  Schema.makeFilter(
    (text) => senderRule(text) !== undefined || "must be an address, user@domain, or a domain, @domain"
  )
)

/** The properties of a new token of a program that sends (FRONT-1). */
export const NewSenderToken = Schema.Struct({
  /** Names the program in audit rows and in the source of its mails. */
  name: Name,
  /** The categories that it may send; any where it names none. The first one is that of a mail that names none. */
  categories: Schema.optionalKey(Schema.Array(Category)),
  /** From addresses that it may use, `user@domain` or `@domain`; any where it names none. */
  from: Schema.optionalKey(Schema.Array(From).check(Schema.isMaxLength(MAX_FROM))),
  /** Mails a minute; as many as there are where it names none. */
  ratePerMinute: Schema.optionalKey(
    Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_RATE })))
  )
}).annotate({ identifier: "SenderTokenRequest" })
export type NewSenderToken = typeof NewSenderToken.Type

const decode = strictDecoder(NewSenderToken)

/** What a token allows. */
export interface SenderToken {
  readonly id: string
  readonly name: string
  readonly categories: ReadonlyArray<Category>
  readonly from: ReadonlyArray<string>
  readonly ratePerMinute: number | undefined
}

/** A new token in the form in which it is stored, or what is wrong with it. */
export const readSenderToken = (
  given: NewSenderToken
): Result.Result<Omit<SenderToken, "id">, ReadonlyArray<FieldIssue>> =>
  Result.map(decode(given), ({ categories = [], from = [], name, ratePerMinute }) => ({
    name: name.trim(),
    categories: [...new Set(categories)],
    from: [...new Set(from.flatMap((text) => senderRule(text) ?? []))],
    ratePerMinute: ratePerMinute ?? undefined
  }))

/** The category of a mail that names none. */
export const defaultCategory = ({ categories }: SenderToken): Category => categories[0] ?? "transactional"

const allows = (rules: ReadonlyArray<string>, mailbox: Mailbox): boolean => {
  const key = addressKey(mailbox)
  return rules.includes(key) || rules.includes(key.slice(key.lastIndexOf("@")))
}

/** The part of a mail that a token decides on. */
interface Sent {
  readonly category: Category
  /** As the caller wrote it. */
  readonly from: string | undefined
}

/** What is used where a mail does not name it. */
interface Defaults {
  readonly from: Mailbox
  readonly domains: SenderDomains
}

/**
 * Lists the fields that the token does not allow. A From address on the legacy domain is compared as written and as rewritten.
 */
export const senderIssues = (
  token: SenderToken,
  { category, from }: Sent,
  { domains, from: otherwise }: Defaults
): ReadonlyArray<FieldIssue> => {
  const issues: Array<FieldIssue> = []
  if (token.categories.length > 0 && !token.categories.includes(category))
    issues.push({ path: "category", message: `the token may send ${token.categories.join(", ")} only` })
  if (token.from.length > 0) {
    const parsed = from === undefined ? Result.succeed(otherwise) : parseMailbox(from)
    const isAllowed =
      Result.isSuccess(parsed) &&
      (allows(token.from, parsed.success) || allows(token.from, rewriteSender(parsed.success, domains)))
    if (!isAllowed)
      issues.push({ path: "from", message: `the token may send from ${token.from.join(", ")} only` })
  }
  return issues
}
