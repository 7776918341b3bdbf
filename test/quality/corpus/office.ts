/** Documents of word processors, printed by LibreOffice: their truth is the document itself as pandoc reads it. */
import { execFileSync } from "node:child_process"
import { copyFileSync } from "node:fs"
import { extname, join } from "node:path"

import { bodyOf, classesOf, documentOf, type Element, likeHeading, rewritten, tag, textOf } from "./tree.ts"

/** Tags and bookmarks would tell the structure. */
const WITHOUT_STRUCTURE = `pdf:writer_pdf_Export:${JSON.stringify({
  UseTaggedPDF: { type: "boolean", value: "false" },
  ExportBookmarks: { type: "boolean", value: "false" }
})}`

/** Prints a document as FOLDER/NAME.pdf, and writes FOLDER/NAME.docx beside it: of `.odt`, pandoc loses the heads of tables. */
export const printOffice = (source: string, folder: string, name: string): void => {
  const copy = join(folder, `${name}${extname(source)}`)
  copyFileSync(source, copy)
  for (const format of [WITHOUT_STRUCTURE, ...(copy.endsWith(".docx") ? [] : ["docx"])])
    execFileSync("soffice", ["--headless", "--convert-to", format, "--outdir", folder, copy], {
      stdio: "ignore"
    })
}

const styleOf = (node: Element): string =>
  node.attrs.find(({ name }) => name === "data-custom-style")?.value ?? ""

/** Pandoc takes a title with what stands below it for facts about the document: this says them where they stood. */
const TEMPLATE = join(import.meta.dirname, "office.template")

/** In a table a heading's style is a cell's look, as bold is. */
const withoutCellHeadings = (inside: string): string =>
  inside.replaceAll(/<h[1-6]>/g, '<p class="like-heading">').replaceAll(/<\/h[1-6]>/g, "</p>")

/** Truth of a `.docx`; nothing where there is no heading and no table in it, so that there is nothing to compare. */
export const readOffice = (docx: string): string | undefined => {
  const html = execFileSync(
    "pandoc",
    ["--quiet", "-f", "docx+styles", "-t", "html", "--mathml", "--template", TEMPLATE, docx],
    { encoding: "utf8", maxBuffer: 1 << 28 }
  )
  const titled = /data-custom-style="Title"/.test(html)
  const body = rewritten(bodyOf(html), (node, inside) => {
    const level = /^h([1-5])$/.exec(node.tagName)?.[1]
    const style = styleOf(node)
    if (/^(?:TOC|Contents|toc|Table of Contents|Index) ?\w*/.test(style)) return ""
    if (style === "Title") return tag("h1", inside())
    // An empty line may have any style.
    if (level !== undefined && textOf(node).trim() === "") return inside()
    if (node.tagName === "table") return tag("table", withoutCellHeadings(inside()))
    if (level !== undefined && titled) return tag(`h${Number(level) + 1}`, inside())
    if (classesOf(node).includes("footnote-back")) return ""
    const like = likeHeading(node, inside)
    if (like !== undefined) return like
    return node.tagName === "math" &&
      node.attrs.some(({ name, value }) => name === "display" && value === "block")
      ? tag("div", inside(), 'role="math"')
      : undefined
  })
  return /<(?:h[1-6]|table)[\s>]/.test(body) ? documentOf("", body) : undefined
}
