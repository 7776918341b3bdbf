/** The dependency rule on the sources of a folder: `node scripts/check-dependencies.ts [ROOT]`. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

import { checkDependencies, describeViolation, type Manifest } from "./dependency-rule.ts"
import { readSourceFiles } from "./source-files.ts"

const root = process.argv[2] ?? fileURLToPath(new URL("..", import.meta.url))
const files = readSourceFiles(root, ["src"])
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest
const violations = checkDependencies(files, manifest)
for (const violation of violations) console.error(describeViolation(violation))
console.log(`${files.length} files, ${violations.length} forbidden imports`)
process.exitCode = violations.length === 0 && files.length > 0 ? 0 : 1
