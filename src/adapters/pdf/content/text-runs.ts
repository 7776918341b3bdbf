import type { PageLink, TextRun } from "../../../domain/conversion/page-content.ts"
import { MAX_PAGE_CHARACTERS } from "../../../ports/conversion/pdf.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import { pdfError } from "../failure.ts"
import { drawnSize } from "../pages/png.ts"
import type { FontTable } from "./fonts.ts"
import { type Matrix, mapBox, mapX, mapY, round } from "./geometry.ts"
import { type Mark, markOf, UNMARKED } from "./marks.ts"
import { OpenRun, type Style } from "./open-run.ts"

/** PDF's text render mode for text that is there for search only. */
const INVISIBLE = 3
const SPACE = 0x20
const HYPHEN = 0x2d
const SOFT_HYPHEN = 0xad
/** How pdfium writes a hyphen at a line's end, depending on its version. */
const LINE_END_HYPHENS = new Set([0x02, 0xfffe])

/** A run ends where the next character stands further away than this, in font sizes: another column or cell. */
const GAP = 1
/**
 * A run also ends where another text object stands further away than this, in font sizes, with no space drawn in between: cells
 * may stand as near as words.
 */
const CELL_GAP = 0.2
/**
 * Where a line has more such gaps, text is drawn word by word; this many such lines mean that the page is. Gaps then end no run.
 */
const WORDS = 6
const WORDY_LINES = 2
/** The same backwards; kerning, accents and right-to-left text step back by less. */
const BACK = 2
/** A baseline that differs by more than this, in font sizes, is another one (a footnote's mark, an exponent). */
const BASELINE = 0.05
/** Nobody prints larger: a higher value is damage. */
const MAX_SIZE = 14_400

const sameStyle = (a: Style, b: Style): boolean =>
  a === b ||
  (a.font === b.font &&
    a.size === b.size &&
    a.angle === b.angle &&
    a.color === b.color &&
    a.mark.mcid === b.mark.mcid &&
    a.mark.artifact === b.mark.artifact &&
    a.invisible === b.invisible)

/** A thread reads one page at a time. */
const gathering = new OpenRun()

const styleOf = (
  pdfium: Pdfium,
  fonts: FontTable,
  at: {
    readonly page: Matrix
    readonly text: number
    readonly character: number
    readonly object: number
    readonly mark: Mark
  }
): Style => {
  const { call, memory } = pdfium
  const { scratch } = memory
  const known = call.FPDFText_GetMatrix(at.text, at.character, scratch) !== 0
  const [a, b, c, d] = known
    ? [
        memory.float(scratch),
        memory.float(scratch + 4),
        memory.float(scratch + 8),
        memory.float(scratch + 12)
      ]
    : [1, 0, 0, 1]
  const x = at.page.a * a + at.page.c * b
  const y = at.page.b * a + at.page.d * b
  const length = Math.hypot(x, y) || 1
  // The text's matrix has the size's sign and scale; degenerate ones are taken for the plain size.
  const scale = Math.hypot(c, d) || 1
  const declared = Math.abs(call.FPDFText_GetFontSize(at.text, at.character) * scale)
  const size = Math.min(MAX_SIZE, drawnSize(pdfium, at, declared))
  const degrees = (Math.atan2(y, x) * 180) / Math.PI
  const filled =
    call.FPDFPageObj_GetFillColor(at.object, scratch, scratch + 4, scratch + 8, scratch + 12) !== 0
  const color = filled
    ? (memory.int(scratch) << 16) | (memory.int(scratch + 4) << 8) | memory.int(scratch + 8)
    : 0
  return {
    font: fonts.indexOf(call.FPDFTextObj_GetFont(at.object)),
    size: Number.isFinite(size) ? round(size) : 0,
    angle: ((Math.round(degrees * 10) / 10 + 360) % 360) + 0,
    dx: x / length,
    dy: y / length,
    color,
    mark: at.mark,
    invisible: call.FPDFTextObj_GetTextRenderMode(at.object) === INVISIBLE
  }
}

/**
 * The page's runs. `inherited` has the marks of text objects that stand in a form XObject which is itself marked. `links`: runs
 * that none of them covers are returned without their edges. Throws `bomb` past {@link MAX_PAGE_CHARACTERS}.
 */
export const readRuns = (
  pdfium: Pdfium,
  fonts: FontTable,
  of: {
    readonly page: number
    readonly index: number
    readonly matrix: Matrix
    readonly inherited: ReadonlyMap<number, Mark>
    readonly links: ReadonlyArray<PageLink> | undefined
  }
): ReadonlyArray<TextRun> => {
  const { call, memory } = pdfium
  const { scratch } = memory
  const text = call.FPDFText_LoadPage(of.page)
  if (text === 0) return []
  try {
    const count = call.FPDFText_CountChars(text)
    if (count > MAX_PAGE_CHARACTERS) throw pdfError("bomb", of.index)
    const runs: Array<TextRun> = []
    const styles = new Map<number, Style>()
    gathering.style = undefined
    const run = gathering
    const { a, b, c, d, e, f } = of.matrix
    const straight = b === 0 && c === 0
    const slot = scratch >>> 2
    let lastObject = 0
    let style: Style | undefined
    let x = 0
    let y = 0
    let across = 0
    let gapsAcross = 0
    let gaps = 0
    let wordy = 0
    const close = (next?: number) => {
      if (run.style !== undefined) runs.push(run.finish(run.style, of.links, next))
    }
    for (let at = 0; at < count; at++) {
      const code = call.FPDFText_GetUnicode(text, at) >>> 0
      if (
        LINE_END_HYPHENS.has(code) ||
        code === SOFT_HYPHEN ||
        (code === HYPHEN && call.FPDFText_IsHyphen(text, at) === 1)
      ) {
        run.hyphenated = true
        continue
      }
      if (code === 0x0d || code === 0x0a) {
        close()
        continue
      }
      if (code === SPACE || code === 0xa0 || code === 0x09) {
        run.addSpace()
        continue
      }
      if (code < SPACE || code > 0x10ffff || (code >= 0x7f && code < 0xa0)) continue
      const object = call.FPDFText_GetTextObject(text, at)
      if (object === 0) continue
      const fresh = object !== lastObject
      if (fresh || style === undefined) {
        lastObject = object
        style = styles.get(object)
        if (style === undefined) {
          const own = markOf(pdfium, object)
          const mark = own === UNMARKED ? (of.inherited.get(object) ?? UNMARKED) : own
          style = styleOf(pdfium, fonts, { page: of.matrix, text, character: at, object, mark })
          styles.set(object, style)
        }
        // A text object has one baseline, so that its first character gives it.
        call.FPDFText_GetCharOrigin(text, at, scratch, scratch + 8)
        const [originX, originY] = [memory.double(scratch), memory.double(scratch + 8)]
        x = mapX(of.matrix, originX, originY)
        y = mapY(of.matrix, originX, originY)
        across = y * style.dx - x * style.dy
      }
      let x0 = x
      let y0 = y
      let x1 = x
      let y1 = y
      if (call.FPDFText_GetLooseCharBox(text, at, scratch) !== 0) {
        // FS_RECTF: left, top, right, bottom.
        const { floats } = memory
        const left = floats[slot] ?? 0
        const top = floats[slot + 1] ?? 0
        const right = floats[slot + 2] ?? 0
        const bottom = floats[slot + 3] ?? 0
        if (straight) {
          x0 = a * left + e
          x1 = a * right + e
          y0 = d * top + f
          y1 = d * bottom + f
          if (x0 > x1) [x0, x1] = [x1, x0]
          if (y0 > y1) [y0, y1] = [y1, y0]
        } else ({ x0, y0, x1, y1 } = mapBox(of.matrix, left, bottom, right, top))
      }
      if (!Number.isFinite(x + y + x0 + x1 + y0 + y1)) continue
      const { angle, dx, dy, size } = style
      let start = x0
      let end = x1
      if (angle !== 0) {
        // Along a slanted line the upright box is too wide: what it has along the direction is the nearest to the width.
        const along = ((x0 + x1) / 2) * dx + ((y0 + y1) / 2) * dy
        const reach =
          Math.abs(dx) > Math.abs(dy) ? ((x1 - x0) * Math.abs(dx)) / 2 : ((y1 - y0) * Math.abs(dy)) / 2
        start = along - reach
        end = along + reach
      }
      if (run.style !== undefined) {
        const apart = Math.abs(run.across - across)
        const far = start - run.end > GAP * size || start < run.end - BACK * size
        const other = apart > BASELINE * size || !sameStyle(run.style, style)
        let cell = false
        if (fresh && wordy < WORDY_LINES && !far && start - run.end > CELL_GAP * size) {
          cell = call.FPDFText_IsGenerated(text, at - 1) === 1
          if (Math.abs(gapsAcross - across) > BASELINE * size) gaps = 0
          gapsAcross = across
          if (cell) gaps += 1
          if (gaps === WORDS) wordy += 1
        }
        if (far || other || cell) close(!far && run.style.angle === angle && apart < size ? start : undefined)
      }
      if (run.style === undefined) run.begin(style, y, across)
      run.add(code, start, end, x0, y0, x1, y1)
    }
    close()
    return runs
  } finally {
    call.FPDFText_ClosePage(text)
  }
}
