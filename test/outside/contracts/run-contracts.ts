import { readFile } from "node:fs/promises"
import { join } from "node:path"

import type { Artefact, Check, Place } from "../reference.ts"
import { run } from "../tools.ts"

interface Report {
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly message: string
    readonly assertionResults: ReadonlyArray<{
      readonly fullName: string
      readonly status: string
      readonly failureMessages: ReadonlyArray<string>
    }>
  }>
}

/** Runs test files in a process of their own, with where their servers are; a check a test. */
export const runContracts = async (
  { root, work }: Place,
  files: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  artefacts: ReadonlyArray<Artefact> = []
): Promise<ReadonlyArray<Check>> => {
  const output = join(work, "report.json")
  // By the Node that runs this one: the first on the path may be older.
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs")
  const config = join(root, "test/outside/contracts/vitest.config.ts")
  const { stderr, stdout } = await run(
    process.execPath,
    [vitest, "run", "--config", config, "--reporter=json", `--outputFile=${output}`, ...files],
    { cwd: root, env }
  )
  const text = await readFile(output, "utf8").catch(() => undefined)
  if (text === undefined)
    throw new Error(`the suite left no report:\n${`${stdout}\n${stderr}`.slice(-3_000)}`)
  const { testResults } = JSON.parse(text) as Report
  const met = new Set<Artefact>()
  const checks = testResults.flatMap(({ assertionResults, message, name }): ReadonlyArray<Check> => {
    if (assertionResults.length === 0) return [{ name, outcome: "failed", detail: message.slice(0, 2_000) }]
    return assertionResults.map(({ failureMessages, fullName, status }): Check => {
      if (status === "passed") return { name: fullName, outcome: "held" }
      const artefact = artefacts.find(({ pattern }) => pattern.test(fullName))
      if (artefact === undefined)
        return { name: fullName, outcome: "failed", detail: failureMessages.join("\n").slice(0, 2_000) }
      met.add(artefact)
      return { name: fullName, outcome: "artefact", detail: artefact.reason }
    })
  })
  return [
    ...checks,
    ...artefacts
      .filter((artefact) => !met.has(artefact))
      .map(({ pattern, reason }): Check => ({
        name: `an entry that nothing meets any more: ${pattern.source}`,
        outcome: "failed",
        detail: reason
      }))
  ]
}
