import { Context, type Effect, type Scope, type Stream } from "effect"

import type { LayoutOptions, LayoutPage } from "../../reader/model/layout-page.ts"
import type { LeftOut } from "../../reader/model/left-out.ts"
import type { DocumentFacts, FontFace, PageContent } from "../../reader/model/page-content.ts"
import type { PdfError, PageRange, SinglePage, Picture, ReadScan } from "../../reader/model/pdf-document.ts"
import type { GreyPicture } from "../../reader/model/recognised-text.ts"

/** An open document. Its streams are lazy, page by page. */
export interface PdfDocument {
  /** `fonts` is empty here: see {@link PdfDocument.fonts}. */
  readonly facts: DocumentFacts
  /** The fonts of the pages read so far, indexed by their runs' `font`; append-only. */
  readonly fonts: Effect.Effect<ReadonlyArray<FontFace>>
  readonly pages: (range: PageRange) => Stream.Stream<PageContent, PdfError>
  /**
   * Each page as a separate PDF, with all that it shows and no more; the structure tree is left out. With `words` each is checked
   * for words.
   */
  readonly split: (
    range: PageRange,
    options?: { readonly words?: boolean }
  ) => Stream.Stream<SinglePage, PdfError>
  /** The rendered page, at `dpi` or the resolution that {@link MAX_PICTURE_PIXELS} allows. */
  readonly render: (index: number, dpi: number) => Effect.Effect<Picture, PdfError>
  /**
   * The page's n-th image (`Drawing.index`), scaled down to {@link MAX_PICTURE_PIXELS}; null: no such image, or one too
   * large to decode.
   */
  readonly image: (page: number, index: number) => Effect.Effect<Picture | null, PdfError>
  /** Whether the page shows nothing. */
  readonly isBlank: (index: number) => Effect.Effect<boolean, PdfError>
  /** `isBlank` for each page of a range. */
  readonly blanks: (range: PageRange) => Stream.Stream<boolean, PdfError>
  /** The layout tier's pages, laid out in the reader; the pages of one range are laid out together. */
  readonly layout: (range: PageRange, options?: LayoutOptions) => Stream.Stream<LayoutPage, PdfError>
  /** The page as a picture to be read; its size is bounded as for `render`. */
  readonly scan: (index: number) => Effect.Effect<GreyPicture, PdfError>
  /** A page laid out with the words that were read from its picture; `scans` are its own and its neighbours'. */
  readonly layoutRead: (index: number, scans: ReadonlyArray<ReadScan>) => Effect.Effect<LayoutPage, PdfError>
  /** What it holds that its pages do not show; undefined: that cannot be read, which says nothing about the pages. */
  readonly leftOut: Effect.Effect<LeftOut | undefined>
}

/** Reads PDFs in separate threads: the caller's thread is not blocked. */
export class Pdf extends Context.Service<
  Pdf,
  {
    /**
     * Opens a file, which must not change until the scope closes. Reads only what is requested, never the whole file. A picture
     * (PNG, JPEG) is a document of one page that shows it, like a scan; it is not split.
     */
    readonly open: (path: string) => Effect.Effect<PdfDocument, PdfError, Scope.Scope>
  }
>()("postlane/ports/Pdf") {}
