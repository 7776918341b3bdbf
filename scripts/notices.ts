import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** The folder of the package that a file belongs to; undefined for one of ours. */
export const packageFolder = (file: string): string | undefined =>
  /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
}

/** The licences of these packages, each text once, under the names of the packages that it covers. */
export const noticesOf = (root: string, folders: ReadonlyArray<string | undefined>): string => {
  const covered = new Map<string, Array<string>>()
  const packages = new Set(folders.filter((folder) => folder !== undefined))
  for (const folder of [...packages].sort((a, b) => (a < b ? -1 : 1))) {
    const path = join(root, folder)
    const manifest = JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Manifest
    const files = readdirSync(path).filter((name) => LICENCE_FILE.test(name))
    const texts = files.map((name) => readFileSync(join(path, name), "utf8").trim())
    const text = texts.length === 0 ? (manifest.license ?? "No licence is named") : texts.join("\n\n")
    covered.set(text, [...(covered.get(text) ?? []), `${manifest.name} ${manifest.version}`])
  }
  const parts = [...covered].map(([text, names]) => `${names.join("\n")}\n\n${text}\n`)
  return ["Postlane's published files contain these packages.\n", ...parts].join(`\n${"-".repeat(80)}\n\n`)
}
