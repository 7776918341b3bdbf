/**
 * The cloud side from the environment's settings: `npm run infra -- templates FOLDER` writes the templates, `npm run infra -- apply`
 * shows what would change, applies it with the AWS CLI, and prints what the stacks give out.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import type { CloudFormationStackArtifact } from "aws-cdk-lib/cx-api"

import type { Env } from "../../src/runtime/settings/settings.ts"
import { cloudApp, standsFor } from "./app.ts"
import { type Plan, readPlan } from "./plan.ts"

const USAGE = "npm run infra -- templates FOLDER | apply [--replace]"

/** What a call of the AWS CLI says. */
const ask = (...args: ReadonlyArray<string>) => {
  const { error, status, stderr, stdout } = spawnSync("aws", args, { encoding: "utf8" })
  if (error !== undefined) throw new Error(`the AWS CLI does not start: ${error.message}`)
  return { isDone: status === 0, stdout, why: `aws ${args.slice(0, 2).join(" ")} failed: ${stderr.trim()}` }
}

const aws = (...args: ReadonlyArray<string>): string => {
  const { isDone, stdout, why } = ask(...args)
  if (!isDone) throw new Error(why)
  return stdout
}

const namedAs = ({ environment, stackName }: CloudFormationStackArtifact) => [
  "--region",
  environment.region,
  "--stack-name",
  stackName
]

/** What a standing stack gives out, by name; undefined where there is none. */
const standing = (stack: CloudFormationStackArtifact): ReadonlyMap<string, string> | undefined => {
  const query = ["--query", "Stacks[0].Outputs[].[OutputKey,OutputValue]", "--output", "json"]
  const { isDone, stdout, why } = ask("cloudformation", "describe-stacks", ...namedAs(stack), ...query)
  if (isDone) return new Map((JSON.parse(stdout) ?? []) as ReadonlyArray<[string, string]>)
  if (why.includes("does not exist")) return undefined
  throw new Error(why)
}

/** Refuses a stack that stands for another domain or address: it would be made this one's, with its identity and its events. */
const requireSame = (stack: CloudFormationStackArtifact, wanted: Readonly<Record<string, string>>): void => {
  const outputs = standing(stack)
  const other = Object.entries(wanted).flatMap(([name, value]) => {
    const found = outputs?.get(name)
    return found === undefined || found === value ? [] : [`  ${name}: ${found} there, ${value} here`]
  })
  if (other.length > 0)
    throw new Error(
      `the stack ${stack.stackName} stands for another installation:\n${other.join("\n")}\nGive this one a name (INSTALLATION=staging), or say "npm run infra -- apply --replace" where the standing one is to become it`
    )
}

/** Shows what would change, and changes it. */
const apply = (stack: CloudFormationStackArtifact): void => {
  const named = namedAs(stack)
  const isNew = standing(stack) === undefined
  const deploy = ["--template-file", stack.templateFullPath, "--capabilities", "CAPABILITY_IAM"]
  const said = aws(
    "cloudformation",
    "deploy",
    ...named,
    ...deploy,
    "--no-execute-changeset",
    "--no-fail-on-empty-changeset"
  )
  const [changes] = /arn:\S+:changeSet\/\S+/i.exec(said) ?? []
  if (changes === undefined) console.log(`${stack.stackName}: nothing changes`)
  else {
    const region = named.slice(0, 2)
    const query = "Changes[].ResourceChange.[Action,Replacement,ResourceType,LogicalResourceId]"
    const set = [...region, "--change-set-name", changes]
    console.log(`${stack.stackName}: what changes`)
    console.log(aws("cloudformation", "describe-change-set", ...set, "--query", query, "--output", "table"))
    aws("cloudformation", "execute-change-set", ...set)
    aws("cloudformation", "wait", isNew ? "stack-create-complete" : "stack-update-complete", ...named)
  }
  const outputs = "Stacks[0].Outputs[].[OutputKey,OutputValue,Description]"
  console.log(aws("cloudformation", "describe-stacks", ...named, "--query", outputs, "--output", "table"))
}

/** The secret's current version, so that a rotated one changes the template: CloudFormation resolves no unchanged reference again. */
const secretVersion = ({ code, settings }: Plan): Env => {
  if (code === undefined || code.secretVersion !== undefined) return {}
  const query = ["--query", "VersionIdsToStages", "--output", "json"]
  const place = ["--region", settings.cloud.region, "--secret-id", code.secretName]
  const versions = Object.entries(
    JSON.parse(aws("secretsmanager", "describe-secret", ...place, ...query)) as Record<
      string,
      ReadonlyArray<string>
    >
  )
  const [current] = versions.find(([, stages]) => stages.includes("AWSCURRENT")) ?? []
  return current === undefined ? {} : { FUNCTION_SECRET_VERSION: current }
}

const applyAll = (outdir: string, isReplacing: boolean): void => {
  const plan = readPlan({ ...process.env, ...secretVersion(readPlan(process.env)) })
  const { domains, http } = plan.settings
  const [home, ...more] = cloudApp(plan, outdir).synth().stacks
  if (!isReplacing) requireSame(home!, standsFor(domains.sender, http.baseUrl))
  for (const stack of [home!, ...more]) apply(stack)
  if (plan.code === undefined)
    console.log(
      `Without FUNCTION_CODE no function is made, and one that stands stays as it is (away with it: aws cloudformation delete-stack --stack-name ${plan.names.prefix}-function)`
    )
}

const [command, argument] = process.argv.slice(2)
try {
  if (command === "templates" && argument !== undefined) {
    const { stacks } = cloudApp(readPlan(process.env), argument).synth()
    for (const { templateFullPath } of stacks) console.log(templateFullPath)
  } else if (command === "apply" && (argument === undefined || argument === "--replace")) {
    const passing = mkdtempSync(join(tmpdir(), "postlane-infra-"))
    try {
      applyAll(passing, argument === "--replace")
    } finally {
      rmSync(passing, { recursive: true, force: true })
    }
  } else throw new Error(`usage: ${USAGE}`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
