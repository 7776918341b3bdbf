import { Context, type Effect, type Scope } from "effect"

import type { LayoutOptions, LayoutPage } from "../../reader/model/layout-page.ts"
import type { DocumentFacts } from "../../reader/model/page-content.ts"
import type { PdfError, PageRange } from "../../reader/model/pdf-document.ts"
import type { ObjectStoreError } from "../object-store.ts"

/** One page as the cascade sees it. Whatever is costly is computed on demand. */
export interface PageSource {
  /** From 0, in the document. */
  readonly index: number
  /** Nothing is drawn on it. */
  readonly isBlank: Effect.Effect<boolean, PdfError>
  /** The layout tier's page: label, clean HTML, and the text layer's plain text, empty for a scan. */
  readonly layout: Effect.Effect<LayoutPage, PdfError>
  /** The page's layout. For a page without a usable text layer, with the words recognised in its picture, which takes seconds. */
  readonly recognised: Effect.Effect<LayoutPage, PdfError>
  /** The page as a separate PDF. */
  readonly pdf: Effect.Effect<Uint8Array, PdfError>
  /** The page as a picture (PNG). */
  readonly image: Effect.Effect<Uint8Array, PdfError>
}

/** Some pages of an open document, one by one, in any order. */
export interface OpenPages {
  /** For an unreadable page this call or its parts fail; other pages can still be read. `index` from 0, in the document. */
  readonly page: (index: number) => Effect.Effect<PageSource, PdfError>
  /** Frees the page's PDF, which is not read again. Absent where nothing is kept. */
  readonly release?: (index: number) => Effect.Effect<void>
}

/** The pages of stored documents, read and laid out. */
export class PageSources extends Context.Service<
  PageSources,
  {
    /** Facts about the document as a whole, with what it holds that its pages do not show. */
    readonly facts: (objectKey: string) => Effect.Effect<DocumentFacts, PdfError | ObjectStoreError>
    /** Opens the document for these pages, until the scope closes. */
    readonly open: (
      objectKey: string,
      range: PageRange,
      options?: LayoutOptions
    ) => Effect.Effect<OpenPages, PdfError | ObjectStoreError, Scope.Scope>
  }
>()("postlane/ports/PageSources") {}
