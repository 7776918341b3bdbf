/**
 * The cloud side from the environment's settings: `npm run infra -- templates FOLDER` writes the templates, `npm run infra -- apply`
 * shows what would change, applies it with the AWS CLI, and prints what the stacks give out.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { cloudApp } from "./app.ts"
import { applyAll, type AwsCli } from "./apply.ts"
import { readPlan } from "./plan.ts"

const USAGE = "npm run infra -- templates FOLDER | apply [--replace]"

/** What a call of the AWS CLI says. */
const ask: AwsCli = (...args) => {
  const { error, status, stderr, stdout } = spawnSync("aws", args, { encoding: "utf8" })
  if (error !== undefined) throw new Error(`the AWS CLI does not start: ${error.message}`)
  return { isDone: status === 0, stdout, why: `aws ${args.slice(0, 2).join(" ")} failed: ${stderr.trim()}` }
}

const [command, argument] = process.argv.slice(2)
try {
  if (command === "templates" && argument !== undefined) {
    const { stacks } = cloudApp(readPlan(process.env), argument).synth()
    for (const { templateFullPath } of stacks) console.log(templateFullPath)
  } else if (command === "apply" && (argument === undefined || argument === "--replace")) {
    const passing = mkdtempSync(join(tmpdir(), "postlane-infra-"))
    try {
      applyAll(process.env, passing, argument === "--replace", { ask, print: console.log })
    } finally {
      rmSync(passing, { recursive: true, force: true })
    }
  } else throw new Error(`usage: ${USAGE}`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
