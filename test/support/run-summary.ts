import { writeFileSync } from "node:fs"

import type { Reporter, SerializedError, TestModule } from "vitest/node"

/** Problems that are named; the output above has all of them. */
const MOST_PROBLEMS = 15

const firstLine = ({ message, name = "Error" }: { readonly message: string; readonly name?: string }) =>
  `${name}: ${message.split("\n")[0] ?? ""}`

/**
 * Writes what `.ci/run` prints last to the file that `RUN_SUMMARY` names: a line for each test that failed, each file that cannot be
 * loaded and each error outside of a test, then the numbers of tests that passed, failed and were skipped.
 */
export default class RunSummary implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandled: ReadonlyArray<SerializedError>): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const of = (state: string) => tests.filter((test) => test.result().state === state)
    const problems = [
      ...unhandled.map((error) => `outside of a test: ${firstLine(error)}`),
      ...modules.flatMap((module) =>
        module.errors().map((error) => `${module.relativeModuleId}: ${firstLine(error)}`)
      ),
      ...of("failed").map((test) => `${test.module.relativeModuleId} > ${test.fullName}`)
    ]
    const left = problems.length - MOST_PROBLEMS
    const lines = [...problems.slice(0, MOST_PROBLEMS), ...(left > 0 ? [`and ${left} more`] : [])]
    const counts = ["passed", "failed", "skipped"].map((state) => `${of(state).length} ${state}`).join(", ")
    writeFileSync(process.env["RUN_SUMMARY"] ?? "", [...lines, counts, ""].join("\n"))
  }
}
