import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

import { assert, describe, it } from "vitest"

import { snippetsOf } from "../support/files/snippets.ts"

const root = new URL("../../", import.meta.url)

/** Fences that name a file of the examples, as `ts examples/shop/shop.ts`. */
const excerpts = globSync("{README.md,{docs,examples}/**/*.md}", { cwd: fileURLToPath(root) }).flatMap(
  (page) =>
    snippetsOf(new URL(page, root)).flatMap(({ info, line, text }) =>
      info.startsWith("examples/") ? [{ page, file: info, line, text }] : []
    )
)

describe("excerpts of the examples", () => {
  it.each(excerpts)("$page, line $line, stands in $file as it is", ({ file, text }) => {
    assert.include(readFileSync(new URL(file, root), "utf8"), `${text}\n`)
  })

  it.each(["examples/shop/README.md", "examples/back-office/README.md"])("%s is made of them", (page) => {
    assert.isAtLeast(excerpts.filter((one) => one.page === page).length, 3)
  })
})
