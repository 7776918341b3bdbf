import { Effect } from "effect"
import { SqlClient } from "effect/sql"

import { whyTooOld } from "../../domain/doctor/database.ts"
import { MIGRATIONS_TABLE } from "./database-rights.ts"
import { MigrationError } from "./migration-files.ts"
import { CLOCK_SCHEMA } from "./shifted-time.ts"

/** What helps where a role's sessions have another setting than is needed. */
const alterRole = Effect.fnUntraced(function* (name: string, value: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly role: string; readonly db: string }>`select
    quote_ident(session_user) as role, quote_ident(current_database()) as db`.unprepared
  return `alter role ${row?.role} in database ${row?.db} set ${name} = ${value}, and let a pooler make new sessions`
})

/**
 * Checked before anything else. An older server answers the files with a syntax error. In another encoding than UTF8, the row of a subject
 * with other letters fails, and its key stays in progress. A schema before `public` (by default the role's own, where there is one) would
 * get the tables, and functions do not look there; only the schema of a test's clock may come first, since it has none of our tables.
 */
export const requireServer = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{
    readonly version: number
    readonly encoding: string
    readonly schema: string | null
  }>`
    select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
      (select s from unnest(current_schemas(false)) with ordinality as x(s, n)
        where s not in ('pg_catalog', ${CLOCK_SCHEMA}) order by n limit 1)::text as schema`.unprepared
  const why = whyTooOld(Number(row?.version))
  if (why !== undefined) return yield* new MigrationError({ message: why })
  if (row?.encoding !== "UTF8")
    return yield* new MigrationError({
      message: `the database's encoding is ${row?.encoding}, and mail needs UTF8`,
      remedy: "make one with: create database … encoding 'UTF8' template template0"
    })
  if (row.schema !== "public")
    return yield* new MigrationError({
      message: `the sessions of this database look in schema ${row.schema ?? "none"} first, but Postlane's tables are in public`,
      remedy: yield* alterRole("search_path", "public")
    })
})

/**
 * In a stricter isolation level, a statement that waited for a row fails instead of seeing it, and mails go out without their claims; without
 * standard strings, the functions' expressions lose their backslashes, and no address is one.
 */
const NEEDED = [
  ["default_transaction_isolation", "read committed"],
  ["standard_conforming_strings", "on"]
] as const

/** For a process that works on the database: fails where its sessions are not as needed. */
export const requireSessions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [hidden] = yield* sql<{ readonly role: string }>`select quote_ident(session_user) as role
    where row_security_active(to_regclass(${MIGRATIONS_TABLE}))`.unprepared
  if (hidden !== undefined)
    return yield* new MigrationError({
      message: `the role ${hidden.role} sees no rows of Postlane's tables`,
      remedy: `connect as their owner, or have an administrator run "grant service_role to ${hidden.role}" and "alter role ${hidden.role} bypassrls"`
    })
  for (const [name, needed] of NEEDED) {
    const [row] = yield* sql<{
      readonly found: string
    }>`select current_setting(${name}::text) as found`.unprepared
    if (row !== undefined && row.found !== needed)
      return yield* new MigrationError({
        message: `the sessions of this database have ${name} = ${row.found}, and its functions need ${needed}`,
        remedy: yield* alterRole(name, `'${needed}'`)
      })
  }
})
