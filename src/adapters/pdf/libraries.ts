import { loadPdfium, type Pdfium } from "./pdfium.ts"
import { loadQpdf, type Qpdf } from "./qpdf.ts"

/** What a thread reads PDFs with: pdfium for text, pictures and repair, qpdf for splitting. */
export interface Libraries {
  readonly pdfium: Pdfium
  readonly qpdf: Qpdf
}

/** Both, loaded anew. */
export const loadLibraries = async (): Promise<Libraries> => {
  // In turn: what is made while qpdf loads is looked at.
  const qpdf = await loadQpdf()
  return { pdfium: await loadPdfium(), qpdf }
}
