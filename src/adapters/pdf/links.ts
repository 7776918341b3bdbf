import type { PageLink } from "../../domain/conversion/page-content.ts"
import type { Destinations } from "./destinations.ts"
import { type Matrix, mapBox, roundBox } from "./geometry.ts"
import type { Pdfium } from "./pdfium.ts"

/** Links of a page that are told; an index page has some hundreds. */
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
  // pdfium counts on from where it stands; the pair lies behind what the calls in between write.
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
