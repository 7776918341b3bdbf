import type { PdfFailure } from "../../model/pdf-document.ts"

/** What a library is doing with a page: pdfium reads it or copies it, qpdf splits it off. */
export interface AtHand {
  readonly page: number
  readonly doing: "reading" | "copying" | "splitting"
}

/** What ended in a trap of a library, and what that looked like. */
export interface Trap extends AtHand {
  readonly reason: PdfFailure
}
