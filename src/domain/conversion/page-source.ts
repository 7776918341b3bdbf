import type { Effect } from "effect"

import type { PdfError } from "../../ports/pdf.ts"

/** One page as the cascade sees it. The costly parts are made when they are asked for. */
export interface PageSource {
  /** From 0, in the document. */
  readonly index: number
  /** As the document labels it. */
  readonly label: string
  /** The text layer's plain text, in content order; empty for a scan. */
  readonly text: string
  /** Nothing is drawn on it. */
  readonly isBlank: Effect.Effect<boolean, PdfError>
  /** The layout tier's HTML, clean. */
  readonly layoutHtml: string
  /** The page as a PDF of its own. */
  readonly pdf: Effect.Effect<Uint8Array, PdfError>
  /** The page as a picture (PNG). */
  readonly image: Effect.Effect<Uint8Array, PdfError>
}
