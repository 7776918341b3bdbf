/** What `npm run infra -- apply` does with the AWS CLI: shows what would change, applies it, prints what the stacks give out. */
import type { CloudFormationStackArtifact } from "aws-cdk-lib/cx-api"

import type { Env } from "../../src/runtime/settings/settings.ts"
import { cloudApp, standsFor } from "./app.ts"
import { type Plan, readPlan } from "./plan.ts"

/** One call of the AWS CLI: whether it succeeded, what it printed, and what to say where it failed. */
export type AwsCli = (...args: ReadonlyArray<string>) => {
  readonly isDone: boolean
  readonly stdout: string
  readonly why: string
}

interface Deployment {
  readonly ask: AwsCli
  readonly print: (line: string) => void
}

const aws = (ask: AwsCli, ...args: ReadonlyArray<string>): string => {
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
const standing = (
  ask: AwsCli,
  stack: CloudFormationStackArtifact
): ReadonlyMap<string, string> | undefined => {
  const query = ["--query", "Stacks[0].Outputs[].[OutputKey,OutputValue]", "--output", "json"]
  const { isDone, stdout, why } = ask("cloudformation", "describe-stacks", ...namedAs(stack), ...query)
  if (isDone) return new Map((JSON.parse(stdout) ?? []) as ReadonlyArray<[string, string]>)
  if (why.includes("does not exist")) return undefined
  throw new Error(why)
}

/** Refuses a stack that stands for another domain or address: it would be made this one's, with its identity and its events. */
const requireSame = (
  ask: AwsCli,
  stack: CloudFormationStackArtifact,
  wanted: Readonly<Record<string, string>>
): void => {
  const outputs = standing(ask, stack)
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
const apply = ({ ask, print }: Deployment, stack: CloudFormationStackArtifact): void => {
  const named = namedAs(stack)
  const isNew = standing(ask, stack) === undefined
  const deploy = ["--template-file", stack.templateFullPath, "--capabilities", "CAPABILITY_IAM"]
  const said = aws(
    ask,
    "cloudformation",
    "deploy",
    ...named,
    ...deploy,
    "--no-execute-changeset",
    "--no-fail-on-empty-changeset"
  )
  const [changes] = /arn:\S+:changeSet\/\S+/i.exec(said) ?? []
  if (changes === undefined) print(`${stack.stackName}: nothing changes`)
  else {
    const region = named.slice(0, 2)
    const query = "Changes[].ResourceChange.[Action,Replacement,ResourceType,LogicalResourceId]"
    const set = [...region, "--change-set-name", changes]
    print(`${stack.stackName}: what changes`)
    print(aws(ask, "cloudformation", "describe-change-set", ...set, "--query", query, "--output", "table"))
    aws(ask, "cloudformation", "execute-change-set", ...set)
    aws(ask, "cloudformation", "wait", isNew ? "stack-create-complete" : "stack-update-complete", ...named)
  }
  const outputs = "Stacks[0].Outputs[].[OutputKey,OutputValue,Description]"
  print(aws(ask, "cloudformation", "describe-stacks", ...named, "--query", outputs, "--output", "table"))
}

/** The secret's current version, so that a rotated one changes the template: CloudFormation resolves no unchanged reference again. */
const secretVersion = (ask: AwsCli, { code, settings }: Plan): Env => {
  if (code === undefined || code.secretVersion !== undefined) return {}
  const query = ["--query", "VersionIdsToStages", "--output", "json"]
  const place = ["--region", settings.cloud.region, "--secret-id", code.secretName]
  const versions = Object.entries(
    JSON.parse(aws(ask, "secretsmanager", "describe-secret", ...place, ...query)) as Record<
      string,
      ReadonlyArray<string>
    >
  )
  const [current] = versions.find(([, stages]) => stages.includes("AWSCURRENT")) ?? []
  return current === undefined ? {} : { FUNCTION_SECRET_VERSION: current }
}

/** Applies the stacks of the environment's settings; their templates are written to `outdir`. Throws what stands in its way. */
export const applyAll = (env: Env, outdir: string, isReplacing: boolean, deployment: Deployment): void => {
  const { ask, print } = deployment
  const plan = readPlan({ ...env, ...secretVersion(ask, readPlan(env)) })
  const { domains, http } = plan.settings
  const [home, ...more] = cloudApp(plan, outdir).synth().stacks
  if (!isReplacing) requireSame(ask, home!, standsFor(domains.sender, http.baseUrl))
  for (const stack of [home!, ...more]) apply(deployment, stack)
  if (plan.code === undefined)
    print(
      `Without FUNCTION_CODE no function is made, and one that stands stays as it is (away with it: aws cloudformation delete-stack --stack-name ${plan.names.prefix}-function)`
    )
}
