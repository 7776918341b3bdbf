/**
 * `node test/quality/scans.ts FOLDER [PAGES [FAULTS]]`: draws typed pages of the folder's PDFs as pictures, has them recognised, and
 * compares what comes out with what comes out of the pages themselves. `FAULTS`: some of `plain,skewed,noisy,dark,turned,all`.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { Effect, Layer } from "effect"

import { makeDiskObjects } from "../../src/adapters/disk/object-store.ts"
import { layerPdf } from "../../src/adapters/pdf/pdf.ts"
import { layerTesseract } from "../../src/adapters/tesseract/recognition.ts"
import * as ReadPages from "../../src/application/conversion/work/read-pages.ts"
import { htmlWords } from "../../src/domain/cascade/coverage.ts"
import { PageSources } from "../../src/ports/conversion/page-sources.ts"
import { Pdf } from "../../src/ports/conversion/pdf.ts"
import { FileObjects } from "../../src/ports/object-store.ts"
import { scannedPdf, type ScannerFaults, throughScanner } from "../support/files/scanned-pages.ts"

const [folder = ".", pages = "2", wanted = "plain,skewed,noisy,dark,all"] = process.argv.slice(2)
const FAULTS: Readonly<Record<string, ScannerFaults>> = {
  plain: {},
  skewed: { skew: 2 },
  noisy: { noise: 24 },
  dark: { paper: 150, noise: 8 },
  turned: { turn: 90 },
  all: { skew: -1.2, noise: 16, paper: 205 }
}
/** A page with fewer words says little. */
const MIN_WORDS = 120
const THREADS = 1

const bag = (items: Iterable<string>): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1)
  return counts
}

/** Items of both, repetitions counted. */
const common = (a: Map<string, number>, b: Map<string, number>): number =>
  [...a].reduce((sum, [item, count]) => sum + Math.min(count, b.get(item) ?? 0), 0)

/** Words that have to be changed, added and left out. */
const distance = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): number => {
  let before = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (const [row, word] of a.entries()) {
    const next = [row + 1]
    for (const [at, other] of b.entries())
      next.push(
        Math.min((next[at] ?? 0) + 1, (before[at + 1] ?? 0) + 1, (before[at] ?? 0) + (word === other ? 0 : 1))
      )
    before = next
  }
  return before.at(-1) ?? 0
}

interface Score {
  letters: number
  lettersTruth: number
  lettersBoth: number
  words: number
  wrongInOrder: number
  lost: number
  pages: number
  poor: number
}
const zero = (): Score => ({
  letters: 0,
  lettersTruth: 0,
  lettersBoth: 0,
  words: 0,
  wrongInOrder: 0,
  lost: 0,
  pages: 0,
  poor: 0
})

const percent = (share: number): string => (share * 100).toFixed(1)
const shown = (score: Score): string =>
  [
    `letters F1 ${percent((2 * score.lettersBoth) / Math.max(1, score.letters + score.lettersTruth))}`,
    `words wrong or missing ${percent(score.lost / Math.max(1, score.words))} %`,
    `in order ${percent(score.wrongInOrder / Math.max(1, score.words))} %`,
    `${score.pages} pages, ${score.poor} said to be poor`
  ].join(", ")

const scratch = mkdtempSync(join(tmpdir(), "postlane-scans-"))
const disk = makeDiskObjects(scratch)
/** A key is a path here. */
const objects = Layer.succeed(FileObjects, { ...disk, localPath: (key) => Effect.succeed(key) })
const layers = ReadPages.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(layerPdf({ threads: 1 }), layerTesseract({ threads: THREADS }), objects))
)

const truthOf = Effect.fnUntraced(function* (path: string) {
  const sources = yield* PageSources
  const { pageCount } = yield* sources.facts(path)
  const open = yield* sources.open(path, { first: 0, end: Math.min(pageCount, 40) })
  const found: Array<{ readonly index: number; readonly words: ReadonlyArray<string> }> = []
  for (let index = 0; index < Math.min(pageCount, 40) && found.length < Number(pages); index++) {
    const page = yield* open.page(index)
    const { html, isScan } = yield* page.layout
    const words = htmlWords(html)
    if (isScan !== true && words.length >= MIN_WORDS) found.push({ index, words })
  }
  return found
}, Effect.scoped)

let recognised = 0
let milliseconds = 0
let processor = 0
let peak = 0

const scoreOf = Effect.fnUntraced(function* (path: string, faults: ScannerFaults, total: Score) {
  const truth = yield* truthOf(path)
  if (truth.length === 0) return undefined
  const pdf = yield* Pdf
  const pictures = yield* Effect.scoped(
    Effect.flatMap(pdf.open(path), ({ scan }) => Effect.forEach(truth, ({ index }) => scan(index)))
  )
  const file = join(scratch, "scan.pdf")
  writeFileSync(file, scannedPdf(pictures.map((picture) => throughScanner(picture, faults))))
  const [started, used] = [performance.now(), process.cpuUsage()]
  const read = yield* Effect.scoped(
    Effect.gen(function* () {
      const open = yield* (yield* PageSources).open(file, { first: 0, end: truth.length })
      return yield* Effect.forEach(truth, (_, index) =>
        Effect.flatMap(open.page(index), (page) => page.recognised)
      )
    })
  )
  milliseconds += performance.now() - started
  const { system, user } = process.cpuUsage(used)
  processor += (system + user) / 1_000_000
  recognised += truth.length
  peak = Math.max(peak, process.memoryUsage.rss())
  const own = zero()
  for (const [at, { words }] of truth.entries()) {
    const found = htmlWords(read[at]?.html ?? "")
    for (const score of [own, total]) {
      score.pages += 1
      score.poor += read[at]?.tier === "recognised" ? 0 : 1
      score.words += words.length
      score.wrongInOrder += distance(words, found)
      score.lost += words.length - common(bag(words), bag(found))
      score.letters += found.join("").length
      score.lettersTruth += words.join("").length
      score.lettersBoth += common(bag(words.join("")), bag(found.join("")))
    }
  }
  return own
})

const main = Effect.gen(function* () {
  for (const fault of wanted.split(",")) {
    const total = zero()
    for (const name of readdirSync(folder).filter((file) => file.endsWith(".pdf"))) {
      const score = yield* scoreOf(join(folder, name), FAULTS[fault] ?? {}, total).pipe(
        Effect.catch((error) => Effect.as(Effect.logWarning(`${name}: ${String(error)}`), undefined))
      )
      if (score !== undefined) console.log(`${fault} ${name}: ${shown(score)}`)
    }
    console.log(`${fault.toUpperCase()}: ${shown(total)}`)
  }
  console.log(
    `${recognised} pages, ${((recognised * 60_000) / milliseconds).toFixed(1)} a minute on one thread, ` +
      `${(processor / recognised).toFixed(1)} s of a processor each, ${(peak / 2 ** 20).toFixed(0)} MB at most`
  )
})

await Effect.runPromise(main.pipe(Effect.provide(layers)))
rmSync(scratch, { recursive: true })
