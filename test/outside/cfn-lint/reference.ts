import { readdir } from "node:fs/promises"
import { join } from "node:path"

import { type Artefact, judged, type Reference } from "../reference.ts"
import { must, pip, run } from "../tools.ts"

const SPEC = "cfn-lint==1.58.0"
const ARTEFACTS: ReadonlyArray<Artefact> = [
  {
    pattern: /^W3005 .*FunctionRole/,
    reason: "CDK writes the dependency of a function on its role, which the reference to it says already"
  }
]

/** The settings of an installation that has all that there is. */
const ENV = {
  SENDER_DOMAIN: "mail.example.com",
  LEGACY_DOMAIN: "example.com",
  BASE_URL: "https://api.example.com",
  ALERT_EMAIL: "ops@example.com",
  FILES_BUCKET: "example-files",
  BATCH_CONVERSION_S3_BUCKET: "example-batch",
  CONVERT_EMAIL_BUCKET: "example-mails",
  FUNCTION_CODE: "s3://example-code/postlane-1.zip",
  PROVIDERB_REGION: "eu-west-1"
}

export const cfnLint: Reference = {
  name: "cfn-lint",
  version: "1.58.0",
  checks: "the CloudFormation templates against AWS's own specification of resources",
  needs: ["python3"],
  install: async ({ cache }) => void (await pip(cache, SPEC, "cfn-lint")),
  run: async ({ cache, root, work }) => {
    await must("npm", ["run", "-s", "infra", "--", "templates", work], { cwd: root, env: ENV })
    const templates = (await readdir(work)).filter((name) => name.endsWith(".template.json"))
    const program = await pip(cache, SPEC, "cfn-lint")
    const { stdout } = await run(program, ["--format", "json", ...templates.map((name) => join(work, name))])
    const complaints = (JSON.parse(stdout || "[]") as ReadonlyArray<Complaint>).map(
      ({ Filename, Message, Rule }) => `${Rule.Id} ${Filename.split("/").at(-1)}: ${Message}`
    )
    const clean = templates
      .filter((name) => !complaints.some((complaint) => complaint.includes(name)))
      .map((name) => ({ name, outcome: "held" as const }))
    return [...clean, ...judged(complaints, ARTEFACTS)]
  }
}

interface Complaint {
  readonly Rule: { readonly Id: string }
  readonly Filename: string
  readonly Message: string
}
