import { constants, inflateSync } from "node:zlib"

/** Bytes of a content stream that are looked at, as they stand in the file: words come early on a page. */
const HEAD_BYTES = 2_048
/** Its text comes in pieces of this size: more of it is seldom asked for. */
const INFLATED_BYTES = 8_192
/** Most bytes of a dictionary, and of a cross-reference table, that are read. */
const DICTIONARY_BYTES = 16 * 1024
const TABLE_BYTES = 256 * 1024
/** The last lines of a file. */
const TAIL_BYTES = 64

/** The only filter. */
const FLATE_ALONE = /\/Filter\s*(?:\[\s*\/FlateDecode\s*\]|\/FlateDecode(?![A-Za-z]))/
const ENTRY = /(\d{10}) \d{5} ([nf])/g

/** Where each object stands: of a file with one plain table; undefined for any other. */
const offsetsOf = (table: string): ReadonlyArray<number> | undefined => {
  const head = /^xref\s+0 (\d+)\s+/.exec(table)
  if (head === null) return undefined
  const entries = [...table.slice(head[0].length).matchAll(ENTRY)]
  return entries.length === Number(head[1])
    ? entries.map(([, at, kind]) => (kind === "n" ? Number(at) : -1))
    : undefined
}

/** The one object that `key` refers to; undefined where there is none or it is there twice, as it may be within another value. */
const reference = (dictionary: string, key: string): number | undefined => {
  const found = [...dictionary.matchAll(new RegExp(`/${key}\\s*(?:\\[\\s*)?(\\d+) 0 R\\s*(\\]|/|>>|$)`, "g"))]
  const everywhere = dictionary.split(new RegExp(`/${key}(?![A-Za-z])`)).length - 1
  return found.length === 1 && everywhere === 1 ? Number(found[0]?.[1]) : undefined
}

/** The beginning of the page's content in a file of one page, as pdfium and qpdf write them; undefined where that is not plain. */
export const contentHead = (bytes: Uint8Array): string | undefined => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const start = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(
    file.toString("latin1", Math.max(0, file.length - TAIL_BYTES))
  )
  if (start === null || file.length - Number(start[1]) > TABLE_BYTES) return undefined
  const table = file.toString("latin1", Number(start[1]))
  const offsets = offsetsOf(table.slice(0, table.lastIndexOf("trailer")))
  if (offsets === undefined) return undefined

  /** An object up to its end, or to where its stream begins, and that place. */
  const object = (index: number | undefined) => {
    const at = index === undefined ? -1 : (offsets[index] ?? -1)
    if (at < 0) return undefined
    const text = file.toString("latin1", at, at + DICTIONARY_BYTES)
    const end = /\bstream\r?\n|\bendobj\b/.exec(text)
    return end === null
      ? undefined
      : { dictionary: text.slice(0, end.index), from: at + end.index + end[0].length }
  }
  const root = object(reference(table.slice(table.lastIndexOf("trailer")), "Root"))
  const pages = root && object(reference(root.dictionary, "Pages"))
  const page = pages && object(reference(pages.dictionary, "Kids"))
  const content = page && object(reference(page.dictionary, "Contents"))
  if (content === undefined || /\/DecodeParms|\/DP\b|\/Crypt/.test(content.dictionary)) return undefined
  const head = file.subarray(content.from, content.from + HEAD_BYTES)
  if (!content.dictionary.includes("/Filter")) return head.toString("latin1").split("endstream", 1)[0]
  if (!FLATE_ALONE.test(content.dictionary)) return undefined
  try {
    return inflateSync(head, { finishFlush: constants.Z_SYNC_FLUSH, chunkSize: INFLATED_BYTES }).toString(
      "latin1"
    )
  } catch {
    return undefined
  }
}
