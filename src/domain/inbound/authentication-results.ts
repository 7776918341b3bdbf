/** One method's result: `dmarc=pass header.from=x.test`. All in lower case but the properties' values. */
export interface MethodResult {
  readonly method: string
  readonly result: string
  /** `header.from` → `x.test`. */
  readonly properties: ReadonlyMap<string, string>
}

/** An `Authentication-Results` header: who reports, and what. */
interface AuthenticationResults {
  /** The `authserv-id`, in lower case; undefined where the header begins with a result, as those of Exchange Online do. */
  readonly server: string | undefined
  /** Undefined where any of it cannot be parsed, or where it contradicts itself: then none of it proves anything. */
  readonly results: ReadonlyArray<MethodResult> | undefined
}

/** Longest header that is parsed, characters: real ones stay below 2,000. */
const MAX_LENGTH = 8_000

const QUOTED = /"((?:\\.|[^"\\])*)"/sy
/** Wider than a token of RFC 2045: addresses, base64 and empty paths are written without quotes. */
const BARE = /[^\s;"()\\]+/y
/** Without `=`, so that a result is never taken for a name. */
const SERVER_NAME = /[^\s;"()\\=]+/y
const VERSION = /\d+/y
const KEYWORD = /[a-z0-9-]+/iy
const RESULT = /[a-z0-9_-]+/iy
const PROPERTY = /[a-z0-9._-]+/iy

/** A place in a text; every method looks at each character once. */
class Cursor {
  at = 0
  readonly text: string
  constructor(text: string) {
    this.text = text
  }

  isAtEnd(): boolean {
    return this.at >= this.text.length
  }

  /** Takes a match that begins here. */
  take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)
    if (found !== null) this.at = pattern.lastIndex
    return found
  }

  /** Takes this character, if it is the next one. */
  takes(char: string): boolean {
    if (this.text[this.at] !== char) return false
    this.at++
    return true
  }

  /** Skips white space and comments; `undefined` where a comment is not closed, else whether there was any white space. */
  skip(): boolean | undefined {
    let spaces = false
    let depth = 0
    for (; this.at < this.text.length; this.at++) {
      const char = this.text[this.at]!
      if (depth > 0 && char === "\\") this.at++
      else if (char === "(") depth++
      else if (depth > 0 && char === ")") depth--
      else if (depth > 0) continue
      else if (/\s/.test(char)) spaces = true
      else break
    }
    return depth > 0 ? undefined : spaces
  }

  /** A quoted string without its quotes, or a bare value. */
  value(bare: RegExp): string | undefined {
    if (this.text[this.at] === '"') return this.take(QUOTED)?.[1]?.replaceAll(/\\(.)/gs, "$1")
    return this.take(bare)?.[0]
  }

  /** `=` with the white space and comments around it. */
  equals(): boolean {
    return this.skip() !== undefined && this.takes("=") && this.skip() !== undefined
  }

  /** Whether a result or the header ends here. */
  isAtClauseEnd(): boolean {
    return this.isAtEnd() || this.text[this.at] === ";"
  }
}

/** `ptype.property=value`, and `reason=value` or `action=value`, which name no property. */
const property = (cursor: Cursor): readonly [name: string | undefined, value: string] | undefined => {
  const first = cursor.take(KEYWORD)?.[0]
  if (first === undefined || cursor.skip() === undefined) return undefined
  let name: string | undefined
  if (cursor.takes(".")) {
    if (cursor.skip() === undefined) return undefined
    const second = cursor.take(PROPERTY)?.[0]
    if (second === undefined) return undefined
    name = `${first}.${second}`.toLowerCase()
  }
  if (!cursor.equals()) return undefined
  const value = cursor.value(BARE)
  return value === undefined ? undefined : [name, value]
}

/** What follows a result, up to the next one; undefined where it breaks the grammar, or gives a property two values. */
const propertiesOf = (cursor: Cursor): ReadonlyMap<string, string> | undefined => {
  const properties = new Map<string, string>()
  for (;;) {
    const apart = cursor.skip()
    if (apart === undefined) return undefined
    if (cursor.isAtClauseEnd()) return properties
    // Every program writes white space there. A comment alone, which the grammar allows, is what a forged result ends with.
    const found = apart ? property(cursor) : undefined
    if (found === undefined) return undefined
    const [name, value] = found
    if (name === undefined) continue
    if ((properties.get(name) ?? value) !== value) return undefined
    properties.set(name, value)
  }
}

const methodOf = (cursor: Cursor): MethodResult | undefined => {
  const method = cursor.take(KEYWORD)?.[0]
  if (method === undefined || cursor.skip() === undefined) return undefined
  if (
    cursor.takes("/") &&
    (cursor.skip() === undefined || cursor.take(VERSION) === null || cursor.skip() === undefined)
  )
    return undefined
  if (!cursor.equals()) return undefined
  const result = cursor.take(RESULT)?.[0]
  const properties = result === undefined ? undefined : propertiesOf(cursor)
  return result === undefined || properties === undefined
    ? undefined
    : { method: method.toLowerCase(), result: result.toLowerCase(), properties }
}

const NONE = /none(?=\s*(?:;|$))/iy

/** The results up to the end of the header; undefined where any of it breaks the grammar. */
const resultsOf = (cursor: Cursor): ReadonlyArray<MethodResult> | undefined => {
  const results: Array<MethodResult> = []
  for (;;) {
    if (cursor.skip() === undefined) return undefined
    if (!cursor.isAtClauseEnd() && cursor.take(NONE) === null) {
      const found = methodOf(cursor)
      if (found === undefined) return undefined
      results.push(found)
    }
    if (cursor.skip() === undefined) return undefined
    if (cursor.isAtEnd()) return results
    if (!cursor.takes(";")) return undefined
  }
}

/** What is checked once a mail: DMARC, and SPF for each identity (the envelope sender, and the name in HELO). */
const checkedOnce = ({ method, properties }: MethodResult): string | undefined => {
  if (method === "dmarc") return method
  if (method !== "spf") return undefined
  return properties.has("smtp.helo") && !properties.has("smtp.mailfrom") ? "spf of the HELO name" : "spf"
}

/** True when the results cannot all come from one hop: a check that runs once has two, or a method has `none` and another one. */
const contradict = (results: ReadonlyArray<MethodResult>): boolean => {
  const seen = new Map<string, string>()
  for (const one of results) {
    const once = checkedOnce(one)
    const key = once ?? one.method
    const before = seen.get(key)
    if (before !== undefined && (once !== undefined || (before === "none") !== (one.result === "none")))
      return true
    seen.set(key, one.result)
  }
  return false
}

const consistent = (
  results: ReadonlyArray<MethodResult> | undefined
): ReadonlyArray<MethodResult> | undefined =>
  results === undefined || contradict(results) ? undefined : results

/** A header that begins with a result and does not name its writer. */
const withoutServer = (value: string): AuthenticationResults | undefined => {
  const results = resultsOf(new Cursor(value))
  return results === undefined || results.length === 0
    ? undefined
    : { server: undefined, results: consistent(results) }
}

/**
 * Parses the value of an `Authentication-Results` header (RFC 8601) to its end; undefined where it cannot be determined who wrote
 * it. Total, in linear time.
 */
export const parseAuthenticationResults = (value: string): AuthenticationResults | undefined => {
  const cursor = new Cursor(value.slice(0, MAX_LENGTH))
  const whole = value.length <= MAX_LENGTH
  if (cursor.skip() === undefined) return undefined
  const server = cursor.value(SERVER_NAME)
  // A quoted name with a space or a semicolon in it cannot be a host's.
  if (server === undefined || server === "" || /[\s;]/.test(server)) return undefined
  const apart = cursor.skip()
  if (apart === undefined) return undefined
  if (apart && cursor.take(VERSION) !== null && cursor.skip() === undefined) return undefined
  if (!cursor.isAtClauseEnd()) return whole ? withoutServer(value) : undefined
  cursor.takes(";")
  return {
    server: server.toLowerCase(),
    results: whole ? consistent(resultsOf(cursor)) : undefined
  }
}
