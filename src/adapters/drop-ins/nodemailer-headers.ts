import { Result } from "effect"

/**
 * A value as nodemailer writes it; what is false to it is left out. A date, which it leaves out of all headers but `Date`, is written
 * as it writes that one. `undefined`: there is no text of it.
 */
const valueText = (value: unknown): string | undefined => {
  if (!value) return ""
  if (typeof value === "object" && "value" in value) return valueText(value.value)
  if (value instanceof Date) return value.toUTCString().replace("GMT", "+0000")
  const isText = typeof value === "string" || typeof value === "number" || typeof value === "boolean"
  return isText ? String(value).replaceAll(/\r?\n|\r/g, " ") : undefined
}

interface Pair {
  readonly key: string
  readonly value: unknown
}

const isPair = (headers: object): headers is Pair =>
  "key" in headers && "value" in headers && Boolean(headers.key) && Boolean(headers.value)

/** The forms that nodemailer takes: an object, one pair, a list of pairs. */
const pairsOf = (headers: object): ReadonlyArray<readonly [string, unknown]> => {
  const pairs: ReadonlyArray<Pair> = Array.isArray(headers)
    ? (headers as ReadonlyArray<Pair>)
    : isPair(headers)
      ? [headers]
      : Object.entries(headers).map(([key, value]: [string, unknown]) => ({ key, value }))
  return pairs.flatMap(({ key, value }) => [value].flat().map((one: unknown) => [key, one] as const))
}

/** The first name that occurs twice, whatever its case. */
const nameTwice = (names: ReadonlyArray<string>): string | undefined => {
  const plain = names.map((name) => name.toLowerCase())
  return names.find((_, at) => plain.indexOf(plain[at] ?? "") < at)
}

const oneValue = (name: string) => `a header has one value here: ${name} has several`

/** Headers as nodemailer takes them, by their names, or why they cannot be sent: `normalize` would name those of a list 0, 1, 2. */
export const namedHeaders = (headers: object): Result.Result<Record<string, string>, string> => {
  const named: Array<[string, string]> = []
  for (const [name, value] of pairsOf(headers)) {
    const text = valueText(value)
    if (text === undefined) return Result.fail(`the value of the header ${name} is no text`)
    if (text.trim() !== "") named.push([name, text])
  }
  const twice = nameTwice(named.map(([name]) => name))
  return twice === undefined ? Result.succeed(Object.fromEntries(named)) : Result.fail(oneValue(twice))
}

/** The headers that nodemailer writes for each `priority`. */
const PRIORITY: ReadonlyMap<string, Record<string, string>> = new Map([
  ["high", { "X-Priority": "1 (Highest)", "X-MSMail-Priority": "High", Importance: "High" }],
  ["low", { "X-Priority": "5 (Lowest)", "X-MSMail-Priority": "Low", Importance: "Low" }]
])

/** What nodemailer has made headers of, or makes them of in mails that it composes. */
interface HeaderParts {
  readonly normalizedHeaders?: Readonly<Record<string, unknown>> | undefined
  readonly priority?: unknown
  readonly xMailer?: unknown
  /** The value of its `otp`. */
  readonly otpToken?: unknown
}

/** All headers of the mail. A header from an option replaces the caller's header of the same name, as in nodemailer. */
export const headersOf = ({
  normalizedHeaders = {},
  otpToken,
  priority,
  xMailer
}: HeaderParts): Result.Result<Record<string, string>, string> => {
  const own = Object.entries(normalizedHeaders).filter(([, value]) => valueText(value) !== "")
  const twice = nameTwice(own.map(([name]) => name))
  if (twice !== undefined) return Result.fail(oneValue(twice))
  const options = Object.entries<unknown>({
    "OTP-Token": otpToken,
    "X-Mailer": xMailer,
    ...PRIORITY.get(typeof priority === "string" ? priority.toLowerCase() : "")
  }).filter(([, value]) => Boolean(value))
  const replaced = new Set(options.map(([name]) => name.toLowerCase()))
  return Result.succeed(
    Object.fromEntries(
      [...own.filter(([name]) => !replaced.has(name.toLowerCase())), ...options].map(([name, value]) => [
        name,
        valueText(value) ?? ""
      ])
    )
  )
}
