import { closeSync, fstatSync, openSync, readSync, type Stats } from "node:fs"

/** pdfium reads 512 bytes at a time while it looks for objects; this much is read from the file instead. */
const BLOCK_BYTES = 64 * 1024

/** Reads parts of a file, synchronously, with the last block kept. */
export interface FileReader {
  readonly size: number
  /** Copies `target.length` bytes from `position` on; false where the file has not so many. */
  readonly read: (target: Uint8Array, position: number) => boolean
  /** Bytes handed out since it was opened. */
  readonly bytesRead: () => number
  /** Whether it is the file that these facts are of, as it was when it was opened. */
  readonly is: (facts: Stats) => boolean
  readonly close: () => void
}

/** Throws what `fs` throws where there is no such file. */
export const openFile = (path: string): FileReader => {
  const file = openSync(path, "r")
  const opened = fstatSync(file)
  const { size } = opened
  const block = Buffer.alloc(BLOCK_BYTES)
  let blockStart = 0
  let blockLength = 0
  let handedOut = 0

  const readFully = (target: Uint8Array, position: number): boolean => {
    let done = 0
    while (done < target.length) {
      const length = readSync(file, target, done, target.length - done, position + done)
      if (length === 0) return false
      done += length
    }
    return true
  }

  return {
    size,
    bytesRead: () => handedOut,
    is: ({ dev, ino, mtimeMs, size: bytes }) =>
      dev === opened.dev && ino === opened.ino && mtimeMs === opened.mtimeMs && bytes === size,
    close: () => closeSync(file),
    read: (target, position) => {
      handedOut += target.length
      if (target.length >= BLOCK_BYTES) return readFully(target, position)
      if (position < blockStart || position + target.length > blockStart + blockLength) {
        // pdfium also reads backwards (from the trailer), so a block includes some bytes before the position.
        blockStart = Math.max(0, position - BLOCK_BYTES / 4)
        blockLength = readSync(file, block, 0, BLOCK_BYTES, blockStart)
      }
      const from = position - blockStart
      if (from + target.length > blockLength) return readFully(target, position)
      target.set(block.subarray(from, from + target.length))
      return true
    }
  }
}
