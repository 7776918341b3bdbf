import type { Stats } from "node:fs"

import type { LeftOut } from "../../../model/left-out.ts"
import type { DocumentFacts, FontFace, PageContent } from "../../../model/page-content.ts"
import { MAX_PAGES, MAX_PAGE_POINTS, PdfError, type SinglePage } from "../../../model/pdf-document.ts"
import { readObjects } from "../content/drawings.ts"
import { edgePlaces } from "../content/edge-places.ts"
import { readFields } from "../content/fields.ts"
import { readFreeText } from "../content/free-text.ts"
import { type Matrix, pageMatrix, round } from "../content/geometry.ts"
import { hasFormsOrImages, hiddenObjects, namesLayer } from "../content/hidden-objects.ts"
import { type Layers, layersOf, NO_LAYERS } from "../content/layers.ts"
import { readLeftOut } from "../content/left-out.ts"
import { Destinations, readLinks } from "../content/links.ts"
import { readOutline } from "../content/outline.ts"
import { type Tags, tagsOf } from "../content/roles.ts"
import { readStructure } from "../content/structure.ts"
import { showsText } from "../content/visible-text.ts"
import { type FileReader, openFile } from "../engine/file-reader.ts"
import type { Libraries } from "../engine/libraries.ts"
import { PdfObjects } from "../engine/pdf-objects.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import type { Qpdf } from "../engine/qpdf.ts"
import { pdfError } from "../failure.ts"
import { FontTable } from "../text/fonts.ts"
import { GlyphNames } from "../text/glyph-names.ts"
import { readRuns } from "../text/text-runs.ts"
import type { AtHand, Trap } from "../traps.ts"
import { type Handles, openHandles } from "./handles.ts"
import { showsWords } from "./shows-words.ts"
import { copyPage, Splitter } from "./splitter.ts"

// FPDF_GetFormType
const XFA_FULL = 2
const XFA_FOREGROUND = 3

/**
 * pdfium keeps what it has read of a document. After this much the document is reopened, so that memory stays bounded.
 */
const REOPEN_AFTER_BYTES = 48 * 1024 * 1024

/** Size of a document above which no page is copied to look for glyph names: the copy may be as large. */
const MOST_COPIED_BYTES = 16 * 1024 * 1024
/** From here on qpdf's pass over the whole document, made for each range, dominates the time. */
const MANY_PAGES = 200
/** Pages that are split with both libraries, to choose one. */
const SAMPLE_PAGES = 16
const MAX_SIZE_RATIO = 1.03
/** Difference of sizes that does not matter, in bytes. */
const SLACK_BYTES = 256

/** How often what trapped is tried: a fresh thread has all of its memory. */
const TRIES = 2

/** A page while it is being read. */
export interface OpenPage {
  readonly page: number
  readonly document: number
  readonly form: number
  readonly width: number
  readonly height: number
  readonly matrix: Matrix
  readonly layers: Layers
  /** Its forms and images that are in a layer which is off by their `OC` entry. */
  readonly hidden: () => ReadonlySet<number>
}

/** A document that this thread has open. All its methods throw `PdfError`; one that traps leaves the module unusable. */
export class OpenDocument {
  readonly facts: DocumentFacts
  readonly fonts: FontTable
  readonly pdfium: Pdfium
  readonly #path: string
  readonly #file: FileReader
  readonly #qpdf: Qpdf
  readonly #objects: PdfObjects
  readonly #layers: Layers
  readonly #tags: Tags
  readonly #glyphNames = new GlyphNames()
  #splitter: Splitter | undefined
  /** Undefined until the first page is split. */
  #copies: boolean | undefined
  #handles: Handles
  #destinations: Destinations
  #bytesAtOpening = 0
  #asked = 1
  /** What ended in a trap before. */
  traps: ReadonlyArray<Trap> = []
  /** What is being done, also where that trapped. */
  atHand: AtHand | undefined

  /** `fonts`: faces that are known already; their indexes stay. */
  constructor({ pdfium, qpdf }: Libraries, path: string, fonts: ReadonlyArray<FontFace> = []) {
    this.pdfium = pdfium
    this.fonts = new FontTable(pdfium, fonts)
    this.#file = openFile(path)
    this.#qpdf = qpdf
    this.#path = path
    this.#objects = new PdfObjects(qpdf, path)
    this.#layers = layersOf(this.#objects)
    this.#tags = tagsOf(this.#objects)
    try {
      if (this.#file.size === 0) throw pdfError("broken")
      this.#handles = openHandles(pdfium, this.#file)
      const { call } = pdfium
      const { document } = this.#handles
      const pageCount = call.FPDF_GetPageCount(document)
      if (pageCount <= 0) throw pdfError("empty")
      if (pageCount > MAX_PAGES) throw pdfError("too-many-pages")
      if (call.FPDF_GetFormType(document) === XFA_FULL) throw pdfError("xfa-only")
      this.#destinations = new Destinations(pdfium, document, pageCount)
      this.facts = this.#readFacts(pageCount)
      if (pageCount === 1 && call.FPDF_GetFormType(document) === XFA_FOREGROUND) this.#refusePlaceholder()
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** How often it was asked for. What was laid out for one who asked is not for another. */
  get asked(): number {
    return this.#asked
  }

  /**
   * Resets per-request state so that the open document can be reused. False where the file has changed, or where so
   * much of it has been read that it should be reopened.
   */
  beginAnew(file: Stats): boolean {
    if (!this.#file.is(file) || this.#read() > REOPEN_AFTER_BYTES / 2) return false
    this.#asked += 1
    this.fonts.recall()
    return true
  }

  close(): void {
    // Not there yet where the constructor failed early.
    this.#splitter?.close()
    ;(this.#handles as Handles | undefined)?.close()
    this.#file.close()
  }

  #readFacts(pageCount: number): DocumentFacts {
    const { call, memory } = this.pdfium
    const { document } = this.#handles
    const meta = (key: string) =>
      memory
        .withString(key, (name) =>
          memory.utf16((buffer, size) => call.FPDF_GetMetaText(document, name, buffer, size))
        )
        .trim()
    const orNothing = (text: string) => (text === "" ? undefined : text)
    return {
      pageCount,
      title: orNothing(meta("Title")),
      author: orNothing(meta("Author")),
      lang: orNothing(
        memory.utf16((buffer, size) => call.FPDFCatalog_GetLanguage(document, buffer, size)).trim()
      ),
      tagged: call.FPDFCatalog_IsTagged(document) !== 0,
      outline: readOutline(this.pdfium, document, this.#destinations),
      fonts: []
    }
  }

  /** What the document holds that its pages do not show. */
  leftOut(): LeftOut {
    this.#refresh()
    return readLeftOut(this.pdfium, this.#handles.document, this.facts.pageCount, this.#objects)
  }

  /** The page that Adobe's designer puts into dynamic forms for viewers that cannot run them. */
  #refusePlaceholder(): void {
    const { fields, runs } = this.page(0)
    const text = runs.map((run) => run.text).join(" ")
    if (fields.length === 0 && /^please wait/i.test(text.trim())) throw pdfError("xfa-only")
  }

  /** Bytes that pdfium has read since it opened the document. */
  #read(): number {
    return this.#file.bytesRead() - this.#bytesAtOpening
  }

  #refresh(): void {
    if (this.#read() < REOPEN_AFTER_BYTES) return
    this.#handles.close()
    this.fonts.forgetPointers()
    this.#bytesAtOpening = this.#file.bytesRead()
    this.#handles = openHandles(this.pdfium, this.#file)
    this.#destinations = new Destinations(this.pdfium, this.#handles.document, this.facts.pageCount)
  }

  /** Notes the present operation on a page. */
  #at<A>(doing: AtHand["doing"], page: number, use: () => A): A {
    const before = this.atHand
    this.atHand = { doing, page }
    try {
      const result = use()
      this.atHand = before
      return result
    } catch (error) {
      if (error instanceof PdfError) this.atHand = before
      throw error
    }
  }

  #trapped(doing: AtHand["doing"], index: number): ReadonlyArray<Trap> {
    return this.traps.filter((trap) => trap.page === index && trap.doing === doing)
  }

  /** Copies the page into a new document with pdfium; undefined where it cannot. */
  #copy(index: number): Uint8Array<ArrayBuffer> | undefined {
    if (this.#trapped("copying", index).length > 0) return undefined
    return this.#at("copying", index, () => copyPage(this.pdfium, this.#handles.document, index))
  }

  /**
   * Copies the page with qpdf; undefined where qpdf trapped on any page, since most pages of such a document lead to
   * the cause.
   */
  #splitOff(splitter: Splitter, index: number, end: number): Uint8Array<ArrayBuffer> | undefined {
    if (this.traps.some(({ doing }) => doing === "splitting")) return undefined
    return this.#at("splitting", index, () => splitter.page(index, end))
  }

  /** Opens a page for `use` and closes it again. A page that pdfium cannot load is `broken`, one that traps each time is refused. */
  withPage<A>(index: number, use: (page: OpenPage) => A): A {
    const last = this.#trapped("reading", index)[TRIES - 1]
    if (last !== undefined) throw pdfError(last.reason, index)
    return this.#at("reading", index, () => this.#opened(index, use))
  }

  #opened<A>(index: number, use: (page: OpenPage) => A): A {
    this.#refresh()
    const { call, memory } = this.pdfium
    const { document, form } = this.#handles
    const page = call.FPDF_LoadPage(document, index)
    if (page === 0) throw pdfError("broken", index)
    // Creates the widgets, which would otherwise have no state and no appearance.
    if (form !== 0) call.FORM_OnAfterLoadPage(page, form)
    try {
      const { scratch } = memory
      const boxed = call.FPDF_GetPageBoundingBox(page, scratch) !== 0
      // FS_RECTF: left, top, right, bottom.
      const crop = boxed
        ? {
            x0: memory.float(scratch),
            y1: memory.float(scratch + 4),
            x1: memory.float(scratch + 8),
            y0: memory.float(scratch + 12)
          }
        : { x0: 0, y0: 0, x1: 612, y1: 792 }
      const rotation = call.FPDFPage_GetRotation(page)
      const [across, up] = [crop.x1 - crop.x0, crop.y1 - crop.y0]
      const [width, height] = rotation % 2 === 0 ? [across, up] : [up, across]
      if (!(width <= MAX_PAGE_POINTS && height <= MAX_PAGE_POINTS)) throw pdfError("too-large-page", index)
      const matrix = pageMatrix(crop, rotation)
      // Where qpdf, or anything else, fails on the document, all of its layers are read.
      const layers = this.traps.length > 0 ? NO_LAYERS : this.#layers
      let known: ReadonlySet<number> | undefined
      const hidden = () => (known ??= this.#hiddenOn(index, { page, width, height }, layers))
      return use({ page, document, form, width, height, matrix, layers, hidden })
    } finally {
      if (form !== 0) call.FORM_OnBeforeClosePage(page, form)
      call.FPDF_ClosePage(page)
    }
  }

  /** Looked for where a layer is off, and something on the page names one. */
  #hiddenOn(index: number, page: Parameters<typeof hiddenObjects>[1], layers: Layers): ReadonlySet<number> {
    const { pdfium } = this
    if (this.#file.size > MOST_COPIED_BYTES || !hasFormsOrImages(pdfium, page.page) || !layers.areSomeOff())
      return new Set()
    const copy = this.#copy(index)
    return copy !== undefined && namesLayer(copy) ? hiddenObjects(pdfium, page) : new Set()
  }

  /**
   * The content of a page. `forLayout`: runs come without their edges, but for those with accents, under a link or
   * between the rules of a table.
   */
  page(index: number, forLayout = false): PageContent {
    const { pdfium } = this
    const { call, memory } = pdfium
    return this.withPage(index, (open) => {
      const { document, form, height, matrix, page, width } = open
      const { drawings, groups, inherited } = readObjects(pdfium, open, true)
      const links = readLinks(pdfium, document, page, matrix, this.#destinations)
      const runs = readRuns(pdfium, this.fonts, {
        page,
        index,
        matrix,
        layers: open.layers,
        inherited,
        places: forLayout ? edgePlaces(links, drawings, open) : undefined,
        glyphs: this.#glyphNames.on(() =>
          this.#file.size > MOST_COPIED_BYTES ? undefined : this.#copy(index)
        )
      })
      const label = memory.utf16((buffer, size) => call.FPDF_GetPageLabel(document, index, buffer, size))
      return {
        index,
        label: label === "" ? String(index + 1) : label,
        width: round(width),
        height: round(height),
        runs: [...runs, ...readFreeText(pdfium, page, matrix, runs[0]?.font ?? 0)],
        drawings,
        groups,
        links,
        fields: form === 0 ? [] : readFields(pdfium, form, page, matrix),
        structure: this.facts.tagged ? readStructure(pdfium, page, this.#tags) : [],
        ...(this.facts.tagged && this.#tags.areSuspect() && { suspects: true }),
        ...(forLayout ? { hasWords: showsText(pdfium, open) } : {})
      }
    })
  }

  /** The page as a separate PDF. `end`: end of the range being split, from this page on. `words`: also checked for words. */
  singlePage(index: number, end: number, words: boolean): SinglePage {
    this.#splitter ??= new Splitter(this.#qpdf, this.#path, this.#file.size, this.facts.pageCount)
    this.#refresh()
    this.#copies ??= this.#copiesAreAsGood(this.#splitter)
    const bytes = this.#copies
      ? (this.#copy(index) ?? this.#splitOff(this.#splitter, index, end))
      : (this.#splitOff(this.#splitter, index, end) ?? this.#copy(index))
    if (bytes === undefined) throw pdfError("broken", index)
    return words
      ? { index, bytes, hasWords: showsWords(this.pdfium, this.#handles.document, index, bytes) }
      : { index, bytes }
  }

  /**
   * Whether pdfium may split this document: twice as quick as qpdf where there are many pages, in memory that does not grow, but
   * it loses form fields, and carries all resources along that pages share. Decided by pages sampled over the document.
   */
  #copiesAreAsGood(splitter: Splitter): boolean {
    const { pageCount } = this.facts
    if (pageCount < MANY_PAGES || this.traps.length > 0 || this.#handles.form !== 0) return false
    const sample = Array.from({ length: SAMPLE_PAGES }, (_, at) =>
      Math.floor((at * pageCount) / SAMPLE_PAGES)
    )
    const sizes = splitter.sizesOf(sample)
    return (
      sizes?.every((size, at) => {
        const copy = this.#copy(sample[at] ?? 0)
        return copy !== undefined && copy.length <= size * MAX_SIZE_RATIO + SLACK_BYTES
      }) ?? false
    )
  }
}
