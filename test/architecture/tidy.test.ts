import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

import { assert, describe, it } from "vitest"

import { findLongFunctions, listedLongFunctions, MAX_FUNCTION_LINES } from "../../scripts/long-functions.ts"
import { readSourceFiles } from "../../scripts/source-files.ts"
import { BANS, findUntidy, MAX_LINES } from "../../scripts/tidy.ts"

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/[\\/]$/, "")
const rulesBroken = (path: string, text: string) =>
  findUntidy({ path, text }, "/srv/checkout").map(({ rule }) => rule)

describe("the house", () => {
  const pages = readdirSync(root).filter((name) => name.endsWith(".md"))
  const files = [
    ...readSourceFiles(root, ["src", "test", "docs", "scripts", "infra", "migrations"], /\.(ts|js|md|sql)$/),
    ...pages.map((path) => ({ path, text: readFileSync(`${root}/${path}`, "utf8") }))
  ]

  it("is tidy", () => {
    const untidy = files.flatMap((file) => findUntidy(file, root))
    assert.deepStrictEqual(
      untidy.map(({ line, path, rule }) => `${path}:${line}: ${rule}`),
      []
    )
  })

  it("has no function that is long, but for a list that only shrinks", () => {
    assert.deepStrictEqual(findLongFunctions(readSourceFiles(root, ["src"]), listedLongFunctions()), [])
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
  const manifest = JSON.parse(readFileSync(`${root}/package.json`, "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>
    readonly devDependencies: Readonly<Record<string, string>>
  }
  const all = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })

  it("are pinned to one version", () => {
    const loose = all.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    assert.deepStrictEqual(loose, [])
  })

  it("are explained, and nothing else is", () => {
    const page = readFileSync(`${root}/docs/dependencies.md`, "utf8")
    const explained = [...page.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name)
    assert.sameMembers(
      explained,
      all.map(([name]) => name)
    )
  })
})
