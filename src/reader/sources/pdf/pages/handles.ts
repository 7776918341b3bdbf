import { fileAccess } from "../engine/file-access.ts"
import type { FileReader } from "../engine/file-reader.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import { pdfError } from "../failure.ts"
import { openPicture, pictureKind } from "./picture-document.ts"

// FPDF_GetLastError
const NEEDS_PASSWORD = 4
const UNKNOWN_SECURITY = 5
// FPDF_GetFormType
const NO_FORM = 0

/** What pdfium holds of an open document. */
export interface Handles {
  readonly document: number
  readonly form: number
  readonly close: () => void
}

/** Opens a document; throws `PdfError` where that cannot be done. */
export const openHandles = (pdfium: Pdfium, file: FileReader): Handles => {
  const { call, memory } = pdfium
  const picture = pictureKind(file)
  if (picture !== undefined) {
    const document = openPicture(pdfium, file, picture)
    return { document, form: 0, close: () => void call.FPDF_CloseDocument(document) }
  }
  const access = fileAccess(pdfium, file)
  const document = memory.withString("", (password) => call.FPDF_LoadCustomDocument(access.pointer, password))
  if (document === 0) {
    const code = call.FPDF_GetLastError()
    access.free()
    throw pdfError(code === NEEDS_PASSWORD || code === UNKNOWN_SECURITY ? "encrypted" : "broken")
  }
  const info = call.FPDF_GetFormType(document) === NO_FORM ? 0 : call.PDFiumExt_OpenFormFillInfo()
  const form = info === 0 ? 0 : call.PDFiumExt_InitFormFillEnvironment(document, info)
  return {
    document,
    form,
    close: () => {
      if (form !== 0) call.PDFiumExt_ExitFormFillEnvironment(form)
      if (info !== 0) call.PDFiumExt_CloseFormFillInfo(info)
      call.FPDF_CloseDocument(document)
      access.free()
    }
  }
}
