/**
 * `npm run reader:yield -- [FOLDER…] [--pages 20] [--rule ID]`: what each named rule of the reader changes. It lays out the first
 * pages of every PDF, those with tags once more without them, then again without each rule in turn, and counts the pages that come
 * out different and the blocks on these that do. Without a folder it takes the PDFs that the tests take.
 */
import { readdirSync } from "node:fs"
import { basename, join } from "node:path"
import { parseArgs } from "node:util"

import type { LayoutPage } from "../../src/reader/model/layout-page.ts"
import type { PageContent } from "../../src/reader/model/page-content.ts"
import { PdfError } from "../../src/reader/model/pdf-document.ts"
import { countPages, type LayoutInput, layoutPages } from "../../src/reader/pipeline.ts"
import { loadLibraries } from "../../src/reader/sources/pdf/engine/libraries.ts"
import { OpenDocument } from "../../src/reader/sources/pdf/pages/document.ts"
import { NO_STATISTICS } from "../../src/reader/stages/profile/statistics.ts"
import { foreignPdfs } from "../support/files/pdf-files.ts"
import { RULES, withoutRule } from "../support/reader-rules.ts"
import { untagged } from "./convert.ts"

/** What a rule changed. */
interface Yield {
  pages: number
  blocks: number
  /** The first page that it changed. */
  first: string
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { pages: { type: "string", default: "20" }, rule: { type: "string", multiple: true } }
})
const limit = Number(values.pages)
const rules = values.rule ?? RULES
const yields = new Map(rules.map((rule): [string, Yield] => [rule, { pages: 0, blocks: 0, first: "" }]))

const paths = positionals.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".pdf"))
    .map((name) => join(folder, name))
)

/** Pages of a document that can be read; a later one may decide how an earlier one's letters are spaced. */
const readable = (document: OpenDocument, count: number): ReadonlyArray<PageContent> =>
  Array.from({ length: count }, (_, index) => index).flatMap((index) => {
    try {
      return [document.page(index)]
    } catch (error) {
      if (error instanceof PdfError) return []
      throw error
    }
  })

/** How many blocks of one page the other does not have. */
const differing = (page: LayoutPage, other: LayoutPage | undefined): number => {
  const left = new Map<string, number>()
  const keyOf = ({ kind, text }: { readonly kind: string; readonly text: string }) => `${kind} ${text}`
  for (const block of other?.explained ?? []) left.set(keyOf(block), (left.get(keyOf(block)) ?? 0) + 1)
  return (page.explained ?? []).filter((block) => {
    const count = left.get(keyOf(block)) ?? 0
    left.set(keyOf(block), count - 1)
    return count <= 0
  }).length
}

let laidOut = 0
const compare = (name: string, input: LayoutInput) => {
  const made = layoutPages(input)
  laidOut += made.length
  for (const [rule, found] of yields) {
    const others = withoutRule(rule, () => layoutPages(input))
    for (const [at, page] of made.entries()) {
      if (page.html === others[at]?.html) continue
      found.pages += 1
      found.blocks += differing(page, others[at])
      found.first ||= `${name} p. ${page.index + 1}`
    }
  }
}

const libraries = await loadLibraries()
for (const path of paths.length > 0 ? paths : foreignPdfs("real")) {
  let document: OpenDocument | undefined
  try {
    document = new OpenDocument(libraries, path)
    const { facts } = document
    const pages = readable(document, Math.min(limit, facts.pageCount))
    const fonts = document.fonts.faces
    const others = facts.pageCount > pages.length ? countPages(pages, fonts) : NO_STATISTICS
    const options = { keepsRunningLines: false, explains: true }
    compare(basename(path), { facts, fonts, pages, others, options })
    if (pages.some(({ structure }) => structure.length > 0))
      compare(`${basename(path)} without tags`, {
        facts: { ...facts, outline: [] },
        fonts,
        pages: pages.map(untagged),
        others,
        options
      })
  } catch (error) {
    if (!(error instanceof PdfError)) throw error
    console.log(`${basename(path)}: ${error.message}`)
  } finally {
    document?.close()
  }
}
console.log(`${laidOut} pages`)
for (const [rule, { blocks, first, pages }] of [...yields].sort(([, a], [, b]) => a.pages - b.pages))
  console.log(
    `${rule.padEnd(32)} ${String(pages).padStart(6)} pages ${String(blocks).padStart(7)} blocks  ${first}`
  )
