import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

import { Effect } from "effect"
import { assert, describe, expect, it } from "vitest"

import { ACCOUNT_PAGE_PATHS, PAGE_PATHS } from "../../src/adapters/http/pages/paths.ts"
import { openApiDocument } from "../../src/adapters/http/routes/api.ts"
import { run } from "../runtime/cli/harness.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const textOf = (path: string) => readFileSync(`${root}/${path}`, "utf8")

const pages = [
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  ...globSync("docs/**/*.md", { cwd: root }),
  ...globSync("{examples,infra}/**/*.md", { cwd: root })
].map((path) => ({ path, text: textOf(path) }))

/** Every match of an expression in the pages, with its page. */
const named = (expression: RegExp) =>
  pages.flatMap(({ path, text }) =>
    [...text.matchAll(expression)].map(({ 1: name = "" }) => ({ name, path }))
  )

const textsOf = (patterns: ReadonlyArray<string>) =>
  globSync(patterns, { cwd: root, exclude: ["test/docs/**"] })
    .map(textOf)
    .join("\n")

/** What a program can be given or write. */
const product = textsOf(["{src,infra,scripts}/**/*.ts", "migrations/**/*.sql", "infra/container/*"])
const tests = textsOf(["test/**/*.ts"])
/** The pages that explain the tests' own programs, too: elsewhere a name that only a test knows is one that is gone. */
const ABOUT_TESTS = /^(?:CONTRIBUTING\.md$|docs\/explanation\/)/

const inCode = ({ name, path }: { readonly name: string; readonly path: string }) => {
  const word = new RegExp(String.raw`\b${name}\b`)
  return word.test(product) || (ABOUT_TESTS.test(path) && word.test(tests))
}

/** A route without the names of its parameters. */
const shapeOf = (route: string) =>
  route
    .replace(/[?#].*$/, "")
    .replaceAll(/\{\w+\}|:\w+|…|<[^>]+>|[A-Z]{2,}(?=\/|$)/g, "*")
    .replace(/[.,;]$/, "")

const routes = new Set([
  ...Object.entries(
    (openApiDocument() as { readonly paths: Readonly<Record<string, object>> }).paths
  ).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${shapeOf(path)}`)
  ),
  ...[...PAGE_PATHS, ...ACCOUNT_PAGE_PATHS, "/docs"].map((path) => `GET ${shapeOf(path)}`)
])

describe("what the pages name is there", () => {
  it("metrics, settings and the marks of log lines", () => {
    const metrics = named(/`((?:postlane|process|nodejs)_[a-z0-9_]+)\b/g)
    const settings = named(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b/g)
    assert.isAbove(metrics.length, 10)
    assert.isAbove(settings.length, 100)
    expect([...metrics, ...settings].filter((one) => !inCode(one))).toEqual([])
  })

  it("a name that only a test knows is missed", () => {
    expect(inCode({ name: "PROPERTY_SEED", path: "CONTRIBUTING.md" })).toBe(true)
    expect(inCode({ name: "PROPERTY_SEED", path: "docs/operate/run.md" })).toBe(false)
    expect(inCode({ name: "postlane_store_degraded_total", path: "docs/operate/run.md" })).toBe(false)
  })

  it("routes", () => {
    const asked = named(/`((?:GET|POST|PUT|PATCH|DELETE) \/[^` ]*)/g)
    assert.isAbove(asked.length, 20)
    expect(asked.filter(({ name }) => !routes.has(shapeOf(name)))).toEqual([])
  })

  it("commands", async () => {
    const { scripts } = JSON.parse(textOf("package.json")) as {
      readonly scripts: Readonly<Record<string, string>>
    }
    expect(named(/npm run (?:-s )?([\w:.]*\w)/g).filter(({ name }) => scripts[name] === undefined)).toEqual(
      []
    )
    const { out } = await Effect.runPromise(run(["--help"], {}))
    const known = new Set([...out.matchAll(/^ {2}([a-z][a-z-]+) /gm)].map(([, name]) => name))
    assert.isAbove(known.size, 10)
    expect(named(/`postlane ([a-z][a-z-]+)/g).filter(({ name }) => !known.has(name))).toEqual([])
  })
})
