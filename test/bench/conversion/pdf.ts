import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"

import { foreignPdfs } from "../../support/files/pdf-files.ts"
import { writeLargePdf } from "../../support/files/pdf-large.ts"
import { programOf } from "../../support/processes/child.ts"
import { markdown } from "../report.ts"
import type { PdfFigures } from "./pdf-process.ts"

const OPERATIONS = ["pages", "split", "blank"]

/** Commands of other projects that do the same, where the machine has them; `{}` is the file, `{out}` a folder. */
const PEERS: Readonly<Record<string, ReadonlyArray<string>>> = {
  pages: ["pdftohtml", "-xml", "-i", "-q", "{}", "{out}/pages"],
  split: ["qpdf", "--split-pages", "{}", "{out}/page.pdf"]
}

const peerSeconds = (operation: string, path: string): number | undefined => {
  const [command, ...args] = PEERS[operation] ?? []
  if (command === undefined) return undefined
  const out = mkdtempSync(join(tmpdir(), "postlane-bench-"))
  const started = performance.now()
  const { error, status } = spawnSync(
    command,
    args.map((arg) => arg.replace("{}", path).replace("{out}", out))
  )
  const seconds = (performance.now() - started) / 1_000
  rmSync(out, { recursive: true, force: true })
  return error === undefined && (status === 0 || status === 3) ? seconds : undefined
}

/** A line of the table. */
export interface PdfLine extends PdfFigures {
  readonly file: string
  readonly operation: string
  /** Pages a second over those of `pdftohtml` or `qpdf`, where they are installed. */
  readonly ratio: number | undefined
}

/** Real documents of some hundred pages, where there are any. */
export const foreignManuals = (): ReadonlyArray<string> =>
  foreignPdfs("real").filter((path) => /-\d{3,}p\.pdf$/.test(path))

/**
 * Reads, splits and looks through documents of these lengths, with pictures of 100 KB a page unless they are `plain`, and of others; a
 * process each.
 */
export const measurePdf = (
  lengths: ReadonlyArray<number>,
  { others = [], plain = false }: { readonly others?: ReadonlyArray<string>; readonly plain?: boolean } = {}
): ReadonlyArray<PdfLine> => {
  const folder = mkdtempSync(join(tmpdir(), "postlane-bench-"))
  try {
    const made = lengths.map((pages) => {
      const path = join(folder, `${pages}-pages.pdf`)
      writeLargePdf(path, pages, !plain)
      return path
    })
    return [...made, ...others].flatMap((path) =>
      OPERATIONS.map((operation) => {
        const figures = JSON.parse(
          execFileSync(
            process.execPath,
            [programOf("test/bench/conversion/pdf-process.ts"), path, operation],
            { encoding: "utf8" }
          )
        ) as PdfFigures
        const peer = peerSeconds(operation, path)
        return {
          ...figures,
          file: basename(path),
          operation,
          ratio: peer === undefined ? undefined : peer / figures.seconds
        }
      })
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The table for docs/explanation/performance.md. */
export const pdfTable = (lines: ReadonlyArray<PdfLine>): string =>
  markdown([
    ["file", "work", "pages/s", "CPU ms a page", "peak MB", "KB a page", "against pdftohtml, qpdf"],
    ...lines.map(({ bytes, cpuSeconds, file, operation, pages, peakBytes, ratio, seconds }) => [
      file,
      operation,
      String(Math.round(pages / seconds)),
      ((cpuSeconds / pages) * 1_000).toFixed(1),
      String(Math.round(peakBytes / 1024 / 1024)),
      bytes === 0 ? "–" : String(Math.round(bytes / pages / 1024)),
      ratio === undefined ? "–" : `${ratio.toFixed(2)} ×`
    ])
  ])

/** The table of long documents: what a page costs, on the whole and by tenths of the document. */
export const tenthsTable = (lines: ReadonlyArray<PdfLine>): string =>
  markdown([
    ["pages", "work", "pages/s", "CPU µs a page", "by tenth of the document", "peak MB"],
    ...lines.map(({ cpuSeconds, operation, pages, peakBytes, seconds, tenths }) => [
      pages.toLocaleString("en"),
      operation,
      String(Math.round(pages / seconds)),
      String(Math.round((cpuSeconds / pages) * 1e6)),
      tenths.map((tenth) => Math.round((tenth / pages) * 1e7)).join(", "),
      String(Math.round(peakBytes / 1024 / 1024))
    ])
  ])
