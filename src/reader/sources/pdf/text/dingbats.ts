import { codePoint } from "dingbat-to-unicode"

/** Faces of pictograms; documents name them with or without their spaces, and with the name of a style behind. */
const TYPEFACES: ReadonlyArray<readonly [RegExp, string]> = [
  [/^wingdings[ -]?2/i, "Wingdings 2"],
  [/^wingdings[ -]?3/i, "Wingdings 3"],
  [/^wingdings(?![ -]?\d)/i, "Wingdings"],
  [/^webdings/i, "Webdings"],
  [/^symbol(?:mt|neu)?(?=$|[-,])/i, "Symbol"]
]

/** Hardly any face is one of them. */
const ANY = /^(?:wingdings|webdings|symbol)/i

/** Signs that few fonts have, and signs of the same meaning that most have. */
const USUAL: ReadonlyMap<string, string> = new Map([
  ["⚫", "●"],
  ["◼", "■"],
  ["🞏", "□"],
  ["🞎", "☐"],
  ["🞐", "□"],
  ["🞑", "□"],
  ["⬩", "◆"],
  ["⭘", "○"],
  ["⮚", "➢"],
  ["🡪", "→"],
  ["🡨", "←"],
  ["🡩", "↑"],
  ["🡫", "↓"],
  ["🡺", "➔"],
  ["🗸", "✓"],
  ["🗶", "✗"],
  ["🗷", "☒"],
  ["🗹", "☑"],
  ["🕿", "☎"],
  ["🖂", "✉"]
])

/** First code of a face without letters on Windows. */
const PRIVATE = 0xf000
const BYTE = 0x100

const decode = (typeface: string, code: number): number | undefined => {
  const found = codePoint(typeface, code)?.string
  return found === undefined ? undefined : (USUAL.get(found) ?? found).codePointAt(0)
}

/** Characters of a face's codes; only those of private use where the face has letters as well. */
export type Dingbats = ReadonlyMap<number, number>

const known = new Map<string, Dingbats>()

const charactersOf = (typeface: string): Dingbats => {
  const before = known.get(typeface)
  if (before !== undefined) return before
  const characters = new Map<number, number>()
  for (let code = 0x21; code < BYTE; code++) {
    const character = decode(typeface, code)
    if (character === undefined) continue
    characters.set(PRIVATE + code, character)
    // A reader of PDF knows the letters of Symbol.
    if (typeface !== "Symbol") characters.set(code, character)
  }
  known.set(typeface, characters)
  return characters
}

/**
 * The characters of a pictogram face: word processors write Symbol's and Wingdings' signs as codes of private use, or
 * as the letters that share their codes. Null for any other face.
 */
export const dingbatsOf = (face: string): Dingbats | null => {
  if (!ANY.test(face)) return null
  const typeface = TYPEFACES.find(([pattern]) => pattern.test(face))?.[1]
  return typeface === undefined ? null : charactersOf(typeface)
}
