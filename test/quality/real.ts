/** `node test/quality/real.ts FOLDER [LIMIT]`: for each PDF of a folder what axe finds and how much of the text layer is found. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"

import { coverageOf } from "../../src/domain/conversion/coverage.ts"
import { openBrowser } from "../support/browser.ts"
import { convert } from "./convert.ts"

const [folder = ".", limit = "40", keep] = process.argv.slice(2)
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
const RUN = `axe.run(document).then(({ violations, incomplete }) => {
  const told = (all) => all.map(({ id, nodes }) => id + " (" + nodes.length + "): " + nodes[0].html.slice(0, 200))
  return { violations: told(violations), undecided: told(incomplete) }
})`

const browser = await openBrowser()
const page = await browser.newPage({ viewport: { width: 320, height: 800 } })
let pages = 0
let milliseconds = { read: 0, laidOut: 0, assembled: 0 }
for (const name of readdirSync(folder).filter((file) => file.endsWith(".pdf"))) {
  try {
    const converted = await convert(join(folder, name), { limit: Number(limit) })
    const { share, missing } = coverageOf(converted.pages.map(({ text }) => text).join(" "), converted.html)
    pages += converted.pages.length
    milliseconds = {
      read: milliseconds.read + converted.read,
      laidOut: milliseconds.laidOut + converted.laidOut,
      assembled: milliseconds.assembled + converted.assembled
    }
    if (keep !== undefined) writeFileSync(join(keep, `${name}.html`), converted.html)
    await page.setContent(converted.html)
    await page.evaluate(axe)
    const found = await page.evaluate<{ violations: Array<string>; undecided: Array<string> }>(RUN)
    const wide = await page.evaluate<boolean>("document.documentElement.scrollWidth > innerWidth")
    console.log(
      name,
      `${converted.pages.length} pages${converted.tagged ? ", tagged" : ""}, text ${(share * 100).toFixed(1)} %`,
      missing.length === 0 ? "" : `missing: ${missing.slice(0, 8).join(" ")}`,
      wide ? "SCROLLS SIDEWAYS" : ""
    )
    for (const violation of found.violations) console.log("   violation:", violation)
    for (const undecided of found.undecided) console.log("   undecided:", undecided)
  } catch (error) {
    console.log(name, "FAILED", error)
  }
}
await browser.close()
const per = (of: number) => (of / Math.max(1, pages)).toFixed(2)
console.log(
  `${pages} pages; ms a page: read ${per(milliseconds.read)}, layout ${per(milliseconds.laidOut)}, assembly ${per(milliseconds.assembled)}`
)
