import type { OutlineEntry } from "../../../model/page-content.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import type { Destinations } from "./links.ts"

/** Entries that are returned: a manual of 16,000 pages has some thousand. */
const MAX_ENTRIES = 20_000
const MAX_LEVELS = 32

/** The document's bookmarks in reading order. Loops, which damaged files have, are cut. */
export const readOutline = (
  { call, memory }: Pdfium,
  document: number,
  destinations: Destinations
): ReadonlyArray<OutlineEntry> => {
  const entries: Array<OutlineEntry> = []
  const seen = new Set<number>()
  const visit = (parent: number, level: number): void => {
    if (level > MAX_LEVELS) return
    let bookmark = call.FPDFBookmark_GetFirstChild(document, parent)
    while (bookmark !== 0 && !seen.has(bookmark) && entries.length < MAX_ENTRIES) {
      const at = bookmark
      seen.add(at)
      const destination =
        destinations.ofDestination(call.FPDFBookmark_GetDest(document, at)) ??
        destinations.ofAction(call.FPDFBookmark_GetAction(at))
      entries.push({
        title: memory.utf16((buffer, size) => call.FPDFBookmark_GetTitle(at, buffer, size)).trim(),
        level,
        page: destination?.kind === "page" ? destination.page : undefined
      })
      visit(at, level + 1)
      bookmark = call.FPDFBookmark_GetNextSibling(document, at)
    }
  }
  visit(0, 1)
  return entries
}
