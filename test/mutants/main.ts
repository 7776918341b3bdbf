/**
 * `npm run mutants -- [NAME…]`: plants faults, one at a time, runs the tests that hold the place, and says which faults nothing
 * notices. In the pure rules (NAME: a part of a file's path), with `--sql` in the functions of the migrations (NAME: a function).
 * `--tests PATH` runs these tests in place of the area's, `--only WORDS` plants the faults that are about them, `--every N` one of N
 * (a sample, where all would take a day), `--list` runs nothing.
 */
import { globSync, readFileSync } from "node:fs"
import { basename, relative, resolve, sep } from "node:path"
import { parseArgs } from "node:util"

import { EQUIVALENT } from "./equivalent.ts"
import { mutantsOf as mutantsOfRules } from "./rules.ts"
import { type Failure, type Session, startSession } from "./session.ts"
import { type Mutant, mutantsOf as mutantsOfFunction, type SqlFunction } from "./sql.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    sql: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    tests: { type: "string", multiple: true },
    only: { type: "string", default: "" },
    every: { type: "string", default: "1" }
  }
})

/** The pure rules, by the folder of the domain; of conversion the state machines, not what reads documents. */
const RULES: Readonly<Record<string, string>> = {
  mail: "src/{domain,application}/mail/**/*.ts",
  delivery: "src/{domain,application}/delivery/*.ts",
  batch: "src/{domain,application}/batch/*.ts",
  accounts: "src/{domain,application}/accounts/*.ts",
  inbound: "src/{domain,application}/inbound/*.ts",
  conversion: "src/{domain,application}/conversion/{,work/}*.ts"
}

/** A place with its faults. */
interface Target {
  /** A folder of rules or of functions: what a share of the killed is counted for. */
  readonly area: string
  readonly name: string
  readonly mutants: ReadonlyArray<Mutant>
  readonly tests: ReadonlyArray<string>
  /** Puts a fault in its place, or what was there (`undefined`); what is wrong with it where it is no program. */
  readonly plant: (session: Session, text: string | undefined) => Promise<Failure>
}

const FUNCTIONS = "migrations/functions"
const SHARED_TESTS = ["test/adapters/postgres/leadership", "test/adapters/postgres/migrator"]

/** The functions of the migrations; the tests of an area's folder hold them. */
const sqlTargets = (): ReadonlyArray<Target> =>
  globSync(`${FUNCTIONS}/**/*.sql`)
    .toSorted()
    .map((file): SqlFunction => ({
      area: relative(FUNCTIONS, file).split(sep)[0]!,
      name: basename(file, ".sql"),
      text: readFileSync(file, "utf8")
    }))
    .filter(({ name }) => positionals.length === 0 || positionals.includes(name))
    .map((fn) => ({
      area: fn.area,
      name: fn.name,
      mutants: mutantsOfFunction(fn),
      tests: fn.area === "shared" ? SHARED_TESTS : [`test/adapters/postgres/${fn.area}/`],
      plant: (session, text) => session.inTemplate(text ?? fn.text)
    }))

const ruleTargets = (): ReadonlyArray<Target> =>
  Object.entries(RULES)
    .flatMap(([area, glob]) => globSync(glob).map((path) => ({ area, path })))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
    .filter(({ path }) => positionals.length === 0 || positionals.some((name) => path.includes(name)))
    .map(({ area, path }) => ({
      area,
      name: path,
      mutants: mutantsOfRules(path, readFileSync(path, "utf8")),
      tests: [`test/domain/${area}/`, `test/application/${area}/`],
      plant: (session, text) => {
        session.replace(resolve(path), text)
        return Promise.resolve(undefined)
      }
    }))

interface Count {
  killed: number
  survived: number
}

const every = Number(values.every)
if (!Number.isSafeInteger(every) || every < 1) throw new Error("--every needs a whole number from 1 on")

const counts = new Map<string, Count>()
const passed = new Set<string>()
/** Faults so far, planted or left out of the sample. */
let seen = 0

/** Tests have to pass before anything is planted; the first run starts the database, too. */
const beforehand = async (session: Session, tests: ReadonlyArray<string>) => {
  const name = tests.join(" ")
  if (passed.has(name)) return
  const failure = await session.run(tests)
  if (failure !== undefined) throw new Error(`without a fault: ${failure}`)
  passed.add(name)
}

const runTarget = async (session: Session, target: Target) => {
  const tests = values.tests ?? target.tests
  const count = counts.get(target.area) ?? { killed: 0, survived: 0 }
  counts.set(target.area, count)
  for (const { about, line, text } of target.mutants) {
    const what = `${target.name}:${line} ${about}`
    if (!about.includes(values.only)) continue
    seen += 1
    if (seen % every !== 0) continue
    const reason = EQUIVALENT[target.name]?.[about]
    if (reason !== undefined) {
      console.log(`changes nothing  ${what} (${reason})`)
      continue
    }
    await beforehand(session, tests)
    const invalid = await target.plant(session, text)
    const failure = invalid === undefined ? await session.run(tests) : undefined
    await target.plant(session, undefined)
    if (invalid !== undefined) console.log(`no program       ${what} (${invalid})`)
    else if (failure !== undefined) console.log(`killed           ${what} (${failure})`)
    else console.log(`SURVIVED         ${what}`)
    if (invalid === undefined) count[failure === undefined ? "survived" : "killed"] += 1
  }
}

const targets = values.sql ? sqlTargets() : ruleTargets()
if (targets.every(({ mutants }) => mutants.length === 0)) throw new Error("no such file or function")
if (values.list) {
  for (const { mutants, name } of targets) console.log(`${name}: ${mutants.length}`)
} else {
  const session = await startSession()
  try {
    for (const target of targets) await runTarget(session, target)
  } finally {
    await session.end()
  }
  for (const [area, { killed, survived }] of counts)
    if (killed + survived > 0)
      console.log(
        `${area}: ${killed} of ${killed + survived} killed (${Math.floor((killed / (killed + survived)) * 100)} %)`
      )
  process.exitCode = [...counts.values()].every(
    ({ killed, survived }) => killed >= 0.95 * (killed + survived)
  )
    ? 0
    : 1
}
