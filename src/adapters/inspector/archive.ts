import { addAbortSignal } from "node:stream"

import { Effect } from "effect"
import { type Entry, openPromise, type ZipFile } from "yauzl"

import { isBomb, MAX_PARTS } from "../../domain/conversion/document-limits.ts"
import { UnreadableDocument } from "../../ports/document-inspector.ts"

const broken = () =>
  new UnreadableDocument({
    message: "This document is damaged or not whole. Save it anew, then send it again."
  })

const tooLarge = () =>
  new UnreadableDocument({
    message: "This document unpacks to more than can be read. Make its pictures smaller or split it up."
  })

export const passwordProtected = () =>
  new UnreadableDocument({
    message: "This document is protected by a password. Remove the password, then send it again."
  })

/** Errors of the file system have a `syscall`; others are the archive's own fault. */
const reading = <A>(run: (signal: AbortSignal) => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => cause }).pipe(
    Effect.catch((cause) =>
      cause instanceof Error && "syscall" in cause ? Effect.die(cause) : Effect.fail(broken())
    )
  )

/** A ZIP archive whose directory was read and found sane. */
export interface Archive {
  readonly entries: ReadonlyMap<string, Entry>
  /** Streams an entry through; ends early where `take` answers false. Fails where it is not as long as the directory says. */
  readonly read: (name: string, take: (bytes: Buffer) => boolean) => Effect.Effect<void, UnreadableDocument>
}

const listed = async (zip: ZipFile): Promise<ReadonlyArray<Entry>> => {
  const entries: Array<Entry> = []
  for await (const entry of zip.eachEntry()) {
    entries.push(entry)
    if (entries.length > MAX_PARTS) break
  }
  return entries
}

/**
 * Opens an archive until the scope closes. Its directory is looked at before anything is unpacked: how many entries there are,
 * how large they say to be, whether a name stands twice, whether one is encrypted.
 */
export const openArchive = Effect.fnUntraced(function* (path: string, packed: number) {
  const zip = yield* Effect.acquireRelease(
    reading(() => openPromise(path, { autoClose: false, lazyEntries: true })),
    (one) => Effect.sync(() => one.close())
  )
  if (zip.entryCount > MAX_PARTS) return yield* tooLarge()
  const all = yield* reading(() => listed(zip))
  const entries = new Map(all.map((entry) => [entry.fileName, entry]))
  if (all.length > MAX_PARTS) return yield* tooLarge()
  if (all.some((entry) => entry.isEncrypted())) return yield* passwordProtected()
  if (
    isBomb(
      all.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0),
      packed
    )
  )
    return yield* tooLarge()
  // Two readers might take different ones of two parts with one name.
  if (entries.size !== all.length) return yield* broken()
  const archive: Archive = {
    entries,
    read: (name, take) => {
      const entry = entries.get(name)
      if (entry === undefined) return Effect.fail(broken())
      return reading(async (signal) => {
        const stream = addAbortSignal(signal, await zip.openReadStreamPromise(entry))
        for await (const bytes of stream) if (Buffer.isBuffer(bytes) && !take(bytes)) break
      })
    }
  }
  return archive
})

/** Reads a small part whole, as text. */
export const readText = (archive: Archive, name: string, most: number) =>
  Effect.gen(function* () {
    const entry = archive.entries.get(name)
    if (entry === undefined) return undefined
    if (entry.uncompressedSize > most) return yield* tooLarge()
    const parts: Array<Buffer> = []
    yield* archive.read(name, (bytes) => parts.push(bytes) > 0)
    return Buffer.concat(parts)
      .toString("utf8")
      .replace(/^\ufeff/, "")
  })
