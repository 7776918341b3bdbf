import { readFileSync, writeFileSync } from "node:fs"

import { getDocument } from "pdfjs-dist/legacy/build/pdf.mjs"

import { passes } from "./passes.ts"

/** A process that has bare pdf.js tell the text of a document, page by page, without any look at its layout. */
const [path = "", target = "", times = "1"] = process.argv.slice(2)

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

console.log(
  JSON.stringify(
    await passes(Number(times), async () => {
      const loading = getDocument({ data: new Uint8Array(readFileSync(path)), verbosity: 0 })
      const document = await loading.promise
      const pages: Array<string> = []
      for (let number = 1; number <= document.numPages; number++) {
        const page = await document.getPage(number)
        const { items } = await page.getTextContent()
        const text = items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : "")).join("")
        pages.push(`<p>${escaped(text)}</p>\n`)
        page.cleanup()
      }
      await loading.destroy()
      writeFileSync(target, pages.join(""))
    })
  )
)
