import { loadPdfium, type Pdfium } from "./pdfium.ts"
import { loadQpdf, type Qpdf } from "./qpdf.ts"

/** What a thread reads PDFs with: pdfium for text, pictures and repair, qpdf for splitting. */
export interface Libraries {
  readonly pdfium: Pdfium
  readonly qpdf: Qpdf
}

/** Loads new instances of both. */
export const loadLibraries = async (): Promise<Libraries> => {
  // One after the other: qpdf's loader watches what is created meanwhile.
  const qpdf = await loadQpdf()
  return { pdfium: await loadPdfium(), qpdf }
}

const WASM_PAGE_BYTES = 65_536

/**
 * From now on no WebAssembly memory of this thread grows beyond `limit` bytes: emscripten's glue grows them through this one
 * method, and takes an error for "no more memory". Returns whether that has happened; the module's results cannot be trusted
 * afterwards. Only for a thread that does nothing else.
 */
export const limitWasmMemory = (limit: number): (() => boolean) => {
  const grow = Reflect.get(WebAssembly.Memory.prototype, "grow")
  let refused = false
  WebAssembly.Memory.prototype.grow = function (this: WebAssembly.Memory, pages: number): number {
    if (this.buffer.byteLength + pages * WASM_PAGE_BYTES <= limit) return grow.call(this, pages)
    refused = true
    throw new RangeError("no more memory for this module")
  }
  return () => refused
}
