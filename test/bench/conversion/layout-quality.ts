import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { samples } from "../../quality/documents.ts"
import { headingScore, readingOrderScore, readContent } from "../../quality/score.ts"
import { openBrowser } from "../../support/processes/browser.ts"
import { markdown } from "../report.ts"
import { converters } from "./converters.ts"
import { convertOnce } from "./layout.ts"

/** How near a converter comes to the truth on documents of one kind, 0 to 1, on average. */
export interface QualityLine {
  readonly kind: string
  readonly converter: string
  readonly documents: number
  /** Reading order (NID) and headings (MHS); undefined where the converter is not installed. */
  readonly scores: { readonly order: number; readonly headings: number } | undefined
}

const mean = (all: ReadonlyArray<number>): number => all.reduce((a, b) => a + b, 0) / Math.max(1, all.length)

/** Prints documents whose truth is known, `each` of a kind and without tags, and scores what the converters make of them. */
export const measureQuality = async (each: number): Promise<ReadonlyArray<QualityLine>> => {
  const folder = mkdtempSync(join(tmpdir(), "postlane-bench-"))
  const browser = await openBrowser()
  const found: Array<{ kind: string; converter: string; order: number; headings: number }> = []
  const all = converters(1)
  const documents = samples(each)
  try {
    for (const { html, kind, name } of documents) {
      const page = await browser.newPage()
      await page.setContent(html)
      const path = join(folder, `${name}.pdf`)
      writeFileSync(path, await page.pdf({ format: "A4", tagged: false }))
      await page.close()
      const truth = readContent(html)
      for (const converter of all) {
        const done = await convertOnce(converter, path)
        if (done === undefined) continue
        const made = readContent(done.html)
        found.push({
          kind,
          converter: converter.name,
          order: readingOrderScore(truth, made),
          headings: headingScore(truth, made)
        })
      }
    }
  } finally {
    await browser.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return [...new Set(documents.map(({ kind }) => kind))].flatMap((kind) =>
    all.map(({ name }) => {
      const scores = found.filter((one) => one.kind === kind && one.converter === name)
      return {
        kind,
        converter: name,
        documents: each,
        scores:
          scores.length === 0
            ? undefined
            : {
                order: mean(scores.map(({ order }) => order)),
                headings: mean(scores.map(({ headings }) => headings))
              }
      }
    })
  )
}

/** The table for docs/explanation/performance.md. */
export const qualityTable = (lines: ReadonlyArray<QualityLine>): string =>
  markdown([
    ["documents", "converter", "reading order (NID)", "headings (MHS)"],
    ...lines.map(({ converter, documents, kind, scores }) => [
      `${documents} of kind ${kind}`,
      converter,
      scores === undefined ? "not installed" : scores.order.toFixed(3),
      scores === undefined ? "" : scores.headings.toFixed(3)
    ])
  ])
