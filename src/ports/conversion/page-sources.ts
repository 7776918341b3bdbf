import { Context, type Effect, type Scope } from "effect"

import type { DocumentFacts } from "../../domain/conversion/page-content.ts"
import type { PageSource } from "../../domain/conversion/page-source.ts"
import type { ObjectStoreError } from "../object-store.ts"
import type { PdfError, PageRange } from "./pdf.ts"

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
    /** Facts about the document as a whole. */
    readonly facts: (objectKey: string) => Effect.Effect<DocumentFacts, PdfError | ObjectStoreError>
    /** Opens the document for these pages, until the scope closes. */
    readonly open: (
      objectKey: string,
      range: PageRange
    ) => Effect.Effect<OpenPages, PdfError | ObjectStoreError, Scope.Scope>
  }
>()("postlane/ports/PageSources") {}
