/**
 * `node test/quality/generated.ts [EACH] [FROM]`: scores on documents whose truth is known, printed with tags and without.
 * Where EACH is a folder, on the HTML files in it.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { openBrowser } from "../support/processes/browser.ts"
import { convert } from "./convert.ts"
import { type Sample, samples } from "./documents.ts"
import { headingScore, readingOrderScore, tableCounts, readContent } from "./score.ts"

const [each = "4", from = "1", keep] = process.argv.slice(2)
const folder = keep ?? mkdtempSync(join(tmpdir(), "postlane-quality-"))
const browser = await openBrowser()
const sums = new Map<
  string,
  { order: number; headings: number; found: number; made: number; truth: number; count: number }
>()
const written = (of: string): ReadonlyArray<Sample> =>
  readdirSync(of)
    .filter((file) => file.endsWith(".html"))
    .map((file, at) => ({
      name: file.replace(/\.html$/, ""),
      kind: "manual",
      header: at % 2 === 0,
      html: readFileSync(join(of, file), "utf8")
    }))
for (const sample of existsSync(each) ? written(each) : samples(Number(each), Number(from))) {
  const page = await browser.newPage()
  await page.setContent(sample.html)
  const path = join(folder, `${sample.name}.pdf`)
  const options = {
    format: "A4",
    displayHeaderFooter: sample.header,
    headerTemplate: `<div style="font-size:8px;width:100%;text-align:center">${sample.name} – running header</div>`,
    footerTemplate: `<div style="font-size:8px;width:100%;text-align:center"><span class="pageNumber"></span></div>`,
    margin: { top: "20mm", bottom: "20mm", left: "18mm", right: "18mm" }
  }
  const truth = readContent(sample.html)
  for (const ignoreTags of [false, true]) {
    // Marks of content cut its words into runs even where nobody reads the structure: it is printed anew without them.
    writeFileSync(path, await page.pdf({ ...options, tagged: !ignoreTags }))
    const converted = await convert(path, { ignoreTags })
    if (keep !== undefined)
      writeFileSync(`${path}.${ignoreTags ? "untagged" : "tagged"}.html`, converted.html)
    const made = readContent(converted.html)
    const order = readingOrderScore(truth, made)
    const headings = headingScore(truth, made)
    const tables = tableCounts(truth, made)
    const key = `${sample.kind} ${ignoreTags ? "untagged" : "tagged"}`
    const sum = sums.get(key) ?? { order: 0, headings: 0, found: 0, made: 0, truth: 0, count: 0 }
    sums.set(key, {
      order: sum.order + order,
      headings: sum.headings + headings,
      found: sum.found + tables.found,
      made: sum.made + tables.made,
      truth: sum.truth + tables.truth,
      count: sum.count + 1
    })
    console.log(
      `${sample.name} ${ignoreTags ? "untagged" : "tagged  "} order ${order.toFixed(3)} headings ${headings.toFixed(3)} tables ${tables.found} found, ${tables.made} made, ${tables.truth} true`
    )
  }
  await page.close()
}
await browser.close()
if (keep === undefined) rmSync(folder, { recursive: true })
for (const [key, { count, found, headings, made, order, truth }] of [...sums].sort(([a], [b]) =>
  a.localeCompare(b)
)) {
  const f1 = (2 * found) / Math.max(1, made + truth)
  console.log(
    `${key}: ${count} documents, reading order ${(order / count).toFixed(3)}, headings ${(headings / count).toFixed(3)}, tables F1 ${f1.toFixed(3)} (precision ${(found / Math.max(1, made)).toFixed(3)}, recall ${(found / Math.max(1, truth)).toFixed(3)})`
  )
}
