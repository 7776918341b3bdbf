import { isLetterFromRight } from "../../../stages/lines/script-direction.ts"

/** Signs that a right-to-left script mirrors, in pairs. */
const PAIRS = "()[]{}<>«»‹›"

/** A character in pdfium's order. */
interface Sign {
  readonly at: number
  readonly code: number
}

/** Letters, and Arabic's signs of a direction. */
const DIRECTED = /[\p{L}؟؛]/u

const placeOf = (code: number): number => PAIRS.indexOf(String.fromCodePoint(code))

const otherOf = (code: number): number => PAIRS.codePointAt(placeOf(code) ^ 1) ?? code

/** The signs of a line that pdfium has turned around: those behind letters from right to left, figures between them or not. */
export const turnedSigns = (line: ReadonlyArray<Sign>): ReadonlyArray<number> => {
  const turned: Array<number> = []
  let right = true
  for (const { at, code } of line) {
    if (placeOf(code) >= 0) {
      if (right) turned.push(at)
    } else if (DIRECTED.test(String.fromCodePoint(code))) right = isLetterFromRight(code)
  }
  return turned
}

/** How many signs open what the next one of their kind closes. */
const matched = (signs: ReadonlyArray<number>): number => {
  const open = new Set<number>()
  let pairs = 0
  for (const place of signs) {
    if (place % 2 === 0) open.add(place)
    else if (open.delete(place - 1)) pairs += 1
  }
  return pairs
}

/**
 * Signs that pdfium mirrored wrongly, with the right ones. Some programs write the mirrored signs, which pdfium
 * expects, others the logical ones: then more pairs open before they close.
 */
export const signsAsMeant = (
  signs: ReadonlyArray<Sign>,
  turned: ReadonlySet<number>
): ReadonlyMap<number, number> => {
  const pairs = signs.filter(({ code }) => placeOf(code) >= 0)
  const back = pairs.map(({ at, code }) => (turned.has(at) ? otherOf(code) : code))
  const isMeant = matched(back.map(placeOf)) > matched(pairs.map(({ code }) => placeOf(code)))
  return new Map(isMeant ? pairs.map(({ at }, place) => [at, back[place] ?? 0] as const) : [])
}
