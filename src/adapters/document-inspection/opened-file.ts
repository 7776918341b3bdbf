import { open } from "node:fs/promises"

import { Effect } from "effect"

/** A file with random access. A disk error is a defect: it says nothing about the document. */
export interface OpenedFile {
  readonly path: string
  readonly size: number
  /** Fewer bytes than asked for where the file ends. */
  readonly at: (position: number, length: number) => Effect.Effect<Buffer>
}

/** Opens a file until the scope closes. */
export const openFile = Effect.fnUntraced(function* (path: string) {
  const handle = yield* Effect.acquireRelease(
    Effect.promise(() => open(path, "r")),
    (one) => Effect.promise(() => one.close())
  )
  const { size } = yield* Effect.promise(() => handle.stat())
  const file: OpenedFile = {
    path,
    size,
    at: (position, length) =>
      Effect.promise(async () => {
        const room = Math.max(0, Math.min(length, size - position))
        if (room === 0) return Buffer.alloc(0)
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(room), 0, room, position)
        return buffer.subarray(0, bytesRead)
      })
  }
  return file
})

/** Sectors of the directory that are looked at; an encrypted document has two or three. */
const MAX_SECTORS = 64
const HEADER_BYTES = 512
const ENTRY_BYTES = 128
/** Sectors of the allocation table that the header itself names. */
const NAMED_IN_HEADER = 109
const LAST_SECTOR = 0xfffffffa

/** Names in the directory of an OLE compound file ([MS-CFB]); as many as can be read. */
export const compoundNames = Effect.fnUntraced(function* (file: OpenedFile) {
  const names: Array<string> = []
  const header = yield* file.at(0, HEADER_BYTES)
  if (header.length < HEADER_BYTES) return names
  const shift = header.readUInt16LE(30)
  if (shift !== 9 && shift !== 12) return names
  const bytes = 2 ** shift
  const placeOf = (sector: number) => (sector + 1) * bytes
  let sector = header.readUInt32LE(48)
  for (let step = 0; step < MAX_SECTORS && sector <= LAST_SECTOR; step++) {
    const entries = yield* file.at(placeOf(sector), bytes)
    for (let at = 0; at + ENTRY_BYTES <= entries.length; at += ENTRY_BYTES) {
      const length = Math.min(64, entries.readUInt16LE(at + 64))
      if (length > 2) names.push(entries.toString("utf16le", at, at + length - 2))
    }
    const table = Math.floor(sector / (bytes / 4))
    if (table >= NAMED_IN_HEADER) break
    const next = yield* file.at(placeOf(header.readUInt32LE(76 + 4 * table)) + 4 * (sector % (bytes / 4)), 4)
    if (next.length < 4) break
    sector = next.readUInt32LE(0)
  }
  return names
})
