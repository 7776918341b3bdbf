import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"

import { Effect } from "effect"

import { layerPdf } from "../../../src/adapters/pdf/pdf.ts"
import { Pdf } from "../../../src/ports/conversion/pdf.ts"
import { markdown } from "../report.ts"
import { type Conversion, type Converter, converters } from "./converters.ts"

/** Passes of a process of ours: the last one is measured. */
const PASSES = 3

/** A line of the table: one converter on one document. */
export interface LayoutLine {
  readonly file: string
  readonly converter: string
  readonly pages: number
  /** The best of the rounds, each figure by itself; undefined where the converter is not installed. */
  readonly best: Omit<Conversion, "html"> | undefined
}

const pagesOf = (path: string): Promise<number> =>
  Effect.runPromise(
    Effect.gen(function* () {
      return (yield* (yield* Pdf).open(path)).facts.pageCount
    }).pipe(Effect.scoped, Effect.provide(layerPdf({ threads: 1 })))
  )

/** Has a converter make one document, in a folder that is gone afterwards. */
export const convertOnce = async (converter: Converter, path: string): Promise<Conversion | undefined> => {
  const out = mkdtempSync(join(tmpdir(), "postlane-bench-"))
  try {
    return await converter.convert(path, out)
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

/** Converts each document with each of the converters, which take turns in rounds. */
export const measureLayout = async (
  documents: ReadonlyArray<string>,
  { passes = PASSES, rounds = 3 }: { readonly passes?: number; readonly rounds?: number } = {}
): Promise<ReadonlyArray<LayoutLine>> => {
  const all = converters(passes)
  const lines: Array<LayoutLine> = []
  for (const path of documents) {
    const pages = await pagesOf(path)
    const best = new Map<string, Omit<Conversion, "html">>()
    for (let round = 0; round < rounds; round++)
      for (const converter of all) {
        const done = await convertOnce(converter, path)
        if (done === undefined) continue
        const before = best.get(converter.name) ?? done
        best.set(converter.name, {
          seconds: Math.min(before.seconds, done.seconds),
          cpuSeconds: Math.min(before.cpuSeconds, done.cpuSeconds),
          peakBytes: Math.max(before.peakBytes, done.peakBytes)
        })
      }
    for (const { name } of all)
      lines.push({ file: basename(path), converter: name, pages, best: best.get(name) })
  }
  return lines
}

/** The table for docs/explanation/performance.md. The ratio is that of processor time, which other work on the machine disturbs least. */
export const layoutTable = (lines: ReadonlyArray<LayoutLine>): string =>
  markdown([
    ["file", "converter", "pages/s", "CPU s per 1,000 pages", "peak MB", "pages per CPU s, × pdftohtml"],
    ...lines.map(({ best, converter, file, pages }) => {
      if (best === undefined) return [file, converter, "not installed", "", "", ""]
      const first = lines.find((line) => line.file === file)?.best
      return [
        file,
        converter,
        String(Math.round(pages / best.seconds)),
        ((best.cpuSeconds / pages) * 1_000).toFixed(2),
        String(Math.round(best.peakBytes / 1024 / 1024)),
        first === undefined ? "–" : (first.cpuSeconds / best.cpuSeconds).toFixed(2)
      ]
    })
  ])
