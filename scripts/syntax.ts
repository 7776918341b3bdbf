import { posix } from "node:path"

import { type ParseResult, parseSync, Visitor } from "oxc-parser"

import type { SourceFile } from "./source-files.ts"

/** One module that a file names, in whichever of the ways the language has. */
export interface Import {
  /** As it is written. */
  readonly specifier: string
  /** The path from the root that a relative specifier stands for; `undefined` for a package. */
  readonly target: string | undefined
  /** Whether only types come over it, so that nothing is left of it at run time. */
  readonly typeOnly: boolean
  /** The names that it takes of the module; `undefined` where it may take all. */
  readonly names: ReadonlyArray<string> | undefined
  readonly line: number
}

/** What the checks of the house read in a file. */
export interface Syntax {
  /** The code without its comments, everything still where it was. */
  readonly code: string
  /** Where its comments are. */
  readonly comments: ReadonlyArray<{ readonly start: number; readonly end: number }>
  readonly imports: ReadonlyArray<Import>
  /** The names that it exports. */
  readonly exports: ReadonlyArray<string>
  /** Where it has the type `any`. */
  readonly anys: ReadonlyArray<number>
}

/** Where a text's offset is. */
export const lineAt = (text: string, offset: number) => text.slice(0, offset).split("\n").length

const withoutComments = (text: string, { comments }: ParseResult): string => {
  let code = text
  for (const { end, start } of comments)
    code = code.slice(0, start) + code.slice(start, end).replace(/[^\n]/g, " ") + code.slice(end)
  return code
}

/** The members that code takes of a namespace; `undefined` where it hands on the whole. */
const membersOf = (code: string, namespace: string): ReadonlyArray<string> | undefined => {
  const found = [...code.matchAll(new RegExp(`(?<![\\w$.])${namespace}\\b(?:\\.(\\w+))?`, "g"))]
  // The first is where it is imported.
  const members = found.slice(1).map(([, member]) => member)
  return members.every((member) => member !== undefined) ? members : undefined
}

// The parser's own type of a kind is an enum without values.
const isKind = ({ kind }: { readonly kind: string }, name: string) => kind === name

/** Imports and exports, of which the parser keeps a list. */
const modulesOf = (code: string, { module }: ParseResult) => {
  const imports = module.staticImports.map(({ entries, moduleRequest, start }) => {
    const names = entries.flatMap(({ importName, localName }) =>
      isKind(importName, "NamespaceObject")
        ? membersOf(code, localName.value)
        : [importName.name ?? "default"]
    )
    return { entries, names, specifier: moduleRequest.value, start }
  })
  const passedOn = module.staticExports.flatMap(({ entries, start }) =>
    entries.flatMap((entry) =>
      entry.moduleRequest === null
        ? []
        : [
            {
              entries: [entry],
              names: [isKind(entry.importName, "Name") ? (entry.importName.name ?? undefined) : undefined],
              specifier: entry.moduleRequest.value,
              start
            }
          ]
    )
  )
  const exports = module.staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ exportName }) => (isKind(exportName, "None") ? [] : [exportName.name ?? "default"]))
  )
  return {
    exports,
    imports: [...imports, ...passedOn].map(({ entries, names, specifier, start }) => ({
      specifier,
      typeOnly: entries.length > 0 && entries.every(({ isType }) => isType),
      names: names.every((name) => name !== undefined) ? names : undefined,
      start
    }))
  }
}

/** What only the tree says. */
const treeOf = ({ program }: ParseResult) => {
  const anys: Array<number> = []
  const imports: Array<{ readonly specifier: string; readonly typeOnly: boolean; readonly start: number }> =
    []
  const add = (source: unknown, typeOnly: boolean, start: number) => {
    const { value } = source as { readonly value?: unknown }
    if (typeof value === "string") imports.push({ specifier: value, typeOnly, start })
  }
  new Visitor({
    TSAnyKeyword: (node) => anys.push(node.start),
    ImportExpression: (node) => add(node.source, false, node.start),
    TSImportType: (node) => add(node.source, true, node.start),
    TSImportEqualsDeclaration: (node) => {
      if (node.moduleReference.type === "TSExternalModuleReference")
        add(node.moduleReference.expression, node.importKind === "type", node.start)
    },
    CallExpression: (node) => {
      if (node.callee.type === "Identifier" && node.callee.name === "require")
        add(node.arguments[0] ?? {}, false, node.start)
    }
  }).visit(program)
  return { anys, imports: imports.map((one) => ({ ...one, names: undefined })) }
}

const read = ({ path, text }: SourceFile): Syntax => {
  const parsed = parseSync(path, text)
  const [error] = parsed.errors
  if (error !== undefined) throw new Error(`${path} does not parse: ${error.message}`)
  const code = withoutComments(text, parsed)
  const modules = modulesOf(code, parsed)
  // The tree is decoded where it is read, which costs three times the parsing, for words that hardly any file has.
  const tree = /\bany\b|\b(?:import|require)\s*\(/.test(code) ? treeOf(parsed) : { anys: [], imports: [] }
  const imports = [...modules.imports, ...tree.imports].map(
    ({ names, specifier, start, typeOnly }): Import => ({
      specifier,
      target: specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : undefined,
      typeOnly,
      names,
      line: lineAt(text, start)
    })
  )
  return {
    code,
    comments: parsed.comments,
    imports: imports.sort((one, other) => one.line - other.line),
    exports: modules.exports,
    anys: tree.anys
  }
}

const known = new Map<string, { readonly text: string; readonly syntax: Syntax }>()

/** Reads a file, once for all checks that run in one process. Fails on a file that does not parse. */
export const syntaxOf = (file: SourceFile): Syntax => {
  const before = known.get(file.path)
  if (before?.text === file.text) return before.syntax
  const syntax = read(file)
  known.set(file.path, { text: file.text, syntax })
  return syntax
}
