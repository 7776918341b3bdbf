import type { FileReader } from "./file-reader.ts"
import type { Pdfium } from "./pdfium.ts"

/** Has pdfium read bytes from elsewhere, block by block, until it is freed. */
export const fileAccess = (
  { call, callback, memory }: Pdfium,
  source: Pick<FileReader, "read" | "size">
): { readonly pointer: number; readonly free: () => void } => {
  const reader = callback((_parameter, position, target, length) => {
    const [from, to] = [(target ?? 0) >>> 0, ((target ?? 0) >>> 0) + ((length ?? 0) >>> 0)]
    return source.read(memory.bytes.subarray(from, to), (position ?? 0) >>> 0) ? 1 : 0
  }, "iiiii")
  // FPDF_FILEACCESS: length, callback, its parameter.
  const pointer = call.malloc(12)
  memory.setInt(pointer, source.size)
  memory.setInt(pointer + 4, reader.pointer)
  memory.setInt(pointer + 8, 0)
  return {
    pointer,
    free: () => {
      call.free(pointer)
      reader.free()
    }
  }
}
