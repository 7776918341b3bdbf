import { append } from "../../../model/lists.ts"
import { isLetterFromRight } from "../../../stages/lines/script-direction.ts"
import type { Matrix } from "../content/geometry.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import { signsAsMeant, turnedSigns } from "./mirrored-signs.ts"
import { inReadingOrder, type Letter } from "./right-to-left.ts"

/** A character with the place of its line. */
interface Lined extends Letter {
  readonly y: number
}

/** Greatest vertical offset between characters of one line, as a part of their height: a mark may be raised. */
const RAISED = 0.5

const isWord = (code: number): boolean => /\p{L}/u.test(String.fromCodePoint(code))

/** By how many letters more are written from right to left than from left to right. */
const balanceOf = (letters: ReadonlyArray<Letter>): number =>
  letters.reduce((sum, { code }) => (isWord(code) ? sum + (isLetterFromRight(code) ? 1 : -1) : sum), 0)

const readLetters = ({ call, memory }: Pdfium, text: number, count: number): ReadonlyArray<Lined> => {
  const { scratch } = memory
  const slot = scratch >>> 2
  const letters: Array<Lined> = []
  for (let at = 0; at < count; at++) {
    const code = call.FPDFText_GetUnicode(text, at) >>> 0
    call.FPDFText_GetCharOrigin(text, at, scratch, scratch + 8)
    const [origin, y] = [memory.double(scratch), memory.double(scratch + 8)]
    const boxed = call.FPDFText_GetLooseCharBox(text, at, scratch) !== 0
    const [start, top, end, bottom] = boxed ? memory.floats.subarray(slot, slot + 4) : [origin, y, origin, y]
    letters.push({
      at,
      code: code > 0x10ffff ? 0 : code,
      origin,
      start: start ?? origin,
      end: end ?? origin,
      y,
      height: Math.abs((top ?? y) - (bottom ?? y))
    })
  }
  return letters
}

/** Gap between letters that is not a space, as a part of their height. */
const NO_GAP = 0.02
const SPACE = 0x20
const NON_JOINER = 0x200c
const JOINED = /\p{Script=Arabic}/u

const isArabic = (letter: Letter | undefined): letter is Lined =>
  letter !== undefined && JOINED.test(String.fromCodePoint(letter.code))

/** Spaces of no width between Arabic letters: signs that keep them apart, which programs write so. */
const nonJoiners = (line: ReadonlyArray<Letter>): ReadonlyArray<number> =>
  line.flatMap(({ at, code }, place) => {
    const [before, after] = [line[place - 1], line[place + 1]]
    return code === SPACE &&
      isArabic(before) &&
      isArabic(after) &&
      before.origin - after.end < NO_GAP * before.height
      ? [at]
      : []
  })

/** The characters of a page, some of which are of a script that is written from right to left. */
interface CharacterOrder {
  /** In the order in which they are read. */
  readonly order: ReadonlyArray<number>
  /** Characters by index, where pdfium reports a wrong one. */
  readonly codes: ReadonlyMap<number, number>
}

const isLineEnd = (code: number): boolean => code === 0x0d || code === 0x0a

/**
 * Splits characters into pdfium's lines, and those into parts with gaps between them. A line end is a separate line.
 */
const linesOf = (letters: ReadonlyArray<Lined>): ReadonlyArray<ReadonlyArray<Lined>> => {
  const lines: Array<Array<Lined>> = []
  for (const letter of letters) {
    const line = lines.at(-1)
    const first = line?.[0]
    if (
      first === undefined ||
      isLineEnd(first.code) ||
      isLineEnd(letter.code) ||
      Math.abs(letter.y - first.y) > RAISED * Math.max(first.height, letter.height)
    )
      lines.push([letter])
    else line?.push(letter)
  }
  return lines
}

/** The order in which a page's characters are read: lines of a right-to-left script are sorted by position. */
export const characterOrder = (
  pdfium: Pdfium,
  page: { readonly text: number; readonly count: number; readonly matrix: Matrix }
): CharacterOrder => {
  const { count, matrix, text } = page
  if (matrix.b !== 0 || matrix.c !== 0)
    return { order: Array.from({ length: count }, (_, at) => at), codes: new Map() }
  const lines = linesOf(readLetters(pdfium, text, count))
  const fromRight = balanceOf(lines.flat()) > 0
  const [read, turned, apart]: [Array<Letter>, Array<number>, Array<number>] = [[], [], []]
  for (const line of lines) {
    const isTurned = line.some(({ code }) => isLetterFromRight(code)) && (fromRight || balanceOf(line) > 0)
    const ordered = isTurned ? inReadingOrder(line) : line
    append(read, ordered)
    if (!isTurned) continue
    append(turned, turnedSigns(line))
    append(apart, nonJoiners(ordered))
  }
  return {
    order: read.map(({ at }) => at),
    codes: new Map([...signsAsMeant(read, new Set(turned)), ...apart.map((at) => [at, NON_JOINER] as const)])
  }
}
