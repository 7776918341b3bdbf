import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

import { assert, describe, it } from "vitest"

import { checkDependencies, describeViolation } from "../../scripts/dependency-rule.ts"
import { findLongFunctions, listedLongFunctions, MAX_FUNCTION_LINES } from "../../scripts/long-functions.ts"
import { readSourceFiles, type SourceFile } from "../../scripts/source-files.ts"
import { BANS, findUntidy, MAX_LINES } from "../../scripts/tidy.ts"
import { findUnusedExports } from "../../scripts/unused-exports.ts"
import { findTics, MOST_TICS, TICS, ticsOf, wordings } from "../../scripts/words.ts"

/** What these tests read in package.json. */
interface Manifest {
  readonly devDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>
  readonly exports: Readonly<Record<string, unknown>>
}

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/[\\/]$/, "")
const rulesBroken = (path: string, text: string) =>
  findUntidy({ path, text }, "/srv/checkout").map(({ rule }) => rule)

const manifest = JSON.parse(readFileSync(`${root}/package.json`, "utf8")) as Manifest

// In one file, so that each source is parsed once for all of these rules.
describe("the house", () => {
  const pages = readdirSync(root).filter((name) => name.endsWith(".md"))
  const files = [
    ...readSourceFiles(
      root,
      ["src", "test", "docs", "scripts", "examples", "infra", "migrations"],
      /\.(ts|js|md|sql)$/
    ),
    ...pages.map((path) => ({ path, text: readFileSync(`${root}/${path}`, "utf8") }))
  ]
  const sources = files.filter(({ path }) => /^src\/.*\.ts$/.test(path))

  it("is tidy", () => {
    const untidy = files.flatMap((file) => findUntidy(file, root))
    assert.deepStrictEqual(
      untidy.map(({ line, path, rule }) => `${path}:${line}: ${rule}`),
      []
    )
  })

  it("keeps the dependency rule", () => {
    assert.deepStrictEqual(checkDependencies(sources, manifest).map(describeViolation), [])
  })

  it("exports nothing that only its own file uses", () => {
    const code = files.filter(({ path }) => path.endsWith(".ts"))
    assert.deepStrictEqual(findUnusedExports(code, manifest), [])
  })

  it("has no function that is long, but for a list that only shrinks", () => {
    assert.deepStrictEqual(findLongFunctions(sources, listedLongFunctions()), [])
  })

  it("has comments in plain words, but for a small share of lines", () => {
    const written = files.filter(({ path }) => /^(src\/.*\.(ts|js)|migrations\/.*\.sql)$/.test(path))
    assert.deepStrictEqual(findTics(wordings(written), MOST_TICS), [])
  })

  it("has files to look at", () => {
    assert.isAbove(files.length, 50)
  })
})

describe("each rule can fail", () => {
  it.each(BANS)("$rule", ({ rule, sample }) => {
    assert.deepStrictEqual(rulesBroken(sample.path, sample.text), [rule])
  })

  it("a file that is too long", () => {
    const lines = (count: number) => "\n".repeat(count - 1) + "export {}\n"
    assert.deepStrictEqual(rulesBroken("src/runtime/x.ts", lines(MAX_LINES)), [])
    assert.deepStrictEqual(rulesBroken("src/runtime/x.ts", lines(MAX_LINES + 1)), ["at most 350 lines"])
  })

  it("a function that is too long, or longer than its place in the list", () => {
    const of = (lines: number) => ({
      path: "src/runtime/x.ts",
      text: `export const f = () => {${"\n".repeat(lines - 1)}}\n`
    })
    const long = MAX_FUNCTION_LINES + 1
    assert.deepStrictEqual(findLongFunctions([of(MAX_FUNCTION_LINES)], {}), [])
    assert.lengthOf(findLongFunctions([of(long)], {}), 1)
    assert.lengthOf(findLongFunctions([of(long + 1)], { "src/runtime/x.ts": [long] }), 1)
    assert.deepStrictEqual(findLongFunctions([of(long)], { "src/runtime/x.ts": [long] }), [])
    assert.lengthOf(findLongFunctions([of(long)], { "src/runtime/x.ts": [long, long] }), 1)
    assert.lengthOf(findLongFunctions([], { "src/runtime/gone.ts": [long] }), 1)
  })

  describe("a tic in a comment", () => {
    it.each(TICS.map(({ instead, sample }) => [sample, instead]))("%s (%s)", (sample) => {
      const lines = (path: string, text: string) => ticsOf({ path, text }).map(({ line }) => line)
      assert.deepStrictEqual(lines("src/x.ts", `export {}\n/** ${sample} */\n`), [2])
      assert.deepStrictEqual(lines("src/x.ts", `// ${sample}\nexport {}\n`), [1])
      assert.deepStrictEqual(lines("src/x.ts", `/*\n * ${sample}\n */\nexport {}\n`), [2])
      assert.deepStrictEqual(lines("src/x.ts", `export const x = "// ${sample}"\n`), [])
      assert.deepStrictEqual(lines("migrations/x.sql", `select 1;\n  -- ${sample}\n`), [2])
    })

    it("at the opening of a comment, counts on its first line alone", () => {
      assert.deepStrictEqual(
        ticsOf({ path: "src/x.ts", text: "// Limits of the lists:\n// such that are read.\n" }),
        []
      )
    })

    it("counts against the limit of its ring, generated code aside", () => {
      const found = wordings([
        { path: "src/domain/x.ts", text: "// A mail.\n\n// A row.\n\n// It stands here.\nexport {}" },
        { path: "src/adapters/client/generated/x.ts", text: "// It stands here.\nexport {}" }
      ])
      assert.deepStrictEqual(
        [33, 34].map((most) => findTics(found, most).length),
        [1, 0]
      )
    })
  })

  describe("an export that only its own file uses", () => {
    const entries = { exports: { "./x": { types: "./dist/runtime/x.d.ts", default: "./dist/runtime/x.js" } } }
    const of = (path: string, text: string) => ({ path, text })
    const one = of("src/domain/one.ts", "export const a = 1\nexport interface B { readonly a: typeof a }")
    const unused = (...others: ReadonlyArray<SourceFile>) => findUnusedExports([one, ...others], entries)

    it("is found", () => {
      assert.deepStrictEqual(unused(), ["src/domain/one.ts: a", "src/domain/one.ts: B"])
      assert.deepStrictEqual(unused(of("test/x.test.ts", `import type { B } from "../src/domain/one.ts"`)), [
        "src/domain/one.ts: a"
      ])
      assert.deepStrictEqual(unused(of("src/domain/two.ts", `export { a } from "./one.ts"`)), [
        "src/domain/one.ts: B",
        "src/domain/two.ts: a"
      ])
    })

    it.each([
      ["names", `import { a as other, type B } from "./one.ts"\nexport default [other] satisfies B`],
      ["members of a namespace", `import * as One from "./one.ts"\nconst b: One.B = One.a`],
      ["a namespace that is handed on", `import * as One from "./one.ts"\nconsole.log(One)`],
      ["a module that is loaded later", `void import("./one.ts")`]
    ])("is none where others take %s", (_, text) => {
      assert.deepStrictEqual(unused(of("src/domain/two.ts", text)), [])
    })

    it("is found where others take another member of the namespace", () => {
      const text = `import * as One from "./one.ts"\nconsole.log(One.a)`
      assert.deepStrictEqual(unused(of("src/domain/two.ts", text)), ["src/domain/one.ts: B"])
    })

    it("is none in an entry of the package", () => {
      assert.deepStrictEqual(unused(of("src/runtime/x.ts", `export * from "../domain/one.ts"`)), [])
      assert.deepStrictEqual(findUnusedExports([of("src/runtime/x.ts", "export const x = 1")], entries), [])
    })
  })

  it("any, but not the word", () => {
    assert.deepStrictEqual(rulesBroken("src/runtime/x.ts", "export const x: Array<any> = []"), ["no any"])
    assert.deepStrictEqual(rulesBroken("src/runtime/x.ts", `export const any = "any" // : any`), [])
  })

  it("an import without its ending", () => {
    const rule = "a relative import ends in .ts"
    assert.deepStrictEqual(rulesBroken("src/runtime/x.ts", `import { y } from "./y"`), [rule])
    assert.deepStrictEqual(rulesBroken("src/runtime/x.ts", `import { y } from "./y.js"`), [rule])
    assert.deepStrictEqual(rulesBroken("src/runtime/x.ts", `import { y } from "./y.ts"`), [])
  })

  it("the folder of the checkout", () => {
    assert.deepStrictEqual(rulesBroken("test/x.ts", `export const x = "/srv/checkout/data"`), [
      "no path of one machine"
    ])
  })

  it("a banned name in a comment is none in the code", () => {
    assert.deepStrictEqual(rulesBroken("src/domain/x.ts", "// never Date.now()\nexport {}"), [])
  })
})

describe("dependencies", () => {
  const all = Object.entries(manifest.devDependencies)

  it("are pinned to one version", () => {
    const loose = all.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    assert.deepStrictEqual(loose, [])
  })

  it("are explained, and nothing else is", () => {
    const page = readFileSync(`${root}/DEPENDENCIES.md`, "utf8")
    const explained = [...page.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, names = ""]) =>
      [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => name)
    )
    assert.sameMembers(
      explained,
      all.map(([name]) => name)
    )
  })
})
