import type { TextRun } from "../../../model/page-content.ts"
import { MAX_PAGE_CHARACTERS } from "../../../model/pdf-document.ts"
import { isLetterFromRight } from "../../../stages/lines/script-direction.ts"
import { type Matrix, mapBox, mapX, mapY } from "../content/geometry.ts"
import type { Layers } from "../content/layers.ts"
import { type Mark, markOf, markWithin, OFF, UNMARKED } from "../content/marks.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import { pdfError } from "../failure.ts"
import { isAccent } from "./accents.ts"
import { type FontTable, nameOf } from "./fonts.ts"
import { characterOrder } from "./line-order.ts"
import { OpenRun, type Place, type Style } from "./open-run.ts"
import { privateCharacter } from "./private-use.ts"
import { mayLendAccent, sameStyle, styleOf } from "./style.ts"

const SPACE = 0x20
const HYPHEN = 0x2d
const SOFT_HYPHEN = 0xad
/** How pdfium writes a hyphen at a line's end, depending on its version. */
const LINE_END_HYPHENS = new Set([0x02, 0xfffe])

/** Largest gap before a run's next character, in font sizes. A wider one is between columns or cells. */
const GAP = 0.9
/**
 * Largest gap to a character of another text object without a drawn space, in font sizes. It is smaller than {@link
 * GAP}, since cells may be as close as words.
 */
const CELL_GAP = 0.2
/**
 * Number of such gaps from which on a line is drawn word by word, and number of such lines from which on the page is.
 * Gaps then end no run.
 */
const WORDS = 6
const WORDY_LINES = 2
/** Greatest step backwards within a run, in font sizes; kerning, accents and right-to-left text step back by less. */
const BACK = 2
/** A baseline that differs by more than this, in font sizes, is another one (a footnote's mark, an exponent). */
const BASELINE = 0.05

const NO_CODES: ReadonlyMap<number, number> = new Map()

/** A thread reads one page at a time. */
const gathering = new OpenRun()

/** The page to read runs of. */
interface RunsOf {
  readonly page: number
  readonly index: number
  readonly matrix: Matrix
  readonly layers: Layers
  readonly inherited: ReadonlyMap<number, Mark>
  readonly places: ReadonlyArray<Place> | undefined
  /** The letters of a ligature that pdfium knows no character for, by its font's name and its code. */
  readonly ligature: (font: string, code: number) => string | undefined
}

/** State of the reading of a page. */
interface Reading {
  readonly pdfium: Pdfium
  readonly fonts: FontTable
  readonly of: RunsOf
  readonly text: number
  readonly runs: Array<TextRun>
  readonly styles: Map<number, Style>
  /** The text object of the newest character, and its style. */
  object: number
  style: Style | undefined
  gapsAcross: number
  gaps: number
  wordy: number
  /** The line has ended, unless an accent of it or the letter below one follows. */
  lineEnded: boolean
  /** True when there are right-to-left letters: pdfium's order is not the reading order then. */
  fromRight: boolean
  /** Characters that are others than pdfium says. */
  codes: ReadonlyMap<number, number>
}

/** The character that is read: its baseline, its box, and where it begins and ends on its line. One a thread: no garbage. */
const place = { x: 0, y: 0, across: 0, x0: 0, y0: 0, x1: 0, y1: 0, start: 0, end: 0 }

const closeRun = ({ of, runs }: Reading, next?: number) => {
  if (gathering.style !== undefined) runs.push(gathering.finish(gathering.style, of.places, next))
}

const isHyphen = ({ pdfium: { call }, text }: Reading, at: number, code: number): boolean =>
  LINE_END_HYPHENS.has(code) ||
  code === SOFT_HYPHEN ||
  (code === HYPHEN && call.FPDFText_IsHyphen(text, at) === 1)

/** Whether the character is one without ink, which is then dealt with. */
const isInkless = (reading: Reading, at: number, code: number): boolean => {
  if (isHyphen(reading, at, code)) gathering.hyphenated = true
  else if (code === 0x0d || code === 0x0a) reading.lineEnded = gathering.style !== undefined
  else if (code === SPACE || code === 0xa0 || code === 0x09) gathering.addSpace()
  else return code < SPACE || code > 0x10ffff || (code >= 0x7f && code < 0xa0)
  return true
}

/** The style of a text object that begins with this character; its baseline is written to `place`. */
const beginObject = (reading: Reading, object: number, at: number): Style => {
  const { fonts, of, pdfium, styles, text } = reading
  const { call, memory } = pdfium
  const { scratch } = memory
  reading.object = object
  let style = styles.get(object)
  if (style === undefined) {
    const own = markOf(pdfium, object, of.layers)
    const mark = markWithin(own, of.inherited.get(object) ?? UNMARKED)
    style = styleOf(pdfium, fonts, { page: of.matrix, text, character: at, object, mark })
    styles.set(object, style)
  }
  reading.style = style
  // A text object has one baseline, so that its first character gives it.
  call.FPDFText_GetCharOrigin(text, at, scratch, scratch + 8)
  const [originX, originY] = [memory.double(scratch), memory.double(scratch + 8)]
  place.x = mapX(of.matrix, originX, originY)
  place.y = mapY(of.matrix, originX, originY)
  place.across = place.y * style.dx - place.x * style.dy
  return style
}

/** Height of the mathematical axis above the baseline, in font sizes. */
const AXIS = 0.25

/**
 * Writes the ink box of a hanging glyph to `place`, with the baseline that it would have on a line: brackets and sums
 * are centred on the axis.
 */
const readInk = ({ of, pdfium, text }: Reading, at: number, size: number) => {
  const { call, memory } = pdfium
  const { scratch } = memory
  if (call.FPDFText_GetCharBox(text, at, scratch, scratch + 8, scratch + 16, scratch + 24) === 0) return
  const [left, right, bottom, top] = [0, 8, 16, 24].map((offset) => memory.double(scratch + offset))
  Object.assign(place, mapBox(of.matrix, left ?? 0, bottom ?? 0, right ?? 0, top ?? 0))
  place.y = (place.y0 + place.y1) / 2 + AXIS * size
  place.across = place.y
}

/** The character's box into `place`; its baseline where it has none. */
const readBox = (reading: Reading, at: number, style: Style) => {
  const { of, pdfium, text } = reading
  const { call, memory } = pdfium
  place.x0 = place.x1 = place.x
  place.y0 = place.y1 = place.y
  if (style.tex?.hanging === true && style.angle === 0) return readInk(reading, at, style.size)
  if (call.FPDFText_GetLooseCharBox(text, at, memory.scratch) === 0) return
  // FS_RECTF: left, top, right, bottom.
  const { floats } = memory
  const slot = memory.scratch >>> 2
  const left = floats[slot] ?? 0
  const top = floats[slot + 1] ?? 0
  const right = floats[slot + 2] ?? 0
  const bottom = floats[slot + 3] ?? 0
  const { a, b, c, d, e, f } = of.matrix
  if (b === 0 && c === 0) {
    place.x0 = a * left + e
    place.x1 = a * right + e
    place.y0 = d * top + f
    place.y1 = d * bottom + f
    if (place.x0 > place.x1) [place.x0, place.x1] = [place.x1, place.x0]
    if (place.y0 > place.y1) [place.y0, place.y1] = [place.y1, place.y0]
  } else Object.assign(place, mapBox(of.matrix, left, bottom, right, top))
}

/** Writes the begin and the end of the character along its line to `place`. */
const readSpan = ({ angle, dx, dy }: Style) => {
  const { x0, x1, y0, y1 } = place
  place.start = x0
  place.end = x1
  if (angle === 0) return
  // Along a slanted line the upright box is too wide: what it has along the direction is the nearest to the width.
  const along = ((x0 + x1) / 2) * dx + ((y0 + y1) / 2) * dy
  const reach = Math.abs(dx) > Math.abs(dy) ? ((x1 - x0) * Math.abs(dx)) / 2 : ((y1 - y0) * Math.abs(dy)) / 2
  place.start = along - reach
  place.end = along + reach
}

/** Whether a character is one that pdfium saw in a gap. */
const isGenerated = ({ pdfium: { call }, text }: Reading, at: number): boolean =>
  call.FPDFText_IsGenerated(text, at) === 1

/** Whether a gap before a new text object ends a cell; counts the gaps of the line. */
const endsCell = (reading: Reading, size: number, at: number): boolean => {
  const isCell = isGenerated(reading, at - 1)
  if (Math.abs(reading.gapsAcross - place.across) > BASELINE * size) reading.gaps = 0
  reading.gapsAcross = place.across
  if (isCell) reading.gaps += 1
  if (reading.gaps === WORDS) reading.wordy += 1
  return isCell
}

/** Greatest height of an accent over a capital, in font sizes. */
const RAISED = 0.35

/**
 * True when the character at `place` is an accent over the open run's line, or the letter below its last accent. TeX
 * raises accents over capitals; accents over small letters are on the line, and may come once it has ended.
 */
const continuesAccent = (open: Style, style: Style, code: number): boolean => {
  const { size } = style
  const isSame = sameStyle(open, style)
  if (!isSame && !(isAccent(code) && mayLendAccent(open, style))) return false
  const raised = gathering.across - place.across
  // A raised accent may come before its letter, which is then behind the run.
  const isReached =
    isSame && raised > BASELINE * size
      ? gathering.reaches(place.start, GAP * size)
      : gathering.reaches(place.end, 0)
  return isAccent(code)
    ? raised > -BASELINE * size && raised < RAISED * size && isReached
    : raised > -RAISED * size && raised < BASELINE * size && gathering.isBelowAccent(place.start, place.end)
}

/** Ends the run that is open where the character at `place` does not belong to it. */
const separate = (
  reading: Reading,
  open: Style,
  style: Style,
  at: number,
  code: number,
  isFresh: boolean
) => {
  const { across, start } = place
  const { angle, size } = style
  const { lineEnded } = reading
  reading.lineEnded = false
  // pdfium sees a space wherever an accent is drawn higher than its word, or behind it.
  if (gathering.hasDoubtfulSpace(code, start) && isGenerated(reading, at - 1)) gathering.dropSpace()
  if (continuesAccent(open, style, code)) {
    if (!isAccent(code)) gathering.continueBelow(start, place.y, across)
    return
  }
  if (lineEnded) return closeRun(reading)
  if (isFresh && gathering.isNumberBefore(code, start)) gathering.addSpace()
  const apart = Math.abs(gathering.across - across)
  const far = start - gathering.end > GAP * size || start < gathering.end - BACK * size
  const other = apart > BASELINE * size || !sameStyle(open, style)
  const hasGap = isFresh && reading.wordy < WORDY_LINES && !far && start - gathering.end > CELL_GAP * size
  const cell = hasGap && endsCell(reading, size, at)
  if (far || other || cell) {
    closeRun(reading, !far && open.angle === angle && apart < size ? start : undefined)
  }
}

/**
 * The character of a pictogram, or of a glyph of TeX's that has a bare code or a wrong name; the code itself for any
 * other glyph, and where the document gives the meaning.
 */
const characterOf = ({ pdfium: { call }, text }: Reading, at: number, code: number, style: Style): number => {
  if (style.dingbats !== null) return style.dingbats.get(code) ?? code
  const { tex } = style
  if (tex === null) return privateCharacter(code) ?? code
  // pdfium finds no error in a code of zero.
  const isUnread = code === 0 || call.FPDFText_HasUnicodeMapError(text, at) === 1
  const isBare = tex.characters[code] !== undefined && isUnread
  // At a line's end pdfium takes the code of a hyphen for one, in any face.
  const character = tex.characters[LINE_END_HYPHENS.has(code) && !isBare ? HYPHEN : code]
  if (character !== undefined && (isBare || LINE_END_HYPHENS.has(code)))
    return character.codePointAt(0) ?? code
  return tex.misnamed.get(code) ?? privateCharacter(code) ?? code
}

/** The letters of a ligature of a text's face that pdfium knows by its code alone; undefined for anything else. */
const ligatureOf = ({ object, of, pdfium }: Reading, code: number): string | undefined =>
  of.ligature(nameOf(pdfium, pdfium.call.FPDFTextObj_GetFont(object)), code)

/** Whether the code of a glyph may be taken for that of a space, a hyphen or a line's end. */
const mayBeGlyph = ({ pdfium: { call }, style, text }: Reading, at: number, code: number): boolean =>
  code < SPACE ||
  (code <= HYPHEN && style?.tex?.hanging === true) ||
  (code === HYPHEN && call.FPDFText_HasUnicodeMapError(text, at) === 1)

const readCharacter = (reading: Reading, at: number) => {
  const { call } = reading.pdfium
  const meant = reading.codes.size === 0 ? undefined : reading.codes.get(at)
  const bare = meant ?? call.FPDFText_GetUnicode(reading.text, at) >>> 0
  const doubtful = mayBeGlyph(reading, at, bare)
  if (!doubtful && isInkless(reading, at, bare)) return
  if (isLetterFromRight(bare)) reading.fromRight = true
  const object = call.FPDFText_GetTextObject(reading.text, at)
  if (object === 0) {
    if (doubtful) isInkless(reading, at, bare)
    return
  }
  const isFresh = object !== reading.object
  const known = isFresh ? undefined : reading.style
  const style = known ?? beginObject(reading, object, at)
  if (style.mark === OFF) return
  const letters = bare < SPACE && style.tex === null ? ligatureOf(reading, bare) : undefined
  const code = letters?.codePointAt(0) ?? characterOf(reading, at, bare, style)
  if (doubtful && isInkless(reading, at, code)) return
  readBox(reading, at, style)
  const { x, x0, x1, y, y0, y1 } = place
  if (!Number.isFinite(x + y + x0 + x1 + y0 + y1)) return
  readSpan(style)
  if (gathering.style !== undefined) separate(reading, gathering.style, style, at, code, isFresh)
  if (gathering.style === undefined) gathering.begin(style, y, place.across)
  gathering.add(code, place)
  for (const letter of letters?.slice(1) ?? "") gathering.add(letter.charCodeAt(0), place)
}

/**
 * The page's runs. `inherited` has the marks of text objects in a form XObject that is marked itself. `places`: runs
 * outside of them are returned without their edges. Throws `bomb` past {@link MAX_PAGE_CHARACTERS}.
 */
export const readRuns = (pdfium: Pdfium, fonts: FontTable, of: RunsOf): ReadonlyArray<TextRun> => {
  const { call } = pdfium
  const text = call.FPDFText_LoadPage(of.page)
  if (text === 0) return []
  try {
    fonts.beginText(text)
    const count = call.FPDFText_CountChars(text)
    if (count > MAX_PAGE_CHARACTERS) throw pdfError("bomb", of.index)
    const runs: Array<TextRun> = []
    const state = {
      object: 0,
      style: undefined,
      gapsAcross: 0,
      gaps: 0,
      wordy: 0,
      lineEnded: false,
      fromRight: false,
      codes: NO_CODES
    }
    const reading: Reading = { pdfium, fonts, of, text, runs, styles: new Map(), ...state }
    gathering.style = undefined
    for (let at = 0; at < count && !reading.fromRight; at++) readCharacter(reading, at)
    if (reading.fromRight) {
      Object.assign(reading, state)
      gathering.style = undefined
      runs.length = 0
      const { codes, order } = characterOrder(pdfium, { text, count, matrix: of.matrix })
      reading.codes = codes
      for (const at of order) readCharacter(reading, at)
    }
    closeRun(reading)
    return runs
  } finally {
    call.FPDFText_ClosePage(text)
  }
}
