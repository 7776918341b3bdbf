import { posix } from "node:path"

import { parseSync, Visitor } from "oxc-parser"

import type { SourceFile } from "./source-files.ts"

/** One module that a file names, in whichever of the ways the language has. */
export interface Import {
  /** As it is written. */
  readonly specifier: string
  /** The path from the root that a relative specifier stands for; `undefined` for a package. */
  readonly target: string | undefined
  /** Whether only types come over it, so that nothing is left of it at run time. */
  readonly typeOnly: boolean
  readonly line: number
}

const isType = (entry: unknown): boolean => {
  const kinds = entry as { readonly importKind?: string; readonly exportKind?: string }
  return kinds.importKind === "type" || kinds.exportKind === "type"
}

/** Every module that the file names. Fails on a file that does not parse. */
export const importsOf = (file: SourceFile): ReadonlyArray<Import> => {
  const { errors, program } = parseSync(file.path, file.text)
  const [error] = errors
  if (error !== undefined) throw new Error(`${file.path} does not parse: ${error.message}`)

  const imports: Array<Import> = []
  const add = (source: unknown, typeOnly: boolean, offset: number) => {
    const { value } = source as { readonly value?: unknown }
    if (typeof value !== "string") return
    const target = value.startsWith(".") ? posix.join(posix.dirname(file.path), value) : undefined
    imports.push({
      specifier: value,
      target,
      typeOnly,
      line: file.text.slice(0, offset).split("\n").length
    })
  }
  new Visitor({
    ImportDeclaration: (node) => {
      const named = node.specifiers
      add(node.source, isType(node) || (named.length > 0 && named.every(isType)), node.start)
    },
    ExportNamedDeclaration: (node) => {
      const named = node.specifiers
      if (node.source !== null)
        add(node.source, isType(node) || (named.length > 0 && named.every(isType)), node.start)
    },
    ExportAllDeclaration: (node) => add(node.source, isType(node), node.start),
    ImportExpression: (node) => add(node.source, false, node.start),
    TSImportType: (node) => add(node.source, true, node.start),
    TSImportEqualsDeclaration: (node) => {
      if (node.moduleReference.type === "TSExternalModuleReference")
        add(node.moduleReference.expression, isType(node), node.start)
    },
    CallExpression: (node) => {
      if (node.callee.type === "Identifier" && node.callee.name === "require")
        add(node.arguments[0] ?? {}, false, node.start)
    }
  }).visit(program)
  return imports.sort((one, other) => one.line - other.line)
}
