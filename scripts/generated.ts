/**
 * Runs every generator, `scripts/openapi.ts` and `scripts/generate-*.ts`: `npm run docs` writes what they make, and `--check` compares it with what
 * is there. A generator takes `--check` itself, and then ends with 1 where its file is stale.
 */
import { spawnSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"

const folder = fileURLToPath(new URL(".", import.meta.url))
const generators = readdirSync(folder).filter((name) => /^(generate-.+|openapi)\.ts$/.test(name))
const failed = generators.filter(
  (name) =>
    spawnSync(process.execPath, [`${folder}${name}`, ...process.argv.slice(2)], { stdio: "inherit" })
      .status !== 0
)
console.log(`${generators.length} generators, ${failed.length} failed`)
process.exitCode = failed.length === 0 && generators.length > 0 ? 0 : 1
