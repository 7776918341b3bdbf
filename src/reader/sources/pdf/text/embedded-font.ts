/** What an embedded TrueType or OpenType font says of its glyphs: its own table of characters, and its names of glyphs. */

/** Limits on what a damaged table makes one read. */
const MOST_TABLES = 64
const MOST_CODES = 200_000

/** A file of big-endian numbers; what is outside of it is zero. */
class Numbers {
  readonly #view: DataView
  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }
  get length(): number {
    return this.#view.byteLength
  }
  byte(at: number): number {
    return at >= 0 && at < this.length ? this.#view.getUint8(at) : 0
  }
  short(at: number): number {
    return at >= 0 && at + 2 <= this.length ? this.#view.getUint16(at) : 0
  }
  long(at: number): number {
    return at >= 0 && at + 4 <= this.length ? this.#view.getUint32(at) : 0
  }
  text(at: number, length: number): string {
    return Array.from({ length }, (_, n) => String.fromCharCode(this.byte(at + n))).join("")
  }
}

/** Where the tables of a font begin, by their names. */
const tablesOf = (font: Numbers): ReadonlyMap<string, number> => {
  const count = Math.min(MOST_TABLES, font.short(4))
  return new Map(
    Array.from({ length: count }, (_, n) => [font.text(12 + 16 * n, 4), font.long(20 + 16 * n)] as const)
  )
}

/** Receives each character and its glyph. */
type Tell = (code: number, glyph: number) => void

/** Format 4: segments of characters of 16 bits. */
const bySegments = (font: Numbers, at: number, tell: Tell): void => {
  const count = font.short(at + 6) >> 1
  const [ends, starts] = [at + 14, at + 16 + 2 * count]
  const [deltas, offsets] = [starts + 2 * count, starts + 4 * count]
  let left = MOST_CODES
  for (let segment = 0; segment < count && left > 0; segment++) {
    const [start, end] = [font.short(starts + 2 * segment), font.short(ends + 2 * segment)]
    const delta = font.short(deltas + 2 * segment)
    const offset = font.short(offsets + 2 * segment)
    for (let code = start; code <= end && code < 0xffff && left > 0; code++, left--) {
      const own = offset === 0 ? code : font.short(offsets + 2 * segment + offset + 2 * (code - start))
      tell(code, offset !== 0 && own === 0 ? 0 : (own + delta) & 0xffff)
    }
  }
}

/** Format 6: characters in a row. */
const inRow = (font: Numbers, at: number, tell: Tell): void => {
  const first = font.short(at + 6)
  for (let n = 0; n < font.short(at + 8); n++) tell(first + n, font.short(at + 10 + 2 * n))
}

/** Format 12: groups of characters of 32 bits. */
const byGroups = (font: Numbers, at: number, tell: Tell): void => {
  let left = MOST_CODES
  for (let group = 0; group < font.long(at + 12) && left > 0; group++, left--) {
    const from = at + 16 + 12 * group
    const [start, end, glyph] = [font.long(from), font.long(from + 4), font.long(from + 8)]
    for (let code = start; code <= Math.min(end, 0x10ffff) && left > 0; code++, left--)
      tell(code, glyph + code - start)
  }
}

const FORMATS: ReadonlyMap<number, typeof bySegments> = new Map([
  [4, bySegments],
  [6, inRow],
  [12, byGroups]
])

/** Whether a table has Unicode's characters: those of Microsoft's and Unicode's own platform, not those of symbols. */
const isUnicode = (platform: number, encoding: number): boolean =>
  platform === 0 || (platform === 3 && (encoding === 1 || encoding === 10))

const isControl = (code: number): boolean => code < 0x20 || (code >= 0x7f && code < 0xa0)

const readCharacters = (font: Numbers, table: number, letters: Map<number, string>): void => {
  const count = Math.min(MOST_TABLES, font.short(table + 2))
  for (let n = 0; n < count; n++) {
    const record = table + 4 + 8 * n
    if (!isUnicode(font.short(record), font.short(record + 2))) continue
    const at = table + font.long(record + 4)
    // The first character of a glyph is the usual one: a space, and not the one that no line breaks at.
    FORMATS.get(font.short(at))?.(font, at, (code, glyph) => {
      if (glyph !== 0 && !isControl(code) && !letters.has(glyph))
        letters.set(glyph, String.fromCodePoint(code))
    })
  }
}

const SIGNS: ReadonlyMap<string, string> = new Map(
  (
    "space:  |exclam:!|quotedbl:\"|numbersign:#|dollar:$|percent:%|ampersand:&|quotesingle:'|parenleft:(|parenright:)|asterisk:*|plus:+|" +
    "comma:,|hyphen:-|period:.|slash:/|zero:0|one:1|two:2|three:3|four:4|five:5|six:6|seven:7|eight:8|nine:9|colon::|semicolon:;|less:<|" +
    "equal:=|greater:>|question:?|at:@|bracketleft:[|backslash:\\|bracketright:]|underscore:_|braceleft:{|braceright:}|quoteleft:‘|" +
    "quoteright:’|quotedblleft:“|quotedblright:”|endash:–|emdash:—|bullet:•|ellipsis:…|germandbls:ß|ae:æ|AE:Æ|oe:œ|OE:Œ|oslash:ø|" +
    "Oslash:Ø|Euro:€|section:§|degree:°|fi:fi|fl:fl|ff:ff|ffi:ffi|ffl:ffl|dotlessi:ı|guillemotleft:«|guillemotright:»"
  )
    .split("|")
    .map(
      (one) => [one.slice(0, one.indexOf(":")), one.slice(one.indexOf(":") + 1).replace("  ", " ")] as const
    )
)
const ACCENTS: ReadonlyMap<string, string> = new Map([
  ["acute", "\u0301"],
  ["grave", "\u0300"],
  ["circumflex", "\u0302"],
  ["dieresis", "\u0308"],
  ["tilde", "\u0303"],
  ["ring", "\u030a"],
  ["cedilla", "\u0327"],
  ["caron", "\u030c"]
])

const fromHex = (digits: string): string | undefined => {
  const code = Number.parseInt(digits, 16)
  return code > 0x10ffff || isControl(code) ? undefined : String.fromCodePoint(code)
}

/** The letters of a glyph, by its name as Adobe's rules write it. */
export const lettersOfName = (given: string): string | undefined => {
  const [name = ""] = given.split(".")
  const hex = /^(?:uni([0-9A-F]{4})|u([0-9A-F]{4,6}))$/.exec(name)
  if (hex !== null) return fromHex(hex[1] ?? hex[2] ?? "")
  if (/^[A-Za-z]$/.test(name)) return name
  const [, letter, accent = ""] = /^([A-Za-z])([a-z]{4,10})$/.exec(name) ?? []
  const mark = ACCENTS.get(accent)
  return letter !== undefined && mark !== undefined ? (letter + mark).normalize("NFC") : SIGNS.get(name)
}

/** Glyphs that every font may name by number alone: after three without ink, those of ASCII in its order. */
const OWN_NAMES = 258
const FIRST_OF_ASCII = 3

const readNames = (font: Numbers, table: number, letters: Map<number, string>): void => {
  if (font.long(table) !== 0x20000) return
  const count = font.short(table + 32)
  const names: Array<string> = []
  let at = table + 34 + 2 * count
  for (; names.length < count && at < font.length; at += 1 + font.byte(at))
    names.push(font.text(at + 1, font.byte(at)))
  for (let glyph = 0; glyph < count; glyph++) {
    const name = font.short(table + 34 + 2 * glyph)
    const code = 0x20 + name - FIRST_OF_ASCII
    const letter =
      name >= OWN_NAMES
        ? lettersOfName(names[name - OWN_NAMES] ?? "")
        : code >= 0x20 && code < 0x7f
          ? String.fromCharCode(code)
          : undefined
    if (letter !== undefined && !letters.has(glyph)) letters.set(glyph, letter)
  }
}

/** The letters of a font's glyphs, by their numbers; none where it is no such font, or says nothing. */
export const lettersOfFont = (bytes: Uint8Array): ReadonlyMap<number, string> => {
  const font = new Numbers(bytes)
  const tables = tablesOf(font)
  const letters = new Map<number, string>()
  const [characters, names] = [tables.get("cmap"), tables.get("post")]
  if (characters !== undefined) readCharacters(font, characters, letters)
  if (names !== undefined) readNames(font, names, letters)
  return letters
}
