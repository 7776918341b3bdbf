import type { Pdfium } from "./pdfium.ts"

const DATE = Buffer.from("/CreationDate(D:")
const ID = Buffer.from("/ID[<")
/** pdfium writes what it stamps a document with near its start, */
const HEAD_BYTES = 2_048
/** and its id at the end. */
const TAIL_BYTES = 256
const DIGITS = /^[0-9A-F]+/
const ZERO = "0".charCodeAt(0)

/** Writes noughts over the digits that follow `label`. */
const blankOut = (bytes: Buffer, label: Buffer): number => {
  const start = bytes.indexOf(label)
  if (start < 0) return bytes.length
  const from = start + label.length
  const [digits = ""] = DIGITS.exec(bytes.toString("latin1", from, from + 64)) ?? []
  bytes.fill(ZERO, from, from + digits.length)
  return from + digits.length
}

/** Takes the date and the random id out, so that a page gives the same bytes each time. */
const steady = (bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> => {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  blankOut(view.subarray(0, HEAD_BYTES), DATE)
  const tail = view.subarray(Math.max(0, view.length - TAIL_BYTES))
  const second = tail.subarray(blankOut(tail, ID))
  blankOut(second, Buffer.from("><"))
  return bytes
}

/** One page as a document of its own, by pdfium; undefined where it cannot. Form fields stay behind. */
export const copyPage = (
  { call, memory }: Pdfium,
  document: number,
  index: number
): Uint8Array<ArrayBuffer> | undefined => {
  const single = call.FPDF_CreateNewDocument()
  try {
    memory.setInt(memory.scratch, index)
    if (call.FPDF_ImportPagesByIndex(single, document, memory.scratch, 1, 0) === 0) return undefined
    const writer = call.PDFiumExt_OpenFileWriter()
    try {
      if (call.PDFiumExt_SaveAsCopy(single, writer) === 0) return undefined
      const size = call.PDFiumExt_GetFileWriterSize(writer)
      const buffer = call.malloc(size)
      call.PDFiumExt_GetFileWriterData(writer, buffer, size)
      const bytes = memory.slice(buffer >>> 0, size)
      call.free(buffer)
      return steady(bytes)
    } finally {
      call.PDFiumExt_CloseFileWriter(writer)
    }
  } finally {
    call.FPDF_CloseDocument(single)
  }
}
