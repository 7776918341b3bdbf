import { withScan } from "../../../html/scan.ts"
import { serialize } from "../../../model/html-tree.ts"
import {
  type LayoutOptions,
  type LayoutPage,
  type LayoutPlan,
  USUAL_LAYOUT
} from "../../../model/layout-page.ts"
import type { PageContent } from "../../../model/page-content.ts"
import { PdfError, type Picture, type ReadScan } from "../../../model/pdf-document.ts"
import type { Turn } from "../../../model/recognised-text.ts"
import { countPages, layoutTrees, type PageTree } from "../../../pipeline.ts"
import { legibleOf, withoutSpecks } from "../../../recognition/recognised-text.ts"
import { type GlyphShares, textLayerOf } from "../../../recognition/text-layer.ts"
import { uprightPage } from "../../../recognition/upright-page.ts"
import { NO_STATISTICS, type PageStatistics } from "../../../stages/profile/statistics.ts"
import { picturePlaces, type PicturePlace, withPictures } from "../../../stages/write/pictures.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import { pdfError } from "../failure.ts"
import type { OpenDocument } from "./document.ts"
import { drawParts, type Part } from "./region.ts"
import { imageOfPage, pictureOfScan, showsNothing } from "./render.ts"

/** What was worked out for a document: counts over its sample, and the pages of the newest range. */
interface LaidOut {
  readonly counts: PageStatistics
  /** Pages of the sample that are still to be laid out, so that they need not be read twice. */
  readonly sample: Map<number, PageContent>
  readonly pages: Map<number, PageTree>
  /** What they were laid out with, and for whom. */
  readonly options: LayoutOptions
  readonly asked: number
}

const known = new WeakMap<OpenDocument, LaidOut>()

/** A page's content, unless it cannot be read: the others of its document can. */
const readable = (
  document: OpenDocument,
  index: number,
  read = (at: number): PageContent => document.page(at, true)
): ReadonlyArray<PageContent> => {
  try {
    return [read(index)]
  } catch (error) {
    if (error instanceof PdfError) return []
    throw error
  }
}

/** Counts are the same for every range of a document, so that a chunk's layout does not depend on who converts the others. */
const countSample = (document: OpenDocument, { counted, keptCharacters }: LayoutPlan): LaidOut => {
  const { fonts } = document
  const read = counted(document.facts.pageCount).flatMap((index) =>
    readable(document, index).map((page) => ({ page, undecided: fonts.undecided }))
  )
  const sample = new Map<number, PageContent>()
  let room = keptCharacters
  for (const { page, undecided } of read) {
    room -= page.runs.reduce((sum, { text }) => sum + text.length, 0)
    // A later page decided about a font, which changes the runs.
    if (room > 0 && !undecided.some((font) => fonts.isDecided(font))) sample.set(page.index, page)
  }
  fonts.remember()
  return {
    counts: countPages(
      read.map(({ page }) => page),
      fonts.faces
    ),
    sample,
    pages: new Map(),
    options: USUAL_LAYOUT,
    asked: document.asked
  }
}

const dataUri = ({ bytes, mediaType }: Picture): string =>
  `data:${mediaType};base64,${Buffer.from(bytes).toString("base64")}`

const partOf = (place: PicturePlace): Part => {
  if (typeof place === "number") return { image: place }
  const [x0 = 0, y0 = 0, x1 = 0, y1 = 0, turn = 0] = place.split(" ").map(Number)
  return { region: { x0, y0, x1, y1 }, turn }
}

/** Pictures as data URIs, as many as there is room for. */
const illustrated = (
  document: OpenDocument,
  { nodes, ...page }: PageTree,
  { pictureBytes }: LayoutPlan
): LayoutPage => {
  const places = picturePlaces(nodes)
  if (places.length === 0) return { ...page, html: serialize(nodes) }
  const pictures = new Map<PicturePlace, string>()
  let room = pictureBytes
  const give = (at: number, picture: Picture | null): boolean => {
    const place = places[at]
    if (place !== undefined && picture !== null && picture.bytes.length <= room) {
      room -= picture.bytes.length
      pictures.set(place, dataUri(picture))
    }
    return room > 0
  }
  const { pdfium } = document
  const isBlank = document.withPage(page.index, (open) => {
    drawParts(pdfium, open, places.map(partOf), give)
    // Checked now, while the page is open: drawing it again later to find out would decode its pictures again, which takes most of
    // the time.
    return page.hasWords !== true && showsNothing(pdfium, open)
  })
  return { ...page, html: serialize(withPictures(nodes, pictures)), isBlank }
}

/** Characters that are asked whether the document says which letters they are. */
const SAMPLE = 400

/** Counts glyphs without known characters. pdfium returns their codes; those of control characters are lost. */
const glyphShares = ({ call }: Pdfium, page: number): GlyphShares => {
  const text = call.FPDFText_LoadPage(page)
  if (text === 0) return { unnamed: 0, lost: 0 }
  try {
    const count = call.FPDFText_CountChars(text)
    const step = Math.max(1, Math.floor(count / SAMPLE))
    let [asked, unnamed, lost] = [0, 0, 0]
    for (let at = 0; at < count; at += step) {
      if (call.FPDFText_IsGenerated(text, at) === 1) continue
      asked += 1
      if (call.FPDFText_HasUnicodeMapError(text, at) !== 1) continue
      unnamed += 1
      const code = call.FPDFText_GetUnicode(text, at) >>> 0
      if (code < 0x20 || (code >= 0x7f && code < 0xa0)) lost += 1
    }
    return { unnamed: unnamed / Math.max(1, asked), lost: lost / Math.max(1, asked) }
  } finally {
    call.FPDFText_ClosePage(text)
  }
}

/** Whether what the page says has to be read from its picture. */
const textLayer = (document: OpenDocument, content: PageContent) =>
  textLayerOf(content, () =>
    document.withPage(content.index, ({ page }) => glyphShares(document.pdfium, page))
  )

/** Share of a page that a picture covers from which on it is the page. */
const WHOLE = 0.8
/** A larger picture is drawn again, smaller. */
const MAX_SCAN_BYTES = 512 * 1024

/** The picture of a page that was read by OCR: the embedded image where it covers the page, else a drawing. */
const scanOf = (
  document: OpenDocument,
  { drawings, height, index, width }: PageContent,
  turn: Turn
): Picture => {
  const whole = drawings.find(
    ({ box, kind }) => kind === "image" && (box.x1 - box.x0) * (box.y1 - box.y0) >= WHOLE * width * height
  )
  const own = whole?.kind === "image" && turn === 0 ? imageOfPage(document, index, whole.index) : null
  return own !== null && own.bytes.length <= MAX_SCAN_BYTES ? own : pictureOfScan(document, index, turn)
}

const NO_LINES = { turn: 0, skew: 0, width: 1, height: 1, lines: [] } as const

/** Lays out the page with the words that were read from its picture, and the picture itself. */
export const layoutOfScan = (
  document: OpenDocument,
  index: number,
  scans: ReadonlyArray<ReadScan>
): LayoutPage => {
  const contents = scans.flatMap(({ page, text }) =>
    (page === index ? [document.page(page, true)] : readable(document, page)).map((content) => {
      const clear = text === undefined ? NO_LINES : withoutSpecks(text)
      const legible = text === undefined ? "nothing" : legibleOf(clear)
      const read = legible === "nothing" ? { ...clear, lines: [] } : clear
      const upright = uprightPage(content, read, textLayer(document, content) === "sparse")
      return { content, legible, turn: clear.turn, upright }
    })
  )
  const pages = layoutTrees({
    facts: document.facts,
    fonts: document.fonts.faces,
    pages: contents.map(({ upright }) => upright),
    others: NO_STATISTICS
  })
  const own = contents.find(({ content }) => content.index === index)
  const page = pages.find((one) => one.index === index)
  if (own === undefined || page === undefined) throw pdfError("broken", index)
  // What its text layer is doubted for says nothing of the words that were read from its picture.
  const { doubts: _, nodes, ...rest } = page
  const pictures = new Map([[0, dataUri(scanOf(document, own.content, own.turn))]])
  return {
    ...rest,
    tier: own.legible === "good" ? "recognised" : "poorly-recognised",
    html: serialize(withPictures(withScan(nodes, own.legible), pictures))
  }
}

/** Lays out the page, together with those that follow it in its range. */
export const layoutOf = (
  document: OpenDocument,
  index: number,
  end: number,
  plan: LayoutPlan,
  options: LayoutOptions = USUAL_LAYOUT
): LayoutPage => {
  const before = known.get(document)
  const isSame =
    before?.options.keepsRunningLines === options.keepsRunningLines &&
    before.options.explains === options.explains &&
    before.asked === document.asked
  const laidOut = isSame ? before.pages.get(index) : undefined
  if (laidOut !== undefined) {
    before?.pages.delete(index)
    return illustrated(document, laidOut, plan)
  }
  const { counts, sample } = before ?? countSample(document, plan)
  const read = (at: number): PageContent => {
    const kept = sample.get(at)
    sample.delete(at)
    return kept ?? document.page(at, true)
  }
  // Fails as it fails for one that asks for this page alone.
  const first = read(index)
  const stop = Math.min(end, index + plan.together)
  const rest = Array.from({ length: stop - index - 1 }, (_, n) => index + 1 + n)
  const contents = [first, ...rest.flatMap((next) => readable(document, next, read))]
  const pages = layoutTrees({
    facts: document.facts,
    fonts: document.fonts.faces,
    pages: contents,
    others: counts,
    options
  }).map((page, at): PageTree => {
    const content = contents[at]
    const layer = content === undefined ? "usable" : textLayer(document, content)
    if (layer === "usable") return page
    return layer === "rubble" ? { ...page, isScan: true, isRubble: true } : { ...page, isScan: true }
  })
  known.set(document, {
    counts,
    sample,
    options,
    asked: document.asked,
    pages: new Map(pages.slice(1).map((page) => [page.index, page]))
  })
  return illustrated(
    document,
    pages[0] ?? { index, label: String(index + 1), tier: "layout", nodes: [], text: "" },
    plan
  )
}
