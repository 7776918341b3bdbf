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
  /** Undefined where any of it cannot be read: then none of it proves anything. */
  readonly results: ReadonlyArray<MethodResult> | undefined
}

/** Longest header that is read, characters: real ones stay below 2,000. */
const MAX_LENGTH = 8_000

/**
 * Splits at `;` outside of quoted strings, takes comments (nested ones too) out and keeps quoted strings whole. `open`: a comment
 * or a string is not closed, and the last clause cannot be read.
 */
const scan = (text: string): { readonly clauses: ReadonlyArray<string>; readonly open: boolean } => {
  const clauses: Array<string> = []
  let clause = ""
  let depth = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if ((quoted || depth > 0) && char === "\\") {
      if (quoted) clause += char + text.charAt(at + 1)
      at++
    } else if (quoted) {
      clause += char
      if (char === '"') quoted = false
    } else if (char === "(") {
      depth++
    } else if (char === ")" && depth > 0) {
      depth--
      // A comment separates, as a space does.
      if (depth === 0) clause += " "
    } else if (depth === 0 && char === ";") {
      clauses.push(clause.trim())
      clause = ""
    } else if (depth === 0) {
      if (char === '"') quoted = true
      clause += char
    }
  }
  return { clauses: [...clauses, clause.trim()], open: quoted || depth > 0 }
}

const VALUE = '(?:"((?:\\\\.|[^"\\\\])*)"|([^\\s;"]+))'
const SERVER = new RegExp(`^${VALUE}(?:\\s+\\d+)?$`, "s")
const METHOD = /^([a-z0-9-]+)(?:\s*\/\s*\d+)?\s*=\s*([a-z0-9-]+)(?=\s|$)/i
/** Both are tried at one place only: a search would take a word's length squared, and look into quoted strings. */
const PROPERTY = new RegExp(`([a-z0-9-]+)\\s*\\.\\s*([a-z0-9._-]+)\\s*=\\s*${VALUE}`, "isy")
const WORD = /(?:"(?:\\.|[^"\\])*"|[^\s"])+|\s+/sy

const plain = (quoted: string | undefined, bare: string | undefined): string =>
  quoted === undefined ? (bare ?? "") : quoted.replaceAll(/\\(.)/gs, "$1")

const matchAt = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at
  return pattern.exec(text)
}

const propertiesOf = (text: string): ReadonlyMap<string, string> => {
  const properties = new Map<string, string>()
  for (let at = 0; at < text.length;) {
    const found = matchAt(PROPERTY, text, at)
    at += (found ?? matchAt(WORD, text, at))?.[0].length ?? 1
    if (found === null) continue
    const [, type, name, quoted, bare] = found
    const key = `${type}.${name}`.toLowerCase()
    // The first of its name counts.
    if (!properties.has(key)) properties.set(key, plain(quoted, bare))
  }
  return properties
}

const methodOf = (clause: string): MethodResult | undefined => {
  const head = METHOD.exec(clause)
  return head === null
    ? undefined
    : {
        method: head[1]!.toLowerCase(),
        result: head[2]!.toLowerCase(),
        properties: propertiesOf(clause.slice(head[0].length))
      }
}

const resultsOf = (clauses: ReadonlyArray<string>): ReadonlyArray<MethodResult> | undefined => {
  const said = clauses.filter((clause) => clause !== "" && clause.toLowerCase() !== "none").map(methodOf)
  return said.every((one) => one !== undefined) ? said : undefined
}

/**
 * Reads the value of an `Authentication-Results` header (RFC 8601); undefined where nobody can tell whose it is. Total, in time
 * that grows with its length.
 */
export const parseAuthenticationResults = (value: string): AuthenticationResults | undefined => {
  const { clauses, open } = scan(value.slice(0, MAX_LENGTH))
  const [first = "", ...rest] = clauses
  const server = open && rest.length === 0 ? null : SERVER.exec(first)
  // A quoted name with a space or a semicolon in it is no host's.
  if (server === null || /[\s;]/.test(plain(server[1], server[2]))) return undefined
  return {
    server: plain(server[1], server[2]).toLowerCase(),
    results: open || value.length > MAX_LENGTH ? undefined : resultsOf(rest)
  }
}
