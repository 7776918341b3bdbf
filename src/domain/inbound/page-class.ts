import type { FontFace, PageContent, TextRun } from "../../reader/model/page-content.ts"

/** How hard a page is: equations, tables, forms or several columns make it complex. */
type PageClass = "standard" | "complex"

/** Fonts of formulas: TeX's, MathJax's and the OpenType ones of word processors. */
const FORMULA_FONT = /^(?:CM(?:MI|SY|EX)|MS[AB]M|MathJax|MTMI|MTSY|MTEX|Euclid ?(?:Math|Symbol))|Math(?:-|$)/i

/** Characters that occur almost only in formulas. */
const FORMULA_SIGN = /[\u2200-\u22ff\u2a00-\u2aff]|[\u{1d400}-\u{1d7ff}]/u

const STRUCTURE = /<(?:table|math|input|select|textarea|form)\b/i

/** Minimum number of lines in two columns, and minimum share of lines with another line at the same height. */
const MIN_LINES = 10
const MIN_SHARE = 0.5

/** A gutter's narrowest width, points. */
const MIN_GUTTER = 9

const isBody = (run: TextRun): boolean => !run.artifact && run.angle === 0 && run.text.trim().length > 1

/**
 * Whether text runs in columns: a gutter in the middle half of the page that almost no line crosses, with lines on both sides.
 */
const hasColumns = ({ runs, width }: Pick<PageContent, "runs" | "width">): boolean => {
  const body = runs.filter(isBody)
  if (body.length < 2 * MIN_LINES) return false
  for (let x = width * 0.3; x <= width * 0.7; x += width * 0.02) {
    const left = new Set<number>()
    const right = new Set<number>()
    let crossing = 0
    for (const { baseline, box } of body) {
      const line = Math.round(baseline / 2)
      if (box.x1 <= x) left.add(line)
      else if (box.x0 >= x + MIN_GUTTER) right.add(line)
      else crossing++
    }
    const fewer = Math.min(left.size, right.size)
    if (fewer >= MIN_LINES && crossing <= fewer * 0.2 && fewer >= MIN_SHARE * Math.max(left.size, right.size))
      return true
  }
  return false
}

/** The class of a page, by its content and by its conversion. Total. */
export const classifyPage = (
  html: string,
  content: Pick<PageContent, "runs" | "fields" | "width">,
  fonts: ReadonlyArray<Pick<FontFace, "name">>
): PageClass => {
  const formula = content.runs.some(
    ({ font, text }) => FORMULA_SIGN.test(text) || FORMULA_FONT.test(fonts[font]?.name ?? "")
  )
  return formula || content.fields.length > 0 || STRUCTURE.test(html) || hasColumns(content)
    ? "complex"
    : "standard"
}

/** A complex page costs the same as any other (DOC-30). */
export const HIGH_FIDELITY_CREDIT_MULTIPLIER = 1

/** Pages that a free account has in its life (DOC-30). */
export const FREE_LIFETIME_PAGES = 10

/** Bytes that a page of text takes in a PDF: between plain text (20 kB) and a scan (300 kB). */
const BYTES_A_PAGE = 100_000

/** What a document's pages cost: 1 credit each (INBOUND-11). */
export const creditsFor = (pages: { readonly standard: number; readonly complex: number }): number =>
  pages.standard + pages.complex * HIGH_FIDELITY_CREDIT_MULTIPLIER

/** Estimated pages of a PDF of this size, where they cannot be counted before it is converted (INBOUND-11); 1 at least. */
export const estimatePages = (bytes: number): number => Math.max(1, Math.ceil(bytes / BYTES_A_PAGE))
