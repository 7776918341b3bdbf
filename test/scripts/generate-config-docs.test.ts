import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { afterEach, assert, beforeEach, describe, it } from "vitest"

import { configurationPage, generate } from "../../scripts/generate-config-docs.ts"
import { SETTINGS } from "../../src/runtime/settings/table.ts"

describe("configuration page", () => {
  let folder = ""
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "postlane-docs-"))
  })
  afterEach(() => rm(folder, { recursive: true }))

  it("has one row for every setting", () => {
    const rows = configurationPage()
      .split("\n")
      .filter((line) => line.startsWith("| `"))
    assert.deepStrictEqual(
      rows.map((row) => /^\| `(\w+)`/.exec(row)?.[1]),
      SETTINGS.map(({ name }) => name)
    )
  })

  it("--check fails where the page is missing or stale, and passes once it is written", async () => {
    const file = join(folder, "configuration.md")
    assert.isFalse(await generate(file, true))
    assert.isTrue(await generate(file, false))
    assert.isTrue(await generate(file, true))
    await writeFile(file, (await readFile(file, "utf8")).replace("8787", "8788"))
    assert.isFalse(await generate(file, true))
  })

  it("the page in docs/ is current", async () => {
    const page = await readFile(new URL("../../docs/reference/configuration.md", import.meta.url), "utf8")
    assert.strictEqual(page, configurationPage())
  })
})
