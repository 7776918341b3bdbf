import type { TextRun } from "../../domain/conversion/page-content.ts"
import { MAX_PAGE_CHARACTERS } from "../../ports/pdf.ts"
import { pdfError } from "./failure.ts"
import type { FontTable } from "./fonts.ts"
import { type Matrix, mapBox, mapX, mapY, round, roundBox } from "./geometry.ts"
import { type Mark, markOf, UNMARKED } from "./marks.ts"
import type { Pdfium } from "./pdfium.ts"

/** PDF's text render mode for text that is there for search only. */
const INVISIBLE = 3
const SPACE = 0x20
const HYPHEN = 0x2d
const SOFT_HYPHEN = 0xad
/** How pdfium writes a hyphen at a line's end, depending on its version. */
const LINE_END_HYPHENS = new Set([0x02, 0xfffe])

/** A run ends where the next character stands further away than this, in font sizes: another column or cell. */
const GAP = 1
/** The same backwards; kerning, accents and right-to-left text step back by less. */
const BACK = 2
/** A baseline that differs by more than this, in font sizes, is another one (a footnote's mark, an exponent). */
const BASELINE = 0.05
/** Nobody prints larger: a figure that says so is damage. */
const MAX_SIZE = 14_400

/** What all characters of a text object share. */
interface Style {
  readonly font: number
  readonly size: number
  readonly angle: number
  /** Unit vector of the writing direction on the shown page. */
  readonly dx: number
  readonly dy: number
  readonly color: number
  readonly mark: Mark
  readonly invisible: boolean
}

const sameStyle = (a: Style, b: Style): boolean =>
  a === b ||
  (a.font === b.font &&
    a.size === b.size &&
    a.angle === b.angle &&
    a.color === b.color &&
    a.mark.mcid === b.mark.mcid &&
    a.mark.artifact === b.mark.artifact &&
    a.invisible === b.invisible)

/** A run that is being gathered. Positions along the line are those of `edges`. */
class OpenRun {
  readonly style: Style
  readonly baseline: number
  /** Where the line lies across the writing direction. */
  readonly across: number
  text = ""
  readonly edges: Array<number> = []
  end = 0
  hyphenated = false
  #x0 = Infinity
  #y0 = Infinity
  #x1 = -Infinity
  #y1 = -Infinity
  /** A space that is in the text only if something follows. */
  #space = false

  constructor(style: Style, baseline: number, across: number) {
    this.style = style
    this.baseline = baseline
    this.across = across
  }

  addSpace(): void {
    this.#space = this.text !== ""
  }

  add(
    character: string,
    start: number,
    end: number,
    box: { x0: number; y0: number; x1: number; y1: number }
  ): void {
    if (this.hyphenated) {
      // The line goes on after all: it was a plain one.
      this.hyphenated = false
      this.text += "-"
      this.edges.push(this.end)
    }
    if (this.#space) {
      this.#space = false
      this.text += " "
      this.edges.push(this.end)
    }
    this.text += character
    for (let unit = 0; unit < character.length; unit++)
      this.edges.push(start + ((end - start) * unit) / character.length)
    this.end = end
    this.#x0 = Math.min(this.#x0, box.x0)
    this.#y0 = Math.min(this.#y0, box.y0)
    this.#x1 = Math.max(this.#x1, box.x1)
    this.#y1 = Math.max(this.#y1, box.y1)
  }

  /** The characters of a ligature share one box: it is dealt out among them. */
  #dealOut(edges: Array<number>): void {
    for (let from = 0; from < this.edges.length;) {
      let to = from + 1
      while (to < this.edges.length && edges[to] === edges[from]) to++
      const start = edges[from] ?? 0
      const width = (edges[to] ?? start) - start
      for (let at = from + 1; at < to; at++) edges[at] = start + (width * (at - from)) / (to - from)
      from = to
    }
  }

  /** `next`: where the run starts that follows on the same line; the space between the two belongs to this one. */
  finish(next?: number): TextRun {
    if (this.#space && next !== undefined) {
      this.text += " "
      this.edges.push(this.end)
      this.end = Math.max(this.end, next)
    }
    const edges = [...this.edges, this.end]
    this.#dealOut(edges)
    const { angle, color, font, invisible, mark, size } = this.style
    return {
      text: this.text,
      box: roundBox({ x0: this.#x0, y0: this.#y0, x1: this.#x1, y1: this.#y1 }),
      baseline: round(this.baseline),
      edges: edges.map(round),
      font,
      size,
      angle,
      color,
      mcid: mark.mcid,
      artifact: mark.artifact,
      hyphenated: this.hyphenated,
      invisible
    }
  }
}

const styleOf = (
  { call, memory }: Pdfium,
  fonts: FontTable,
  at: {
    readonly page: Matrix
    readonly text: number
    readonly character: number
    readonly object: number
    readonly mark: Mark
  }
): Style => {
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
  const size = Math.min(MAX_SIZE, Math.abs(call.FPDFText_GetFontSize(at.text, at.character) * scale))
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
 * The page's runs. `inherited` has the marks of text objects that stand in a form XObject which is itself marked. Throws
 * `bomb` past {@link MAX_PAGE_CHARACTERS}.
 */
export const readRuns = (
  pdfium: Pdfium,
  fonts: FontTable,
  of: {
    readonly page: number
    readonly index: number
    readonly matrix: Matrix
    readonly inherited: ReadonlyMap<number, Mark>
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
    let run: OpenRun | undefined
    let lastObject = 0
    let originX = 0
    let originY = 0
    const close = (next?: number) => {
      if (run !== undefined && run.text !== "") runs.push(run.finish(next))
      run = undefined
    }
    for (let at = 0; at < count; at++) {
      const code = call.FPDFText_GetUnicode(text, at) >>> 0
      if (
        LINE_END_HYPHENS.has(code) ||
        code === SOFT_HYPHEN ||
        (code === HYPHEN && call.FPDFText_IsHyphen(text, at) === 1)
      ) {
        if (run !== undefined) run.hyphenated = true
        continue
      }
      if (code === 0x0d || code === 0x0a) {
        close()
        continue
      }
      if (code === SPACE || code === 0xa0 || code === 0x09) {
        run?.addSpace()
        continue
      }
      if (code < SPACE || code > 0x10ffff || (code >= 0x7f && code < 0xa0)) continue
      const object = call.FPDFText_GetTextObject(text, at)
      if (object === 0) continue
      let style = styles.get(object)
      if (style === undefined) {
        const own = markOf(pdfium, object)
        const mark = own === UNMARKED ? (of.inherited.get(object) ?? UNMARKED) : own
        style = styleOf(pdfium, fonts, { page: of.matrix, text, character: at, object, mark })
        styles.set(object, style)
      }
      // A text object has one baseline, so that its first character tells it.
      if (object !== lastObject) {
        lastObject = object
        call.FPDFText_GetCharOrigin(text, at, scratch, scratch + 8)
        originX = memory.double(scratch)
        originY = memory.double(scratch + 8)
      }
      const boxed = call.FPDFText_GetLooseCharBox(text, at, scratch) !== 0
      const { floats } = memory
      const slot = scratch >>> 2
      // FS_RECTF: left, top, right, bottom.
      const box = boxed
        ? mapBox(
            of.matrix,
            floats[slot] ?? 0,
            floats[slot + 3] ?? 0,
            floats[slot + 2] ?? 0,
            floats[slot + 1] ?? 0
          )
        : mapBox(of.matrix, originX, originY, originX, originY)
      const x = mapX(of.matrix, originX, originY)
      const y = mapY(of.matrix, originX, originY)
      if (!Number.isFinite(x + y + box.x0 + box.x1 + box.y0 + box.y1)) continue
      const { dx, dy, size } = style
      const across = y * dx - x * dy
      // Along a slanted line the upright box tells too much: what it has along the direction is the nearest to the width.
      const upright = style.angle === 0
      const [middleX, middleY] = [(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2]
      const reach = upright
        ? 0
        : Math.abs(dx) > Math.abs(dy)
          ? ((box.x1 - box.x0) * Math.abs(dx)) / 2
          : ((box.y1 - box.y0) * Math.abs(dy)) / 2
      const along = middleX * dx + middleY * dy
      const start = upright ? box.x0 : along - reach
      const end = upright ? box.x1 : along + reach
      if (run !== undefined) {
        const far = start - run.end > GAP * size || start < run.end - BACK * size
        const other = !sameStyle(run.style, style) || Math.abs(run.across - across) > BASELINE * size
        const sameLine = !far && run.style.angle === style.angle && Math.abs(run.across - across) < size
        if (far || other) close(sameLine ? start : undefined)
      }
      run ??= new OpenRun(style, y, across)
      run.add(String.fromCodePoint(code), start, end, box)
    }
    close()
    return runs
  } finally {
    call.FPDFText_ClosePage(text)
  }
}
