/** Draws the house into ARCHITECTURE.md from the imports of the code, between the two marks; `--check` compares only. */
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

import { readSourceFiles, type SourceFile } from "./source-files.ts"
import { syntaxOf } from "./syntax.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const page = new URL("../ARCHITECTURE.md", import.meta.url)

const BEGIN = "<!-- drawn from the code by `npm run docs` -->"
const END = "<!-- end of the drawing -->"

const RINGS = ["domain", "ports", "application", "reader", "adapters", "runtime"] as const

/** The room that a file stands in: ring and area (or technology); files of a ring's own folder are shared. */
const roomOf = (path: string) => {
  const [, ring = "", area = ""] = path.split("/")
  return { ring, area: path.split("/").length > 3 ? area : "shared" }
}

/** The areas of the application and which of them each one uses, by imports of any kind. */
const usesOf = (files: ReadonlyArray<SourceFile>): ReadonlyMap<string, ReadonlySet<string>> => {
  const uses = new Map<string, Set<string>>()
  for (const file of files) {
    const from = roomOf(file.path)
    if (from.ring !== "application") continue
    const known = uses.get(from.area) ?? new Set()
    uses.set(from.area, known)
    for (const { target } of syntaxOf(file).imports) {
      if (target === undefined) continue
      const to = roomOf(target)
      if (to.ring === "application" && to.area !== from.area) known.add(to.area)
    }
  }
  return uses
}

const diagram = (files: ReadonlyArray<SourceFile>): string => {
  const lines = [...usesOf(files)]
    .sort(([one], [other]) => one.localeCompare(other))
    .flatMap(([from, used]) =>
      [...used]
        .filter((to) => to !== "shared")
        .sort()
        .map((to) => `  ${from} --> ${to}`)
    )
  return ["```mermaid", "flowchart LR", ...lines, "```"].join("\n")
}

const table = (files: ReadonlyArray<SourceFile>): string => {
  const rows = RINGS.map((ring) => {
    const counts = new Map<string, number>()
    for (const { path } of files) {
      const room = roomOf(path)
      if (room.ring === ring) counts.set(room.area, (counts.get(room.area) ?? 0) + 1)
    }
    const rooms = [...counts].sort(([one], [other]) => one.localeCompare(other))
    return `| \`src/${ring}\` | ${rooms.map(([area, count]) => `${area} ${count}`).join(" · ")} |`
  })
  return ["| ring | rooms, with their number of files |", "|---|---|", ...rows].join("\n")
}

const files = readSourceFiles(root, ["src"])
const before = readFileSync(page, "utf8")
const [head, rest] = before.split(BEGIN)
const tail = rest?.split(END)[1]
if (head === undefined || tail === undefined)
  throw new Error("ARCHITECTURE.md lacks the marks of the drawing")
const after = `${head}${BEGIN}\n\n${diagram(files)}\n\n${table(files)}\n\n${END}${tail}`

if (process.argv.includes("--check")) {
  if (after !== before) {
    console.error("the drawing in ARCHITECTURE.md is stale: run `npm run docs`")
    process.exitCode = 1
  }
} else {
  writeFileSync(page, after)
}
