import { Context, Data, type Effect, type Scope, type Stream } from "effect"

import type { LayoutOptions, LayoutPage } from "../../domain/conversion/layout/layout-pages.ts"
import type { LeftOut } from "../../domain/conversion/left-out.ts"
import type { DocumentFacts, FontFace, PageContent } from "../../domain/conversion/page-content.ts"
import type { GreyPicture, RecognisedText } from "../../domain/conversion/recognition/recognised-text.ts"

/**
 * Why a document, or a page of it, cannot be read:
 * - `encrypted`: it opens with a password only (an empty one is tried);
 * - `broken`: not a PDF, or damaged beyond repair;
 * - `empty`: it has no page;
 * - `xfa-only`: an XFA form whose pages only a viewer's script makes; the file holds nothing but "Please wait";
 * - `too-large-page`, `too-many-pages`, `bomb`: beyond the limits below, so that one document cannot stop the rest;
 * - `timeout`: a page took longer than the limit; `crashed`: reading it crashed the reader. Other reads go on.
 */
export type PdfFailure =
  | "encrypted"
  | "broken"
  | "empty"
  | "xfa-only"
  | "too-large-page"
  | "bomb"
  | "too-many-pages"
  | "timeout"
  | "crashed"

/** The message is for the person who sent the document: what is wrong and what to do. */
export class PdfError extends Data.TaggedError("PdfError")<{
  readonly reason: PdfFailure
  readonly message: string
  /** From 0, where one page is at fault. */
  readonly page?: number
  /** For the log: what the library said. */
  readonly cause?: unknown
}> {}

/** Pages from `first` up to and without `end`, from 0. */
export interface PageRange {
  readonly first: number
  readonly end: number
}

/** A page as a PDF of its own. */
export interface SinglePage {
  readonly index: number
  readonly bytes: Uint8Array
  /** True: it certainly shows words, so that it is not blank. False proves nothing; absent where it was not checked. */
  readonly hasWords?: boolean
}

/** A picture in a format of models and browsers. */
export interface Picture {
  readonly mediaType: "image/png" | "image/jpeg"
  readonly bytes: Uint8Array
  readonly width: number
  readonly height: number
}

/** What was read from a page's picture. */
export interface ReadScan {
  /** From 0. */
  readonly page: number
  /** Undefined: it could not be read. */
  readonly text: RecognisedText | undefined
}

/** An open document. Its streams are lazy, page by page. */
export interface PdfDocument {
  /** `fonts` is empty here: see {@link PdfDocument.fonts}. */
  readonly facts: DocumentFacts
  /** The fonts of the pages read so far, indexed by their runs' `font`; append-only. */
  readonly fonts: Effect.Effect<ReadonlyArray<FontFace>>
  readonly pages: (range: PageRange) => Stream.Stream<PageContent, PdfError>
  /**
   * Each page as a PDF of its own, with all that it shows and no more; the structure tree is left out. With `words` each is
   * checked for words.
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

/** Most pages of a document. */
export const MAX_PAGES = 50_000
/** Longest side of a page, in points: 200 inches, PDF's own limit. */
export const MAX_PAGE_POINTS = 14_400
/** Most pixels of a returned picture. */
export const MAX_PICTURE_PIXELS = 8_000_000
/** Most characters of a page: a wall poster has 100,000. */
export const MAX_PAGE_CHARACTERS = 400_000

/** Reads PDFs in threads of its own: the caller's is not blocked. */
export class Pdf extends Context.Service<
  Pdf,
  {
    /**
     * Opens a file, which must not change until the scope closes. Reads only what is requested, never the whole file. A picture (PNG,
     * JPEG) is a document whose one page shows it, as a scan is; it is not split.
     */
    readonly open: (path: string) => Effect.Effect<PdfDocument, PdfError, Scope.Scope>
  }
>()("postlane/ports/Pdf") {}
