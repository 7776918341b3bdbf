/**
 * The cloud side from the environment's settings: `npm run infra -- templates FOLDER` writes the templates, `npm run infra -- apply`
 * applies them with the AWS CLI and prints what they give out.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import type { CloudFormationStackArtifact } from "aws-cdk-lib/cx-api"

import { cloudApp } from "./app.ts"
import { readPlan } from "./plan.ts"

const USAGE = "npm run infra -- templates FOLDER | apply"

const aws = (...args: ReadonlyArray<string>): void => {
  const { error, status } = spawnSync("aws", args, { stdio: "inherit" })
  if (error !== undefined) throw new Error(`the AWS CLI does not start: ${error.message}`)
  if (status !== 0) throw new Error(`aws ${args.slice(0, 2).join(" ")} ended with code ${status}`)
}

const apply = ({ environment, stackName, templateFullPath }: CloudFormationStackArtifact): void => {
  const stack = ["--region", environment.region, "--stack-name", stackName]
  const deploy = ["--template-file", templateFullPath, "--capabilities", "CAPABILITY_IAM"]
  aws("cloudformation", "deploy", ...stack, ...deploy, "--no-fail-on-empty-changeset")
  const outputs = "Stacks[0].Outputs[].[OutputKey,OutputValue,Description]"
  aws("cloudformation", "describe-stacks", ...stack, "--query", outputs, "--output", "table")
}

const [command, folder] = process.argv.slice(2)
const stacks = (outdir: string) => cloudApp(readPlan(process.env), outdir).synth().stacks
try {
  if (command === "templates" && folder !== undefined) {
    for (const { templateFullPath } of stacks(folder)) console.log(templateFullPath)
  } else if (command === "apply" && folder === undefined) {
    const passing = mkdtempSync(join(tmpdir(), "postlane-infra-"))
    try {
      for (const stack of stacks(passing)) apply(stack)
    } finally {
      rmSync(passing, { recursive: true, force: true })
    }
  } else throw new Error(`usage: ${USAGE}`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
