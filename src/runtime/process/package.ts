import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

import { Schema } from "effect"

/** True in a checkout, which runs the sources; false in the published package. */
export const isCheckout = import.meta.url.endsWith(".ts")

/** The package's own description. */
export const MANIFEST = new URL("../../../package.json", import.meta.url)

/** The version that is reported to collectors and shown at the start. */
export const { version: VERSION } = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ version: Schema.String }))
)(readFileSync(MANIFEST, "utf8"))

/** Migrations and functions of the database, as far from the sources as from the published files. */
export const MIGRATIONS = {
  directory: fileURLToPath(new URL("../../../migrations", import.meta.url)),
  version: VERSION
}

/** The commands that npm scripts of a checkout run by their own name. */
const SCRIPTS: ReadonlyMap<string, string> = new Map([
  ["start", "npm start"],
  ["serve", "npm run serve"],
  ["migrate", "npm run migrate"]
])

/** What a person types here to run a command of `postlane`. */
export const typed = (command: string): string => {
  if (!isCheckout) return `npx postlane ${command}`
  return SCRIPTS.get(command) ?? `npm run postlane -- ${command}`
}
