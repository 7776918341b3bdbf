/**
 * Runs each test without a fault first, then once for each fault that it asked for and that nothing has noticed yet. What a run
 * noticed it appends to the file that `POSTLANE_FAULTS` names, a line a fault: its number and the test. A test that cannot be
 * repeated is noted as {@link UNFIT}.
 */
import { appendFileSync, readFileSync } from "node:fs"

import fc from "fast-check"
import { TestRunner, type RunnerTestCase, type RunnerTestFile } from "vitest"

import { noticedIn, UNFIT } from "./noticed.ts"
import { makeSwitch } from "./switch.ts"

const file = process.env["POSTLANE_FAULTS"] ?? ""

const switches = makeSwitch()

const fails = async (run: () => unknown): Promise<boolean> => {
  try {
    await run()
    return false
  } catch {
    return true
  }
}

export default class FaultRunner extends TestRunner {
  private noticed = new Map<number, string>()

  override onCollectStart(collected: RunnerTestFile): void {
    super.onCollectStart(collected)
    // A counterexample need not be small.
    fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true })
    // Others run beside this one.
    this.noticed = noticedIn(readFileSync(file, "utf8"))
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    const run = TestRunner.getTestFn(test as never) as (() => unknown) | undefined
    if (run === undefined) throw new Error("a test without a function")
    const asked = switches.note()
    // A test that cannot be repeated, or that bears no repeated one before it, says nothing about a fault.
    const isUnfit = await fails(run)
    const faults = [...asked].filter((fault) => !this.noticed.has(fault))
    if (isUnfit || (faults.length > 0 && (await fails(run)))) return this.note(UNFIT, test)
    for (const fault of faults) {
      switches.turnOn(fault)
      const failed = await fails(run)
      switches.turnOn(-1)
      if (!failed) continue
      // What the fault left behind is no proof of the next one.
      if (await fails(run)) return this.note(UNFIT, test)
      this.noticed.set(fault, test.name)
      this.note(fault, test)
    }
  }

  private note(fault: number, { name }: RunnerTestCase): void {
    appendFileSync(file, `${fault} ${name.replaceAll("\n", " ")}\n`)
  }
}
