/** What a document's outline (its bookmarks) says of its headings. */
import type { OutlineEntry } from "../../page-content.ts"
import type { PageAnalysis } from "../analysis.ts"

/** A document's outline, as far as it names something on the pages that are laid out together. */
export interface Outline {
  /** By page: levels by the letters of titles. */
  readonly titles: ReadonlyMap<number, ReadonlyMap<string, number>>
  /** How deep it goes: `sections` where it names what stands below chapters, so that bold words it does not name are no headings. */
  readonly reach: "none" | "chapters" | "sections"
}

export const NO_OUTLINE: Outline = { titles: new Map(), reach: "none" }

/** A title's letters and digits, by which titles are compared. */
export const lettersOf = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "")

/** Removes a leading number: outlines have it or leave it out. */
export const unnumbered = (text: string): string =>
  text.replace(
    /^\s*(?:(?:chapter|appendix|part|kapitel|anhang|teil|chapitre|annexe)\s+)?(?:[A-Z]|\d+)(?:\.\d+)*[.:)]?\s+/i,
    ""
  )

const keysOf = (text: string): ReadonlyArray<string> => [lettersOf(text), lettersOf(unnumbered(text))]

/** An entry also counts on the page before and after: targets are set a little above what they mean. */
const titlesByPage = (outline: ReadonlyArray<OutlineEntry>): Outline["titles"] => {
  const index = new Map<number, Map<string, number>>()
  for (const { level, page, title } of outline) {
    if (page === undefined) continue
    for (const near of [page, page + 1]) {
      const titles = index.get(near) ?? new Map<string, number>()
      index.set(near, titles)
      for (const key of keysOf(title))
        if (key !== "" && (near === page || !titles.has(key))) titles.set(key, level)
    }
  }
  return index
}

/** Share of titles that stand on their pages as lines: where fewer do, they name something else (pages, slides). */
const PRINTED = 0.5

/** Whether an outline's titles are printed on their pages. A title of two lines is not found: half of them is enough. */
const isPrinted = (entries: ReadonlyArray<OutlineEntry>, analyses: ReadonlyArray<PageAnalysis>): boolean => {
  const named = new Set(entries.flatMap(({ page = -1 }) => [page, page + 1]))
  const lines = new Map(
    analyses
      .filter(({ page }) => named.has(page.index))
      .map(({ page, rows }) => [page.index, new Set(rows.flatMap(({ text }) => keysOf(text)))])
  )
  const shown = entries.filter(({ page = -1, title }) =>
    [page, page + 1].some((at) => keysOf(title).some((key) => lines.get(at)?.has(key) === true))
  )
  return shown.length > 0 && shown.length >= PRINTED * entries.length
}

/** What the outline says of pages. */
export const outlineOf = (
  entries: ReadonlyArray<OutlineEntry>,
  analyses: ReadonlyArray<PageAnalysis>
): Outline => {
  if (entries.length === 0) return NO_OUTLINE
  const indexes = new Set(analyses.map(({ page }) => page.index))
  const near = entries.filter(
    ({ page }) => page !== undefined && (indexes.has(page) || indexes.has(page + 1))
  )
  const here = near.filter(({ page = -1 }) => indexes.has(page))
  const deep = entries.some(({ level }) => level > 1)
  return { titles: titlesByPage(near), reach: deep && isPrinted(here, analyses) ? "sections" : "chapters" }
}
