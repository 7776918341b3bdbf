/** `npm run check`: everything about the code that needs no running of it. Goes through all steps, then says which failed. */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

const steps: Readonly<Record<string, ReadonlyArray<string>>> = {
  // With the compiler's own errors, by the tsconfig of each folder: once through the types is half of this command's time.
  "types and lint": ["node_modules/oxlint/bin/oxlint"],
  format: ["node_modules/oxfmt/bin/oxfmt", "--check"],
  "dependency rule": ["scripts/check-dependencies.ts"],
  "generated files": ["scripts/generated.ts", "--check"],
  "lint of the OpenAPI document": ["scripts/lint-openapi.ts"],
  "lock file": ["scripts/complete-lock.ts", "--check"],
  "others' tools on migrations, package and pages": ["test/outside/main.ts", "--quick"]
}

const failed = Object.entries(steps).filter(([name, command]) => {
  console.log(`\n${name}`)
  return spawnSync(process.execPath, command, { cwd: root, stdio: "inherit" }).status !== 0
})
const names = failed.map(([name]) => name).join(", ")
console.log(failed.length === 0 ? "\ncheck passed" : `\ncheck failed: ${names}`)
process.exitCode = failed.length === 0 ? 0 : 1
