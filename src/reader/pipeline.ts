import { explainBlocks } from "./explain.ts"
import type { Block } from "./model/block.ts"
import type { Doubt } from "./model/doubt.ts"
import { type HtmlNode, serialize } from "./model/html-tree.ts"
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
import { doubtsOf } from "./stages/doubt/doubts.ts"
import { analyse, analysePages, type PageAnalysis } from "./stages/lines/analysis.ts"
import { withOneTitle } from "./stages/page/front-matter.ts"
import type { PageContext } from "./stages/page/page-context.ts"
import { untaggedBlocks } from "./stages/page/page.ts"
import { knownWords } from "./stages/profile/known-words.ts"
import { outlineOf } from "./stages/profile/outline.ts"
import { profileOf } from "./stages/profile/profile.ts"
import { countPage, mergeStatistics, type PageStatistics } from "./stages/profile/statistics.ts"
import { taggedBlocks } from "./stages/tagged/tagged.ts"
import { writeBlocks } from "./stages/write/write-blocks.ts"

/** The input for laying out a document's pages. */
export interface LayoutInput {
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

/** The words of a page's runs, in the order of the content stream; hyphenated words are joined. */
const textLayer = ({ runs }: PageContent): string =>
  runs.map(({ hyphenated, text }) => (hyphenated ? text : `${text} `)).join("")

/** A page and its blocks. */
interface PageBlocks {
  readonly analysis: PageAnalysis
  readonly index: number
  /** The page is a table of contents as a whole. */
  readonly isContents: boolean
  /** What read the blocks: the page's tags, or its geometry. */
  readonly stage: "tags" | "blocks"
  readonly blocks: ReadonlyArray<Block>
  /** Where its evidence disagrees. */
  readonly doubts: ReadonlyArray<Doubt>
}

/** A page whose HTML is a tree; the places of its pictures are still empty. */
export interface PageTree extends Omit<LayoutPage, "html"> {
  readonly nodes: ReadonlyArray<HtmlNode>
}

/** A chunk of pages on its way from runs of text to HTML. */
interface PipelineState {
  readonly input: LayoutInput & { readonly options: LayoutOptions }
  /** True when the document has pages outside the chunk. */
  readonly hasMore: boolean
  readonly analyses: ReadonlyArray<PageAnalysis>
  readonly context: PageContext
  readonly pages: ReadonlyArray<PageBlocks>
  readonly trees: ReadonlyArray<PageTree>
}

/** A step of the pipeline. */
interface Stage {
  readonly id: string
  readonly run: (state: PipelineState) => PipelineState
}

const withBlocks = (
  state: PipelineState,
  change: (page: PageBlocks) => ReadonlyArray<Block>
): PipelineState => ({
  ...state,
  pages: state.pages.map((page) => ({ ...page, blocks: change(page) }))
})

/** Counts the pages and derives the document's profile: text size, heading levels, running lines. */
const withProfile = (state: PipelineState): PipelineState => {
  const { analyses, input } = state
  const counted = new Set(input.others.indexes)
  const uncounted = analyses.filter(({ page }) => !counted.has(page.index))
  const profile = profileOf(mergeStatistics([input.others, ...uncounted.map(countPage)]))
  const outline = outlineOf(input.facts.outline, analyses, profile)
  return { ...state, context: { fonts: input.fonts, profile, outline, words: knownWords(analyses) } }
}

/** Reads the blocks of each page: by its tags, or else by its geometry. */
const readBlocks = (state: PipelineState): PipelineState => ({
  ...state,
  pages: state.analyses.map((analysis) => {
    const isContents = isContentsPage(analysis)
    const tagged = taggedBlocks(analysis, state.context)
    const blocks = tagged ?? untaggedBlocks(analysis, state.context, isContents)
    const stage = tagged === undefined ? "blocks" : "tags"
    const doubts = doubtsOf({ analysis, blocks, byTags: tagged !== undefined, isContents })
    return { analysis, index: analysis.page.index, isContents, stage, blocks, doubts }
  })
})

/** Sets lists of contents apart, and links their entries to the pages that they name. */
const linkContents = (state: PipelineState): PipelineState => {
  const { facts } = state.input
  const targets = contentsTargets(facts.pageCount, facts.outline, state.context.profile)
  return withBlocks(state, ({ blocks, isContents }) =>
    withContentsApart(blocks, isContents).flatMap((block) =>
      isContents || block.kind === "contents" ? withContentsLinks([block], targets) : [block]
    )
  )
}

/** Adds running lines: all where they are asked for, else those that a whole document says once. */
const addRunningLines = (state: PipelineState): PipelineState => {
  const { analyses, context, hasMore, input } = state
  const once = hasMore ? undefined : saidOnce(analyses, context.profile)
  return withBlocks(state, ({ analysis, blocks }) => {
    const kept = input.options.keepsRunningLines ? runningNotes(analysis, context) : once?.get(analysis)
    return kept === undefined ? blocks : [...kept.head, ...blocks, ...kept.foot]
  })
}

/** Writes the tree of each page. */
const write = (state: PipelineState): PipelineState => {
  const places = placesOf(state.pages, state.hasMore)
  return {
    ...state,
    trees: state.pages.map(
      ({ analysis: { page, stacked, turn }, blocks, doubts, index, isContents, stage }) => ({
        index,
        label: page.label,
        tier: isContents ? "table-of-contents" : "layout",
        nodes: writeBlocks(blocks, places, { turn, stacked: stacked ? page.height : undefined }),
        text: textLayer(page),
        hasWords: page.hasWords,
        ...(doubts.length > 0 && { doubts }),
        ...(state.input.options.explains === true && { explained: explainBlocks(blocks, index, stage) })
      })
    )
  }
}

/** The stages of the reader, in their order. Those of a single page are in `stages/page`: `DETECTORS` and `BLOCK_STAGES`. */
export const STAGES: ReadonlyArray<Stage> = [
  {
    id: "lines",
    run: (state) => ({
      ...state,
      analyses: analysePages(state.input.pages, state.input.fonts)
    })
  },
  { id: "profile", run: withProfile },
  { id: "blocks", run: readBlocks },
  { id: "contents", run: linkContents },
  { id: "running-lines", run: addRunningLines },
  { id: "one-title", run: (state) => ({ ...state, pages: withOneTitle(state.pages) }) },
  { id: "references", run: (state) => ({ ...state, pages: withReferences(state.pages, state.hasMore) }) },
  { id: "write", run: write }
]

/** Lays out a chunk of pages. Linear in their content, but for sorting. */
export const layoutTrees = ({ options = USUAL_LAYOUT, ...input }: LayoutInput): ReadonlyArray<PageTree> => {
  const profile = profileOf(input.others)
  const state: PipelineState = {
    input: { ...input, options },
    hasMore: input.facts.pageCount > input.pages.length,
    analyses: [],
    context: { fonts: input.fonts, profile, outline: outlineOf([], [], profile), words: knownWords([]) },
    pages: [],
    trees: []
  }
  return STAGES.reduce((before, { run }) => run(before), state).trees
}

/** The same as text, without pictures. */
export const layoutPages = (input: LayoutInput): ReadonlyArray<LayoutPage> =>
  layoutTrees(input).map(({ nodes, ...page }) => ({ ...page, html: serialize(nodes) }))
