import { Readable } from "node:stream"

import { ZipFile } from "yazl"

/** A file of an archive. */
export interface ZipEntry {
  readonly name: string
  readonly body: AsyncIterable<Uint8Array>
}

/** Most bytes of the files of one archive: more than that is not for a browser. */
export const MAX_ZIP_BYTES = 4_000_000_000

/** The first day that the format knows: an archive of the same files has the same bytes. */
const OPTIONS = { mtime: new Date(1980, 0, 1), mode: 0o100644, forceDosTimestamp: true }

/** What an archive's reader would take for a folder or a drive (a file could then land anywhere), and control characters. */
const UNSAFE = /[/\\:\p{Cc}]/gu
const safe = (name: string): string => name.replaceAll(UNSAFE, "_")

/** An archive of files, written while they are read, one after the other: memory does not grow with them. */
export const zipOf = (entries: Iterable<ZipEntry>): AsyncIterable<Uint8Array> => {
  const zip = new ZipFile()
  const archive = zip.outputStream as Readable
  let reading: Readable | undefined
  const fail = (cause: Error) => void archive.destroy(cause)
  zip.on("error", fail)
  for (const { body, name } of entries)
    zip.addReadStreamLazy(safe(name), OPTIONS, (use) => {
      reading = Readable.from(body).once("error", fail)
      use(null, reading)
    })
  zip.end()
  return archive.once("close", () => reading?.destroy())
}

/** Names, as an archive has them, of which no two are the same, whatever the file system thinks of their case. */
export const distinctNames = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const taken = new Set<string>()
  const next = new Map<string, number>()
  return names.map(safe).map((name) => {
    const dot = name.lastIndexOf(".")
    const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""]
    const key = name.toLowerCase()
    let free = name
    for (let count = next.get(key) ?? 2; taken.has(free.toLowerCase()); count += 1) {
      free = `${stem} (${count})${ending}`
      next.set(key, count + 1)
    }
    taken.add(free.toLowerCase())
    return free
  })
}
