import { pipeline, Readable } from "node:stream"
import { crc32, createDeflateRaw } from "node:zlib"

/** A file of an archive. */
export interface ZipEntry {
  /** Without a path. */
  readonly name: string
  readonly body: AsyncIterable<Uint8Array>
}

/** Most bytes that the format holds without its extension for large archives, with room for its own. */
export const MAX_ZIP_BYTES = 4_000_000_000

const DEFLATED = 8
/** Sizes and checksum follow the file (bit 3), and its name is UTF-8 (bit 11). */
const FLAGS = 0x0808
/** Version 2.0, for deflated files. */
const VERSION = 20
/** The first day that the format knows: an archive of the same files has the same bytes. */
const DATE = 0x21

const LOCAL_HEADER = 0x04034b50
const DESCRIPTOR = 0x08074b50
const CENTRAL_HEADER = 0x02014b50
const END = 0x06054b50

/** A record of these numbers, each with its size in bytes. */
const record = (...fields: ReadonlyArray<readonly [value: number, bytes: 2 | 4]>): Buffer => {
  const made = Buffer.alloc(fields.reduce((sum, [, bytes]) => sum + bytes, 0))
  let at = 0
  for (const [value, bytes] of fields) at = made.writeUIntLE(value, at, bytes)
  return made
}

/** What the archive's directory says of a file. */
interface Written {
  readonly name: Buffer
  readonly crc: number
  readonly packed: number
  readonly size: number
  readonly at: number
}

const headerOf = ({ at, crc, name, packed, size }: Written): Buffer =>
  Buffer.concat([
    record(
      [CENTRAL_HEADER, 4],
      [VERSION, 2],
      [VERSION, 2],
      [FLAGS, 2],
      [DEFLATED, 2],
      [0, 2],
      [DATE, 2],
      [crc, 4],
      [packed, 4],
      [size, 4],
      [name.length, 2],
      [0, 2],
      [0, 2],
      [0, 2],
      [0, 2],
      [0, 4],
      [at, 4]
    ),
    name
  ])

/** An archive of files, written while they are read: memory does not grow with them. */
export async function* zipOf(entries: Iterable<ZipEntry>): AsyncGenerator<Uint8Array> {
  const written: Array<Written> = []
  let at = 0
  for (const { body, name: text } of entries) {
    const name = Buffer.from(text, "utf8")
    const header = record(
      [LOCAL_HEADER, 4],
      [VERSION, 2],
      [FLAGS, 2],
      [DEFLATED, 2],
      [0, 2],
      [DATE, 2],
      [0, 4],
      [0, 4],
      [0, 4],
      [name.length, 2],
      [0, 2]
    )
    yield Buffer.concat([header, name])
    let [crc, packed, size] = [0, 0, 0]
    const counted = async function* () {
      for await (const chunk of body) {
        crc = crc32(chunk, crc)
        size += chunk.length
        yield chunk
      }
    }
    // A failure of the body ends the stream below with it; the callback has nothing to add.
    const deflated = pipeline(Readable.from(counted()), createDeflateRaw(), () => undefined)
    for await (const chunk of deflated as AsyncIterable<Buffer>) {
      packed += chunk.length
      yield chunk
    }
    yield record([DESCRIPTOR, 4], [crc, 4], [packed, 4], [size, 4])
    written.push({ name, crc, packed, size, at })
    at += header.length + name.length + packed + 16
  }
  const directory = Buffer.concat(written.map(headerOf))
  yield directory
  yield record(
    [END, 4],
    [0, 2],
    [0, 2],
    [written.length, 2],
    [written.length, 2],
    [directory.length, 4],
    [at, 4],
    [0, 2]
  )
}

/** Names of which no two are the same, whatever the file system thinks of their case. */
export const distinctNames = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const taken = new Set<string>()
  const next = new Map<string, number>()
  return names.map((name) => {
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
