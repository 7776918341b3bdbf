/** Builds the publishable library: `npm run build`, or `node scripts/build.ts FOLDER` for another place than `dist`. */
import { spawnSync } from "node:child_process"
import { rmSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const outDir = process.argv[2] ?? "dist"

rmSync(outDir, { recursive: true, force: true })
const compiler = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url))
const { status } = spawnSync(
  process.execPath,
  [compiler, "--project", `${root}tsconfig.build.json`, "--outDir", outDir],
  { stdio: "inherit" }
)
process.exitCode = status ?? 1
