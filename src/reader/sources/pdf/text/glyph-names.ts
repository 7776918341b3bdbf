/** Names of glyphs that pdfium knows no character for, as the dictionaries of a page's fonts have them. */

/** Limits on pages of a document that are searched for fonts, and on the places searched on one. */
const MOST_PAGES = 20
const MOST_PLACES = 500
/** Longest list of names, in bytes, and how far before it its owner is looked for. */
const LONGEST = 20_000
const BEFORE = 500

/** Letters joined by underscores, as Adobe's rules for names of glyphs write a ligature; a variant's name follows a full stop. */
const COMPOSED = /^([A-Za-z](?:_[A-Za-z])+)(?:\..*)?$/

const OBJECT = /(?<!\d)(\d{1,9}) 0 obj\s*<<[^<>]*$/
const OWN = /\/BaseFont\/([^\s/<>[\]()]{1,127})(?=[\s/])[^<>]{0,300}\/Encoding\s?<<[^<>]{0,100}$/
const REFERRED = /^\/BaseFont\/([^\s/<>[\]()]{1,127})(?=[\s/])[^<>]{0,300}\/Encoding (\d{1,9}) 0 R/

/** A font with the numbers of its glyphs as codes, and no table of characters; another table may lead to other glyphs. */
const BY_GLYPH =
  /^\/BaseFont\/([^\s/<>[\]()]{1,127})\s?\/DescendantFonts(?:\s?\[[^\]]{0,50}\]|\s\d{1,9} 0 R)\s?\/Encoding\/Identity-[HV]\s?\/(?:Name\/[^\s/]{1,50}\s?\/)?Subtype\/Type0\s?\/(?!ToUnicode)/
const MAPPED = /^\/BaseFont\/([^\s/<>[\]()]{1,127})\s?\/CIDSystemInfo[^]{0,300}?\/CIDToGIDMap \d/

type Letters = ReadonlyMap<number, string>

/** Letters by code: `27/f_i/f_f_i` names the glyphs of 27 and 28. */
const lettersOf = (differences: string): Letters => {
  const letters = new Map<number, string>()
  let code = 0
  for (const [, number, name = ""] of differences.matchAll(/(\d{1,5})|\/([^\s/]+)/g))
    if (number !== undefined) code = Number(number)
    else {
      const composed = COMPOSED.exec(name)?.[1]
      if (composed !== undefined) letters.set(code, composed.replaceAll("_", ""))
      code += 1
    }
  return letters
}

/** A font's name without the prefix of a subset. */
export const withoutSubset = (font: string): string => font.replace(/^[A-Z]{6}\+/, "")

const placesOf = (text: string, word: string): ReadonlyArray<number> => {
  const places: Array<number> = []
  for (let at = text.indexOf(word); at >= 0 && places.length < MOST_PLACES; at = text.indexOf(word, at + 1))
    places.push(at)
  return places
}

/**
 * Letters of ligatures by font and code; none ("") where two of its subsets differ. Reads what pdfium writes: an object's keys in the
 * order of the alphabet, and no comments.
 */
export const ligaturesIn = (pdf: Uint8Array): ReadonlyMap<string, Letters> => {
  const text = Buffer.from(pdf.buffer, pdf.byteOffset, pdf.length).toString("latin1")
  const fonts = new Map<string, Map<number, string>>()
  // pdfium leaves the prefix of a subset out of some names: where two subsets differ, the code has no known letter.
  const add = (font: string, letters: Letters) => {
    const name = withoutSubset(font)
    const known = fonts.get(name) ?? new Map<number, string>()
    for (const [code, letter] of letters)
      known.set(code, known.has(code) && known.get(code) !== letter ? "" : letter)
    fonts.set(name, known)
  }
  const encodings = new Map<string, Letters>()
  for (const at of placesOf(text, "/Differences[")) {
    const [before, after] = [text.slice(Math.max(0, at - BEFORE), at), text.slice(at + 13, at + LONGEST)]
    const end = after.indexOf("]")
    const letters = end < 0 ? undefined : lettersOf(after.slice(0, end))
    if (letters === undefined || letters.size === 0) continue
    const font = OWN.exec(before)?.[1]
    const object = OBJECT.exec(before)?.[1]
    if (font !== undefined) add(font, letters)
    else if (object !== undefined) encodings.set(object, letters)
  }
  for (const at of placesOf(text, "/BaseFont/")) {
    const [, font, object] = REFERRED.exec(text.slice(at, at + BEFORE)) ?? []
    const letters = object === undefined ? undefined : encodings.get(object)
    if (font !== undefined && letters !== undefined) add(font, letters)
  }
  return fonts
}

/** Fonts with the numbers of glyphs as codes, and no table of characters. Reads what pdfium writes. */
export const fontsByGlyph = (pdf: Uint8Array): ReadonlySet<string> => {
  const text = Buffer.from(pdf.buffer, pdf.byteOffset, pdf.length).toString("latin1")
  const [found, mapped] = [new Set<string>(), new Set<string>()]
  for (const at of placesOf(text, "/BaseFont/")) {
    const font = text.slice(at, at + BEFORE)
    const [, byGlyph] = BY_GLYPH.exec(font) ?? []
    if (byGlyph !== undefined) found.add(withoutSubset(byGlyph))
    const [, other] = MAPPED.exec(font) ?? []
    if (other !== undefined) mapped.add(withoutSubset(other))
  }
  return new Set([...found].filter((name) => !mapped.has(name)))
}

/** What the fonts of a page say of their glyphs. */
export interface GlyphsOfPage {
  readonly ligature: (name: string, code: number) => string | undefined
  readonly isByGlyph: (name: string) => boolean
}

/** What a document's fonts say of their glyphs, looked up once it is needed. */
export class GlyphNames {
  readonly #fonts = new Map<string, Letters>()
  readonly #byGlyph = new Set<string>()
  #pages = 0

  #look(name: string, copy: () => Uint8Array | undefined): void {
    if (this.#fonts.has(name) || this.#pages >= MOST_PAGES) return
    this.#pages += 1
    const page = copy()
    this.#fonts.set(name, new Map())
    if (page === undefined) return
    for (const [one, letters] of ligaturesIn(page)) this.#fonts.set(one, letters)
    for (const one of fontsByGlyph(page)) this.#byGlyph.add(one)
  }

  /**
   * The letters of a ligature without a character; undefined where its font does not name it so. `name`: the font's, without the prefix
   * of a subset; `copy`: the page that shows it, as a PDF by pdfium.
   */
  ligature(name: string, code: number, copy: () => Uint8Array | undefined): string | undefined {
    this.#look(name, copy)
    return this.#fonts.get(name)?.get(code) || undefined
  }

  /** Of one page. */
  on(copy: () => Uint8Array | undefined): GlyphsOfPage {
    return {
      ligature: (name, code) => this.ligature(name, code, copy),
      isByGlyph: (name) => {
        this.#look(name, copy)
        return this.#byGlyph.has(name)
      }
    }
  }
}
