import { Effect, FileSystem, Path, Schema } from "effect"

import { checksumOf, essenceOf, MigrationError, splitStatements } from "./migration-files.ts"

/** One function of the database, in a file that is named after it. */
export interface SqlFunction {
  readonly name: string
  /** SHA-256 hex of what the file does. */
  readonly checksum: string
  /** Name, parameters and result: where these change, PostgreSQL does not replace a function. */
  readonly signature: string
  readonly statement: string
}

const FOLDER = "functions"
const HEAD = /^create or replace function (\w+)\([^]*?(?=\slanguage\s)/

const parse = (name: string, text: string) => {
  const statements = splitStatements(text)
  const [head, named] = HEAD.exec(statements[0] ?? "") ?? []
  if (head === undefined || named !== name || statements.length !== 1)
    return new MigrationError({
      message: `${FOLDER}/…/${name}.sql has to hold "create or replace function ${name}(…) … language …" and nothing else`
    })
  return Effect.succeed<SqlFunction>({
    name,
    checksum: checksumOf(statements),
    signature: essenceOf(head),
    statement: statements[0]!
  })
}

/** Reads the functions in the folder next to the numbered files, by name; empty without such a folder. */
export const readFunctions = Effect.fn("postgres.readFunctions")(
  function* (directory: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = path.join(directory, FOLDER)
    if (!(yield* fs.exists(folder))) return []
    const files = (yield* fs.readDirectory(folder, { recursive: true })).filter((file) =>
      file.endsWith(".sql")
    )
    const functions = yield* Effect.forEach(files, (file) =>
      Effect.flatMap(fs.readFileString(path.join(folder, file)), (text) =>
        parse(path.basename(file, ".sql"), text.replaceAll("\r\n", "\n"))
      )
    )
    const sorted = functions.toSorted((one, other) => (one.name < other.name ? -1 : 1))
    const twice = sorted.find(({ name }, index) => sorted[index + 1]?.name === name)
    if (twice !== undefined)
      return yield* new MigrationError({ message: `two files in ${folder} make the function ${twice.name}` })
    return sorted
  },
  Effect.mapError((cause) =>
    cause._tag === "MigrationError"
      ? cause
      : new MigrationError({ message: `the functions cannot be read: ${cause.message}`, cause })
  )
)

/** What `postlane_functions` keeps of a function. `version` is that of the Postlane which applied this text. */
export const FunctionRows = Schema.Array(
  Schema.Struct({
    name: Schema.String,
    checksum: Schema.String,
    signature: Schema.String,
    version: Schema.String
  })
)
type FunctionRow = (typeof FunctionRows.Type)[number]

/** The difference between these files and what the database has. */
interface FunctionStanding {
  /** New, or another text: applied next. */
  readonly changed: ReadonlyArray<SqlFunction>
  /** In the database, without a file: dropped next. */
  readonly gone: ReadonlyArray<string>
  /** The version that applied texts which differ from these files, where it is newer than this one: they stay. */
  readonly newer: string | undefined
}

const byNumbers = new Intl.Collator("en", { numeric: true })

/** Compares "0.9.1" with "0.10.0-rc.1". A pre-release comes before its release. */
const compareVersions = (one: string, other: string): number => {
  const [[a = "", preA], [b = "", preB]] = [one.split("-"), other.split("-")]
  return (
    byNumbers.compare(a, b) ||
    Number(preA === undefined) - Number(preB === undefined) ||
    byNumbers.compare(preA ?? "", preB ?? "")
  )
}

/** Compares the functions of this version with those that were applied. */
export const compareFunctions = (
  functions: ReadonlyArray<SqlFunction>,
  rows: ReadonlyArray<FunctionRow>,
  version: string
): FunctionStanding => {
  const files = new Map(functions.map((file) => [file.name, file]))
  const other = rows.filter((row) => files.get(row.name)?.checksum !== row.checksum)
  const newer = other.filter((row) => compareVersions(row.version, version) > 0)
  const kept = new Set([...rows.filter((row) => !other.includes(row)), ...newer].map(({ name }) => name))
  return {
    changed: functions.filter(({ name }) => !kept.has(name)),
    gone: other.map(({ name }) => name).filter((name) => !files.has(name) && !kept.has(name)),
    newer: newer
      .map((row) => row.version)
      .toSorted(compareVersions)
      .at(-1)
  }
}
