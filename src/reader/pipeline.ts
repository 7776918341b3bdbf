import { type LayoutPage, type LayoutOptions, USUAL_LAYOUT } from "./model/layout-page.ts"
import type { DocumentFacts, FontFace, PageContent } from "./model/page-content.ts"
import {
  contentsTargets,
  isContentsPage,
  withContentsApart,
  withContentsLinks
} from "./stages/blocks/contents.ts"
import { placesOf } from "./stages/document/places.ts"
import { withReferences } from "./stages/document/references.ts"
import { runningNotes, saidOnce } from "./stages/document/running-notes.ts"
import { analyse, type PageAnalysis } from "./stages/lines/analysis.ts"
import { withOneTitle } from "./stages/page/front-matter.ts"
import { untaggedBlocks } from "./stages/page/page.ts"
import { outlineOf } from "./stages/profile/outline.ts"
import { profileOf } from "./stages/profile/profile.ts"
import { countPage, mergeStatistics, type PageStatistics } from "./stages/profile/statistics.ts"
import { taggedBlocks } from "./stages/tagged/tagged.ts"
import { withTurn, writeBlocks } from "./stages/write/write-blocks.ts"

/** The context for laying out a document's pages. */
interface LayoutInput {
  readonly facts: DocumentFacts
  /** The fonts that the pages' runs index. */
  readonly fonts: ReadonlyArray<FontFace>
  readonly pages: ReadonlyArray<PageContent>
  /** Counted over a sample of the document, which may include some of these pages; `NO_STATISTICS` where these are all pages. */
  readonly others: PageStatistics
  readonly options?: LayoutOptions
}

/** Counts pages, for the layout of other pages of their document. */
export const countPages = (
  pages: ReadonlyArray<PageContent>,
  fonts: ReadonlyArray<FontFace>
): PageStatistics => mergeStatistics(pages.map((page) => countPage(analyse(page, fonts))))

/** Pages to count before a long document is laid out in chunks: pairs of neighbours, spread evenly. */
export const samplePages = (pageCount: number, size = 40): ReadonlyArray<number> => {
  if (pageCount <= size) return Array.from({ length: pageCount }, (_, index) => index)
  const pairs = Math.floor(size / 2)
  return Array.from({ length: pairs }, (_, pair) =>
    Math.floor((pair * (pageCount - 2)) / Math.max(1, pairs - 1))
  ).flatMap((first) => [first, first + 1])
}

/** The words of a page's runs, in the order of the content stream; hyphenated words are joined. */
const textLayer = ({ runs }: PageContent): string =>
  runs.map(({ hyphenated, text }) => (hyphenated ? text : `${text} `)).join("")

/** Lays out a chunk of pages. Linear in what is on them, but for sorting. */
export const layoutPages = ({
  facts,
  fonts,
  options = USUAL_LAYOUT,
  others,
  pages
}: LayoutInput): ReadonlyArray<LayoutPage> => {
  const analyses = pages.map((page): PageAnalysis => analyse(page, fonts))
  const counted = new Set(others.indexes)
  const uncounted = analyses.filter(({ page }) => !counted.has(page.index))
  const profile = profileOf(mergeStatistics([others, ...uncounted.map(countPage)]))
  const context = { fonts, profile, outline: outlineOf(facts.outline, analyses, profile) }
  const contents = new Set(analyses.filter(isContentsPage))
  const targets = contentsTargets(facts.pageCount, facts.outline, profile)
  const once = facts.pageCount === pages.length ? saidOnce(analyses, profile) : undefined
  const read = analyses.map((analysis) => {
    const isContents = contents.has(analysis)
    const blocks = taggedBlocks(analysis, context) ?? untaggedBlocks(analysis, context, isContents)
    const linked = withContentsApart(blocks, isContents).flatMap((block) =>
      isContents || block.kind === "contents" ? withContentsLinks([block], targets) : [block]
    )
    const kept = options.keepsRunningLines ? runningNotes(analysis, context) : once?.get(analysis)
    return {
      analysis,
      index: analysis.page.index,
      isContents,
      blocks: kept === undefined ? linked : [...kept.head, ...linked, ...kept.foot]
    }
  })
  const more = facts.pageCount > pages.length
  const laidOut = withReferences(withOneTitle(read), more)
  const places = placesOf(laidOut, more)
  return laidOut.map(({ analysis: { page, turn }, blocks, index, isContents }) => ({
    index,
    label: page.label,
    tier: isContents ? "table-of-contents" : "layout",
    html: withTurn(writeBlocks(blocks, places), turn),
    text: textLayer(page),
    hasWords: page.hasWords
  }))
}
