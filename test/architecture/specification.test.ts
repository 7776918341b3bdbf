import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

import { assert, describe, it } from "vitest"

import { readSourceFiles } from "../../scripts/source-files.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const folder = `${root}/docs/specification`

/** Ids of rules and of invariants, where the specification defines them. */
const defined = readdirSync(folder)
  .map((name) => readFileSync(`${folder}/${name}`, "utf8"))
  .flatMap((page) => [...page.matchAll(/^- \*\*([A-Z]+-?\d+)\*\*/gm)].map(([, id]) => id!))

const CITED = /\b(?:MAIL|EVENT|DOC|INBOUND|BATCH|HTTP)-\d+\b/g

/** The ids that a text cites and the specification does not know. */
const unknownIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(CITED)].map(([id]) => id).filter((id) => !defined.includes(id))

describe("the specification", () => {
  it("gives each id once", () => {
    assert.deepStrictEqual([...new Set(defined)].sort(), [...defined].sort())
    assert.isAbove(defined.length, 100)
  })

  it("has every rule that code, SQL and pages cite", () => {
    const folders = ["src", "test", "docs", "scripts", "migrations"]
    const files = readSourceFiles(root, folders, /\.(ts|js|md|sql)$/).filter(
      ({ path }) => !path.endsWith("specification.test.ts")
    )
    const unknown = files.flatMap(({ path, text }) => unknownIn(text).map((id) => `${path}: ${id}`))
    assert.deepStrictEqual(unknown, [])
    assert.isAbove(files.filter(({ text }) => text.search(CITED) >= 0).length, 30)
  })

  it("misses an id that is made up", () => {
    assert.deepStrictEqual(unknownIn("see MAIL-1 and MAIL-999"), ["MAIL-999"])
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
    assert.lengthOf(page.match(/^\| .+ \| .*`(src|migrations)\/.+ \| `\w+` \|$/gm) ?? [], 6)
  })

  it("cannot name another file", () => {
    assert.deepStrictEqual(wrongRows("| a rule | `src/domain/mail/claim.ts` | `readingOrder` |"), [
      "src/domain/mail/claim.ts"
    ])
  })
})
