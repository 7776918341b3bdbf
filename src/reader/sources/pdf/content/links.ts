import type { PageLink } from "../../../model/page-content.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import { type Matrix, mapY, pageMatrix, round, mapBox, roundBox } from "./geometry.ts"

// PDFACTION_…
const GO_TO = 1
const URI = 3

/** Target of a link or an outline entry. */
type Destination =
  | { readonly kind: "page"; readonly page: number; readonly y: number | undefined }
  | { readonly kind: "uri"; readonly uri: string }

/** Page box that is shown, for `EPDF_GetPageBoxByIndex`. */
const CROP_BOX = 1
const MEDIA_BOX = 0

/** Resolves destinations; the geometry of pages that many links lead to is kept. */
export class Destinations {
  readonly #pdfium: Pdfium
  readonly #document: number
  readonly #pageCount: number
  #matrices = new Map<number, Matrix>()

  constructor(pdfium: Pdfium, document: number, pageCount: number) {
    this.#pdfium = pdfium
    this.#document = document
    this.#pageCount = pageCount
  }

  #matrixOf(page: number): Matrix {
    const known = this.#matrices.get(page)
    if (known !== undefined) return known
    const { call, memory } = this.#pdfium
    const { scratch } = memory
    const boxed = [CROP_BOX, MEDIA_BOX].some(
      (box) => call.EPDF_GetPageBoxByIndex(this.#document, page, box, scratch) !== 0
    )
    const crop = boxed
      ? {
          x0: memory.float(scratch),
          y1: memory.float(scratch + 4),
          x1: memory.float(scratch + 8),
          y0: memory.float(scratch + 12)
        }
      : { x0: 0, y0: 0, x1: 612, y1: 792 }
    const matrix = pageMatrix(crop, call.EPDF_GetPageRotationByIndex(this.#document, page))
    this.#matrices.set(page, matrix)
    return matrix
  }

  /** Target of a pdfium destination; undefined where it leads to no page. */
  ofDestination(destination: number): Destination | undefined {
    if (destination === 0) return undefined
    const { call, memory } = this.#pdfium
    const { scratch } = memory
    const page = call.FPDFDest_GetDestPageIndex(this.#document, destination)
    if (page < 0 || page >= this.#pageCount) return undefined
    const located = call.FPDFDest_GetLocationInPage(
      destination,
      scratch,
      scratch + 4,
      scratch + 8,
      scratch + 12,
      scratch + 16,
      scratch + 20
    )
    if (located === 0 || memory.int(scratch + 4) === 0) return { kind: "page", page, y: undefined }
    const [x, y] = [memory.int(scratch) === 0 ? 0 : memory.float(scratch + 12), memory.float(scratch + 16)]
    const shown = mapY(this.#matrixOf(page), x, y)
    return { kind: "page", page, y: Number.isFinite(shown) ? round(shown) : undefined }
  }

  /** Target of an action that leads to a page of this document or to a URI. */
  ofAction(action: number): Destination | undefined {
    if (action === 0) return undefined
    const { call, memory } = this.#pdfium
    const type = call.FPDFAction_GetType(action)
    if (type === GO_TO) return this.ofDestination(call.FPDFAction_GetDest(this.#document, action))
    if (type !== URI) return undefined
    const uri = memory.ascii((buffer, size) =>
      call.FPDFAction_GetURIPath(this.#document, action, buffer, size)
    )
    return uri === "" ? undefined : { kind: "uri", uri }
  }
}

/** Links of a page that are returned; an index page has some hundreds. */
const MAX_LINKS = 10_000

/** The page's link annotations that lead somewhere. */
export const readLinks = (
  { call, memory }: Pdfium,
  document: number,
  page: number,
  matrix: Matrix,
  destinations: Destinations
): ReadonlyArray<PageLink> => {
  const { scratch } = memory
  const links: Array<PageLink> = []
  // pdfium counts on from the stored position; the pair is behind the bytes that the calls in between write.
  const [position, handle] = [scratch + 64, scratch + 68]
  memory.setInt(position, 0)
  for (let seen = 0; seen < MAX_LINKS && call.FPDFLink_Enumerate(page, position, handle) !== 0; seen++) {
    const link = memory.int(handle)
    const target =
      destinations.ofDestination(call.FPDFLink_GetDest(document, link)) ??
      destinations.ofAction(call.FPDFLink_GetAction(link))
    // FS_RECTF: left, top, right, bottom.
    if (target === undefined || call.FPDFLink_GetAnnotRect(link, scratch) === 0) continue
    const box = mapBox(
      matrix,
      memory.float(scratch),
      memory.float(scratch + 12),
      memory.float(scratch + 8),
      memory.float(scratch + 4)
    )
    if (Number.isFinite(box.x0 + box.y0 + box.x1 + box.y1)) links.push({ box: roundBox(box), target })
  }
  return links
}
