import { type Entry, fromRandomAccessReaderPromise, openPromise, type ZipFile } from "yauzl"

import { isBomb, MAX_PARTS } from "../../../model/document-limits.ts"
import { openEnded } from "./ended-file.ts"

/** A document is not read; the message is for its owner. */
export class Unreadable extends Error {
  readonly why: "broken" | "too-large"

  constructor(why: "broken" | "too-large", message: string, cause?: unknown) {
    super(message, { cause })
    this.why = why
  }
}

export const broken = (cause?: unknown) =>
  new Unreadable("broken", "This document is damaged or not whole. Save it anew, then send it again.", cause)

const tooLarge = () =>
  new Unreadable(
    "too-large",
    "This document unpacks to more than can be read. Make its pictures smaller or split it up."
  )

const PASSWORD = "This document is protected by a password. Remove the password, then send it again."

/** The archive's own fault, unless the file system's, which has a `syscall`. */
const faultOf = (error: unknown): unknown =>
  error instanceof Unreadable || (error instanceof Error && "syscall" in error) ? error : broken(error)

/** A ZIP archive with a directory that was read and checked. */
export interface Archive {
  readonly names: ReadonlyArray<string>
  readonly has: (name: string) => boolean
  /** Streams a part through. Fails where it is not as long as the directory says. */
  readonly stream: (name: string) => AsyncIterable<Buffer>
  /** A part whole; one that is longer than `most` is refused. */
  readonly bytes: (name: string, most?: number) => Promise<Buffer>
  readonly close: () => void
}

const listed = async (zip: ZipFile): Promise<ReadonlyArray<Entry>> => {
  const entries: Array<Entry> = []
  for await (const entry of zip.eachEntry()) {
    entries.push(entry)
    if (entries.length > MAX_PARTS) throw tooLarge()
  }
  return entries
}

/** The directory, checked before anything is unpacked. */
const checked = async (zip: ZipFile): Promise<ReadonlyMap<string, Entry>> => {
  if (zip.entryCount > MAX_PARTS) throw tooLarge()
  const all = await listed(zip)
  if (all.some((entry) => entry.isEncrypted())) throw new Unreadable("broken", PASSWORD)
  const unpacked = all.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0)
  if (isBomb(unpacked, zip.fileSize)) throw tooLarge()
  const entries = new Map(all.map((entry) => [entry.fileName, entry]))
  if (entries.size !== all.length) throw broken()
  return entries
}

const HOW = { autoClose: false, lazyEntries: true } as const

/** An archive whose last record names a comment that is missing is whole all the same: no part of it is in the comment. */
const opened = async (path: string): Promise<ZipFile> => {
  try {
    return await openPromise(path, HOW)
  } catch (error) {
    const ended = error instanceof Error && "syscall" in error ? undefined : await openEnded(path)
    if (ended === undefined) throw error
    return fromRandomAccessReaderPromise(ended.reader, ended.size, HOW)
  }
}

/**
 * Opens an archive, to inspect or to convert it: a second reader might find other parts in the same bytes. Limits are measured by
 * `zip.fileSize`.
 */
export const openArchive = async (path: string): Promise<Archive> => {
  try {
    const zip = await opened(path)
    const entries = await checked(zip).catch((error: unknown) => {
      zip.close()
      throw error
    })
    const entryOf = (name: string): Entry => {
      const entry = entries.get(name)
      if (entry === undefined) throw broken()
      return entry
    }
    const stream = async function* (name: string): AsyncGenerator<Buffer> {
      try {
        for await (const bytes of await zip.openReadStreamPromise(entryOf(name)))
          if (Buffer.isBuffer(bytes)) yield bytes
      } catch (error) {
        throw faultOf(error)
      }
    }
    return {
      names: [...entries.keys()],
      has: (name) => entries.has(name),
      stream,
      bytes: async (name, most = Infinity) => {
        if (entryOf(name).uncompressedSize > most) throw tooLarge()
        const parts: Array<Buffer> = []
        for await (const bytes of stream(name)) parts.push(bytes)
        return Buffer.concat(parts)
      },
      close: () => zip.close()
    }
  } catch (error) {
    throw faultOf(error)
  }
}
