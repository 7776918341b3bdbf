/**
 * `npm run mutants -- [NAME…]`: plants faults, one at a time, runs the tests that hold the place, and says which faults nothing
 * notices. In the pure rules (NAME: a part of a file's path), with `--sql` in the functions of the migrations (NAME: a function, or an area).
 * `--tests PATH` runs these tests in place of the area's, `--only WORDS` plants the faults that are about them, `--every N` one of N
 * (a sample), `--list` runs nothing, `--own` runs the tests of its ring that import the file, and no other. At the end stands a table by
 * area, and below it what is left, by name; what changes nothing, or words alone, is named with its reason in `equivalent.ts`.
 *
 * Faults of rules go first all at once: the modules hold all of theirs, and each test runs again for each fault that it asked for, in
 * its own time; for what is asked for while a module loads, the modules load anew. Those of functions go the same way: each test runs
 * again, on the rows that it began with, for each fault of the functions that it reaches. What nobody noticed then, `--quick` leaves as it
 * is; else each of it is planted alone, and all tests run: tests that cannot be repeated need that.
 */
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join, relative, resolve, sep } from "node:path"
import { parseArgs } from "node:util"

import { EQUIVALENT, WORDS } from "./equivalent.ts"
import type { FaultyFunction } from "./function-runner.ts"
import { NO_PROGRAM, noticedIn, type Place, unfitIn } from "./noticed.ts"
import { mutantsOf as mutantsOfRules, type RuleMutants } from "./rules.ts"
import { type Failure, type Noticed, type Session, startSession } from "./session.ts"
import { type Mutant, mutantsOf as mutantsOfFunction, type SqlFunction } from "./sql.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    sql: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    tests: { type: "string", multiple: true },
    only: { type: "string", default: "" },
    every: { type: "string", default: "1" },
    quick: { type: "boolean", default: false },
    own: { type: "boolean", default: false }
  }
})

/** The rings with rules: the domain's are pure; of the application's services some tests are no tests of one fault after another. */
const RINGS = ["domain", "application"]

/** Its areas; of conversion the state machines, not what reads documents. */
const AREAS: Readonly<Record<string, string>> = {
  mail: "**/*.ts",
  delivery: "**/*.ts",
  batch: "*.ts",
  accounts: "*.ts",
  inbound: "*.ts",
  conversion: "{,work/}*.ts"
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
  /** Of all tests those that import it. */
  readonly own: ReadonlyArray<string>
  /** Puts a fault in its place, or what was there (`undefined`); what is wrong with it where it is no program. */
  readonly plant: (session: Session, text: string | undefined) => Promise<Failure>
}

const FUNCTIONS = "migrations/functions"
const STORES = "test/adapters/postgres"

/** Beside the folder of its name, what holds an area's functions; what shares no folder are races of many areas. */
const ALSO: Readonly<Record<string, ReadonlyArray<string>>> = {
  mail: ["send-queue/", "housekeeping", "lock-order", "leadership", "delivery/event-hook-re"],
  delivery: ["mail/", "housekeeping"],
  hooks: ["delivery/event-hook", "housekeeping"],
  conversion: ["batch/", "inbound/", "housekeeping"],
  batch: ["conversion/"],
  accounts: [
    "conversion/",
    "housekeeping",
    "mail/erased",
    "mail/deferral-ends",
    "send-queue/people",
    "lock-order"
  ],
  inbound: ["conversion/", "housekeeping"],
  outreach: ["delivery/event-hook"],
  shared: ["leadership", "heartbeat", "migrator", "mail/", "delivery/"]
}

/** Histories of random steps take too long to be run for each fault. */
const RANDOM = /(?:property|model|turns|claims-together|claim-cost|sending)\.test\.ts$/

/** The functions of the migrations. */
const sqlFunctions = (): ReadonlyArray<SqlFunction> =>
  globSync(`${FUNCTIONS}/**/*.sql`)
    .toSorted()
    .map((file) => ({
      area: relative(FUNCTIONS, file).split(sep)[0]!,
      name: basename(file, ".sql"),
      text: readFileSync(file, "utf8")
    }))

/** The tests of an area's folder hold them, and those of the folders that use it. */
const sqlTargets = (): ReadonlyArray<Target> =>
  sqlFunctions()
    .filter(
      ({ area, name }) => positionals.length === 0 || positionals.some((one) => one === name || one === area)
    )
    .map((fn) => ({
      area: fn.area,
      name: fn.name,
      mutants: mutantsOfFunction(fn),
      own: [],
      tests: [`${fn.area}/`, ...(ALSO[fn.area] ?? [])].map((path) => `${STORES}/${path}`),
      plant: (session, text) => session.inTemplate(text ?? fn.text)
    }))

const TEST_FILES: ReadonlyArray<readonly [path: string, text: string]> = globSync("test/**/*.test.ts")
  .toSorted()
  .map((path) => [path, readFileSync(path, "utf8")])

/** The tests of its own ring that import a module. */
const testsOf = (module: string): ReadonlyArray<string> => {
  const [ring = ""] = relative("src", module).split(sep)
  return TEST_FILES.filter(
    ([path, text]) => path.startsWith(`test/${ring}/`) && text.includes(`/${relative("src", module)}"`)
  ).map(([path]) => path)
}

const ruleTargets = (): ReadonlyArray<Target> =>
  RINGS.flatMap((ring) =>
    Object.entries(AREAS).flatMap(([area, files]) =>
      globSync(`src/${ring}/${area}/${files}`).map((path) => ({ area, path, ring }))
    )
  )
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
    .filter(({ path }) => positionals.length === 0 || positionals.some((name) => path.includes(name)))
    .map(({ area, path, ring }) => {
      const rules = mutantsOfRules(path, readFileSync(path, "utf8"))
      return {
        area: `${ring}/${area}`,
        name: path,
        rules,
        mutants: rules.mutants,
        own: testsOf(path),
        tests: [`test/domain/${area}/`, `test/application/${area}/`, "test/adapters/memory/"],
        plant: (session, text) => {
          session.replace(resolve(path), text)
          return Promise.resolve(undefined)
        }
      }
    })

/** What became of a fault. `words`: it is in what a text says, which is no rule. */
type Verdict = "noticed at once" | "noticed alone" | "changes nothing" | "words" | "no program" | "left"

const VERDICTS: ReadonlyArray<Verdict> = [
  "noticed at once",
  "noticed alone",
  "changes nothing",
  "words",
  "left"
]

const every = Number(values.every)
if (!Number.isSafeInteger(every) || every < 1) throw new Error("--every needs a whole number from 1 on")

/** The faults with a name each: those that read alike are counted. */
const named = (mutants: ReadonlyArray<Mutant>): ReadonlyArray<readonly [name: string, mutant: Mutant]> => {
  const alike = new Map<string, number>()
  return mutants.map((mutant) => {
    const count = (alike.get(mutant.about) ?? 0) + 1
    alike.set(mutant.about, count)
    return [count === 1 ? mutant.about : `${mutant.about} (${count})`, mutant]
  })
}

/** The faults that are planted, each with its name: of those that `--only` asks for each that `--every` comes to. */
const plantedOf = (targets: ReadonlyArray<Target>): ReadonlyMap<Mutant, string> => {
  const wanted = targets
    .flatMap(({ mutants }) => named(mutants))
    .filter(([name]) => name.includes(values.only))
  return new Map(wanted.flatMap(([name, mutant], at) => ((at + 1) % every === 0 ? [[mutant, name]] : [])))
}

/** What became of the faults, by area. */
const found = new Map<string, Array<{ readonly what: string; readonly verdict: Verdict }>>()
const passed = new Set<string>()

/** Tests have to pass before anything is planted; the first run starts the database, too. */
const beforehand = async (session: Session, tests: ReadonlyArray<string>) => {
  const name = tests.join(" ")
  if (passed.has(name)) return
  const failure = await session.run(tests)
  if (failure !== undefined) throw new Error(`without a fault: ${failure}`)
  passed.add(name)
}

/** Where the faults of the targets are, all of them in one session. */
const placesOf = (targets: ReadonlyArray<Target>): ReadonlyArray<Place & { readonly target: Target }> => {
  let first = 0
  return targets.flatMap((target) => {
    if (target.rules === undefined) return []
    const begun = first
    first += target.rules.size
    return [{ first: begun, end: first, module: relative("src", target.name), target }]
  })
}

/** Runs tests in which all faults stand, switched off; what they notice is in the file. */
const runSwitched = async (
  noticed: Noticed,
  places: ReturnType<typeof placesOf>,
  runs: ReadonlyArray<ReadonlyArray<string>>
) => {
  const session = await startSession(noticed)
  try {
    for (const { first, target } of places)
      session.replace(resolve(target.name), target.rules?.switched(first))
    for (const tests of runs) {
      const failure = await session.run(tests)
      if (failure === undefined) continue
      // A file may break while its tests are collected from a copy with a fault.
      if (noticed.places === undefined) throw new Error(`without a fault: ${failure}`)
      console.log(`not collected    ${failure}`)
    }
  } finally {
    await session.end()
  }
}

/** The test that notices a fault, by the fault: of all targets, in one session, and in another one of those that modules ask for while they load. */
const noticedAtOnce = async (targets: ReadonlyArray<Target>): Promise<ReadonlyMap<Mutant, string>> => {
  const folder = mkdtempSync(join(tmpdir(), "postlane-faults-"))
  const file = join(folder, "noticed")
  writeFileSync(file, "")
  const places = placesOf(targets)
  const own = [...new Set(targets.flatMap((target) => target.own))]
  const areas = [...new Set(targets.map((target) => (values.tests ?? target.tests).join(" ")))]
  try {
    await runSwitched({ file }, places, values.own ? [own] : areas.map((tests) => tests.split(" ")))
    if (own.length > 0) {
      const where = places.map(({ end, first, module }) => ({ first, end, module }))
      await runSwitched({ file, places: where }, places, [own])
    }
    const lines = readFileSync(file, "utf8")
    for (const test of unfitIn(lines)) console.log(`not repeatable   ${test}`)
    const noticed = noticedIn(lines)
    return new Map(
      places.flatMap(({ first, target }) =>
        (target.rules?.mutants ?? []).flatMap((mutant) => {
          const test = noticed.get(first + mutant.number)
          return test === undefined ? [] : [[mutant, test] as const]
        })
      )
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Tables whose triggers and checks call a function. */
const tablesOf = (name: string): ReadonlyArray<string> =>
  globSync("migrations/*.sql")
    .flatMap((path) => readFileSync(path, "utf8").split(/;\n/))
    .filter((statement) => new RegExp(`\\b${name}\\(`).test(statement))
    .flatMap(
      (statement) => /\b(?:create table|alter table|trigger [^;]*? on) (\w+)/.exec(statement)?.[1] ?? []
    )

/** As `noticedAtOnce`, of functions: each test runs again for each fault of those that it calls. */
const noticedInFunctions = async (
  targets: ReadonlyArray<Target>,
  planted: ReadonlyMap<Mutant, string>
): Promise<ReadonlyMap<Mutant, string>> => {
  const folder = mkdtempSync(join(tmpdir(), "postlane-faults-"))
  const [file, functions] = [join(folder, "noticed"), join(folder, "functions")]
  const numbered = targets.flatMap(({ mutants, name }) =>
    mutants.flatMap((mutant) => {
      const fault = planted.get(mutant)
      return fault === undefined || EQUIVALENT[name]?.[fault] !== undefined ? [] : [{ mutant, name }]
    })
  )
  const faulty = sqlFunctions().map(({ name, text }): FaultyFunction => ({
    name,
    text,
    faults: numbered.flatMap((one, number) => (one.name === name ? [{ number, text: one.mutant.text }] : [])),
    tables: tablesOf(name)
  }))
  writeFileSync(file, "")
  writeFileSync(functions, JSON.stringify(faulty))
  const session = await startSession({ file, functions })
  try {
    const filters = values.tests ?? targets.flatMap(({ tests }) => tests)
    const failure = await session.run(
      TEST_FILES.flatMap(([path]) =>
        filters.some((filter) => path.includes(filter)) && !RANDOM.test(path) ? [path] : []
      )
    )
    if (failure !== undefined) console.log(`broken           ${failure}`)
    const lines = readFileSync(file, "utf8")
    for (const test of unfitIn(lines)) console.log(`not repeatable   ${test}`)
    const noticed = noticedIn(lines)
    return new Map(
      numbered.flatMap(({ mutant }, number) => {
        const test = noticed.get(number)
        return test === undefined ? [] : [[mutant, test] as const]
      })
    )
  } finally {
    await session.end()
    rmSync(folder, { recursive: true })
  }
}

/** Its own tests first, since most faults are noticed there; what the first of all says that notices it. */
const runTests = async (session: Session, { own, tests }: Target): Promise<Failure> => {
  const failure = own.length === 0 ? undefined : await session.run(own)
  return failure === undefined && !values.own ? session.run(values.tests ?? tests) : failure
}

const runTarget = async (
  session: Session,
  target: Target,
  planted: ReadonlyMap<Mutant, string>,
  noticed: ReadonlyMap<Mutant, string>
) => {
  const others = values.tests ?? target.tests
  const tests = values.own ? target.own : [...target.own, ...others]
  const said = found.get(target.area) ?? []
  found.set(target.area, said)
  const faults = named(target.mutants)
  for (const name of Object.keys(EQUIVALENT[target.name] ?? {}))
    if (!faults.some(([fault]) => fault === name)) throw new Error(`${target.name} has no fault: ${name}`)
  for (const [name, mutant] of faults) {
    if (!planted.has(mutant)) continue
    const what = `${target.name}:${mutant.line} ${name}`
    const say = (verdict: Verdict, why = "") => {
      console.log(`${verdict.padEnd(15)}  ${what}${why === "" ? "" : ` (${why})`}`)
      said.push({ what, verdict })
    }
    const by = noticed.get(mutant)
    const reason = EQUIVALENT[target.name]?.[name]
    if (by === NO_PROGRAM) say("no program")
    else if (by !== undefined) say("noticed at once", by)
    else if (reason !== undefined) say(reason.startsWith(WORDS) ? "words" : "changes nothing", reason)
    else if (values.quick || tests.length === 0) say("left")
    else {
      await beforehand(session, tests)
      const invalid = await target.plant(session, mutant.text)
      const failure = invalid === undefined ? await runTests(session, target) : undefined
      await target.plant(session, undefined)
      if (invalid !== undefined) say("no program", invalid)
      else say(failure === undefined ? "left" : "noticed alone", failure)
    }
  }
}

/** A row of the table, and its share of the noticed among those that could be. */
const rowOf = (verdicts: ReadonlyArray<Verdict>) => {
  const count = (...wanted: ReadonlyArray<Verdict>) => verdicts.filter((one) => wanted.includes(one)).length
  const noticed = count("noticed at once", "noticed alone")
  const share = noticed + count("left") === 0 ? 1 : noticed / (noticed + count("left"))
  return { cells: VERDICTS.map((verdict) => count(verdict)), share }
}

const printTable = () => {
  const rows = [...found].map(([area, faults]) => ({ area, ...rowOf(faults.map(({ verdict }) => verdict)) }))
  console.log(`\n| area | faults | ${VERDICTS.join(" | ")} | % |`)
  console.log(`|---|---|${"---|".repeat(VERDICTS.length)}---|`)
  for (const { area, cells, share } of rows)
    console.log(
      `| ${area} | ${cells.reduce((sum, each) => sum + each, 0)} | ${cells.join(" | ")} | ${Math.floor(share * 100)} |`
    )
  for (const [area, faults] of found) {
    const left = faults.filter(({ verdict }) => verdict === "left")
    if (left.length > 0) console.log(`\nLeft of ${area}:\n${left.map(({ what }) => what).join("\n")}`)
  }
  process.exitCode = rows.every(({ share }) => share >= 0.95) ? 0 : 1
}

const targets = values.sql ? sqlTargets() : ruleTargets()
if (targets.every(({ mutants }) => mutants.length === 0)) throw new Error("no such file or function")
if (values.list) {
  for (const { mutants, name } of targets) console.log(`${name}: ${mutants.length}`)
} else {
  const planted = plantedOf(targets)
  const noticed = values.sql ? await noticedInFunctions(targets, planted) : await noticedAtOnce(targets)
  const session = await startSession(undefined, values.own)
  try {
    for (const target of targets) await runTarget(session, target, planted, noticed)
  } finally {
    await session.end()
  }
  printTable()
}
