import { constants, inflateSync } from "node:zlib"

import { IDENTITY, type Matrix, multiply } from "./geometry.ts"

/** Limit on painting operators that are examined: the same as for objects of a page in pdfium. */
const MAX_OBJECTS = 32
/** Characters, and different ones, that are certain to have ink among them whatever the font. */
const MIN_CHARACTERS = 16
const MIN_DIFFERENT = 6
/** Size of type that is certain to be seen at the resolution that blank pages are found with, points. */
const MIN_SIZE = 6
/** Darkest fill that still contrasts with white: no level of red, green and blue is higher. */
const MAX_LEVEL = 0.6
/** The least stretch of type, in percent. */
const MIN_STRETCH = 50
/** Width of a character, by its size: hardly any text is wider on average. */
const WIDE = 0.6

/** The part of the page that is shown, in its own units. */
export interface Shown {
  readonly x0: number
  readonly y0: number
  readonly x1: number
  readonly y1: number
}

/** Characters that may be spaces, or belong to an escape. */
const NO_INK = new Set([" ", "\\", "00", "20"])

/** A string's characters; in hexadecimal, its bytes. */
const charactersOf = (string: string): ReadonlyArray<string> =>
  string.startsWith("<") ? (string.match(/[0-9A-Fa-f]{2}/g) ?? []) : string.slice(1, -1).split("")

const shifted = (x: number, y: number): Matrix => ({ ...IDENTITY, e: x, f: y })

/** A token of a content stream; a string with nested brackets matches nothing, and ends the scan. */
const TOKEN =
  /[\s\0]*(?:%[^\r\n]*|(\/[^\s\0()<>[\]{}/%]*)|(\((?:[^()\\]|\\[^])*\)|<[0-9A-Fa-f\s]*>)|(<<|>>|\[|\])|([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?![^\s\0()<>[\]{}/%])|([^\s\0()<>[\]{}/%]+))/y

const PAINTS = new Set(["f", "F", "f*", "B", "B*", "b", "b*", "S", "s", "Do", "sh", "Tj", "TJ", "'", '"'])

interface Graphics {
  readonly matrix: Matrix
  readonly dark: boolean
  readonly size: number
  readonly mode: number
  readonly leading: number
  /** Character and word spacing together. */
  readonly spacing: number
}

/** State of a scan: the graphics state, the operands since the last operator, and the words found. */
interface Scan {
  readonly shown: Shown
  now: Graphics
  readonly saved: Array<Graphics>
  text: Matrix
  line: Matrix
  numbers: Array<number>
  strings: Array<string>
  names: Array<string>
  objects: number
  characters: number
  readonly different: Set<string>
}

const startScan = (shown: Shown): Scan => ({
  shown,
  now: { matrix: IDENTITY, dark: true, size: 0, mode: 0, leading: 0, spacing: 0 },
  saved: [],
  text: IDENTITY,
  line: IDENTITY,
  numbers: [],
  strings: [],
  names: [],
  objects: 0,
  characters: 0,
  different: new Set()
})

const number = ({ numbers }: Scan, fromEnd: number): number => numbers.at(-fromEnd) ?? Number.NaN

const matrixGiven = (scan: Scan): Matrix => ({
  a: number(scan, 6),
  b: number(scan, 5),
  c: number(scan, 4),
  d: number(scan, 3),
  e: number(scan, 2),
  f: number(scan, 1)
})

const move = (scan: Scan, x: number, y: number) => {
  scan.line = multiply(shifted(x, y), scan.line)
  scan.text = scan.line
}

/** Whether so many characters from here on are within the page, and large enough. */
const isSeen = ({ now, shown, text }: Scan, advance: number): boolean => {
  if (!now.dark || now.mode !== 0) return false
  const { a, b, c, d, e: x, f: y } = multiply(text, now.matrix)
  const [across, up] = [Math.hypot(a, b), Math.hypot(c, d)]
  const size = Math.abs(now.size) * Math.min(across, up, Math.sqrt(Math.abs(a * d - b * c)))
  const reach = Math.abs(now.size) * Math.max(across, up)
  return (
    size >= MIN_SIZE &&
    [0, advance].every(
      (far) =>
        x + far * a - reach >= shown.x0 &&
        y + far * b - reach >= shown.y0 &&
        x + far * a + reach <= shown.x1 &&
        y + far * b + reach <= shown.y1
    )
  )
}

const show = (scan: Scan) => {
  const { different, now, numbers, strings } = scan
  const given = strings.flatMap((string) => charactersOf(string))
  const shifts = numbers.reduce((sum, shift) => sum + Math.max(0, -shift), 0) / 1_000
  const advance = (given.length * WIDE + shifts) * Math.abs(now.size) + given.length * now.spacing
  if (isSeen(scan, advance)) {
    for (const character of given) {
      if (NO_INK.has(character)) continue
      scan.characters++
      different.add(character)
    }
  }
  scan.text = multiply(shifted(advance, 0), scan.text)
}

const change = (scan: Scan, changed: Partial<Graphics>) => {
  scan.now = { ...scan.now, ...changed }
}

const isDark = (levels: ReadonlyArray<number>): boolean => levels.every((level) => level <= MAX_LEVEL)

const notDark = (scan: Scan) => change(scan, { dark: false })
const space = (scan: Scan) => change(scan, { spacing: scan.now.spacing + Math.max(0, number(scan, 1)) })
const stop = () => false
const unlessOptional = ({ names }: Scan) => !names.includes("/OC")

/** What each operator does; false: the scan ends here. Others change nothing that matters. */
const OPERATORS: ReadonlyMap<string, (scan: Scan) => boolean | void> = new Map([
  ["q", (scan) => void scan.saved.push(scan.now)],
  ["Q", (scan) => void (scan.now = scan.saved.pop() ?? scan.now)],
  ["cm", (scan) => change(scan, { matrix: multiply(matrixGiven(scan), scan.now.matrix) })],
  ["g", (scan) => change(scan, { dark: isDark([number(scan, 1)]) })],
  ["rg", (scan) => change(scan, { dark: isDark([number(scan, 1), number(scan, 2), number(scan, 3)]) })],
  ["k", (scan) => change(scan, { dark: number(scan, 1) >= 1 - MAX_LEVEL })],
  ["cs", notDark],
  ["sc", notDark],
  ["scn", notDark],
  ["BT", (scan) => void (scan.line = scan.text = IDENTITY)],
  ["Tf", (scan) => change(scan, { size: number(scan, 1) })],
  ["Tr", (scan) => change(scan, { mode: number(scan, 1) })],
  ["TL", (scan) => change(scan, { leading: number(scan, 1) })],
  ["Tz", (scan) => number(scan, 1) >= MIN_STRETCH && number(scan, 1) <= 100],
  ["Tc", space],
  ["Tw", space],
  ["Tm", (scan) => void (scan.line = scan.text = matrixGiven(scan))],
  [
    "TD",
    (scan) => {
      change(scan, { leading: -number(scan, 1) })
      move(scan, number(scan, 2), number(scan, 1))
    }
  ],
  ["Td", (scan) => move(scan, number(scan, 2), number(scan, 1))],
  ["T*", (scan) => move(scan, 0, -scan.now.leading)],
  [
    "'",
    (scan) => {
      move(scan, 0, -scan.now.leading)
      show(scan)
    }
  ],
  ["Tj", show],
  ["TJ", show],
  ["gs", stop],
  ["BI", stop],
  ['"', stop],
  ["BDC", unlessOptional],
  ["BMC", unlessOptional]
])

/** False: the scan ends here. */
const operate = (scan: Scan, operator: string): boolean => {
  if (PAINTS.has(operator) && ++scan.objects > MAX_OBJECTS) return false
  return OPERATORS.get(operator)?.(scan) !== false
}

/**
 * Whether the beginning of a page's content shows words that are certain to be seen: dark, filled, large enough and within the
 * page. False proves nothing. It checks what `showsText` checks by pdfium, without reading the whole page, and gives up at
 * anything that may change how text looks: layers, named graphics states, inline images.
 */
export const hasCertainWords = (content: string, shown: Shown): boolean => {
  const scan = startScan(shown)
  TOKEN.lastIndex = 0
  for (let found = TOKEN.exec(content); found !== null && found[0] !== ""; found = TOKEN.exec(content)) {
    const [, name, string, bracket, digits, operator] = found
    if (digits !== undefined) scan.numbers.push(Number(digits))
    else if (string !== undefined) scan.strings.push(string)
    else if (name !== undefined) scan.names.push(name)
    else if (operator !== undefined) {
      if (!operate(scan, operator)) return false
      if (scan.characters >= MIN_CHARACTERS && scan.different.size >= MIN_DIFFERENT) return true
      ;[scan.numbers, scan.strings, scan.names] = [[], [], []]
    } else if (bracket === undefined && !found[0].includes("%")) return false
  }
  return false
}

/** Bytes of a content stream to search, as stored in the file: words come early on a page. */
const HEAD_BYTES = 2_048
/** Its text comes in pieces of this size: more of it is seldom asked for. */
const INFLATED_BYTES = 8_192
/** Most bytes of a dictionary, and of a cross-reference table, that are read. */
const DICTIONARY_BYTES = 16 * 1024
const TABLE_BYTES = 256 * 1024
/** The last lines of a file. */
const TAIL_BYTES = 64

/** The only filter. */
const FLATE_ALONE = /\/Filter\s*(?:\[\s*\/FlateDecode\s*\]|\/FlateDecode(?![A-Za-z]))/
const ENTRY = /(\d{10}) \d{5} ([nf])/g

/** Offset of each object in a file with one plain cross-reference table; undefined for any other. */
const offsetsOf = (table: string): ReadonlyArray<number> | undefined => {
  const head = /^xref\s+0 (\d+)\s+/.exec(table)
  if (head === null) return undefined
  const entries = [...table.slice(head[0].length).matchAll(ENTRY)]
  return entries.length === Number(head[1])
    ? entries.map(([, at, kind]) => (kind === "n" ? Number(at) : -1))
    : undefined
}

/**
 * The one object that `key` refers to; undefined where there is no reference or the key occurs twice, as it may within
 * another value.
 */
const reference = (dictionary: string, key: string): number | undefined => {
  const found = [...dictionary.matchAll(new RegExp(`/${key}\\s*(?:\\[\\s*)?(\\d+) 0 R\\s*(\\]|/|>>|$)`, "g"))]
  const everywhere = dictionary.split(new RegExp(`/${key}(?![A-Za-z])`)).length - 1
  return found.length === 1 && everywhere === 1 ? Number(found[0]?.[1]) : undefined
}

/** The beginning of the page's content in a one-page file as written by pdfium or qpdf; undefined where that is not plain. */
export const contentHead = (bytes: Uint8Array): string | undefined => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const start = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(
    file.toString("latin1", Math.max(0, file.length - TAIL_BYTES))
  )
  if (start === null || file.length - Number(start[1]) > TABLE_BYTES) return undefined
  const table = file.toString("latin1", Number(start[1]))
  const offsets = offsetsOf(table.slice(0, table.lastIndexOf("trailer")))
  if (offsets === undefined) return undefined

  /** An object up to its end, or to where its stream begins, and that place. */
  const object = (index: number | undefined) => {
    const at = index === undefined ? -1 : (offsets[index] ?? -1)
    if (at < 0) return undefined
    const text = file.toString("latin1", at, at + DICTIONARY_BYTES)
    const end = /\bstream\r?\n|\bendobj\b/.exec(text)
    return end === null
      ? undefined
      : { dictionary: text.slice(0, end.index), from: at + end.index + end[0].length }
  }
  const root = object(reference(table.slice(table.lastIndexOf("trailer")), "Root"))
  const pages = root && object(reference(root.dictionary, "Pages"))
  const page = pages && object(reference(pages.dictionary, "Kids"))
  const content = page && object(reference(page.dictionary, "Contents"))
  if (content === undefined || /\/DecodeParms|\/DP\b|\/Crypt/.test(content.dictionary)) return undefined
  const head = file.subarray(content.from, content.from + HEAD_BYTES)
  if (!content.dictionary.includes("/Filter")) return head.toString("latin1").split("endstream", 1)[0]
  if (!FLATE_ALONE.test(content.dictionary)) return undefined
  try {
    return inflateSync(head, { finishFlush: constants.Z_SYNC_FLUSH, chunkSize: INFLATED_BYTES }).toString(
      "latin1"
    )
  } catch {
    return undefined
  }
}
