import type { Doubt } from "./doubt.ts"
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
  /** Where its evidence disagrees; absent: nowhere. */
  readonly doubts?: ReadonlyArray<Doubt>
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

/** How much of a document is read and kept for the layout of some of its pages. */
export interface LayoutPlan {
  /** The pages that are counted before any is laid out. */
  readonly counted: (pageCount: number) => ReadonlyArray<number>
  /** Most characters of counted pages that are kept until these are laid out, so that they need not be read twice. */
  readonly keptCharacters: number
  /** Most pages that are laid out together. */
  readonly together: number
  /** Bytes of the pictures of one page that go into its HTML. */
  readonly pictureBytes: number
}
