import { readdirSync, readFileSync } from "node:fs"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"

import { assert, describe, it } from "vitest"

import { readSourceFiles, type SourceFile } from "../../scripts/source-files.ts"
import { syntaxOf } from "../../scripts/syntax.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const specification = readdirSync(`${root}/docs/reference/specification`)
  .map((name) => readFileSync(`${root}/docs/reference/specification/${name}`, "utf8"))
  .join("\n")

/** The suites of these files, a folder with an index being one, under the index's path; what worlds they run in is no suite. */
const suitesOf = (files: ReadonlyArray<SourceFile>): ReadonlyArray<SourceFile> => {
  const indexes = files.filter(({ path }) => path.endsWith("/index.ts"))
  const chaptersOf = (index: SourceFile) =>
    files.filter((file) => file !== index && dirname(file.path) === dirname(index.path))
  const chapters = new Set(indexes.flatMap(chaptersOf))
  return files
    .filter((file) => !chapters.has(file) && !file.path.endsWith("-world.ts"))
    .map((file) =>
      indexes.includes(file)
        ? { path: file.path, text: [file, ...chaptersOf(file)].map(({ text }) => text).join("\n") }
        : file
    )
}
const suites = suitesOf(readSourceFiles(root, ["test/contracts"]))
const tests = readSourceFiles(root, ["test/adapters"])

/** The adapters whose tests import each suite, by the suite's path. */
const adaptersOf = (files: ReadonlyArray<SourceFile>): ReadonlyMap<string, ReadonlySet<string>> => {
  const found = new Map<string, Set<string>>()
  for (const file of files) {
    const adapter = file.path.split("/")[2]!
    for (const { target, typeOnly } of syntaxOf(file).imports)
      if (target !== undefined && !typeOnly) found.set(target, (found.get(target) ?? new Set()).add(adapter))
  }
  return found
}

const rulesIn = (text: string): ReadonlyArray<string> =>
  (text.match(/\b[A-Z]+-?\d+\b/g) ?? []).filter((id) => specification.includes(`- **${id}**`))

/** What a suite's header leaves out: its form, an adapter that runs it, a rule that its tests name. */
const missingIn = (
  { path, text }: SourceFile,
  runs: ReadonlyMap<string, ReadonlySet<string>>
): ReadonlyArray<string> => {
  const [header = "", adapters = ""] =
    /^\/\*\*\n \* [^]+?\n \*\n \* Adapters: ([a-z0-9, -]+)\.[^]*?\*\//.exec(text) ?? []
  if (header === "") return [`${path}: no header that says what the port promises, and its adapters`]
  const named = rulesIn(header)
  const unnamed = new Set(rulesIn(text.slice(header.length)).filter((id) => !named.includes(id)))
  const real = [...(runs.get(path) ?? [])].sort().join(", ")
  return [
    ...(adapters === real ? [] : [`${path}: runs on ${real || "nothing"}, not on ${adapters}`]),
    ...[...unnamed].map((id) => `${path}: ${id} is not in the header`)
  ]
}

describe("each contract suite", () => {
  it("says what its port promises, which adapters run it, and which rules it holds", () => {
    const runs = adaptersOf(tests)
    assert.deepStrictEqual(
      suites.flatMap((suite) => missingIn(suite, runs)),
      []
    )
    assert.isAbove(suites.length, 20)
  })

  it("cannot leave one out", () => {
    const path = "test/contracts/mail/x.ts"
    const header = "/**\n * `X`: a promise.\n *\n * Adapters: memory. Rules: S1.\n */\n"
    const on = (...adapters: ReadonlyArray<string>) => new Map([[path, new Set(adapters)]])
    assert.deepStrictEqual(missingIn({ path, text: `${header}// S1` }, on("memory")), [])
    assert.lengthOf(missingIn({ path, text: "// S1" }, on("memory")), 1)
    assert.lengthOf(missingIn({ path, text: `${header}// S2` }, on("memory")), 1)
    assert.lengthOf(missingIn({ path, text: header }, on("memory", "postgres")), 1)
  })

  it("has its chapters' rules in the header of its index", () => {
    const index = {
      path: "test/contracts/mail/x/index.ts",
      text: "/**\n * `X`: a promise.\n *\n * Adapters: memory. Rules: S1.\n */\n"
    }
    const chapter = { path: "test/contracts/mail/x/chapter.ts", text: "// S2" }
    const other = { path: "test/contracts/mail/y.ts", text: "// S3" }
    const [suite, ...others] = suitesOf([chapter, index, other])
    assert.deepStrictEqual(others, [other])
    assert.deepStrictEqual(missingIn(suite!, new Map([[index.path, new Set(["memory"])]])), [
      `${index.path}: S2 is not in the header`
    ])
  })
})
