import { existsSync, readFileSync, writeFileSync } from "node:fs"

import { openApiText } from "../src/adapters/http/routes/api.ts"

/** Writes `public/openapi.json`; with `--check`, fails where it is not what the server serves. */
const file = new URL("../public/openapi.json", import.meta.url)

if (process.argv.includes("--check")) {
  if (!existsSync(file) || readFileSync(file, "utf8") !== openApiText()) {
    console.error("public/openapi.json is not what the server serves. Run: node scripts/openapi.ts")
    process.exitCode = 1
  }
} else {
  writeFileSync(file, openApiText())
}
