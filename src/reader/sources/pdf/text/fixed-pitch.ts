import { greatest, least } from "../../../model/lists.ts"
import type { Pdfium } from "../engine/pdfium.ts"

/** Letters that are narrow in all faces but monospaced ones, where they are as wide as the wide ones. */
export const [NARROW, WIDE] = ["ijlrt".split(""), "mwMW".split("")]

/** Whether narrow letters are as wide as wide ones, but for this part; undefined where either are missing. */
export const haveOneWidth = (
  narrow: ReadonlyArray<number>,
  wide: ReadonlyArray<number>,
  slack: number
): boolean | undefined =>
  narrow.length === 0 || wide.length === 0
    ? undefined
    : greatest([...narrow, ...wide]) - least([...narrow, ...wide]) < slack * greatest(wide)

const KINDS: ReadonlyMap<number, "narrow" | "wide"> = new Map([
  ...NARROW.map((letter) => [letter.charCodeAt(0), "narrow"] as const),
  ...WIDE.map((letter) => [letter.charCodeAt(0), "wide"] as const)
])

/** Limits on characters of a page, and on letters of a font. */
const MOST_CHARACTERS = 4_000
const MOST_LETTERS = 200
/** Bitmaps move the pen by whole dots. */
const DOTS = 0.06

/** The middle one of some widths, or none: pdfium has a letter's ink in its width, and slanted ones reach over their neighbours. */
const middle = (widths: ReadonlyArray<number>): ReadonlyArray<number> => {
  const half = widths.length >> 1
  return widths.toSorted((a, b) => a - b).slice(half, half + 1)
}

/**
 * Finds the monospaced fonts of a page by how far their letters move the pen. pdfium has no widths of Type 3 fonts
 * (TeX's bitmaps), and the widths of others may be wrong. Fonts with too few letters on the page are left out.
 */
export const fixedPitchOf = ({ call, memory }: Pdfium, text: number): ReadonlyMap<number, boolean> => {
  const widths = new Map<number, { readonly narrow: Array<number>; readonly wide: Array<number> }>()
  const { scratch } = memory
  const count = Math.min(MOST_CHARACTERS, call.FPDFText_CountChars(text))
  let [font, object] = [0, 0]
  for (let at = 0; at < count; at++) {
    const kind = KINDS.get(call.FPDFText_GetUnicode(text, at))
    if (kind === undefined) continue
    const of = call.FPDFText_GetTextObject(text, at)
    if (of === 0) continue
    if (of !== object) font = call.FPDFTextObj_GetFont(of)
    object = of
    const known = widths.get(font) ?? { narrow: [], wide: [] }
    widths.set(font, known)
    if (known[kind].length >= MOST_LETTERS || call.FPDFText_GetLooseCharBox(text, at, scratch) === 0) continue
    known[kind].push(
      (memory.float(scratch + 8) - memory.float(scratch)) / call.FPDFText_GetFontSize(text, at)
    )
  }
  return new Map(
    [...widths].flatMap(([of, { narrow, wide }]) => {
      const one = haveOneWidth(middle(narrow), middle(wide), DOTS)
      return one === undefined ? [] : [[of, one] as const]
    })
  )
}
