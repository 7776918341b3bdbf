import { type FontFace, isFixedPitchName } from "../../../model/page-content.ts"
import { isBold } from "../../../stages/lines/segment.ts"
import { isMathFace } from "../../../stages/regions/formulas/mathematical.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import { lettersOfFont } from "./embedded-font.ts"
import { fixedPitchOf, haveOneWidth, NARROW, WIDE } from "./fixed-pitch.ts"
import { withoutSubset } from "./glyph-names.ts"

// Bits of a font descriptor's `Flags` (ISO 32000-2, table 121).
const FIXED_PITCH = 1
const SERIF = 1 << 1
const SYMBOLIC = 1 << 2
const ITALIC = 1 << 6
const FORCE_BOLD = 1 << 18

const REGULAR = 400
/** Weights by name, tried in this order: `semibold` holds `bold`. */
const WEIGHTS: ReadonlyArray<readonly [RegExp, number]> = [
  [/semi-?bold|demi/i, 600],
  [/extra-?bold|ultra-?bold|heavy/i, 800],
  [/black(?!letter)/i, 900],
  [/bold|[-,]bd\b/i, 700],
  // URW's names for bold ("Medi") and regular ("Regu").
  [/-Medi(Ital|Obli)?$/, 700],
  // Computer Modern and its descendants: bold extended.
  [/^(CM|SF|EC|EB)[A-Z]*BX|^LM[A-Za-z]+\d*-Bold|^CMB\d/, 700],
  [/extra-?light|ultra-?light|thin|hairline/i, 200],
  [/light/i, 300],
  [/medium/i, 500],
  // A name that says regular wins over the stems: the values of TeX fonts are often made up.
  [/^(CM|SF|EC)[A-Z]+\d+$|-(Regular|Roman|Book|Italic|Oblique)(MT)?$/, REGULAR]
]
/** pdfium works out a weight from the width of the stems, which sets bold faces apart and no more. */
const BOLD_BY_STEMS = 600

const weightOf = (name: string, flags: number, byStems: number): number => {
  const named = WEIGHTS.find(([pattern]) => pattern.test(name))
  if (named !== undefined) return named[1]
  if ((flags & FORCE_BOLD) !== 0) return 700
  return byStems >= BOLD_BY_STEMS && byStems <= 900 ? Math.round(byStems / 100) * 100 : REGULAR
}

/** A character of no face. */
const NONE = "\u{f8f0}"
const SAME_WIDTH = 0.01

/**
 * True when narrow letters are as wide as wide ones. Letters that a subset lacks do not count: they have the width of
 * the missing-glyph sign, which says nothing where all letters have one width.
 */
const hasOneWidth = ({ call, memory }: Pdfium, font: number): boolean | undefined => {
  const widthOf = (character: string): number =>
    call.FPDFFont_GetGlyphWidth(font, character.codePointAt(0) ?? 0, 1, memory.scratch)
      ? memory.float(memory.scratch)
      : 0
  const lacking = widthOf(NONE)
  const [narrow, wide] = [NARROW, WIDE].map((letters) =>
    letters.map(widthOf).filter((width) => width > 0 && width !== lacking)
  )
  return haveOneWidth(narrow ?? [], wide ?? [], SAME_WIDTH)
}

/** A font's name without the prefix of a subset. */
export const nameOf = ({ call, memory }: Pdfium, font: number): string =>
  withoutSubset(memory.ascii((buffer, size) => call.FPDFFont_GetBaseFontName(font, buffer, size)))

/** A font's face; whether it is monospaced is left open where neither its name nor its widths say. */
const faceOf = (
  pdfium: Pdfium,
  font: number
): Omit<FontFace, "monospace"> & { readonly monospace: boolean | undefined } => {
  const { call, memory } = pdfium
  const name = nameOf(pdfium, font)
  // -1 where the document does not say.
  const flags = Math.max(0, call.FPDFFont_GetFlags(font))
  const slanted = call.FPDFFont_GetItalicAngle(font, memory.scratch) !== 0 && memory.int(memory.scratch) !== 0
  return {
    name,
    weight: weightOf(name, flags, call.FPDFFont_GetWeight(font)),
    italic: slanted || (flags & ITALIC) !== 0 || /italic|oblique|^CM(TI|BXTI|SL)\d/i.test(name),
    monospace:
      // pdfium sets the flag of fonts that are not in the file where all their known widths are alike: often those of figures alone.
      ((flags & FIXED_PITCH) !== 0 && call.FPDFFont_GetIsEmbedded(font) === 1) ||
      isFixedPitchName(name) ||
      (name === "" ? undefined : hasOneWidth(pdfium, font)),
    serif: (flags & SERIF) !== 0,
    symbolic: (flags & SYMBOLIC) !== 0
  }
}

/** The document's faces in the order in which its pages use them; two subsets of one face are one. */
export class FontTable {
  readonly faces: Array<FontFace>
  readonly #pdfium: Pdfium
  readonly #byValue = new Map<string, number>()
  #byPointer = new Map<number, number>()
  readonly #letters = new Map<number, ReadonlyMap<number, string>>()
  /** As it was when it was last remembered. */
  #remembered: ReadonlyMap<number, number> = new Map()
  /** The page's text that is being read, and which of its fonts are monospaced, once one that does not say is met. */
  #text = 0
  #fixed: ReadonlyMap<number, boolean> | undefined
  /** Fonts with too few letters on this page to decide. */
  #undecided = new Map<number, number>()

  /** `known`: faces met before, which keep their places. */
  constructor(pdfium: Pdfium, known: ReadonlyArray<FontFace>) {
    this.#pdfium = pdfium
    this.faces = [...known]
    for (const [index, face] of known.entries()) this.#byValue.set(JSON.stringify(face), index)
  }

  /** To be called with each page's text before its fonts are asked for. */
  beginText(text: number): void {
    this.#text = text
    this.#fixed = undefined
    this.#undecided = new Map()
  }

  /** pdfium fonts that the last page left undecided: they may be monospaced. */
  get undecided(): ReadonlyArray<number> {
    return [...this.#undecided.keys()]
  }

  /** Whether a page has shown it of a font. */
  isDecided(font: number): boolean {
    return this.#byPointer.has(font)
  }

  /** The place of a font of pdfium's. */
  indexOf(font: number): number {
    const seen = this.#byPointer.get(font) ?? this.#undecided.get(font)
    if (seen !== undefined) return seen
    const named = faceOf(this.#pdfium, font)
    const plain = { ...named, monospace: false }
    // Signs of mathematics have the codes of letters, and any widths.
    const fixed = !isMathFace(plain) && (named.monospace ?? this.#isFixed(font))
    const index = this.#placeOf({ ...plain, monospace: fixed === true })
    // A later page may have the letters that decide.
    const known = fixed === undefined ? this.#undecided : this.#byPointer
    known.set(font, index)
    return index
  }

  /** The place of a bold face that looks like the one at a place otherwise. */
  boldOf(index: number): number {
    const face = this.faces[index]
    return face === undefined || isBold(face) ? index : this.#placeOf({ ...face, weight: 700 })
  }

  #placeOf(face: FontFace): number {
    const value = JSON.stringify(face)
    const known = this.#byValue.get(value)
    if (known !== undefined) return known
    const index = this.faces.push(face) - 1
    this.#byValue.set(value, index)
    return index
  }

  #isFixed(font: number): boolean | undefined {
    this.#fixed ??= fixedPitchOf(this.#pdfium, this.#text)
    return this.#fixed.get(font)
  }

  /** The letters of the glyphs of a font of pdfium's that is in the file, as the font itself has them. */
  lettersOf(font: number): ReadonlyMap<number, string> {
    const known = this.#letters.get(font)
    if (known !== undefined) return known
    const { call, memory } = this.#pdfium
    const bytes = memory.bytesBy((buffer, size, out) => call.FPDFFont_GetFontData(font, buffer, size, out))
    const letters = lettersOfFont(bytes)
    this.#letters.set(font, letters)
    return letters
  }

  /** To be called when pages are closed: pdfium may give a pointer out again for another font. */
  forgetPointers(): void {
    this.#letters.clear()
    this.#byPointer = new Map()
    this.#remembered = new Map()
  }

  /** Remembers which fonts are known. */
  remember(): void {
    this.#remembered = new Map(this.#byPointer)
  }

  /** Forgets what other pages have shown of fonts since: the runs of a page must not depend on what was read before. */
  recall(): void {
    this.#byPointer = new Map(this.#remembered)
  }
}
