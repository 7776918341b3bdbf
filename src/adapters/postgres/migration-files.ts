import { createHash } from "node:crypto"

import { Data, Effect, FileSystem, Path } from "effect"
import type { SqlError } from "effect/sql/SqlError"

/** Comments, quoted texts and names, dollar-quoted bodies, the separator, and everything else. */
const TOKEN =
  /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|;|[^;'"$\-/]+|[\s\S]/g

/**
 * The statements of an SQL file, without comments between them: the extended protocol takes one statement per call. Does
 * not support `E''` text with an escaped quote, nested comments and `begin atomic` bodies.
 */
export const splitStatements = (text: string): ReadonlyArray<string> => {
  const statements = [""]
  for (const [part] of text.matchAll(TOKEN)) {
    if (part === ";") statements.push("")
    else if (!part.startsWith("--") && !part.startsWith("/*")) statements[statements.length - 1] += part
  }
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== "")
}

/** What a file does, without comments and the width of gaps: a comment may be mended in a file that was applied. */
export const essenceOf = (text: string): string =>
  [...text.matchAll(TOKEN)]
    .map(([part, tag]) => {
      if (part.startsWith("--") || part.startsWith("/*")) return " "
      if (part.startsWith("'") || part.startsWith('"')) return part
      if (part.length === 1 || !part.startsWith("$")) return part.replaceAll(/\s+/g, " ")
      const quote = `$${tag ?? ""}$`
      return quote + essenceOf(part.slice(quote.length, -quote.length)) + quote
    })
    .join("")
    .replaceAll(/ +/g, " ")
    .trim()

/** SHA-256 hex of what statements do. */
export const checksumOf = (statements: ReadonlyArray<string>): string =>
  createHash("sha256").update(statements.map(essenceOf).join(";")).digest("hex")

/** Why the database was not migrated; `message` and `remedy` are for the operator. */
export class MigrationError extends Data.TaggedError("MigrationError")<{
  readonly message: string
  /** What to do, where that is known. */
  readonly remedy?: string
  readonly cause?: unknown
}> {}

/** The files that make a database. */
export interface MigrationFiles {
  /** Folder of the numbered files, with a subfolder of functions. */
  readonly directory: string
  /** The version of Postlane that they belong to: an older one leaves the functions of a newer one in place. */
  readonly version: string
}

/** One numbered file. */
export interface Migration {
  readonly id: number
  readonly name: string
  /** SHA-256 hex of what the file does. */
  readonly checksum: string
  readonly statements: ReadonlyArray<string>
  /** True when it builds or drops indexes concurrently with readers and writers, which no transaction can. */
  readonly isConcurrent: boolean
  /** The tables that it makes. */
  readonly makes: ReadonlyArray<string>
}

/** Number and name, as in its file name. */
export const label = (migration: { readonly id: number; readonly name: string }) =>
  `${String(migration.id).padStart(4, "0")}_${migration.name}`

const FILE = /^(\d+)_([^.]+)\.sql$/
const MAKES = /^create (?:unlogged )?table (?:if not exists )?(\w+)/i

/** A statement that can be run again after it was broken off, on the named index. */
export const CONCURRENT =
  /^(?:create (?:unique )?index concurrently if not exists|drop index concurrently if exists) (\w+)/i

const parse = Effect.fnUntraced(function* (id: number, name: string, text: string) {
  const statements = splitStatements(text)
  const isConcurrent = statements.some((statement) =>
    /^\w+ (?:unique )?index concurrently\b/i.test(statement)
  )
  if (isConcurrent && !statements.every((statement) => CONCURRENT.test(statement)))
    return yield* new MigrationError({
      message: `migration ${label({ id, name })} builds an index concurrently, and such a file holds nothing but "create index concurrently if not exists" and "drop index concurrently if exists"`
    })
  const migration: Migration = {
    id,
    name,
    checksum: checksumOf(statements),
    statements,
    isConcurrent,
    makes: statements.flatMap((statement) => MAKES.exec(statement)?.[1]?.toLowerCase() ?? [])
  }
  return migration
})

/** Reads the numbered `.sql` files of a directory, lowest id first. */
export const readMigrations = Effect.fn("postgres.readMigrations")(
  function* (directory: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const files = yield* fs.readDirectory(directory)
    const found = yield* Effect.forEach(
      files,
      Effect.fnUntraced(function* (file) {
        const match = FILE.exec(file)
        if (match === null) return []
        const text = (yield* fs.readFileString(path.join(directory, file))).replaceAll("\r\n", "\n")
        return [yield* parse(Number(match[1]), match[2]!, text)]
      })
    )
    const sorted = found.flat().sort((a, b) => a.id - b.id)
    for (const [index, { id }] of sorted.entries()) {
      if (sorted[index + 1]?.id === id) {
        return yield* new MigrationError({ message: `two migrations have the number ${id} in ${directory}` })
      }
    }
    if (sorted.length === 0) {
      return yield* new MigrationError({ message: `there is no numbered .sql file in ${directory}` })
    }
    return sorted
  },
  Effect.mapError((cause) =>
    cause._tag === "MigrationError"
      ? cause
      : new MigrationError({ message: `the migrations cannot be read: ${cause.message}`, cause })
  )
)

/** What the server said, which the driver keeps in the cause. */
export const describe = (error: SqlError): string => {
  const { cause, message } = error.reason
  const said = cause instanceof Error ? cause.message : undefined
  return said === undefined || said === message ? error.message : `${error.message}: ${said}`
}
