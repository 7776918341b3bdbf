import type { TextRun } from "../../../model/page-content.ts"
import { MAX_PAGE_CHARACTERS } from "../../../model/pdf-document.ts"
import { isLetterFromRight } from "../../../stages/lines/script-direction.ts"
import { type Matrix, mapX, mapY } from "../content/geometry.ts"
import type { Layers } from "../content/layers.ts"
import { type Mark, markOf, markWithin, OFF, UNMARKED } from "../content/marks.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import { pdfError } from "../failure.ts"
import { isAccent } from "./accents.ts"
import { place, readBox, readSpan } from "./character-place.ts"
import { type FontTable, nameOf } from "./fonts.ts"
import type { GlyphsOfPage } from "./glyph-names.ts"
import { characterOrder } from "./line-order.ts"
import { OpenRun, type Place, type Style } from "./open-run.ts"
import { privateCharacter } from "./private-use.ts"
import { type Cell, mayBeStacked, stackedSigns, standsBelow } from "./stacked-signs.ts"
import { mayLendAccent, sameStyle, styleOf } from "./style.ts"

const [SPACE, NO_BREAK] = [0x20, 0xa0]
const isControl = (code: number): boolean => code < SPACE || (code >= 0x7f && code < NO_BREAK)
const [HYPHEN, SOFT_HYPHEN] = [0x2d, 0xad]
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

/** Signs right below the one before them from which on a page is looked at for columns of them. */
const STACKED = 2
const NO_CODES: ReadonlyMap<number, number> = new Map()
const NO_CELLS: ReadonlyMap<number, Cell> = new Map()

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
  /** What its fonts say of glyphs that pdfium knows no character for. */
  readonly glyphs: GlyphsOfPage
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
  /** How many signs are right below the one before them, and the place of that one. */
  stacked: number
  above: { x0: number; y0: number }
  /** Characters of lines that are written downwards, upright. */
  cells: ReadonlyMap<number, Cell>
}

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
  else if (code === SPACE || code === NO_BREAK || code === 0x09) gathering.addSpace()
  else return code > 0x10ffff || isControl(code)
  return true
}

/** What the font of a text object says of its glyphs, where the document does not say which characters they are. */
const glyphsOf = ({ fonts, of, pdfium, text }: Reading, object: number, at: number) => {
  const { call } = pdfium
  if (call.FPDFText_HasUnicodeMapError(text, at) !== 1) return undefined
  const font = call.FPDFTextObj_GetFont(object)
  if (call.FPDFFont_GetIsEmbedded(font) !== 1 || !of.glyphs.isByGlyph(nameOf(pdfium, font))) return undefined
  const letters = fonts.lettersOf(font)
  return letters.size === 0 ? undefined : letters
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
    const glyphs = glyphsOf(reading, object, at)
    if (glyphs !== undefined) style = { ...style, glyphs }
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
const ligatureOf = ({ object, of, pdfium }: Reading, code: number, style: Style): string | undefined =>
  code < SPACE && style.tex === null
    ? of.glyphs.ligature(nameOf(pdfium, pdfium.call.FPDFTextObj_GetFont(object)), code)
    : undefined

/** The letters of a glyph by what its font says; one that it does not name is no letter. */
const letterOf = (
  { pdfium: { call }, text }: Reading,
  at: number,
  code: number,
  glyphs: ReadonlyMap<number, string>
): string => glyphs.get(call.FPDFText_IsHyphen(text, at) === 1 ? HYPHEN : code) ?? "\ufffd"

/** Whether the code of a glyph may be taken for that of a space, a hyphen or a line's end. */
const mayBeGlyph = ({ pdfium: { call }, style, text }: Reading, at: number, code: number): boolean =>
  isControl(code) ||
  (code <= SOFT_HYPHEN && style?.glyphs !== undefined) ||
  (code <= HYPHEN && style?.tex?.hanging === true) ||
  (code === HYPHEN && call.FPDFText_HasUnicodeMapError(text, at) === 1)

/** A sign in a column. The spaces and the ends of lines that pdfium sees there are those of lines from the left. */
const readStacked = (
  reading: Reading,
  at: number,
  code: number,
  { cell, isFresh, style }: { readonly cell: Cell; readonly isFresh: boolean; readonly style: Style }
) => {
  Object.assign(place, cell)
  const downwards = { ...style, angle: 90, dx: 0, dy: 1, stacked: true }
  if (at > 0 && isGenerated(reading, at - 1)) gathering.dropSpace()
  reading.lineEnded = cell.begins && gathering.style !== undefined
  if (gathering.style !== undefined) separate(reading, gathering.style, downwards, at, code, isFresh)
  if (gathering.style === undefined) gathering.begin(downwards, place.y, place.across)
  gathering.add(code, place)
}

const readCharacter = (reading: Reading, at: number) => {
  const { of, pdfium } = reading
  const { call } = pdfium
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
  const letters =
    style.glyphs === undefined ? ligatureOf(reading, bare, style) : letterOf(reading, at, bare, style.glyphs)
  const code = letters?.codePointAt(0) ?? characterOf(reading, at, bare, style)
  if (doubtful && isInkless(reading, at, code)) return
  const cell = reading.cells.get(at)
  if (cell !== undefined) return readStacked(reading, at, code, { cell, isFresh, style })
  readBox(pdfium, of.matrix, reading.text, at, style)
  const { x, x0, x1, y, y0, y1 } = place
  if (!Number.isFinite(x + y + x0 + x1 + y0 + y1)) return
  if (mayBeStacked(code)) {
    if (standsBelow(reading.above, place, style.size)) reading.stacked += 1
    reading.above = { x0, y0 }
  }
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
      codes: NO_CODES,
      stacked: 0,
      above: { x0: 0, y0: 0 },
      cells: NO_CELLS
    }
    const reading: Reading = { pdfium, fonts, of, text, runs, styles: new Map(), ...state }
    gathering.style = undefined
    const again = (changes: Partial<Reading>) => {
      Object.assign(reading, state, changes)
      gathering.style = undefined
      runs.length = 0
    }
    for (let at = 0; at < count && !reading.fromRight; at++) readCharacter(reading, at)
    const page = { text, count, matrix: of.matrix }
    if (reading.fromRight) {
      const { codes, order } = characterOrder(pdfium, page)
      again({ codes })
      for (const at of order) readCharacter(reading, at)
    } else if (reading.stacked >= STACKED) {
      again({ cells: stackedSigns(pdfium, page) })
      for (let at = 0; at < count; at++) readCharacter(reading, at)
    }
    closeRun(reading)
    return runs
  } finally {
    call.FPDFText_ClosePage(text)
  }
}
