import { speaksForPicture } from "../../../recognition/text-layer.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import { readObjects } from "./drawings.ts"
import { type Matrix, mapX, mapY } from "./geometry.ts"
import type { Layers } from "./layers.ts"
import { markOf, markWithin, OFF, UNMARKED } from "./marks.ts"

// FPDF_PAGEOBJ_IMAGE
const IMAGE = 3
// FPDF_TEXTRENDERMODE_…
const STROKE = 1
const INVISIBLE = 3
const CLIP = 7

/** Limits on characters and objects that are examined. */
const MAX_CHARACTERS = 5_000
const MAX_OBJECTS = 1_000
/** Text that is fainter than this is not meant to be seen. */
const MIN_ALPHA = 16

/** A page to examine. */
interface Looked {
  readonly page: number
  readonly width: number
  readonly height: number
  readonly matrix: Matrix
  readonly layers: Layers
  readonly hidden: () => ReadonlySet<number>
}

/** How a text object is meant to be seen. */
type Look = "seen" | "hidden" | "behind"

/** The level of grey of a text object's colour; undefined where it is too faint. */
const levelOf = ({ call, memory }: Pdfium, object: number, stroked: boolean): number | undefined => {
  const { scratch } = memory
  const given = stroked
    ? call.FPDFPageObj_GetStrokeColor(object, scratch, scratch + 4, scratch + 8, scratch + 12)
    : call.FPDFPageObj_GetFillColor(object, scratch, scratch + 4, scratch + 8, scratch + 12)
  if (given === 0) return 0
  if (memory.uint(scratch + 12) < MIN_ALPHA) return undefined
  const [red, green, blue] = [0, 4, 8].map((at) => memory.uint(scratch + at))
  return 0.3 * (red ?? 0) + 0.59 * (green ?? 0) + 0.11 * (blue ?? 0)
}

const lookOf = (pdfium: Pdfium, object: number, ground: number, spread: number): Look => {
  const mode = pdfium.call.FPDFTextObj_GetTextRenderMode(object)
  if (mode === INVISIBLE) return "behind"
  if (mode === CLIP) return "hidden"
  const level = levelOf(pdfium, object, mode === STROKE)
  return level === undefined || Math.abs(level - ground) <= spread ? "hidden" : "seen"
}

const isOnPage = ({ call, memory }: Pdfium, text: number, at: number, looked: Looked): boolean => {
  const { scratch } = memory
  if (call.FPDFText_GetCharOrigin(text, at, scratch, scratch + 8) === 0) return false
  const [originX, originY] = [memory.double(scratch), memory.double(scratch + 8)]
  const x = mapX(looked.matrix, originX, originY)
  const y = mapY(looked.matrix, originX, originY)
  return x >= 0 && y >= 0 && x <= looked.width && y <= looked.height
}

const hasImage = ({ call }: Pdfium, page: number): boolean => {
  const count = Math.min(MAX_OBJECTS, call.FPDFPage_CountObjects(page))
  for (let at = 0; at < count; at++)
    if (call.FPDFPageObj_GetType(call.FPDFPage_GetObject(page, at)) === IMAGE) return true
  return false
}

/**
 * True when a page that is drawn in one level of grey, `ground`, has words nevertheless: in a colour that would differ
 * from it by more than `spread` if their font could be drawn here, or behind a picture that could not be drawn.
 */
export const holdsText = (pdfium: Pdfium, looked: Looked, ground: number, spread: number): boolean => {
  const { call } = pdfium
  const text = call.FPDFText_LoadPage(looked.page)
  if (text === 0) return false
  try {
    const { inherited } = readObjects(pdfium, looked)
    const looks = new Map<number, Look>()
    const count = Math.min(MAX_CHARACTERS, call.FPDFText_CountChars(text))
    let behind = ""
    for (let at = 0; at < count; at++) {
      const code = call.FPDFText_GetUnicode(text, at) >>> 0
      const character = code > 0x10ffff ? "" : String.fromCodePoint(code)
      const object = call.FPDFText_GetTextObject(text, at)
      if (object === 0) behind += behind === "" ? "" : " "
      if (object === 0 || !/[\p{L}\p{N}]/u.test(character)) continue
      if (call.FPDFText_HasUnicodeMapError(text, at) === 1 || !isOnPage(pdfium, text, at, looked)) continue
      const look =
        looks.get(object) ??
        (markWithin(markOf(pdfium, object, looked.layers), inherited.get(object) ?? UNMARKED) === OFF
          ? "hidden"
          : lookOf(pdfium, object, ground, spread))
      looks.set(object, look)
      if (look === "seen") return true
      if (look === "behind") behind += character
    }
    return speaksForPicture(behind) && hasImage(pdfium, looked.page)
  } finally {
    call.FPDFText_ClosePage(text)
  }
}
