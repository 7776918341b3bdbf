import { LAYOUT_PLAN } from "../../application/conversion/work/layout-plan.ts"
import type { LayoutOptions, LayoutPage } from "../../reader/model/layout-page.ts"
import type { LeftOut } from "../../reader/model/left-out.ts"
import type { PageContent } from "../../reader/model/page-content.ts"
import type { Picture, ReadScan, SinglePage } from "../../reader/model/pdf-document.ts"
import type { GreyPicture } from "../../reader/model/recognised-text.ts"
import type { OpenDocument } from "../../reader/sources/pdf/pages/document.ts"
import { layoutOf, layoutOfScan } from "../../reader/sources/pdf/pages/layout.ts"
import { imageOfPage, isBlankPage, renderPage, scanPage } from "../../reader/sources/pdf/pages/render.ts"

/** What a worker thread can do with a page. A new operation is a line here and one in {@link OPERATIONS}. */
export interface Results {
  readonly pages: PageContent
  readonly split: SinglePage
  readonly render: Picture
  readonly image: Picture | null
  readonly blank: boolean
  readonly layout: LayoutPage
  readonly scan: GreyPicture
  readonly layoutRead: LayoutPage
  /** Of the whole document; asked for as of its first page. */
  readonly leftOut: LeftOut
}
export type Operation = keyof Results

/** What an operation is given besides its page. */
interface Arguments {
  /** Words are checked for. */
  readonly split: boolean
  readonly render: { readonly dpi: number }
  readonly image: { readonly image: number }
  readonly layout: LayoutOptions
  readonly layoutRead: ReadonlyArray<ReadScan>
}
export type ArgumentOf<K extends Operation> = K extends keyof Arguments ? Arguments[K] : undefined

/** Each is asked page by page, in order. `end`: where the range that is asked for ends. */
export const OPERATIONS: {
  readonly [K in Operation]: (
    document: OpenDocument,
    index: number,
    end: number,
    argument: ArgumentOf<K>
  ) => Results[K]
} = {
  pages: (document, index) => document.page(index),
  split: (document, index, end, words) => document.singlePage(index, end, words),
  render: (document, index, _end, { dpi }) => renderPage(document, index, dpi),
  image: (document, index, _end, { image }) => imageOfPage(document, index, image),
  blank: (document, index) => isBlankPage(document, index),
  layout: (document, index, end, options) => layoutOf(document, index, end, LAYOUT_PLAN, options),
  scan: (document, index) => scanPage(document, index),
  layoutRead: (document, index, _end, scans) => layoutOfScan(document, index, scans),
  leftOut: (document) => document.leftOut()
}
