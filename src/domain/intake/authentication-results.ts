/** One method's result: `dmarc=pass header.from=x.test`. All in lower case but the properties' values. */
export interface MethodResult {
  readonly method: string
  readonly result: string
  /** `header.from` → `x.test`. */
  readonly properties: ReadonlyMap<string, string>
}

/** An `Authentication-Results` header: who says so, and what. */
export interface AuthenticationResults {
  /** The `authserv-id`, in lower case. */
  readonly server: string
  readonly results: ReadonlyArray<MethodResult>
}

/** Longest header that is read, characters: real ones stay below 2,000. */
const MAX_LENGTH = 8_000

/** Takes comments (nested ones too) out and keeps quoted strings whole; undefined where one is not closed. */
const withoutComments = (text: string): string | undefined => {
  let out = ""
  let depth = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if ((quoted || depth > 0) && char === "\\") {
      if (quoted) out += char + text.charAt(at + 1)
      at++
    } else if (quoted) {
      out += char
      if (char === '"') quoted = false
    } else if (char === "(") {
      depth++
    } else if (char === ")" && depth > 0) {
      depth--
      // A comment separates, as a space does.
      if (depth === 0) out += " "
    } else if (depth === 0) {
      if (char === '"') quoted = true
      out += char
    }
  }
  return quoted || depth > 0 ? undefined : out
}

/** Splits at `;` outside quoted strings. */
const clauses = (text: string): ReadonlyArray<string> =>
  (text.match(/(?:"(?:\\.|[^"\\])*"|[^";])+/gs) ?? []).map((clause) => clause.trim())

const VALUE = '(?:"((?:\\\\.|[^"\\\\])*)"|([^\\s;"]+))'
const SERVER = new RegExp(`^${VALUE}(?:\\s+\\d+)?$`, "s")
const METHOD = /^([a-z0-9-]+)(?:\s*\/\s*\d+)?\s*=\s*([a-z0-9-]+)(?=\s|$)/i
const PROPERTY = new RegExp(`([a-z0-9-]+)\\s*\\.\\s*([a-z0-9._-]+)\\s*=\\s*${VALUE}`, "gis")

const plain = (quoted: string | undefined, bare: string | undefined): string =>
  quoted === undefined ? (bare ?? "") : quoted.replaceAll(/\\(.)/gs, "$1")

const methodOf = (clause: string): MethodResult | undefined => {
  const head = METHOD.exec(clause)
  if (head === null) return undefined
  const properties = new Map<string, string>()
  for (const [, type, name, quoted, bare] of clause.slice(head[0].length).matchAll(PROPERTY)) {
    const key = `${type}.${name}`.toLowerCase()
    // The first of its name counts.
    if (!properties.has(key)) properties.set(key, plain(quoted, bare))
  }
  return { method: head[1]!.toLowerCase(), result: head[2]!.toLowerCase(), properties }
}

/** Reads the value of an `Authentication-Results` header (RFC 8601); undefined for what is none. Total. */
export const parseAuthenticationResults = (value: string): AuthenticationResults | undefined => {
  const text = value.length > MAX_LENGTH ? undefined : withoutComments(value)
  const [first, ...rest] = text === undefined ? [] : clauses(text)
  const server = first === undefined ? null : SERVER.exec(first)
  // A quoted name with a space or a semicolon in it is no host's.
  if (server === null || /[\s;]/.test(plain(server[1], server[2]))) return undefined
  return {
    server: plain(server[1], server[2]).toLowerCase(),
    results: rest.flatMap((clause) => methodOf(clause) ?? [])
  }
}
