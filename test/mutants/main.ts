/**
 * `npm run mutants -- --sql [NAME…]`: plants faults in the functions of the migrations, runs the tests of their area, and says which
 * faults nothing notices.
 */
import { readdirSync, readFileSync } from "node:fs"
import { parseArgs } from "node:util"

import { type Session, startSession } from "./session.ts"
import { functionsOf, mutantsOf } from "./sql.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    sql: { type: "boolean", default: false },
    /** Which tests run, in place of the area's. */
    tests: { type: "string", multiple: true },
    /** A part of what a fault is about. */
    only: { type: "string" }
  }
})

const AREAS: Readonly<Record<string, ReadonlyArray<string>>> = {
  "0001_roles.sql": ["test/adapters/postgres/migrator"],
  "0002_mail.sql": ["test/adapters/postgres/mail"],
  "0003_delivery.sql": ["test/adapters/postgres/delivery"],
  "0004_accounts.sql": ["test/adapters/postgres/accounts"],
  "0005_conversion.sql": ["test/adapters/postgres/conversion/"],
  "0006_batch.sql": ["test/adapters/postgres/batch/"],
  "0007_inbound.sql": ["test/adapters/postgres/inbound"],
  "0008_outreach.sql": ["test/adapters/postgres/outreach"]
}

const passed = new Set<string>()

/** Tests have to pass before anything is planted; the first run starts the database, too. */
const passes = async (session: Session, tests: ReadonlyArray<string>) => {
  const name = tests.join(" ")
  if (passed.has(name)) return undefined
  passed.add(name)
  return session.run(tests)
}

const inSql = async (session: Session) => {
  const functions = readdirSync("migrations").flatMap((file) =>
    functionsOf(file, readFileSync(`migrations/${file}`, "utf8"))
  )
  for (const fn of functions) {
    if (positionals.length > 0 && !positionals.includes(fn.name)) continue
    const tests = values.tests ?? AREAS[fn.file]!
    const unharmed = await passes(session, tests)
    if (unharmed !== undefined) throw new Error(`without a fault ${unharmed}`)
    for (const mutant of mutantsOf(fn)) {
      if (values.only !== undefined && !mutant.about.includes(values.only)) continue
      const invalid = await session.inTemplate(mutant.text)
      const failure = invalid === undefined ? await session.run(tests) : undefined
      await session.inTemplate(fn.text)
      console.log(
        `${invalid ? "invalid " : failure ? "killed  " : "SURVIVED"} ${fn.file}:${mutant.line} ${fn.name} ${mutant.about} ${invalid ?? failure ?? ""}`
      )
    }
  }
}

const session = await startSession()
try {
  await inSql(session)
} finally {
  await session.end()
}
