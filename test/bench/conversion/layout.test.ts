import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { assert, describe, it } from "@effect/vitest"

import { writeLargePdf } from "../../support/files/pdf-large.ts"
import { watched } from "../watched.ts"
import { measureQuality, qualityTable } from "./layout-quality.ts"
import { layoutTable, measureLayout } from "./layout.ts"

const OURS = "layout tier, page to HTML"
const CONVERTERS = ["pdftohtml", "pdftotext -layout", "pdfjs-dist, text alone", OURS]

describe("the layout tier beside its peers", () => {
  it("every converter has its row, whether it is installed or not", async () => {
    const folder = mkdtempSync(join(tmpdir(), "postlane-bench-"))
    const path = join(folder, "3-pages.pdf")
    writeLargePdf(path, 3)
    const lines = await measureLayout([path], { passes: 1, rounds: 1 })
    rmSync(folder, { recursive: true })
    assert.deepStrictEqual(
      lines.map(({ converter, file, pages }) => [file, converter, pages]),
      CONVERTERS.map((converter) => ["3-pages.pdf", converter, 3])
    )
    for (const { best, converter } of lines)
      if (best !== undefined) assert.isAbove(best.seconds, 0, converter)
    // Those on Node are there wherever the bench is.
    for (const { best } of lines.slice(2)) assert.isDefined(best)
    assert.lengthOf(layoutTable(lines).split("\n"), lines.length + 2)
    const missing = layoutTable(lines.map((line) => ({ ...line, best: undefined })))
    assert.lengthOf(missing.match(/not installed/g) ?? [], lines.length)
  })

  it("documents of a known truth are scored, and only the layout tier tells their headings", async () => {
    const lines = await measureQuality(1)
    for (const { converter, scores } of lines) {
      if (scores === undefined) continue
      assert.isAbove(scores.order, converter === OURS ? 0.97 : 0.3, converter)
      if (converter === OURS) assert.isAbove(scores.headings, 0.88)
    }
    assert.lengthOf(qualityTable(lines).split("\n"), 2 + 2 * CONVERTERS.length)
  })
})

describe("a watched command", () => {
  it("that is not installed is no failure", async () => {
    assert.isUndefined(await watched("postlane-no-such-command", []))
  })

  it("that fails is one", async () => {
    const failed = await watched(process.execPath, ["--eval", "process.exit(3)"]).then(
      () => undefined,
      (error: unknown) => String(error)
    )
    assert.include(failed, "ended with 3")
  })

  it("tells its processor time and its peak memory", async () => {
    const busy =
      "const held = Buffer.alloc(150e6, 1); const until = Date.now() + 400; while (Date.now() < until); console.log(held.length)"
    const found = await watched(process.execPath, ["--eval", busy])
    assert.strictEqual(found?.output.trim(), "150000000")
    // Other systems than Linux do not tell.
    const measured = existsSync("/proc/self/stat")
    assert.isAtLeast(found?.peakBytes ?? 0, measured ? 150e6 : 0)
    assert.strictEqual((found?.cpuSeconds ?? 0) > 0, measured)
  })
})
