import { randomBytes } from "node:crypto"
import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"

import { Effect, Schema } from "effect"

import { type Env, GENERATED_SECRETS } from "./settings.ts"

const FILE = "secrets.json"
const Kept = Schema.fromJsonString(Schema.Record(Schema.String, Schema.String))

const readKept = async (path: string): Promise<Readonly<Record<string, string>>> => {
  const text = await readFile(path, "utf8").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return "{}"
    throw cause
  })
  return Schema.decodeUnknownSync(Kept)(text)
}

/** What a signing secret begins with (Standard Webhooks); base64 follows. */
const SIGNING_PREFIX = "whsec_"

const fits = (name: string, value: string | undefined): boolean =>
  value !== undefined && (name !== "PROVIDERA_WEBHOOK_SECRET" || value.startsWith(SIGNING_PREFIX))

const makeSecret = (name: string): string =>
  name === "PROVIDERA_WEBHOOK_SECRET"
    ? SIGNING_PREFIX + randomBytes(24).toString("base64")
    : randomBytes(24).toString("base64url")

const writeKept = async (path: string, secrets: Readonly<Record<string, string>>): Promise<void> => {
  const temporary = `${path}.${process.pid}`
  await writeFile(temporary, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 })
  await chmod(temporary, 0o600)
  await rename(temporary, path)
}

/**
 * The environment with every secret that an embedded run needs and that is unset: made once, kept in the data folder, readable by
 * its owner only (`POSTLANE_EMBEDDED=1`).
 */
export const withGeneratedSecrets = (env: Env, dataDir: string): Effect.Effect<Env, Error> =>
  Effect.tryPromise({
    try: async () => {
      await mkdir(dataDir, { recursive: true })
      const path = join(dataDir, FILE)
      const kept = await readKept(path)
      const made = GENERATED_SECRETS.filter((name) => !fits(name, kept[name])).map(
        (name) => [name, makeSecret(name)] as const
      )
      const all = { ...kept, ...Object.fromEntries(made) }
      if (made.length > 0) await writeKept(path, all)
      const unset = GENERATED_SECRETS.filter((name) => (env[name] ?? "").trim() === "")
      return { ...env, ...Object.fromEntries(unset.map((name) => [name, all[name]])) }
    },
    catch: (cause) =>
      new Error(
        `The data folder ${dataDir} cannot keep its secrets (${cause instanceof Error ? cause.message : String(cause)}). ` +
          `Point POSTLANE_DATA_DIR at a folder that this user can write, or remove its ${FILE}.`
      )
  })
