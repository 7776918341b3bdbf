import { KEY_TAG } from "./tag.ts"

/** The part of a mail that a search looks at. */
export interface SearchedMail {
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly cc: ReadonlyArray<string>
  readonly bcc: ReadonlyArray<string>
  readonly subject: string
  /** ISO 8601. */
  readonly at: string
  readonly text?: string | undefined
  readonly tags?: Readonly<Record<string, string>> | undefined
  /** How many files are attached. */
  readonly files?: number | undefined
  /** The provider's id of it, and the idempotency key of its send. */
  readonly messageId?: string | undefined
  readonly key?: string | undefined
}

/** Operators with a text: part of an address, subject or tag, or a whole id; case does not matter. */
const TEXT_OPERATORS = ["from", "to", "subject", "tag", "id"] as const

/** Operators with a day or a time in UTC. */
const TIME_OPERATORS = ["before", "after"] as const

type TextOperator = (typeof TEXT_OPERATORS)[number]
type TimeOperator = (typeof TIME_OPERATORS)[number]

/** One condition; a mail is found that meets all. `said` is the day or time as it was asked for. */
export type SearchTerm =
  | { readonly is: "words" | TextOperator; readonly text: string }
  | { readonly is: "attachment" }
  | { readonly is: TimeOperator; readonly said: string; readonly at: number }

/** A search as it was understood. `faults`: parts that were left out, and why, for people. */
export interface OutboxSearch {
  readonly terms: ReadonlyArray<SearchTerm>
  readonly faults: ReadonlyArray<string>
}

/** What the operators are, for a page. */
export const OPERATORS = [
  "from:",
  "to:",
  "subject:",
  "tag:",
  "has:attachment",
  "before:2026-12-31",
  "after:2026-01-01"
] as const

interface Token {
  readonly text: string
  /** Where the first colon outside of quotes is in `text`. */
  readonly colon: number | undefined
}

/** Parts between blanks; quotes hold what they enclose together, and one that is never closed reaches to the end. */
const tokensOf = (search: string): ReadonlyArray<Token> => {
  const tokens: Array<Token> = []
  let [text, quoted, began] = ["", false, false]
  let colon: number | undefined
  const end = () => {
    if (began) tokens.push({ text, colon })
    text = ""
    began = false
    colon = undefined
  }
  for (const char of search) {
    if (!quoted && /\s/u.test(char)) {
      end()
      continue
    }
    began = true
    if (char === '"') quoted = !quoted
    else {
      if (char === ":" && !quoted) colon ??= text.length
      text += char
    }
  }
  end()
  return tokens
}

const TIME = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}(?::\d{2})?)Z?)?$/iu

/** The beginning of a day, or a time of it, in UTC; undefined for one that no calendar has. */
const timeOf = (value: string): number | undefined => {
  const [, day, time = "00:00:00"] = TIME.exec(value) ?? []
  const at = day === undefined ? Number.NaN : Date.parse(`${day}T${time}Z`)
  // A day that its month has not is taken for one of the next.
  return Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== day ? undefined : at
}

const memberOf = <A extends string>(names: ReadonlyArray<A>, name: string): A | undefined =>
  names.find((one) => one === name)

/** The term of a token, or the reason why it has none; undefined for an empty one. */
const termOf = ({ colon, text }: Token): SearchTerm | string | undefined => {
  const [name, value] =
    colon === undefined ? ["", ""] : [text.slice(0, colon).toLowerCase(), text.slice(colon + 1)]
  const about = memberOf(TEXT_OPERATORS, name)
  if (about !== undefined)
    return value === "" ? `“${name}:” has no value` : { is: about, text: value.toLowerCase() }
  const bound = memberOf(TIME_OPERATORS, name)
  if (bound !== undefined) {
    const at = timeOf(value)
    return at === undefined
      ? `“${text}” is no day such as ${name}:2026-12-31`
      : { is: bound, said: value.toUpperCase(), at }
  }
  if (name === "has") {
    return /^attachments?$/iu.test(value) ? { is: "attachment" } : `“${text}” is not known: has:attachment is`
  }
  return text === "" ? undefined : { is: "words", text: text.toLowerCase() }
}

/** Reads a search. Every text is one: unknown operators are words. */
export const parseOutboxSearch = (search: string): OutboxSearch => {
  const parsed = tokensOf(search).map(termOf)
  return {
    terms: parsed.filter((one) => typeof one === "object"),
    faults: parsed.filter((one) => typeof one === "string")
  }
}

const quoted = (text: string, always = false): string => (always || /[\s:]/u.test(text) ? `"${text}"` : text)

/** The term as it would be typed. */
export const writeTerm = (term: SearchTerm): string => {
  switch (term.is) {
    case "attachment":
      return "has:attachment"
    case "before":
    case "after":
      return `${term.is}:${term.said}`
    case "words":
      return quoted(term.text)
    default:
      return `${term.is}:${quoted(term.text)}`
  }
}

const includes = (texts: ReadonlyArray<string>, part: string): boolean =>
  texts.some((text) => text.toLowerCase().includes(part))

/** Of a tag by its name, by a part of its value, or by both as `name=value`. */
const hasTag = (tags: Readonly<Record<string, string>>, wanted: string): boolean =>
  Object.entries(tags).some(
    ([name, value]) => name !== KEY_TAG && includes([name, value, `${name}=${value}`], wanted)
  )

const meets = (mail: SearchedMail, term: SearchTerm): boolean => {
  const { bcc, cc, files = 0, from, subject, tags = {}, text = "", to } = mail
  switch (term.is) {
    case "words":
      return includes([subject, from, ...to, ...cc, ...bcc, text], term.text)
    case "from":
      return includes([from], term.text)
    case "to":
      return includes([...to, ...cc, ...bcc], term.text)
    case "subject":
      return includes([subject], term.text)
    case "tag":
      return hasTag(tags, term.text)
    case "id":
      return [mail.messageId, mail.key].some((id) => id?.toLowerCase() === term.text)
    case "attachment":
      return files > 0
    case "before":
      return Date.parse(mail.at) < term.at
    case "after":
      return Date.parse(mail.at) >= term.at
  }
}

/** Whether a mail meets every term. */
export const meetsAll = (mail: SearchedMail, terms: ReadonlyArray<SearchTerm>): boolean =>
  terms.every((term) => meets(mail, term))
