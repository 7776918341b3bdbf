import type { SourceFile } from "./source-files.ts"
import { syntaxOf } from "./syntax.ts"

/** What the rule reads in package.json. */
interface Manifest {
  readonly exports: Readonly<Record<string, unknown>>
}

/** A script writes all types of the API, used or not. */
const GENERATED = /^src\/adapters\/client\/generated\//

/** The sources of the package's entries, whose exports are for its users. */
const entriesOf = ({ exports }: Manifest): ReadonlyArray<string> =>
  [...JSON.stringify(exports).matchAll(/"\.\/dist\/([^"]+?)(?:\.d\.ts|\.js)"/g)].map(
    ([, path]) => `src/${path}.ts`
  )

/**
 * The names that files under src export and no other of the files imports, as `path: name`. Left out are those of the package's
 * entries, and `default`, which is for what loads a program by its path.
 */
export const findUnusedExports = (
  files: ReadonlyArray<SourceFile>,
  manifest: Manifest
): ReadonlyArray<string> => {
  const wholly = new Set(entriesOf(manifest))
  const used = new Set<string>()
  for (const { names, target } of files.flatMap((file) => syntaxOf(file).imports)) {
    if (target === undefined) continue
    if (names === undefined) wholly.add(target)
    else for (const name of names) used.add(`${target}: ${name}`)
  }
  return files
    .filter(({ path }) => path.startsWith("src/") && !wholly.has(path) && !GENERATED.test(path))
    .flatMap((file) => syntaxOf(file).exports.map((name) => ({ name, path: file.path })))
    .filter(({ name }) => name !== "default")
    .map(({ name, path }) => `${path}: ${name}`)
    .filter((one) => !used.has(one))
}
