import { picturesIn, withPictures } from "../../../domain/conversion/html/write-blocks.ts"
import {
  type LayoutPage,
  countPages,
  layoutPages,
  samplePages
} from "../../../domain/conversion/layout/layout-pages.ts"
import { mergeStatistics, type PageStatistics } from "../../../domain/conversion/layout/statistics.ts"
import type { PageContent } from "../../../domain/conversion/page-content.ts"
import { PdfError } from "../../../ports/conversion/pdf.ts"
import type { OpenDocument } from "../pages/document.ts"
import { imageOfPage } from "../pages/render.ts"

/** What was worked out for a document: counts over its sample, and the pages of the newest range. */
interface LaidOut {
  readonly counts: PageStatistics
  /** Pages of the sample that are still to be laid out, so that they need not be read twice. */
  readonly sample: Map<number, PageContent>
  readonly pages: Map<number, LayoutPage>
}

/** Characters of the sample's pages that are kept; real ones come to a quarter of it. */
const MAX_KEPT_CHARACTERS = 400_000

/** Most pages that are laid out together. */
const MAX_TOGETHER = 64

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
const countSample = (document: OpenDocument): LaidOut => {
  const read = samplePages(document.facts.pageCount).flatMap((index) => readable(document, index))
  const sample = new Map<number, PageContent>()
  let room = MAX_KEPT_CHARACTERS
  for (const page of read) {
    room -= page.runs.reduce((sum, { text }) => sum + text.length, 0)
    if (room > 0) sample.set(page.index, page)
  }
  return { counts: countPages(read, document.fonts.faces), sample, pages: new Map() }
}

/** Bytes of the pictures of one page that go into its HTML; a reader has to load them all. */
const MAX_PICTURES_BYTES = 3 * 1024 * 1024

/** Pictures as data URIs, as many as there is room for. */
const illustrated = (document: OpenDocument, page: LayoutPage): LayoutPage => {
  const pictures = new Map<number, string>()
  let room = MAX_PICTURES_BYTES
  for (const index of picturesIn(page.html)) {
    if (room <= 0 || pictures.has(index)) continue
    const picture = imageOfPage(document, page.index, index)
    if (picture === null || picture.bytes.length > room) continue
    room -= picture.bytes.length
    pictures.set(index, `data:${picture.mediaType};base64,${Buffer.from(picture.bytes).toString("base64")}`)
  }
  return pictures.size === 0 ? page : { ...page, html: withPictures(page.html, pictures) }
}

/** Lays out the page, together with those that follow it in its range. */
export const layoutOf = (document: OpenDocument, index: number, end: number): LayoutPage => {
  const before = known.get(document)
  const laidOut = before?.pages.get(index)
  if (laidOut !== undefined) {
    before?.pages.delete(index)
    return illustrated(document, laidOut)
  }
  const { counts, sample } = before ?? countSample(document)
  const read = (at: number): PageContent => {
    const kept = sample.get(at)
    sample.delete(at)
    return kept ?? document.page(at, true)
  }
  // Fails as it fails for one that asks for this page alone.
  const first = read(index)
  const stop = Math.min(end, index + MAX_TOGETHER)
  const rest = Array.from({ length: stop - index - 1 }, (_, n) => index + 1 + n)
  const pages = layoutPages({
    facts: document.facts,
    fonts: document.fonts.faces,
    pages: [first, ...rest.flatMap((next) => readable(document, next, read))],
    others: mergeStatistics([counts])
  })
  known.set(document, {
    counts,
    sample,
    pages: new Map(pages.slice(1).map((page) => [page.index, page]))
  })
  return illustrated(
    document,
    pages[0] ?? { index, label: String(index + 1), tier: "layout", html: "", text: "" }
  )
}
