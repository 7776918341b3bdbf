import { rmSync, writeFileSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"

import { LAYOUT_PLAN, samplePages } from "../../../../../src/application/conversion/work/layout-plan.ts"
import type { PageContent } from "../../../../../src/reader/model/page-content.ts"
import { countPages, layoutPages } from "../../../../../src/reader/pipeline.ts"
import { type Libraries, loadLibraries } from "../../../../../src/reader/sources/pdf/engine/libraries.ts"
import { OpenDocument } from "../../../../../src/reader/sources/pdf/pages/document.ts"
import { layoutOf } from "../../../../../src/reader/sources/pdf/pages/layout.ts"
import { mergeStatistics } from "../../../../../src/reader/stages/profile/statistics.ts"
import { foreignPdfs } from "../../../../support/files/pdf-files.ts"
import { linked, numbered, tagged } from "../../../../support/files/pdf-samples.ts"
import { pdfOf } from "../../../../support/files/pdf-writer.ts"

describe("pages read for the layout", () => {
  let libraries: Libraries
  let folder = ""
  let paths: ReadonlyArray<string> = []

  beforeAll(async () => {
    libraries = await loadLibraries()
    folder = mkdtempSync(join(tmpdir(), "postlane-layout-"))
    const made = [linked(), tagged(), numbered(90)].map((bytes, at) => {
      const path = join(folder, `${at}.pdf`)
      writeFileSync(path, bytes)
      return path
    })
    const small = foreignPdfs("real").filter((path) => /pypdf|standard_fonts|issue13211/.test(path))
    paths = [...made, ...small]
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const read = (path: string, forLayout: boolean): ReadonlyArray<PageContent> => {
    const document = new OpenDocument(libraries, path)
    try {
      return Array.from({ length: document.facts.pageCount }, (_, at) => {
        const { hasWords, ...page } = document.page(at, forLayout)
        assert.strictEqual(hasWords !== undefined, forLayout)
        return page
      })
    } finally {
      document.close()
    }
  }

  it("have everything that pages have, but for edges of runs that no link lies over", () => {
    let without = 0
    for (const path of paths) {
      const [whole, lean] = [read(path, false), read(path, true)]
      for (const [at, page] of lean.entries()) {
        const full = whole[at]
        assert.deepStrictEqual({ ...page, runs: [] }, full === undefined ? undefined : { ...full, runs: [] })
        assert.lengthOf(page.runs, full?.runs.length ?? 0)
        for (const [order, run] of page.runs.entries()) {
          const same = full?.runs[order]
          if (run.edges.length > 0) {
            assert.deepStrictEqual(run, same)
            continue
          }
          without += 1
          assert.deepStrictEqual(
            { ...run, edges: [] },
            same === undefined ? undefined : { ...same, edges: [] }
          )
          const y = (run.box.y0 + run.box.y1) / 2
          assert.isFalse(
            page.links.some(
              ({ box }) => box.y0 <= y && y <= box.y1 && box.x0 < run.box.x1 && box.x1 > run.box.x0
            )
          )
        }
      }
    }
    assert.isAbove(without, 0)
  })

  it("have the edges of runs with accents, which are drawn over letters of others", () => {
    const path = join(folder, "accents.pdf")
    writeFileSync(
      path,
      pdfOf({ pages: [{ content: "BT /F1 12 Tf 72 700 Td (is \\210) Tj 0 -40 Td (of) Tj ET\n" }] })
    )
    const runs = read(path, true).flatMap((page) => page.runs)
    assert.deepStrictEqual(
      runs.map(({ edges, text }) => [text, edges.length]),
      [
        ["is ˆ", 5],
        ["of", 0]
      ]
    )
  })

  it("are laid out as pages that are read whole, and each once more, are", () => {
    for (const path of paths) {
      const document = new OpenDocument(libraries, path)
      try {
        const { pageCount } = document.facts
        const sample = samplePages(pageCount).map((at) => document.page(at))
        const others = countPages(sample, document.fonts.faces)
        for (const [first, end] of [
          [0, pageCount],
          [Math.floor(pageCount / 2), pageCount]
        ] as const) {
          const fresh = new OpenDocument(libraries, path)
          for (let from = first; from < end; from += 64) {
            const stop = Math.min(end, from + 64)
            const pages = Array.from({ length: stop - from }, (_, at) => document.page(from + at))
            const expected = layoutPages({
              facts: document.facts,
              fonts: document.fonts.faces,
              pages,
              others: mergeStatistics([others])
            })
            const expectedPages = expected.map(({ index }) => layoutOf(fresh, index, end, LAYOUT_PLAN))
            // Pictures are put in afterwards, and only then it is known whether a page is blank.
            const bare = (html: string) =>
              html.replaceAll(/<img (?:src|data-image|data-region)="[^"]*"/g, "<img ")
            assert.deepStrictEqual(
              expectedPages.map((page) => ({
                ...page,
                html: bare(page.html),
                hasWords: undefined,
                isBlank: undefined
              })),
              expected.map((page) => ({ ...page, html: bare(page.html), isBlank: undefined }))
            )
          }
          fresh.close()
        }
      } finally {
        document.close()
      }
    }
  })
})
