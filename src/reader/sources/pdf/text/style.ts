import { isTypewriter } from "../../../stages/lines/segment.ts"
import { colorFrom } from "../content/drawings.ts"
import { type Matrix, round } from "../content/geometry.ts"
import type { Mark } from "../content/marks.ts"
import { drawnSize } from "../content/png.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import { dingbatsOf } from "./dingbats.ts"
import type { FontTable } from "./fonts.ts"
import type { Style } from "./open-run.ts"
import { texGlyphsOf } from "./tex-glyphs.ts"

/** PDF's text render mode for text that is there for search only. */
const INVISIBLE = 3
/** The one for letters that are filled and drawn around: so word processors make them bold where a font is not. */
const OUTLINED = 2
/** Least width of the line around them, in font sizes: Word draws one of 1/35, LibreOffice of 1/30. */
const OUTLINE = 0.02
/** Largest size that is printed, in points. A higher value is damage. */
const MAX_SIZE = 14_400

/** True when characters of two objects may be in one run. */
export const sameStyle = (a: Style, b: Style): boolean =>
  a === b ||
  (a.font === b.font &&
    a.size === b.size &&
    a.angle === b.angle &&
    a.color === b.color &&
    a.mark.mcid === b.mark.mcid &&
    a.mark.artifact === b.mark.artifact &&
    a.mark.expansion === b.mark.expansion &&
    a.invisible === b.invisible)

/**
 * True when an accent may come from another font, as where small capitals have none; hats over letters of formulas are
 * not accents.
 */
export const mayLendAccent = (open: Style, accent: Style): boolean =>
  open.size === accent.size && open.angle === accent.angle && open.tex === null && accent.tex === null

/** Whether a text object's letters are drawn around in their own colour, so that they are bold. */
const isThickened = (pdfium: Pdfium, object: number, size: number, color: number): boolean => {
  const { call, memory } = pdfium
  const { scratch } = memory
  if (call.FPDFTextObj_GetTextRenderMode(object) !== OUTLINED) return false
  if (call.FPDFPageObj_GetStrokeWidth(object, scratch) === 0 || memory.float(scratch) < OUTLINE * size)
    return false
  const given = call.FPDFPageObj_GetStrokeColor(object, scratch, scratch + 4, scratch + 8, scratch + 12)
  return given !== 0 && colorFrom(pdfium, given) === color
}

/** The style of a text object, as one of its characters shows it. */
export const styleOf = (
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
  const given = call.FPDFPageObj_GetFillColor(at.object, scratch, scratch + 4, scratch + 8, scratch + 12)
  const color = colorFrom(pdfium, given)
  const own = fonts.indexOf(call.FPDFTextObj_GetFont(at.object))
  const font = isThickened(pdfium, at.object, size, color) ? fonts.boldOf(own) : own
  const face = fonts.faces[font]?.name ?? ""
  return {
    font,
    tex: texGlyphsOf(face),
    dingbats: dingbatsOf(face),
    typewriter: isTypewriter(fonts.faces[font]),
    size: Number.isFinite(size) ? round(size) : 0,
    angle: ((Math.round(degrees * 10) / 10 + 360) % 360) + 0,
    dx: x / length,
    dy: y / length,
    color,
    mark: at.mark,
    invisible: call.FPDFTextObj_GetTextRenderMode(at.object) === INVISIBLE
  }
}
