/** What a document's outline (its bookmarks) says of its headings. */
import { countUp } from "../../model/lists.ts"
import type { OutlineEntry } from "../../model/page-content.ts"
import type { PageAnalysis } from "../lines/analysis.ts"
import { lettersOf } from "../lines/heading-words.ts"
import { isBoldLine, type Line } from "../lines/line.ts"
import { numberKind, kindAbove, partsOf } from "../lines/section-number.ts"
import { type DocumentProfile, levelOf, LARGER } from "./profile.ts"
import { MAX_RUNNING_SIZE } from "./running-lines.ts"
import { styleKey, MARGIN } from "./statistics.ts"

/** A document's outline, as far as it names something on the pages that are laid out together. */
export interface Outline {
  /** By page: levels by the letters of titles. */
  readonly titles: ReadonlyMap<number, ReadonlyMap<string, number>>
  /** Levels of styles, by `styleKey`: that of most of the named lines of the style. */
  readonly styles: ReadonlyMap<string, number>
  /** Levels of styles that one named line has, too: smaller headings rank below them. */
  readonly named: ReadonlyMap<string, number>
  /** Levels of kinds of numbers, by `numberKind`. */
  readonly kinds: ReadonlyMap<string, number>
  /** Bold styles of sections of reference pages: others of such a style are sections, too. */
  readonly references: ReadonlySet<string>
  /** Lines at the head of a page that repeat the title of a section that began before. */
  readonly running: ReadonlySet<Line>
  /**
   * Depth of the outline: `sections` where it names things below chapters, so that other bold words are no headings.
   */
  readonly reach: "none" | "chapters" | "sections"
}

const NO_OUTLINE: Outline = {
  titles: new Map(),
  styles: new Map(),
  named: new Map(),
  kinds: new Map(),
  references: new Set(),
  running: new Set(),
  reach: "none"
}

/** Removes a leading number: outlines have it or leave it out. */
export const unnumbered = (text: string): string =>
  text.replace(
    /^\s*(?:(?:chapter|appendix|part|kapitel|anhang|teil|chapitre|annexe)\s+)?(?:[A-Z]|\d+)(?:\.\d+)*[.:)]?\s+/i,
    ""
  )

/** Sections of reference pages: outlines name the page alone, and style sheets set them smaller than its text. */
export const REFERENCE =
  /^(?:name|synopsis|description|options|see also|return values?|exit (?:status|codes?)|environment(?: variables)?|files|diagnostics|conforming to|standards|bugs|caveats|authors?|history)$/iu

const keysOf = (text: string): ReadonlyArray<string> => {
  const bare = unnumbered(text)
  return bare === text ? [lettersOf(text)] : [lettersOf(text), lettersOf(bare)]
}

/** An entry also counts on the page before and after: targets are set a little above what they mean. */
const titlesByPage = (outline: ReadonlyArray<OutlineEntry>): Outline["titles"] => {
  const index = new Map<number, Map<string, number>>()
  const here = new Map<number, Set<string>>()
  for (const { level, page, title } of outline) {
    if (page === undefined) continue
    for (const near of [page, page + 1]) {
      const titles = index.get(near) ?? new Map<string, number>()
      index.set(near, titles)
      for (const key of keysOf(title)) {
        if (key === "") continue
        const known = here.get(near)?.has(key) === true
        // A title that is listed twice has the higher of its levels: one of the lists may be torn.
        if (near === page) {
          titles.set(key, known ? Math.min(level, titles.get(key) ?? level) : level)
          here.set(near, (here.get(near) ?? new Set()).add(key))
        } else if (!titles.has(key)) titles.set(key, level)
      }
    }
  }
  return index
}

/**
 * Least share of titles that occur on their pages as lines. Below it, the entries name something else (pages, slides).
 */
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

/** How often values are met. */
type Tally = Map<string, Map<number, number>>

const tally = (of: Tally, key: string, level: number): void => {
  const levels = of.get(key) ?? new Map<number, number>()
  countUp(levels, level)
  of.set(key, levels)
}

/** The value that is met most by key, and `least` times; of two the smaller one. */
const usual = (of: Tally, least: number): ReadonlyMap<string, number> =>
  new Map(
    [...of].flatMap(([key, levels]) => {
      const [most] = [...levels].sort(([a, one], [b, other]) => other - one || a - b)
      return most === undefined || most[1] < least ? [] : [[key, most[0]]]
    })
  )

/** Named lines of a style that say what others of it are; one number is enough for its kind. */
const ALIKE = 2

/**
 * Removes kinds of numbers that rank no lower than the kinds that they are parts of: a title's words may be the same as
 * another's.
 */
const nested = (kinds: ReadonlyMap<string, number>): ReadonlyMap<string, number> =>
  new Map(
    [...kinds].filter(([kind, level]) => {
      const above = kinds.get(kindAbove(partsOf(kind) ?? 0))
      return above === undefined || level > above
    })
  )

/** What the lines that the outline names say of others that look like them or are numbered like them. */
const namedLines = (
  titles: Outline["titles"],
  analyses: ReadonlyArray<PageAnalysis>,
  profile: DocumentProfile
): Pick<Outline, "styles" | "named" | "kinds"> => {
  const [styles, kinds]: [Tally, Tally] = [new Map(), new Map()]
  for (const { page, rows } of analyses) {
    const here = titles.get(page.index)
    if (here === undefined) continue
    for (const row of rows) {
      if (levelOf(profile, row) === undefined) continue
      const [whole, bare] = keysOf(row.text)
      const level = here.get(whole ?? "") ?? here.get(bare ?? "")
      if (level === undefined) continue
      tally(styles, styleKey(row.size, isBoldLine(row), row.typewriter), level)
      const kind = numberKind(row.text)
      if (kind !== undefined) tally(kinds, kind, level)
    }
  }
  return { styles: usual(styles, ALIKE), named: usual(styles, 1), kinds: nested(usual(kinds, 1)) }
}

/**
 * A style belongs to the sections of reference pages when at least this many lines, and this share of them, have the
 * usual names.
 */
const REFERENCES = 3
const REFERENCE_SHARE = 1 / 3

const referenceStyles = (analyses: ReadonlyArray<PageAnalysis>): ReadonlySet<string> => {
  const lines = analyses.flatMap(({ rows }) => rows.filter(isBoldLine))
  const styles = Map.groupBy(lines, ({ size, typewriter }) => styleKey(size, true, typewriter))
  return new Set(
    [...styles].flatMap(([style, all]) => {
      const named = all.filter(({ text }) => REFERENCE.test(text.trim())).length
      return named >= REFERENCES && named >= REFERENCE_SHARE * all.length ? [style] : []
    })
  )
}

/** Greatest size of a running title, in sizes of text, where the outline names no section of its words on the page. */
const MAX_LARGE = 1.5
/** A running title's section began at least this many pages before, where its title is not near. */
const LONG_BEFORE = 2

/** True when a line is more prominent than another with the same words: it is the heading of the two. */
const standsOut = (line: Line, other: Line): boolean =>
  line.size > LARGER * other.size || (isBoldLine(line) && !isBoldLine(other) && line.size >= other.size)

/** Greatest number of lines of a running title, and greatest step between them, in font sizes. */
const RUNNING_LINES = 3
const RUNNING_STEP = 1.6

/** The first lines of a page that may be one title: of the size of the first, and near below each other. */
const headLines = (rows: ReadonlyArray<Line>): ReadonlyArray<Line> => {
  const end = rows.slice(0, RUNNING_LINES).findIndex((row, at) => {
    const above = rows[at - 1]
    return (
      above !== undefined &&
      (row.size !== above.size || row.baseline - above.baseline > RUNNING_STEP * row.size)
    )
  })
  return rows.slice(0, end < 0 ? RUNNING_LINES : end)
}

/**
 * Lines at the head of a page that repeat its section's title: the title is on an earlier page, or below on this one.
 */
const runningTitles = (
  entries: ReadonlyArray<OutlineEntry>,
  analyses: ReadonlyArray<PageAnalysis>,
  profile: DocumentProfile
): ReadonlySet<Line> => {
  const running = new Set<Line>()
  const began = new Map<string, number>()
  const listed = new Set<string>()
  for (const { page, title } of entries)
    if (page !== undefined)
      for (const key of keysOf(title))
        if (key !== "") {
          began.set(key, Math.min(page, began.get(key) ?? Infinity))
          listed.add(`${page} ${key}`)
        }
  const printed = new Map<string, Line>()
  for (const { page, rows } of analyses) {
    const [head] = rows
    for (const [at, row] of rows.entries()) {
      if (row !== head && levelOf(profile, row) === undefined) continue
      // A long title takes up two lines.
      const next = rows[at + 1]
      const both = next?.size === row.size ? keysOf(`${row.text} ${next.text}`) : []
      for (const key of [...keysOf(row.text), ...both]) {
        const known = printed.get(key)
        if (began.has(key) && (known === undefined || standsOut(row, known))) printed.set(key, row)
      }
    }
    if (
      head === undefined ||
      head.baseline > MARGIN * page.height ||
      head.size > MAX_LARGE * profile.bodySize
    )
      continue
    const large = head.size > MAX_RUNNING_SIZE * profile.bodySize
    const repeats = (text: string) =>
      keysOf(text).some((key) => {
        const title = printed.get(key)
        const since = page.index - (began.get(key) ?? Infinity)
        if (title === undefined || since < 0 || (large && listed.has(`${page.index} ${key}`))) return false
        return standsOut(title, head) || (since >= LONG_BEFORE && levelOf(profile, head) === undefined)
      })
    // A narrow head breaks a title, within words, too.
    const lines = headLines(rows)
    const count = lines.findIndex((_, at) =>
      repeats(
        lines
          .slice(0, at + 1)
          .map(({ text }) => text)
          .join(" ")
      )
    )
    for (const line of lines.slice(0, count + 1)) running.add(line)
  }
  return running
}

/** What the outline says of pages. */
export const outlineOf = (
  entries: ReadonlyArray<OutlineEntry>,
  analyses: ReadonlyArray<PageAnalysis>,
  profile: DocumentProfile
): Outline => {
  if (entries.length === 0) return NO_OUTLINE
  const indexes = new Set(analyses.map(({ page }) => page.index))
  const near = entries.filter(
    ({ page }) => page !== undefined && (indexes.has(page) || indexes.has(page + 1))
  )
  const here = near.filter(({ page = -1 }) => indexes.has(page))
  const deep = entries.some(({ level }) => level > 1)
  const titles = titlesByPage(near)
  return {
    titles,
    ...namedLines(titles, analyses, profile),
    references: referenceStyles(analyses),
    running: runningTitles(entries, analyses, profile),
    reach: deep && isPrinted(here, analyses) ? "sections" : "chapters"
  }
}
