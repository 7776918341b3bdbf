import type { Matrix } from "./geometry.ts"
import type { Pdfium } from "./pdfium.ts"

/** Nobody reads smaller, points: the glyphs of a Type 3 font have a scale of their own. */
const MIN_SIZE = 1
/** A line is at most this high, in font sizes. */
const HIGHEST = 3

/** The size of text that says it is `told` points: where it is drawn a lot higher than it says, that height. */
export const drawnSize = (
  { call, memory }: Pdfium,
  { character, page, text }: { readonly page: Matrix; readonly text: number; readonly character: number },
  told: number
): number => {
  if (told >= MIN_SIZE || call.FPDFText_GetLooseCharBox(text, character, memory.scratch) === 0) return told
  // FS_RECTF: left, top, right, bottom.
  const height = Math.abs(memory.float(memory.scratch + 4) - memory.float(memory.scratch + 12))
  const shown = height * Math.hypot(page.c, page.d)
  return Number.isFinite(shown) && shown > HIGHEST * told ? shown : told
}
