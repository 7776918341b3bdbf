import type { Pdfium } from "../engine/pdfium.ts"
import { callQpdf, type Qpdf, SUCCESS, WARNINGS } from "../engine/qpdf.ts"

/**
 * Pages per qpdf call. qpdf reads the whole page tree for each range, and keeps a range's pages in memory until they
 * are taken.
 */
const MAX_RANGE = 500
/** Passes over a long document, where its pages are small. */
const PASSES = 20
/**
 * From so many pages on, pages are added to an empty document: left to itself, qpdf removes all others from the document one by
 * one, in quadratic time. Pages with comments come out a little larger so.
 */
const LONG = 2_000
/** Bytes that a range should come to. */
const RANGE_BYTES = 32 * 1024 * 1024
/** The first range is this long, or shorter where the file is large: no page is larger than its file. */
const FIRST_RANGE = 25
const FIRST_RANGE_BYTES = 256 * 1024 * 1024

/** After so many failures in a row it is left alone: each costs a pass over the whole file. */
const MAX_FAILURES = 3

// qpdf's exit code, as SUCCESS.
const FAILURE = 2

let folders = 0

/** Splits one document with qpdf, a range of pages at a time. */
export class Splitter {
  readonly #qpdf: Qpdf
  readonly #path: string
  readonly #pageCount: number
  readonly #folder = `/out${folders++}`
  #range: number
  #failures = 0
  /** Whether qpdf counts the same pages in the damaged file; undefined until a warning of qpdf requires the check. */
  #sameCount: boolean | undefined
  /** Files of pages that are split and not yet taken. */
  readonly #ready = new Map<number, string>()

  constructor(qpdf: Qpdf, path: string, size: number, pageCount: number) {
    this.#qpdf = qpdf
    this.#path = path
    this.#pageCount = pageCount
    this.#range = Math.max(1, Math.min(FIRST_RANGE, Math.floor(FIRST_RANGE_BYTES / size)))
    qpdf.FS.mkdir(this.#folder)
  }

  /** Runs qpdf with the open document. */
  #run(args: (input: string) => ReadonlyArray<string>): number {
    return callQpdf(this.#qpdf, this.#path, args)
  }

  /** pdfium counted the pages; where qpdf repairs a file differently, its n-th page may be another one. */
  #countsTheSame(): boolean {
    this.#sameCount ??=
      this.#run((input) => [input, "--show-npages"]) !== FAILURE &&
      Number(this.#qpdf.output()) === this.#pageCount
    return this.#sameCount
  }

  #clear(): void {
    for (const name of this.#files()) this.#qpdf.FS.unlink(`${this.#folder}/${name}`)
    this.#ready.clear()
  }

  #files(): ReadonlyArray<string> {
    return this.#qpdf.FS.readdir(this.#folder)
      .filter((name) => name.endsWith(".pdf"))
      .sort()
  }

  /** Splits these pages; false where qpdf cannot. */
  #split(pages: ReadonlyArray<number>): boolean {
    this.#clear()
    // The same page gives the same bytes each time it is split, hence the deterministic id.
    const options = ["--split-pages", "--decrypt", "--deterministic-id", `${this.#folder}/%d.pdf`]
    const range = pages.map((page) => page + 1).join(",")
    const isLong = this.#pageCount >= LONG
    const code = this.#run((input) => [isLong ? "--empty" : input, "--pages", input, range, "--", ...options])
    const files = this.#files()
    const whole = (code === SUCCESS || code === WARNINGS) && files.length === pages.length
    if (!whole || (code === WARNINGS && !this.#countsTheSame())) {
      this.#clear()
      return false
    }
    for (const [at, page] of pages.entries()) this.#ready.set(page, `${this.#folder}/${files[at]}`)
    return true
  }

  /** Sizes in bytes of these pages as single PDFs; undefined where qpdf cannot split. */
  sizesOf(pages: ReadonlyArray<number>): ReadonlyArray<number> | undefined {
    const sizes = this.#split(pages) ? this.#readySizes() : undefined
    this.#clear()
    return sizes
  }

  #readySizes(): ReadonlyArray<number> {
    return [...this.#ready.values()].map((file) => this.#qpdf.FS.stat(file).size)
  }

  #take(index: number): Uint8Array<ArrayBuffer> | undefined {
    const file = this.#ready.get(index)
    if (file === undefined) return undefined
    const bytes = this.#qpdf.FS.readFile(file)
    this.#qpdf.FS.unlink(file)
    this.#ready.delete(index)
    return bytes
  }

  /** The page as a single PDF; those behind it up to `end` will be asked for next. Undefined where qpdf cannot. */
  page(index: number, end: number): Uint8Array<ArrayBuffer> | undefined {
    const ready = this.#take(index)
    if (ready !== undefined) return ready
    if (this.#failures >= MAX_FAILURES) return undefined
    const stop = Math.min(end, index + this.#range)
    if (!this.#split(Array.from({ length: stop - index }, (_, at) => index + at))) {
      this.#failures++
      // One page may be at fault: the others are tried singly.
      this.#range = 1
      return undefined
    }
    this.#failures = 0
    const sizes = this.#readySizes()
    const average = sizes.reduce((sum, size) => sum + size, 0) / sizes.length
    const most = Math.max(MAX_RANGE, Math.ceil(this.#pageCount / PASSES))
    this.#range = Math.max(1, Math.min(most, sizes.length * 4, Math.floor(RANGE_BYTES / average)))
    return this.#take(index)
  }

  close(): void {
    this.#clear()
    this.#qpdf.FS.rmdir(this.#folder)
  }
}

const DATE = Buffer.from("/CreationDate(D:")
const ID = Buffer.from("/ID[<")
/** Bytes at the start of a PDF in which pdfium writes its creation date. */
const HEAD_BYTES = 2_048
/** Bytes at the end of a PDF in which pdfium writes the id. */
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

/** Copies one page into a new document with pdfium; undefined where it cannot. Form fields are not copied. */
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
