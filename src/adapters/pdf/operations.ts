import type { LayoutPage } from "../../domain/conversion/layout/layout-pages.ts"
import type { PageContent } from "../../domain/conversion/page-content.ts"
import type { Picture, SinglePage } from "../../ports/conversion/pdf.ts"
import { layoutOf } from "./content/layout.ts"
import type { OpenDocument } from "./pages/document.ts"
import { imageOfPage, isBlankPage, renderPage } from "./pages/render.ts"

/** What a worker thread can do with a page. A new operation is a line here and one in {@link OPERATIONS}. */
export interface Results {
  readonly pages: PageContent
  readonly split: SinglePage
  readonly render: Picture
  readonly image: Picture | null
  readonly blank: boolean
  readonly layout: LayoutPage
}
export type Operation = keyof Results

/** Each is asked page by page, in order. `end`: where the range that is asked for ends; `argument`: a figure of its own. */
export const OPERATIONS: {
  readonly [K in Operation]: (
    document: OpenDocument,
    index: number,
    end: number,
    argument: number
  ) => Results[K]
} = {
  pages: (document, index) => document.page(index),
  split: (document, index, end, words) => document.singlePage(index, end, words !== 0),
  render: (document, index, _end, dpi) => renderPage(document, index, dpi),
  image: (document, index, _end, image) => imageOfPage(document, index, image),
  blank: (document, index) => isBlankPage(document, index),
  layout: (document, index, end) => layoutOf(document, index, end)
}
