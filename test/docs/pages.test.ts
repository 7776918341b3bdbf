import { existsSync, globSync, readFileSync, statSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"

import { assert, describe, expect, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const DOCS = globSync("docs/**/*.md", { cwd: root })
const PAGES = [
  ...globSync("*.md", { cwd: root }),
  ...globSync("{examples,infra}/**/*.md", { cwd: root }),
  ...DOCS
]
const textOf = (path: string) => readFileSync(join(root, path), "utf8")
const sizeOf = (path: string) => statSync(join(root, path)).size

/** What GitHub makes of headings: the anchors that links may end in. */
const anchorsOf = (text: string): ReadonlySet<string> =>
  new Set(
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(/\s/g, "-")
    )
  )

/** A page's prose: without what its fences hold. */
const proseOf = (text: string) => text.replaceAll(/^```[\s\S]*?^```$/gm, "")

describe("the pages", () => {
  it("are small: 20 KB a page, 230 KiB in all", () => {
    expect(DOCS.filter((path) => sizeOf(path) > 20_000)).toEqual([])
    assert.isAtMost(
      DOCS.reduce((sum, path) => sum + sizeOf(path), 0),
      235_520
    )
  })

  it("the changelog has one line an effect, and 10 KB a version", () => {
    const text = textOf("CHANGELOG.md")
    const versions = text.split(/^## /m).slice(1)
    assert.isNotEmpty(versions)
    expect(versions.filter((version) => Buffer.byteLength(version) > 10_000)).toEqual([])
    expect(text.split("\n").filter((line) => /^\s+\S/.test(line))).toEqual([])
  })

  it("lead to what is there", () => {
    const broken = PAGES.flatMap((path) =>
      [...proseOf(textOf(path)).matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, link = ""]) => link)
        .filter((link) => !/^[a-z]+:/.test(link))
        .filter((link) => {
          const [target = "", anchor] = link.split("#")
          const file = target === "" ? path : relative(root, join(root, dirname(path), target))
          if (!existsSync(join(root, file))) return true
          return anchor !== undefined && !anchorsOf(textOf(file)).has(anchor)
        })
        .map((link) => `${path}: ${link}`)
    )
    expect(broken).toEqual([])
  })

  it("tell of no run: dates, loads and commits stand in the table of docs/explanation/proof.md alone", () => {
    const diary =
      /\b\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December)\b|\bload averages?\b|\bcommits? [0-9a-f]{7}\b/
    const tells = [...DOCS, "README.md", "CHANGELOG.md"].flatMap((path) =>
      proseOf(textOf(path))
        .split("\n")
        .filter((line) => diary.test(line))
        .filter((line) => !(path === "docs/explanation/proof.md" && line.startsWith("| ")))
        .map((line) => `${path}: ${line}`)
    )
    expect(tells).toEqual([])
  })

  it("every page is reached from README.md", () => {
    const reached = new Set<string>()
    const follow = (path: string) => {
      if (reached.has(path) || !path.endsWith(".md") || !existsSync(join(root, path))) return
      reached.add(path)
      for (const [, link = ""] of textOf(path).matchAll(/\]\(([^)\s#]+)/g))
        follow(relative(root, join(root, dirname(path), link)))
    }
    follow("README.md")
    expect(DOCS.filter((path) => !reached.has(path))).toEqual([])
  })
})
