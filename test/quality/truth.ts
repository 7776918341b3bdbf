/**
 * `node test/quality/truth.ts FOLDER [--class papers] [--half unseen] [--only NAME] [--each] [--keep DIR]`: how near results are to
 * truths that nobody here wrote, in Markdown tables a class. `corpus/gather.ts` fetches FOLDER; results of other converters stand in
 * FOLDER/peers/PEER/CLASS/NAME.html (`corpus/peers.ts`).
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"

import { convert } from "./convert.ts"
import {
  type Counts,
  f1,
  figureCounts,
  formulaCounts,
  formulasAsTables,
  headingCounts,
  NONE,
  precision,
  recall,
  sum,
  wordCounts
} from "./measures.ts"
import {
  type Content,
  headingScore,
  readContent,
  readingOrderScore,
  tableCounts,
  withoutLikeHeadings
} from "./score.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    class: { type: "string" },
    half: { type: "string" },
    only: { type: "string" },
    keep: { type: "string" },
    each: { type: "boolean", default: false }
  }
})
const folder = positionals[0] ?? "."

/** What is summed over documents: scores are means, counts are added. */
interface Score {
  readonly documents: number
  readonly order: number
  readonly structure: number
  readonly headings: Counts
  readonly tables: Counts
  readonly words: Counts
  readonly figures: Counts
  readonly formulas: Counts
  readonly formulasAsTables: number
}

const score = (truth: Content, all: Content): Score => {
  const made = withoutLikeHeadings(truth, all)
  return {
    documents: 1,
    order: readingOrderScore(truth, made),
    structure: headingScore(truth, made),
    headings: headingCounts(truth, made),
    tables: tableCounts(truth, made),
    words: wordCounts(truth, made),
    figures: figureCounts(truth, made),
    formulas: formulaCounts(truth, made),
    formulasAsTables: formulasAsTables(truth, made)
  }
}

const EMPTY: Score = {
  documents: 0,
  order: 0,
  structure: 0,
  headings: NONE,
  tables: NONE,
  words: NONE,
  figures: NONE,
  formulas: NONE,
  formulasAsTables: 0
}

const added = (a: Score, b: Score): Score => ({
  documents: a.documents + b.documents,
  order: a.order + b.order,
  structure: a.structure + b.structure,
  headings: sum(a.headings, b.headings),
  tables: sum(a.tables, b.tables),
  words: sum(a.words, b.words),
  figures: sum(a.figures, b.figures),
  formulas: sum(a.formulas, b.formulas),
  formulasAsTables: a.formulasAsTables + b.formulasAsTables
})

const short = (value: number): string => value.toFixed(3).replace(/^0/, "")
const rates = (counts: Counts): string =>
  counts.truth === 0 ? "–" : `${short(f1(counts))} (${short(precision(counts))}, ${short(recall(counts))})`

const COLUMNS =
  "NID | MHS | heading F1 (P, R) | tables F1 (P, R) | word F1 | completeness | figures F1 (P, R) | formulas F1 (P, R) | formulas as tables"

const row = (name: string, one: Score): string =>
  `| ${[
    name,
    one.documents,
    short(one.order / Math.max(1, one.documents)),
    short(one.structure / Math.max(1, one.documents)),
    rates(one.headings),
    rates(one.tables),
    short(f1(one.words)),
    short(recall(one.words)),
    rates(one.figures),
    rates(one.formulas),
    one.formulasAsTables
  ].join(" | ")} |`

const foldersOf = (of: string): ReadonlyArray<string> => (existsSync(of) ? readdirSync(of).sort() : [])
const peers = foldersOf(join(folder, "peers"))
const sums = new Map<string, Score>()
const add = (key: string, one: Score) => sums.set(key, added(sums.get(key) ?? EMPTY, one))

for (const half of values.half === undefined ? ["seen", "unseen"] : [values.half])
  for (const kind of foldersOf(join(folder, half)).filter((one) => one.startsWith(values.class ?? ""))) {
    console.log(`\n## ${kind}, ${half}\n`)
    console.log(`| | documents | ${COLUMNS} |\n|${"---|".repeat(11)}`)
    sums.clear()
    const names = foldersOf(join(folder, half, kind)).filter((file) => file.endsWith(".pdf"))
    for (const file of names.filter((one) => one.includes(values.only ?? ""))) {
      const name = file.replace(/\.pdf$/, "")
      const path = join(folder, half, kind, name)
      const truth = readContent(readFileSync(`${path}.truth.html`, "utf8"))
      const { html } = await convert(`${path}.pdf`)
      if (values.keep !== undefined) {
        mkdirSync(join(values.keep, kind), { recursive: true })
        writeFileSync(join(values.keep, kind, `${name}.html`), html)
      }
      const ours = score(truth, readContent(html))
      add("Postlane", ours)
      if (values.each) console.log(row(name, ours))
      for (const peer of peers) {
        const theirs = join(folder, "peers", peer, kind, `${name}.html`)
        if (existsSync(theirs)) add(peer, score(truth, readContent(readFileSync(theirs, "utf8"))))
      }
    }
    for (const [name, total] of sums) console.log(row(name, total))
  }
