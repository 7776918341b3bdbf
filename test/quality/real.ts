/** `node test/quality/real.ts FOLDER [LIMIT]`: for each PDF of a folder what axe finds, light and dark, each broad and at 320 px, and how much of the text layer is found. */
import { readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { coverageOf, htmlWords, wordsOf } from "../../src/domain/cascade/coverage.ts"
import { EVERY_LOOK, findings } from "../support/processes/axe.ts"
import { openBrowser } from "../support/processes/browser.ts"
import { convert } from "./convert.ts"

const [folder = ".", limit = "40", keep] = process.argv.slice(2)

/** Share of the layer's letters and digits that are found, wherever words were cut or put together. */
const lettersFound = (layer: string, html: string): number => {
  const left = new Map<string, number>()
  for (const letter of htmlWords(html).join("")) left.set(letter, (left.get(letter) ?? 0) + 1)
  const wanted = wordsOf(layer).join("")
  let found = 0
  for (const letter of wanted) {
    const count = left.get(letter) ?? 0
    if (count > 0) found += letter.length
    left.set(letter, count - 1)
  }
  return wanted === "" ? 1 : found / wanted.length
}

const browser = await openBrowser()
const page = await browser.newPage()
let pages = 0
let milliseconds = { read: 0, laidOut: 0, assembled: 0 }
for (const name of readdirSync(folder).filter((file) => file.endsWith(".pdf"))) {
  try {
    const converted = await convert(join(folder, name), { limit: Number(limit) })
    const layer = converted.pages.map(({ text }) => text).join(" ")
    const { share, missing } = coverageOf(layer, converted.html)
    const letters = lettersFound(layer, converted.html)
    pages += converted.pages.length
    milliseconds = {
      read: milliseconds.read + converted.read,
      laidOut: milliseconds.laidOut + converted.laidOut,
      assembled: milliseconds.assembled + converted.assembled
    }
    if (keep !== undefined) writeFileSync(join(keep, `${name}.html`), converted.html)
    await page.setContent(converted.html)
    const found: Array<string> = []
    let wide = false
    for (const [colorScheme, viewport] of EVERY_LOOK) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize(viewport)
      const { undecided, violations } = await findings(page)
      found.push(
        ...violations.map((one) => `   violation, ${colorScheme}, ${viewport.width} px: ${one}`),
        ...undecided.map((one) => `   undecided, ${colorScheme}, ${viewport.width} px: ${one}`)
      )
      wide ||= await page.evaluate<boolean>("document.documentElement.scrollWidth > innerWidth")
    }
    console.log(
      name,
      `${converted.pages.length} pages${converted.tagged ? ", tagged" : ""}, words ${(share * 100).toFixed(1)} %, letters ${(letters * 100).toFixed(1)} %`,
      missing.length === 0 ? "" : `missing: ${missing.slice(0, 8).join(" ")}`,
      wide ? "SCROLLS SIDEWAYS" : ""
    )
    for (const line of found) console.log(line)
  } catch (error) {
    console.log(name, "FAILED", error)
  }
}
await browser.close()
const per = (of: number) => (of / Math.max(1, pages)).toFixed(2)
console.log(
  `${pages} pages; ms a page: read ${per(milliseconds.read)}, layout ${per(milliseconds.laidOut)}, assembly ${per(milliseconds.assembled)}`
)
