import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

import { assert, describe, it } from "vitest"

import { readSourceFiles, type SourceFile } from "../../scripts/source-files.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const folder = `${root}/docs/reference/specification`

/** Ids of rules and of invariants, where the specification defines them. */
const defined = readdirSync(folder)
  .map((name) => readFileSync(`${folder}/${name}`, "utf8"))
  .flatMap((page) => [...page.matchAll(/^- \*\*([A-Z]+-?\d+)\*\*/gm)].map(([, id]) => id!))

const CITED = /\b(?:MAIL|QUEUE|EVENT|DOC|INBOUND|BATCH|HTTP)-\d+\b/g

/** What may cite a rule: everything but the pages that define them, and this file, which makes ids up. */
const sources = readSourceFiles(
  root,
  ["src", "test", "docs", "scripts", "migrations"],
  /\.(ts|js|md|sql)$/
).filter(({ path }) => path !== "test/architecture/specification.test.ts")

/** The ids that a text cites and the specification does not know. */
const unknownIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(CITED)].map(([id]) => id).filter((id) => !defined.includes(id))

/** The ids that no file cites. */
const uncitedIn = (files: ReadonlyArray<SourceFile>): ReadonlyArray<string> => {
  const words = new Set(files.flatMap(({ text }) => text.match(/\b[A-Z]+-?\d+\b/g) ?? []))
  return defined.filter((id) => !words.has(id))
}

describe("the specification", () => {
  it("gives each id once", () => {
    assert.deepStrictEqual([...new Set(defined)].sort(), [...defined].sort())
    assert.isAbove(defined.length, 100)
  })

  it("has every rule that code, SQL and pages cite", () => {
    const unknown = sources.flatMap(({ path, text }) => unknownIn(text).map((id) => `${path}: ${id}`))
    assert.deepStrictEqual(unknown, [])
    assert.isAbove(sources.filter(({ text }) => text.search(CITED) >= 0).length, 30)
  })

  it("has no rule that neither code nor SQL nor a test cites", () => {
    assert.deepStrictEqual(uncitedIn(sources.filter(({ path }) => !path.endsWith(".md"))), [])
  })

  it("misses an id that is made up, and a rule that nobody cites", () => {
    assert.deepStrictEqual(unknownIn("see MAIL-1 and MAIL-999"), ["MAIL-999"])
    const text = defined.filter((id) => id !== "MAIL-1").join(" ")
    assert.deepStrictEqual(uncitedIn([{ path: "src/x.ts", text: `MAIL-10 ${text}` }]), ["MAIL-1"])
  })
})

/** Rows of a page's table whose file does not hold what the row says. */
const wrongRows = (page: string) =>
  [...page.matchAll(/^\| [^|]+ \| ([^|]*`[^|]+) \| `([^`|]+)` \|$/gm)].flatMap(([, files, name]) =>
    [...files!.matchAll(/`((?:src|migrations)\/[^`]+)`/g)]
      .map(([, path]) => path!)
      .filter(
        (path) => !existsSync(`${root}/${path}`) || !readFileSync(`${root}/${path}`, "utf8").includes(name!)
      )
  )

describe("the table of ARCHITECTURE.md that leads to rules", () => {
  const page = readFileSync(`${root}/ARCHITECTURE.md`, "utf8")

  it("names files that hold them", () => {
    assert.deepStrictEqual(wrongRows(page), [])
    assert.lengthOf(page.match(/^\| .+ \| .*`(src|migrations)\/.+ \| `\w+` \|$/gm) ?? [], 8)
  })

  it("cannot name another file", () => {
    assert.deepStrictEqual(wrongRows("| a rule | `src/domain/mail/claim.ts` | `readingOrder` |"), [
      "src/domain/mail/claim.ts"
    ])
  })
})

/** The files that a text names in backquotes and that are not there. */
const goneIn = (text: string, paths: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...text.matchAll(/`(?:\.\.?\/)*((?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.(?:ts|sql))`/g)]
    .map(([, name]) => name!)
    .filter((name) => !paths.some((path) => path === name || path.endsWith(`/${name}`)))

describe("the files that pages and comments name", () => {
  const pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map((path) => ({
    path,
    text: readFileSync(`${root}/${path}`, "utf8")
  }))

  it("are there", () => {
    const folders = ["src", "test", "scripts", "migrations", "infra"]
    const paths = [
      ...readdirSync(root),
      ...readSourceFiles(root, folders, /\.(ts|sql)$/).map(({ path }) => path)
    ]
    const comments = sources.map(({ path, text }) => ({
      path,
      text: path.endsWith(".md") ? text : text.replaceAll(/^(?!\s*(?:\/\/|\/?\*|--)).*$/gm, "")
    }))
    const gone = [...pages, ...comments].flatMap(({ path, text }) =>
      goneIn(text, paths).map((name) => `${path}: ${name}`)
    )
    assert.deepStrictEqual(gone, [])
  })

  it("are missed where they are not", () => {
    assert.deepStrictEqual(goneIn("see `a/b.ts`, `b.ts` and `c.sql`", ["src/a/b.ts"]), ["c.sql"])
  })
})
