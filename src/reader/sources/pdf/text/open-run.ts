import type { Box, TextRun } from "../../../model/page-content.ts"
import { SPACE_GAP } from "../../../stages/lines/segment.ts"
import { round, roundBox } from "../content/geometry.ts"
import type { Mark } from "../content/marks.ts"
import { composeAccents, isAccent } from "./accents.ts"
import type { Dingbats } from "./dingbats.ts"
import { LEAST_GAP, mayBeOnGrid, withoutGridSpaces, withoutTracking } from "./letter-grid.ts"
import type { TexGlyphs } from "./tex-glyphs.ts"

const SPACE = 0x20
const HYPHEN = 0x2d

/** What all characters of a text object share. */
export interface Style {
  readonly font: number
  readonly size: number
  readonly angle: number
  /** Unit vector of the writing direction on the shown page. */
  readonly dx: number
  readonly dy: number
  readonly color: number
  readonly mark: Mark
  readonly invisible: boolean
  readonly typewriter: boolean
  /** The font is one of TeX's for mathematics. */
  readonly tex: TexGlyphs | null
  /** The font is one of pictograms. */
  readonly dingbats: Dingbats | null
  /** What its font says of its glyphs, where its codes are their numbers. */
  readonly glyphs?: ReadonlyMap<number, string>
  /** A vertical line of upright signs. */
  readonly stacked?: boolean
}

/** A part of the page in which the places of single characters are needed. */
export interface Place {
  readonly box: Box
}

/** Position of a character: from `start` to `end` along its line, and its box. */
interface Placed extends Box {
  readonly start: number
  readonly end: number
}

const NO_EDGES: ReadonlyArray<number> = []

/** A section's number, and the least white space between it and its words, in font sizes: a narrow tab may leave less than a space. */
const NUMBER = /^\d{1,2}(?:\.\d{1,2}){1,4}\.?$/
const LONGEST_NUMBER = 15
const NARROW_TAB = 0.05

/** UTF-16 units that there is room for at first. */
const ROOM = 1024
/** Largest unit of a text that is kept with a byte a character. */
const NARROW = 0xff

/**
 * The run that is being gathered. Positions along the line are those of `edges`. A page has thousands of characters, so that
 * nothing is made for one of them: they are collected in arrays that serve every run of every page.
 */
export class OpenRun {
  /** Undefined: none is open. */
  style: Style | undefined
  /** Position of the line across the writing direction. */
  across = 0
  end = 0
  hyphenated = false
  #baseline = 0
  #units = new Uint16Array(ROOM)
  /** The same as far as they are narrow, which most texts are. */
  #bytes = Buffer.alloc(ROOM)
  #wide = false
  /** There may be an accent that is drawn over a letter. */
  #accented = false
  #edges = new Float64Array(ROOM)
  /** Right edges, which distinguish accents over letters from those next to them. */
  #ends = new Float64Array(ROOM)
  #length = 0
  #x0 = Infinity
  #y0 = Infinity
  #x1 = -Infinity
  #y1 = -Infinity
  /** A space that is in the text only if something follows. */
  #space = false
  /** How many are in the text. */
  #spaces = 0
  /** Gap that shows a space. */
  #least = 0
  /** Gap that shows letters that are set apart. */
  #apart = 0
  /** Number of characters that are far from the one before. */
  #loose = 0

  begin(style: Style, baseline: number, across: number): void {
    this.style = style
    this.across = across
    this.end = 0
    this.hyphenated = false
    this.#baseline = baseline
    this.#length = 0
    this.#wide = false
    this.#accented = false
    this.#x0 = Infinity
    this.#y0 = Infinity
    this.#x1 = -Infinity
    this.#y1 = -Infinity
    this.#space = false
    this.#spaces = 0
    this.#least = SPACE_GAP * style.size
    this.#apart = LEAST_GAP * style.size
    this.#loose = 0
  }

  addSpace(): void {
    this.#space = true
  }

  #pushSpace(to: number): void {
    this.#space = false
    this.#push(SPACE, this.end, to)
    this.#spaces += 1
  }

  /** True when a space without a visible gap separates the run from this character, and either is an accent. */
  hasDoubtfulSpace(code: number, start: number): boolean {
    return (
      this.#space &&
      start - this.end < this.#least &&
      (isAccent(code) || isAccent(this.#units[this.#length - 1] ?? 0))
    )
  }

  dropSpace(): void {
    this.#space = false
  }

  /** True when a character between these edges is below the last accent: then the run continues. */
  isBelowAccent(start: number, end: number): boolean {
    const last = this.#length - 1
    if (last < 0 || !isAccent(this.#units[last] ?? 0)) return false
    const middle = ((this.#edges[last] ?? 0) + (this.#ends[last] ?? 0)) / 2
    return middle > start && middle < end
  }

  /**
   * True when a letter of another text object follows a number at a distance: a tab is between them, however narrow.
   */
  isNumberBefore(code: number, start: number): boolean {
    return (
      this.#length > 0 &&
      this.#length <= LONGEST_NUMBER &&
      this.style !== undefined &&
      start - this.end > NARROW_TAB * this.style.size &&
      /\p{L}/u.test(String.fromCodePoint(code)) &&
      NUMBER.test(this.#text())
    )
  }

  /** Whether a position along the line is within the run or right behind it. */
  reaches(position: number, room: number): boolean {
    return this.#length > 0 && position > (this.#edges[0] ?? 0) && position < this.end + room
  }

  /**
   * Puts the next character, which begins at `start`, below the accent before it: an accent that began the run was raised over the
   * line, and before a narrow one there seems to be a space.
   */
  continueBelow(start: number, baseline: number, across: number): void {
    const last = this.#length - 1
    this.#space = false
    if (last === 0) {
      this.#baseline = baseline
      this.across = across
    } else if (this.#units[last - 1] === SPACE && start - (this.#ends[last - 2] ?? start) < this.#least) {
      this.#length = last - 1
      this.#spaces -= 1
      this.#push(this.#units[last] ?? 0, this.#edges[last] ?? 0, this.#ends[last] ?? 0)
    }
  }

  #push(unit: number, edge: number, end: number): void {
    const at = this.#length
    if (at === this.#units.length) this.#grow()
    this.#units[at] = unit
    this.#bytes[at] = unit
    if (unit > NARROW) this.#wide = true
    if (isAccent(unit)) this.#accented = true
    this.#edges[at] = edge
    this.#ends[at] = end
    this.#length = at + 1
  }

  #grow(): void {
    const room = 2 * this.#units.length
    const [units, bytes, edges, ends] = [this.#units, this.#bytes, this.#edges, this.#ends]
    this.#units = new Uint16Array(room)
    this.#bytes = Buffer.alloc(room)
    this.#edges = new Float64Array(room)
    this.#ends = new Float64Array(room)
    this.#units.set(units)
    this.#bytes.set(bytes)
    this.#edges.set(edges)
    this.#ends.set(ends)
  }

  /** Adds a character. One object instead of six numbers, each of which would be allocated for the call. */
  add(code: number, at: Placed): void {
    const { end, start, x0, x1, y0, y1 } = at
    if (this.hyphenated) {
      // The line continues, so the hyphen was a plain one.
      this.hyphenated = false
      this.#push(HYPHEN, this.end, this.end)
    }
    if (start - this.end > this.#apart) this.#loose += 1
    if (this.#space) this.#pushSpace(start)
    if (code <= 0xffff) this.#push(code, start, end)
    else {
      const half = start + (end - start) / 2
      this.#push(0xd800 + ((code - 0x10000) >> 10), start, half)
      this.#push(0xdc00 + ((code - 0x10000) & 0x3ff), half, end)
    }
    // An accent over an earlier letter does not end the word.
    this.end = isAccent(code) ? Math.max(this.end, end) : end
    if (x0 < this.#x0) this.#x0 = x0
    if (y0 < this.#y0) this.#y0 = y0
    if (x1 > this.#x1) this.#x1 = x1
    if (y1 > this.#y1) this.#y1 = y1
  }

  /** The characters of a ligature share one box: it is dealt out among them. */
  #dealOut(): void {
    const edges = this.#edges
    for (let from = 0; from < this.#length;) {
      const start = edges[from] ?? 0
      let to = from + 1
      while (to < this.#length && edges[to] === start) to++
      if (to > from + 1) {
        const width = (to < this.#length ? (edges[to] ?? start) : this.end) - start
        for (let at = from + 1; at < to; at++) edges[at] = start + (width * (at - from)) / (to - from)
      }
      from = to
    }
  }

  /** Removes spaces within words that have spaced letters. */
  #dropSpaces({ size, typewriter }: Style): void {
    const all = this.#length
    const text = { units: this.#units, edges: this.#edges, ends: this.#ends, length: all }
    if (mayBeOnGrid(this.#spaces, all, typewriter)) this.#length = withoutGridSpaces(text, typewriter)
    // Most runs are not spaced, and need no second look at their letters.
    if (this.#length === all && 2 * this.#loose > all - this.#spaces)
      this.#length = withoutTracking(text, size)
    if (this.#length !== all) this.#copy()
  }

  #compose(): void {
    this.#length = composeAccents(this.#units, this.#edges, this.#ends, this.#length)
    this.#copy()
  }

  /** The units once more, a byte each as far as they are narrow. */
  #copy(): void {
    this.#wide = false
    for (let at = 0; at < this.#length; at++) {
      const unit = this.#units[at] ?? 0
      this.#bytes[at] = unit
      if (unit > NARROW) this.#wide = true
    }
  }

  #text(): string {
    return this.#wide
      ? Buffer.from(this.#units.buffer, 0, 2 * this.#length).toString("utf16le")
      : this.#bytes.toString("latin1", 0, this.#length)
  }

  /** True when the positions of the run's single characters are needed: a slanted run's box does not give them. */
  #isUnder(places: ReadonlyArray<Place> | undefined, style: Style, box: Box): boolean {
    if (places === undefined || style.angle !== 0) return true
    const y = (box.y0 + box.y1) / 2
    return places.some(({ box: one }) => one.y0 <= y && y <= one.y1 && one.x0 < box.x1 && one.x1 > box.x0)
  }

  #roundedEdges(): Array<number> {
    this.#dealOut()
    const edges: Array<number> = []
    for (let at = 0; at < this.#length; at++) edges.push(round(this.#edges[at] ?? 0))
    edges.push(round(this.end))
    return edges
  }

  /**
   * Ends the run. `next`: where the one starts that follows on the same line; the space between the two belongs to this one.
   * `places`: only runs under one of them, and those with accents, get their edges.
   */
  finish(style: Style, places: ReadonlyArray<Place> | undefined, next?: number): TextRun {
    if (this.#spaces > 0) this.#dropSpaces(style)
    if (this.#space && next !== undefined) {
      this.#pushSpace(next)
      this.end = Math.max(this.end, next)
    }
    if (this.#accented) this.#compose()
    this.style = undefined
    const box = roundBox({ x0: this.#x0, y0: this.#y0, x1: this.#x1, y1: this.#y1 })
    return {
      text: this.#text(),
      box,
      baseline: round(this.#baseline),
      edges: this.#accented || this.#isUnder(places, style, box) ? this.#roundedEdges() : NO_EDGES,
      font: style.font,
      size: style.size,
      angle: style.angle,
      color: style.color,
      mcid: style.mark.mcid,
      artifact: style.mark.artifact,
      hyphenated: this.hyphenated,
      invisible: style.invisible,
      ...(style.stacked === true && { stacked: true }),
      ...(style.mark.suspect === true && { suspect: true }),
      ...(style.mark.expansion !== undefined && { expansion: style.mark.expansion })
    }
  }
}
