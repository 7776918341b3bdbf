/** Lints public/openapi.json by the rules of redocly.yaml: `node scripts/lint-openapi.ts`. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

import { lintFromString, loadConfig } from "@redocly/openapi-core"

const at = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))
const file = at("public/openapi.json")

const problems = await lintFromString({
  source: readFileSync(file, "utf8"),
  absoluteRef: file,
  config: await loadConfig({ configPath: at("redocly.yaml") })
})
for (const { location, message, ruleId, severity } of problems)
  console.error(`${location[0]?.pointer ?? "#"}: ${message} [${ruleId}, ${severity}]`)
console.log(`public/openapi.json: ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1
