import type { Effect } from "effect"

import type { PdfError } from "../../ports/conversion/pdf.ts"
import type { LayoutPage } from "./layout/layout-pages.ts"

/** One page as the cascade sees it. Whatever is costly is computed on demand. */
export interface PageSource {
  /** From 0, in the document. */
  readonly index: number
  /** Nothing is drawn on it. */
  readonly isBlank: Effect.Effect<boolean, PdfError>
  /** The layout tier's page: label, clean HTML, and the text layer's plain text, empty for a scan. */
  readonly layout: Effect.Effect<LayoutPage, PdfError>
  /** The page as a PDF of its own. */
  readonly pdf: Effect.Effect<Uint8Array, PdfError>
  /** The page as a picture (PNG). */
  readonly image: Effect.Effect<Uint8Array, PdfError>
}
