import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** A source file: its path from the root, with slashes, and its text. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** The files under these folders of `root` that have one of the endings, TypeScript's if none is given, in the order of their paths. */
export const readSourceFiles = (
  root: string,
  folders: ReadonlyArray<string>,
  endings: RegExp = /\.[cm]?tsx?$/
): ReadonlyArray<SourceFile> =>
  folders
    .flatMap((folder) => listFiles(root, folder))
    .filter((path) => endings.test(path))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))

const listFiles = (root: string, folder: string): ReadonlyArray<string> => {
  const entries = readdirSync(join(root, folder), { withFileTypes: true })
  return entries.flatMap((entry) =>
    entry.isDirectory() ? listFiles(root, `${folder}/${entry.name}`) : [`${folder}/${entry.name}`]
  )
}
