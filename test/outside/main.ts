/**
 * `npm run outside`: programs that nobody here wrote, set against the product. `--list` names them, `-- NAME…` runs some, `--json`
 * prints what was found as JSON, `--quick` runs those of `npm run check`, as far as they are there. Exits with 1 where a check failed that is
 * no artefact of its tool.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

import { TEMPORARY } from "../support/temporary.ts"
import type { Check, Reference } from "./reference.ts"
import { references } from "./references.ts"
import { isOnPath } from "./tools.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

interface Row {
  readonly name: string
  readonly version: string
  readonly checks: string
  readonly found: ReadonlyArray<Check>
  /** Why it was not tried. */
  readonly untried?: string
  readonly seconds: number
}

const cache = join(root, "node_modules", ".cache", "outside")

const tried = async (reference: Reference, isQuick: boolean): Promise<Row> => {
  const { checks, name, needs, version } = reference
  const missing = needs.filter((program) => !isOnPath(program))
  const skipped = (untried: string): Row => ({ name, version, checks, found: [], untried, seconds: 0 })
  if (missing.length > 0) return skipped(`needs ${missing.join(", ")}`)
  if (isQuick && (await reference.isAtHand?.({ cache })) !== true)
    return skipped(`is not installed: npm run outside -- ${name} does that`)
  const began = performance.now()
  await mkdir(cache, { recursive: true })
  const work = await mkdtemp(join(TEMPORARY, `outside-${name}-`))
  const place = { cache, work, root }
  let found: ReadonlyArray<Check>
  try {
    await reference.install(place)
    found = await reference.run(place)
    if (found.length === 0) found = [{ name: "it checks something", outcome: "failed" }]
  } catch (error) {
    found = [{ name: "it runs to its end", outcome: "failed", detail: String(error) }]
  } finally {
    await rm(work, { recursive: true, force: true })
  }
  return { name, version, checks, found, seconds: Math.round((performance.now() - began) / 1000) }
}

const count = ({ found }: Row, outcome: Check["outcome"]) =>
  found.filter((check) => check.outcome === outcome).length

const tell = (row: Row, isQuick: boolean): void => {
  for (const { detail, name, outcome } of row.found)
    if (outcome === "failed" || (outcome === "artefact" && !isQuick))
      console.log(`  ${outcome}: ${name}${detail === undefined ? "" : `\n    ${detail}`}`)
}

const table = (rows: ReadonlyArray<Row>): string =>
  [
    "| reference | version | checks | held | failed | artefacts | seconds | not tried, because it |",
    "|---|---|---|---|---|---|---|---|",
    ...rows.map((row) =>
      [
        "",
        row.name,
        row.version,
        row.checks,
        count(row, "held"),
        count(row, "failed"),
        count(row, "artefact"),
        row.seconds,
        row.untried ?? "",
        ""
      ]
        .join(" | ")
        .trim()
    )
  ].join("\n")

// What was started is ended, too.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1))

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { list: { type: "boolean" }, json: { type: "boolean" }, quick: { type: "boolean" } }
})
const unknown = positionals.filter((name) => !references.some((reference) => reference.name === name))
if (unknown.length > 0) {
  console.error(`no reference is called ${unknown.join(", ")}; npm run outside -- --list names them`)
  process.exitCode = 2
} else if (values.list === true) for (const { name } of references) console.log(name)
else {
  const rows: Array<Row> = []
  const isQuick = values.quick === true
  for (const reference of references) {
    if (positionals.length > 0 && !positionals.includes(reference.name)) continue
    if (isQuick && reference.isAtHand === undefined) continue
    if (values.json !== true) console.log(`${reference.name} ${reference.version}: ${reference.checks}`)
    const row = await tried(reference, isQuick)
    if (values.json !== true) tell(row, isQuick)
    rows.push(row)
  }
  console.log(values.json === true ? JSON.stringify(rows, undefined, 2) : `\n${table(rows)}`)
  if (rows.some((row) => count(row, "failed") > 0)) process.exitCode = 1
}
