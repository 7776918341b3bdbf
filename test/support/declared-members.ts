import { readFileSync } from "node:fs"

import { parseSync } from "oxc-parser"

/** The members of an interface, as the package's types declare it. */
export const membersDeclared = (path: string, name: string): ReadonlyArray<string> => {
  const text = readFileSync(path, "utf8")
  const { program } = parseSync(path, text)
  const found: Array<string> = []
  const walk = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return
    const { body, id, type } = node as { body?: unknown; id?: { name?: string }; type?: string }
    if (type === "TSInterfaceDeclaration" && id?.name === name)
      for (const member of (body as { body: ReadonlyArray<{ key?: { name?: string } }> }).body)
        found.push(member.key?.name ?? "")
    for (const value of Object.values(node)) walk(value)
  }
  walk(program)
  return found
}
