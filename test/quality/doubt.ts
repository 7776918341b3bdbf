/**
 * `node test/quality/doubt.ts FOLDER [--half unseen] [--part development|held]`: how often doubted pages are wrong, and wrong pages doubted
 * (DOC-28), on the documents of `truth.ts`: of the marked pages the part that is wrong (aim: half), and of the wrong ones the part that is
 * marked (aim: half). Rules are made on the part `development`, and judged by the part `held`, which nobody looks into.
 * Both definitions of `wrong-pages.ts` are counted: pages that are wrong for who reads them, and those that differ to the letter.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"

import { convert } from "./convert.ts"
import { sha256 } from "./corpus/tree.ts"
import { type Counts, NONE, precision, recall, sum } from "./measures.ts"
import { readContent } from "./score.ts"
import { pageDiffers, pageIsWrong } from "./wrong-pages.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { half: { type: "string" }, part: { type: "string" } }
})
const folder = positionals[0] ?? "."
const foldersOf = (of: string): ReadonlyArray<string> => (existsSync(of) ? readdirSync(of).sort() : [])

/** A file's part, by the hash of its name. */
const partOf = (file: string): string =>
  Number.parseInt(sha256(file).slice(0, 2), 16) % 2 === 0 ? "development" : "held"

/** A page without its lists of contents, which truths leave out. */
const withoutContents = (html: string): string => html.replaceAll(/<nav>[^]*?<\/nav>/g, "")

/** Of all pages, of those of each corpus, and of those with each reason: by the one definition, and by the other. */
const wrongPages = new Map<string, Counts>()
const differing = new Map<string, Counts>()
const pages = new Map<string, number>()
const add = (to: Map<string, Counts>, key: string, one: Counts) => to.set(key, sum(to.get(key) ?? NONE, one))

for (const half of values.half === undefined ? ["seen", "unseen"] : [values.half])
  for (const kind of foldersOf(join(folder, half)))
    for (const file of foldersOf(join(folder, half, kind)).filter((one) => one.endsWith(".pdf"))) {
      const part = partOf(file)
      if (values.part !== undefined && part !== values.part) continue
      const path = join(folder, half, kind, file)
      const truth = readContent(readFileSync(path.replace(/pdf$/, "truth.html"), "utf8"))
      const [isWrong, differs] = [pageIsWrong(truth), pageDiffers(truth)]
      const corpus = kind.replace(/-.*/, "")
      for (const { doubts = [], html, index } of (await convert(path)).pages) {
        const content = readContent(withoutContents(html))
        const marked = doubts.length > 0 ? 1 : 0
        const [wrong, other] = [isWrong(content) ? 1 : 0, differs(content) ? 1 : 0]
        if (wrong !== marked && part === "development")
          console.log(
            `${kind} ${file} page ${index + 1}: ${marked ? doubts.join(", ") : "wrong, not marked"}`
          )
        for (const key of [part, `${part}, ${corpus}`]) {
          pages.set(key, (pages.get(key) ?? 0) + 1)
          add(wrongPages, key, { truth: wrong, made: marked, found: wrong * marked })
          add(differing, key, { truth: other, made: marked, found: other * marked })
        }
        for (const reason of doubts)
          add(wrongPages, `${part}: ${reason}`, { truth: 0, made: 1, found: wrong })
      }
    }

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`
const said = (one: Counts): string =>
  `${one.truth} wrong, ${one.made} marked, ${one.found} both: ${percent(precision(one))} of the marked ones are wrong, ${percent(recall(one))} of the wrong ones marked`

for (const [key, one] of [...wrongPages].sort(([a], [b]) => a.localeCompare(b)))
  if (key.includes(":")) console.log(`${key}: ${one.made} marked, ${percent(precision(one))} of them wrong`)
  else {
    console.log(`${key}: ${pages.get(key)} pages, ${said(one)}`)
    console.log(`${key}, to the letter: ${said(differing.get(key) ?? NONE)}`)
  }
