/**
 * `node test/quality/doubt.ts FOLDER [--half unseen]`: how often doubted pages are wrong, and wrong pages doubted (DOC-28), on the documents of
 * `truth.ts`: of the marked pages the part that is wrong (aim: half), and of the wrong ones the part that is marked (aim: half).
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"

import { convert } from "./convert.ts"
import { type Counts, NONE, pageIsWrong, precision, recall, sum } from "./measures.ts"
import { readContent } from "./score.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { half: { type: "string" } }
})
const folder = positionals[0] ?? "."
const foldersOf = (of: string): ReadonlyArray<string> => (existsSync(of) ? readdirSync(of).sort() : [])

/** A page without its lists of contents, which truths leave out. */
const withoutContents = (html: string): string => html.replaceAll(/<nav>[^]*?<\/nav>/g, "")

/** Of all pages, and of those with each reason. */
const counts = new Map<string, Counts>()
const add = (key: string, one: Counts) => counts.set(key, sum(counts.get(key) ?? NONE, one))
let pages = 0

for (const half of values.half === undefined ? ["seen", "unseen"] : [values.half])
  for (const kind of foldersOf(join(folder, half)))
    for (const file of foldersOf(join(folder, half, kind)).filter((one) => one.endsWith(".pdf"))) {
      const path = join(folder, half, kind, file)
      const truth = readContent(readFileSync(path.replace(/pdf$/, "truth.html"), "utf8"))
      const isWrong = pageIsWrong(truth)
      const converted = await convert(path)
      pages += converted.pages.length
      for (const { doubts = [], html, index } of converted.pages) {
        const wrong = isWrong(readContent(withoutContents(html))) ? 1 : 0
        const marked = doubts.length > 0 ? 1 : 0
        if (wrong !== marked)
          console.log(
            `${kind} ${file} page ${index + 1}: ${marked ? doubts.join(", ") : "wrong, not marked"}`
          )
        add("all", { truth: wrong, made: marked, found: wrong * marked })
        for (const reason of doubts) add(reason, { truth: 0, made: 1, found: wrong })
      }
    }

for (const [reason, one] of counts)
  console.log(
    `${reason}: ${one.made} of ${pages} pages marked, ${(100 * precision(one)).toFixed(0)} % of them wrong${reason === "all" ? `; ${one.truth} wrong, ${(100 * recall(one)).toFixed(0)} % of them marked` : ""}`
  )
