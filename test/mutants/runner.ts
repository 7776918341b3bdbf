/**
 * Runs each test without a fault first, then once for each fault that it asked for and that nothing has noticed yet. What a run
 * noticed it appends to the file that `POSTLANE_FAULTS` names, a line a fault: its number and the test. A test that cannot be
 * repeated is noted as {@link UNFIT}.
 *
 * With `POSTLANE_PLACES` (the module of each fault) it asks for those that are asked for while a module loads: the file's modules are
 * loaded anew with each of them on, and the tests are those of that copy of the file. The first copy has none.
 */
import { appendFileSync, readFileSync } from "node:fs"

import fc from "fast-check"
import { TestRunner, vi, type RunnerTask, type RunnerTestCase, type RunnerTestFile } from "vitest"

import { noticedIn, type Place, UNFIT } from "./noticed.ts"
import { makeSwitch } from "./switch.ts"

const file = process.env["POSTLANE_FAULTS"] ?? ""
const places = JSON.parse(process.env["POSTLANE_PLACES"] ?? "null") as ReadonlyArray<Place> | null

const switches = makeSwitch()

const fails = async (run: () => unknown): Promise<boolean> => {
  try {
    await run()
    return false
  } catch {
    return true
  }
}

const NO_FAULT = -1

/** All tests of a task. */
const testsOf = (task: RunnerTask): ReadonlyArray<RunnerTask> =>
  task.type === "suite" ? task.tasks.flatMap(testsOf) : [task]

export default class FaultRunner extends TestRunner {
  private noticed = new Map<number, string>()
  /** The faults that the copies of the file were loaded with, in their order. */
  private planted: ReadonlyArray<number> = []
  private copyOf = new Map<RunnerTask, number>()
  /** Names of tests that fail in a copy without a fault. */
  private unsteady = new Set<string>()

  override onCollectStart(collected: RunnerTestFile): void {
    super.onCollectStart(collected)
    // A counterexample need not be small.
    fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true })
    // Others run beside this one.
    this.noticed = noticedIn(readFileSync(file, "utf8"))
    this.planted = []
    this.copyOf = new Map()
    this.unsteady = new Set()
  }

  override async importFile(path: string, source: "collect" | "setup"): Promise<unknown> {
    if (places === null || source === "setup") return super.importFile(path, source)
    vi.resetModules()
    const asked = switches.note()
    const imported = await super.importFile(path, source)
    const text = readFileSync(path, "utf8")
    const near = places.filter(({ module }) => text.includes(`/${module}"`))
    const faults = [...asked].filter(
      (fault) => !this.noticed.has(fault) && near.some(({ end, first }) => first <= fault && fault < end)
    )
    const planted: Array<number> = []
    for (const fault of faults.length === 0 ? [] : [NO_FAULT, ...faults]) {
      vi.resetModules()
      switches.turnOn(fault)
      const failed = await fails(() => super.importFile(path, source))
      switches.turnOn(NO_FAULT)
      if (failed) this.note(fault, "a module does not load")
      else planted.push(fault)
    }
    this.planted = planted
    return imported
  }

  /** Tests stand before suites, both in the order of the copies. */
  onCollected(files: ReadonlyArray<RunnerTestFile>): void {
    const copies = this.planted.length + 1
    for (const { tasks } of files)
      for (const kind of ["test", "suite"]) {
        const some = tasks.filter(({ type }) => type === kind)
        for (const [at, task] of some.entries()) {
          const fault = this.planted[Math.floor((at * copies) / some.length) - 1]
          if (fault !== undefined) for (const test of testsOf(task)) this.copyOf.set(test, fault)
        }
      }
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    const run = TestRunner.getTestFn(test as never) as (() => unknown) | undefined
    if (run === undefined) throw new Error("a test without a function")
    if (places !== null) return this.runCopy(test, run)
    const asked = switches.note()
    // A test that cannot be repeated, or that bears no repeated one before it, says nothing about a fault.
    const isUnfit = await fails(run)
    const faults = [...asked].filter((fault) => !this.noticed.has(fault))
    if (isUnfit || (faults.length > 0 && (await fails(run)))) return this.note(UNFIT, test.name)
    for (const fault of faults) {
      switches.turnOn(fault)
      const failed = await fails(run)
      switches.turnOn(NO_FAULT)
      if (!failed) continue
      // What the fault left behind is no proof of the next one.
      if (await fails(run)) return this.note(UNFIT, test.name)
      this.note(fault, test.name)
    }
  }

  private async runCopy(test: RunnerTestCase, run: () => unknown): Promise<void> {
    const fault = this.copyOf.get(test)
    if (fault === undefined || this.noticed.has(fault) || this.unsteady.has(test.fullName)) return
    if (!(await fails(run))) return
    if (fault === NO_FAULT) this.unsteady.add(test.fullName)
    else this.note(fault, test.name)
  }

  private note(fault: number, name: string): void {
    if (fault !== UNFIT) this.noticed.set(fault, name)
    appendFileSync(file, `${fault} ${name.replaceAll("\n", " ")}\n`)
  }
}
