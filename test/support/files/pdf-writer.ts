import { deflateSync } from "node:zlib"

/** Where a file goes, piece by piece. */
export type Sink = (bytes: Buffer) => void

/** A reference to an object. */
export const ref = (id: number): string => `${id} 0 R`

/** Writes a PDF of any objects, in any order, with a classic cross-reference table. Nothing is kept but the offsets. */
export class PdfWriter {
  readonly #sink: Sink
  readonly #offsets: Array<number> = []
  #position = 0

  constructor(sink: Sink) {
    this.#sink = sink
    this.#put("%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n")
  }

  #put(data: string | Buffer): void {
    const bytes = typeof data === "string" ? Buffer.from(data, "latin1") : data
    this.#position += bytes.length
    this.#sink(bytes)
  }

  /** A number for an object that is written later. */
  reserve(): number {
    return this.#offsets.push(0)
  }

  object(body: string, id = this.reserve()): number {
    this.#offsets[id - 1] = this.#position
    this.#put(`${id} 0 obj\n${body}\nendobj\n`)
    return id
  }

  /** `dictionary`: its entries without `Length`. */
  stream(
    data: string | Buffer,
    {
      compress = false,
      dictionary = "",
      id = this.reserve()
    }: { compress?: boolean; dictionary?: string; id?: number } = {}
  ): number {
    const plain = typeof data === "string" ? Buffer.from(data, "latin1") : data
    const bytes = compress ? deflateSync(plain) : plain
    this.#offsets[id - 1] = this.#position
    this.#put(
      `${id} 0 obj\n<< ${dictionary} ${compress ? "/Filter /FlateDecode " : ""}/Length ${bytes.length} >>\nstream\n`
    )
    this.#put(bytes)
    this.#put("\nendstream\nendobj\n")
    return id
  }

  /** Ends the file. */
  finish(root: number, info?: number): void {
    const start = this.#position
    const lines = this.#offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`)
    this.#put(`xref\n0 ${lines.length + 1}\n0000000000 65535 f \n${lines.join("")}`)
    this.#put(
      `trailer\n<< /Size ${lines.length + 1} /Root ${ref(root)}${info === undefined ? "" : ` /Info ${ref(info)}`} >>\n`
    )
    this.#put(`startxref\n${start}\n%%EOF\n`)
  }
}

/** A page as it is to be written. */
export interface PageSpec {
  readonly content: string
  /** More entries of the page's dictionary. */
  readonly entries?: string
  readonly mediaBox?: readonly [number, number, number, number]
  /** More resources. */
  readonly resources?: string
}

/** A simple document: `F1` is Helvetica, `F2` its bold, `F3` Courier. */
export interface DocumentSpec {
  readonly pages: ReadonlyArray<PageSpec>
  /** More entries of the catalogue. */
  readonly catalog?: string
  readonly info?: string
  /** The page tree has the resources, and the pages inherit them. */
  readonly inherit?: boolean
  /** Writes more objects, before the pages, whose numbers it gets; adds to the catalogue, to all pages' resources and fonts, to each page. */
  readonly more?: (
    writer: PdfWriter,
    pages: ReadonlyArray<number>
  ) => {
    readonly catalog?: string
    readonly resources?: string
    readonly fonts?: string
    readonly entries?: ReadonlyArray<string>
  }
}

const FONTS = ["Helvetica", "Helvetica-Bold", "Courier"]

/** The bytes of a document. */
export const pdfOf = ({ catalog = "", info, inherit = false, more, pages }: DocumentSpec): Buffer => {
  const pieces: Array<Buffer> = []
  const writer = new PdfWriter((bytes) => void pieces.push(bytes))
  const fonts = FONTS.map((name, at) => {
    const font = writer.object(
      `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`
    )
    return `/F${at + 1} ${ref(font)}`
  }).join(" ")
  const ids = pages.map(() => writer.reserve())
  const tree = writer.reserve()
  const added = more?.(writer, ids) ?? {}
  const resourcesOf = (own: string) =>
    `/Resources << /Font << ${fonts} ${added.fonts ?? ""} >> ${own} ${added.resources ?? ""} >>`
  for (const [
    at,
    { content, entries = "", mediaBox = [0, 0, 612, 792], resources = "" }
  ] of pages.entries()) {
    const stream = writer.stream(content)
    writer.object(
      `<< /Type /Page /Parent ${ref(tree)} /MediaBox [${mediaBox.join(" ")}] /Contents ${ref(stream)} ` +
        `${inherit ? "" : resourcesOf(resources)} ${entries} ${added.entries?.[at] ?? ""} >>`,
      ids[at]
    )
  }
  writer.object(
    `<< /Type /Pages /Count ${ids.length} /Kids [${ids.map(ref).join(" ")}] ${inherit ? resourcesOf("") : ""} >>`,
    tree
  )
  const infoId = info === undefined ? undefined : writer.object(`<< ${info} >>`)
  writer.finish(
    writer.object(`<< /Type /Catalog /Pages ${ref(tree)} ${catalog} ${added.catalog ?? ""} >>`),
    infoId
  )
  return Buffer.concat(pieces)
}

/** Content that shows a line of text at a place. */
export const line = (text: string, x: number, y: number, { font = "F1", size = 12 } = {}): string =>
  `BT /${font} ${size} Tf 1 0 0 1 ${x} ${y} Tm (${text.replace(/[\\()]/g, "\\$&")}) Tj ET\n`
