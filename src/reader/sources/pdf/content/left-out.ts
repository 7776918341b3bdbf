import { cleanFileName } from "../../../model/file-name.ts"
import { type LeftOut, MAX_NAMED_FILES } from "../../../model/left-out.ts"
import { listOf, type PdfObjects } from "../engine/pdf-objects.ts"
import type { Pdfium } from "../engine/pdfium.ts"

// FPDF_ANNOT_…, FPDF_ANNOT_FLAG_…
const TEXT = 1
const LINE = 4
const STRIKEOUT = 12
const STAMP = 13
const CARET = 14
const INK = 15
const FILE = 17
const UNSEEN = 2 | 32

/** Limits on the pages that are searched for annotations, and on the annotations of all of them. */
const MAX_PAGES = 5_000
const MAX_ANNOTATIONS = 50_000
/** Names that are read, so that a file that a page and the document name counts once. */
const MAX_NAMES = 200

/** The files that a document has. */
class Files {
  readonly #names: Array<string> = []
  #count = 0

  add(name: string): void {
    this.#count += 1
    if (this.#names.length < MAX_NAMES) this.#names.push(cleanFileName(name))
  }

  /** Adds a file that is pinned to a page, unless the document's name tree had it already. */
  addPinned(name: string): void {
    if (!this.#names.includes(cleanFileName(name))) this.add(name)
  }

  /** Counts attachments without reading their names. */
  addUnread(count: number): void {
    this.#count += count
  }

  get found(): Pick<LeftOut, "files" | "fileCount"> {
    return { files: this.#names.slice(0, MAX_NAMED_FILES), fileCount: this.#count }
  }
}

/** The files of the document as a whole: by its tree of names, or, where that has none, as files that go with it (`AF`). */
const filesOf = ({ call, memory }: Pdfium, document: number, objects: PdfObjects): Files => {
  const count = Math.max(0, call.FPDFDoc_GetAttachmentCount(document))
  const files = new Files()
  for (let at = 0; at < Math.min(count, MAX_NAMES); at++) {
    const file = call.FPDFDoc_GetAttachment(document, at)
    files.add(
      file === 0 ? "" : memory.utf16((buffer, size) => call.FPDFAttachment_GetName(file, buffer, size))
    )
  }
  files.addUnread(Math.max(0, count - MAX_NAMES))
  const along = count === 0 ? objects.entry(objects.catalogue, "/AF") : undefined
  for (const one of listOf(along).slice(0, MAX_NAMES)) {
    const name = objects.entry(one, "/UF") ?? objects.entry(one, "/F")
    files.add(typeof name === "string" ? name.slice(1) : "")
  }
  return files
}

/** Whether an annotation says or shows what the page's own content does not: the words of a remark, handwriting, a stamp. */
const isRemark = ({ call, memory }: Pdfium, annotation: number, type: number): boolean => {
  if ((call.FPDFAnnot_GetFlags(annotation) & UNSEEN) !== 0) return false
  if (type === STAMP || type === INK) return true
  if (type !== TEXT && type !== CARET && !(type >= LINE && type <= STRIKEOUT)) return false
  const valueOf = (name: string) =>
    memory.withString(name, (key) =>
      memory.utf16((buffer, size) => call.FPDFAnnot_GetStringValue(annotation, key, buffer, size))
    )
  // Accepting or rejecting a remark adds a further annotation, with a state model.
  return valueOf("Contents").trim() !== "" && valueOf("StateModel") === ""
}

/** Counts the remarks on the pages, without reading what else is on them, and adds the files that are pinned to them. */
const remarksOn = (pdfium: Pdfium, document: number, pageCount: number, files: Files): number => {
  const { call, memory } = pdfium
  let remarks = 0
  let left = MAX_ANNOTATIONS
  for (let page = 0; page < Math.min(pageCount, MAX_PAGES) && left > 0; page++) {
    const count = Math.min(left, Math.max(0, call.EPDFPage_GetAnnotCountRaw(document, page)))
    left -= count
    for (let at = 0; at < count; at++) {
      const annotation = call.EPDFPage_GetAnnotRaw(document, page, at)
      if (annotation === 0) continue
      const type = call.FPDFAnnot_GetSubtype(annotation)
      if (type === FILE) {
        const file = call.FPDFAnnot_GetFileAttachment(annotation)
        if (file !== 0)
          files.addPinned(memory.utf16((buffer, size) => call.FPDFAttachment_GetName(file, buffer, size)))
      } else if (isRemark(pdfium, annotation, type)) remarks += 1
      call.FPDFPage_CloseAnnot(annotation)
    }
  }
  return remarks
}

/** What a document holds that no reading of its pages shows. */
export const readLeftOut = (
  pdfium: Pdfium,
  document: number,
  pageCount: number,
  objects: PdfObjects
): LeftOut => {
  const files = filesOf(pdfium, document, objects)
  const remarks = remarksOn(pdfium, document, pageCount, files)
  const { found } = files
  const portfolio = found.fileCount > 0 && objects.entry(objects.catalogue, "/Collection") !== undefined
  return { portfolio, ...found, remarks }
}
