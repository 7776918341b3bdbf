import { Redacted } from "effect"

/** Takes known secrets out of a text. */
export type Scrub = (text: string) => string

/** Anything shorter would blank out ordinary words. */
const SHORTEST = 6

const MASK = "<redacted>"

const collect = (value: unknown, into: Set<string>): void => {
  if (Redacted.isRedacted(value)) collectSecret(String(Redacted.value(value)), into)
  else if (typeof value === "object" && value !== null)
    for (const part of Object.values(value)) collect(part, into)
}

/** The secret, the password in it where it is an address, and both as they stand in a URL or in JSON. */
const collectSecret = (secret: string, into: Set<string>): void => {
  const spellings = (text: string) => {
    for (const spelling of [text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1)]) {
      if (spelling.length >= SHORTEST) into.add(spelling)
    }
  }
  spellings(secret)
  const url = /^[a-z]+:\/\//.test(secret) && URL.canParse(secret) ? new URL(secret) : undefined
  if (url !== undefined && url.password !== "") {
    spellings(url.password)
    spellings(decodeURIComponent(url.password))
  }
}

/**
 * Masks every secret that stands anywhere in these values as `Redacted`. The second line of defence: a foreign library
 * may put what it was given into an error's message.
 */
export const scrubOf = (values: unknown): Scrub => {
  const secrets = new Set<string>()
  collect(values, secrets)
  if (secrets.size === 0) return (text) => text
  const longestFirst = [...secrets].sort((a, b) => b.length - a.length)
  const literal = longestFirst.map((secret) => secret.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"))
  const pattern = new RegExp(literal.join("|"), "g")
  return (text) => text.replace(pattern, MASK)
}
