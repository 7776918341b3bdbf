/**
 * Functions of more than MAX_FUNCTION_LINES lines. `scripts/long-functions.json` lists those that were there when the rule came; the list
 * only shrinks (`test/architecture/tidy.test.ts`). `node scripts/long-functions.ts` writes it anew once functions have become shorter.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

import { parseSync, Visitor } from "oxc-parser"

import { readSourceFiles, type SourceFile } from "./source-files.ts"

/** Longest function, in lines: one that needs more takes several steps that have names. */
export const MAX_FUNCTION_LINES = 70

/** The lengths of a file's long functions, the longest first, by path. */
export type LongFunctions = Readonly<Record<string, ReadonlyArray<number>>>

const LIST = fileURLToPath(new URL("./long-functions.json", import.meta.url))

/** The lengths of the functions of a file that are too long, the longest first. */
export const longFunctionsOf = ({ path, text }: SourceFile): ReadonlyArray<number> => {
  const lengths: Array<number> = []
  const measure = (node: { readonly start: number; readonly end: number }) => {
    const lines = text.slice(node.start, node.end).split("\n").length
    if (lines > MAX_FUNCTION_LINES) lengths.push(lines)
  }
  new Visitor({
    FunctionDeclaration: measure,
    FunctionExpression: measure,
    ArrowFunctionExpression: measure
  }).visit(parseSync(path, text).program)
  return lengths.sort((one, other) => other - one)
}

/** The list as it was written last. */
export const listedLongFunctions = (): LongFunctions =>
  JSON.parse(readFileSync(LIST, "utf8")) as LongFunctions

/** What breaks the rule: a function that is new or longer than its place in the list, or a place that nothing needs any more. */
export const findLongFunctions = (files: ReadonlyArray<SourceFile>, listed: LongFunctions) => {
  const found: Array<string> = []
  const seen = new Set<string>()
  for (const file of files) {
    const lengths = longFunctionsOf(file)
    const places = listed[file.path] ?? []
    seen.add(file.path)
    lengths.forEach((length, at) => {
      if (length > (places[at] ?? MAX_FUNCTION_LINES))
        found.push(`${file.path}: a function of ${length} lines`)
    })
    if (lengths.length < places.length) found.push(`${file.path}: its list is longer than it needs to be`)
  }
  for (const path of Object.keys(listed)) if (!seen.has(path)) found.push(`${path}: listed, and not there`)
  return found
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("..", import.meta.url))
  const rows = readSourceFiles(root, ["src"])
    .map((file) => [file.path, longFunctionsOf(file)] as const)
    .filter(([, lengths]) => lengths.length > 0)
    .map(([path, lengths]) => `  ${JSON.stringify(path)}: [${lengths.join(", ")}]`)
  writeFileSync(LIST, `{\n${rows.join(",\n")}\n}\n`)
}
