/**
 * `npm run mutants -- [NAME…]`: plants faults, one at a time, runs the tests that hold the place, and says which faults nothing
 * notices. In the pure rules (NAME: a part of a file's path), with `--sql` in the functions of the migrations (NAME: a function).
 * `--tests PATH` runs these tests in place of the area's, `--only WORDS` plants the faults that are about them, `--every N` one of N
 * (a sample), `--list` runs nothing.
 *
 * Faults of rules go first all at once: the modules hold all of theirs, and each test runs again for each fault that it asked for, in
 * its own time. What nobody noticed then, `--quick` leaves as it is; else each of it is planted alone, and all tests run: what is
 * evaluated while a module loads, and tests that cannot be repeated, need that.
 */
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join, relative, resolve, sep } from "node:path"
import { parseArgs } from "node:util"

import { EQUIVALENT } from "./equivalent.ts"
import { noticedIn, unfitIn } from "./noticed.ts"
import { mutantsOf as mutantsOfRules, type RuleMutants } from "./rules.ts"
import { type Failure, type Session, startSession } from "./session.ts"
import { type Mutant, mutantsOf as mutantsOfFunction, type SqlFunction } from "./sql.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    sql: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    tests: { type: "string", multiple: true },
    only: { type: "string", default: "" },
    every: { type: "string", default: "1" },
    quick: { type: "boolean", default: false }
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
  /** Its faults in one text; undefined where they cannot be switched. */
  readonly rules?: RuleMutants
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
    .map(({ area, path }) => {
      const rules = mutantsOfRules(path, readFileSync(path, "utf8"))
      return {
        area,
        name: path,
        rules,
        mutants: rules.mutants,
        tests: [`test/domain/${area}/`, `test/application/${area}/`, "test/adapters/memory/"],
        plant: (session, text) => {
          session.replace(resolve(path), text)
          return Promise.resolve(undefined)
        }
      }
    })

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

/** The test that notices a fault, by the fault: of all targets, in one session. */
const noticedAtOnce = async (targets: ReadonlyArray<Target>): Promise<ReadonlyMap<Mutant, string>> => {
  const folder = mkdtempSync(join(tmpdir(), "postlane-faults-"))
  const file = join(folder, "noticed")
  writeFileSync(file, "")
  const numbers = new Map<number, Mutant>()
  const session = await startSession({ file })
  try {
    let first = 0
    for (const { name, rules } of targets) {
      if (rules === undefined) continue
      session.replace(resolve(name), rules.switched(first))
      for (const mutant of rules.mutants) numbers.set(first + mutant.number, mutant)
      first += rules.size
    }
    for (const tests of new Set(targets.map((target) => (values.tests ?? target.tests).join(" ")))) {
      const failure = await session.run(tests.split(" "))
      if (failure !== undefined) throw new Error(`without a fault: ${failure}`)
    }
    const lines = readFileSync(file, "utf8")
    for (const test of unfitIn(lines)) console.log(`not repeatable   ${test}`)
    return new Map(
      [...noticedIn(lines)].flatMap(([number, test]) => {
        const mutant = numbers.get(number)
        return mutant === undefined ? [] : [[mutant, test] as const]
      })
    )
  } finally {
    await session.end()
    rmSync(folder, { recursive: true })
  }
}

const runTarget = async (session: Session, target: Target, noticed: ReadonlyMap<Mutant, string>) => {
  const tests = values.tests ?? target.tests
  const count = counts.get(target.area) ?? { killed: 0, survived: 0 }
  counts.set(target.area, count)
  for (const mutant of target.mutants) {
    const { about, line, text } = mutant
    const what = `${target.name}:${line} ${about}`
    if (!about.includes(values.only)) continue
    seen += 1
    if (seen % every !== 0) continue
    const reason = EQUIVALENT[target.name]?.[about]
    if (reason !== undefined) {
      console.log(`changes nothing  ${what} (${reason})`)
      continue
    }
    const by = noticed.get(mutant)
    if (by !== undefined || values.quick) {
      console.log(by === undefined ? `NOT NOTICED      ${what}` : `killed           ${what} (${by})`)
      count[by === undefined ? "survived" : "killed"] += 1
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
  const noticed = values.sql ? new Map<Mutant, string>() : await noticedAtOnce(targets)
  const session = await startSession()
  try {
    for (const target of targets) await runTarget(session, target, noticed)
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
