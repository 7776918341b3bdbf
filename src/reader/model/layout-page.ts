import type { ExplainedBlock } from "./explained.ts"

/** A page of the layout tier, or of that for tables of contents. */
export interface LayoutPage {
  readonly index: number
  readonly label: string
  /**
   * A `table-of-contents` has its entries as nested lists of links to the pages that they name. The text of `recognised` and
   * `poorly-recognised` pages was read from their pictures, the latter not well.
   */
  readonly tier: "layout" | "table-of-contents" | "recognised" | "poorly-recognised"
  /** A fragment, clean; see {@link writeBlocks}. */
  readonly html: string
  /** The text layer, running lines included, in the order of the content stream. */
  readonly text: string
  /** True when its text layer is unusable, so that its picture has to be read. */
  readonly isScan?: true
  /** True when its visible text is codes and not letters: without recognition it is no result. */
  readonly isRubble?: true
  /** As of {@link PageContent.hasWords}. */
  readonly hasWords?: boolean | undefined
  /** True when nothing on it is visible; undefined where that was not checked. */
  readonly isBlank?: boolean
  /** The reason for each block, where it was asked for. */
  readonly explained?: ReadonlyArray<ExplainedBlock>
}

/** What is asked of the layout of a document. */
export interface LayoutOptions {
  /** Running lines and page numbers are part of the result. */
  readonly keepsRunningLines: boolean
  /** True when pages are to give the reason for each block. */
  readonly explains?: boolean
}

export const USUAL_LAYOUT: LayoutOptions = { keepsRunningLines: false }
