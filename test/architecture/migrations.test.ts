import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

import { assert, describe, expect, it } from "vitest"

import { essenceOf, splitStatements } from "../../src/adapters/postgres/migration-files.ts"
import { BASELINE } from "../outside/squawk/reference.ts"

const folder = fileURLToPath(new URL("../../migrations", import.meta.url))

/** What holds writers up for as long as it takes, on a table that stands: an index, a check of every row, a column of another type. */
const holdsUp = (text: string): ReadonlyArray<string> => {
  const statements = splitStatements(text).map(essenceOf)
  const made = new Set(
    statements.map((one) => /^create (?:unlogged )?table (?:if not exists )?(\w+)/i.exec(one)?.[1])
  )
  return statements.filter((one) => {
    const [, table] = /^create (?:unique )?index (?!concurrently).*? on (?:only )?(\w+)/i.exec(one) ?? []
    if (table !== undefined) return !made.has(table)
    const [, altered] = /^alter table (?:if exists )?(?:only )?(\w+)/i.exec(one) ?? []
    if (altered === undefined || made.has(altered)) return false
    if (/\b(?:set not null|alter (?:column )?\w+ (?:set data )?type)\b/i.test(one)) return true
    return /\badd constraint\b/i.test(one) && !/\b(?:not valid|using index)$/i.test(one)
  })
}

describe("migrations after the baseline", () => {
  it("hold no table up that is in use", () => {
    const files = readdirSync(folder).filter((name) => name.endsWith(".sql") && name.slice(0, 4) > BASELINE)
    assert.isAbove(files.length, 5)
    expect(
      files.flatMap((name) =>
        holdsUp(readFileSync(`${folder}/${name}`, "utf8")).map((statement) => [name, statement])
      )
    ).toEqual([])
  })

  it.each([
    "create index a on email_log (id)",
    "create unique index a on email_log (id)",
    "alter table email_log add constraint a check (id is not null)",
    "alter table email_log alter column subject set not null",
    "alter table email_log alter column subject type varchar(9)"
  ])("would be seen: %s", (statement) => expect(holdsUp(`-- a; b\n${statement};\n`)).toEqual([statement]))

  it.each([
    "create index concurrently if not exists a on email_log (id)",
    "create table a (id int); create index b on a (id)",
    "alter table email_log add constraint a check (id is not null) not valid",
    "alter table email_log add column a text"
  ])("may be: %s", (statements) => expect(holdsUp(statements)).toEqual([]))
})
