/** Terms in code, each above or next to its meaning: options of commands, functions, Texinfo's tables. */
import { append } from "../../model/lists.ts"
import type { FontFace } from "../../model/page-content.ts"
import { isCode, type Line } from "../lines/line.ts"
import { leadsToPages, markerOf } from "../lines/markers.ts"
import { firstWordWidth, SENTENCE_END } from "../lines/paragraphs.ts"
import { beginsInCode, isTypewriter, type Segment, segmentText } from "../lines/segment.ts"

/** Least and greatest indent of a meaning from its term, in font sizes. */
const SET_IN = 1
const MOST_SET_IN = 12
/** The step from a term to its meaning is that of a text's lines, in font sizes, or somewhat more. */
const TERM_STEP = 1.4
const WIDE_STEP = 2.2
/** Edges that differ by less are one, in font sizes. */
const SAME_EDGE = 0.3
/**
 * Least number of definitions in a list, unless the term names the kind of thing: a single one may be code that the
 * words below continue.
 */
const MIN_DEFINITIONS = 2
/** What kind of thing a term is, at the line's end: `[Function]`, `(method)`. Terms are in code, so that no unit is taken for one. */
const KIND = /^[[(][^[\]()]{2,40}[\])]$/

/** Left edges of terms and meanings, in points. */
interface Edges {
  readonly term: number
  readonly meaning: number
}

/** A term with its meaning, which may begin on the term's line. */
interface Definition {
  readonly terms: ReadonlyArray<ReadonlyArray<Segment>>
  readonly meaning: ReadonlyArray<Segment>
}

/** Definitions one below the other, on the lines `from` up to `to`. */
export interface Definitions {
  readonly from: number
  readonly to: number
  readonly definitions: ReadonlyArray<Definition>
}

class Reader {
  readonly #lines: ReadonlyArray<Line>
  readonly #right: number
  readonly #fonts: ReadonlyArray<FontFace>
  /**
   * For each line: true when it, as a term, does not continue a paragraph. The last line of a paragraph may begin in
   * code, too.
   */
  readonly #apart: Array<boolean> = []

  constructor(lines: ReadonlyArray<Line>, right: number, fonts: ReadonlyArray<FontFace>) {
    this.#lines = lines
    this.#right = right
    this.#fonts = fonts
    for (let at = 0; at < lines.length; at++) {
      // Terms may follow each other.
      const isBelowTerm = this.#isTerm(at - 1)
      this.#apart.push(at === 0 || (isBelowTerm ? this.#isApart(at - 1) : this.#step(at - 1) > TERM_STEP))
    }
  }

  #isApart(at: number): boolean {
    return this.#apart[at] === true
  }

  /** Whether a line begins as a term does. */
  #mayBeTerm({ segments, text }: Line): boolean {
    const [first] = segments
    return (
      first !== undefined &&
      beginsInCode(this.#fonts)(first) &&
      markerOf(text) === undefined &&
      !leadsToPages(segments.map(segmentText))
    )
  }

  /**
   * True when a line is a term alone: it was ended on purpose, possibly by the kind of thing, and it ends no sentence.
   */
  #isTerm(at: number): boolean {
    const [line, next] = [this.#lines[at], this.#lines[at + 1]]
    if (line === undefined || next === undefined || !this.#mayBeTerm(line)) return false
    const room = this.#right - line.x1 - firstWordWidth(next)
    return this.hasKind(at) || (room > line.size && !SENTENCE_END.test(line.text))
  }

  /** Whether a line ends in what kind of thing it is. */
  hasKind(at: number): boolean {
    const { segments = [] } = this.#lines[at] ?? {}
    const last = segments.at(-1)
    return segments.length > 1 && last !== undefined && KIND.test(segmentText(last).trim())
  }

  /** The edges of a term with its meaning in words below; undefined where the line is not such a term. */
  edgesAt(at: number): Edges | undefined {
    const [line, next, after] = [at, at + 1, at + 2].map((one) => this.#lines[one])
    if (line === undefined || next === undefined || !this.#isTerm(at)) return undefined
    const setIn = next.x0 - line.x0
    const { size } = line
    // The first line of a paragraph may be set in, too.
    const isBlock =
      after === undefined || after.x0 > next.x0 - SAME_EDGE * size || this.#step(at + 1) > TERM_STEP
    // Below white space, only a paragraph with all lines indented explains a term.
    const isEven = after !== undefined && Math.abs(after.x0 - next.x0) < SAME_EDGE * size
    return isBlock &&
      this.#step(at) < (isEven ? WIDE_STEP : TERM_STEP) &&
      setIn > SET_IN * size &&
      setIn < MOST_SET_IN * size &&
      !isCode(next) &&
      this.#isApart(at)
      ? { term: line.x0, meaning: next.x0 }
      : undefined
  }

  /** From a line's baseline to the next one's, in font sizes. */
  #step(at: number): number {
    const [line, next] = [this.#lines[at], this.#lines[at + 1]]
    return line === undefined || next === undefined ? Infinity : (next.baseline - line.baseline) / line.size
  }

  /** What a line is between these edges. */
  #kindAt(at: number, { meaning, term }: Edges): "term" | "beside" | "meaning" | undefined {
    const line = this.#lines[at]
    if (line === undefined) return undefined
    const near = SAME_EDGE * line.size
    if (line.x0 > meaning - near) return "meaning"
    if (Math.abs(line.x0 - term) > near) return undefined
    const beside = this.#besideAt(line, meaning)
    // Code in two columns is a listing.
    if (beside > 0 && this.#mayBeTerm(line))
      return line.segments.slice(beside).every((segment) => this.#isCode(segment)) ? undefined : "beside"
    return this.#isTerm(at) ? "term" : undefined
  }

  #isCode({ pieces }: Segment): boolean {
    return pieces.every(({ run }) => isTypewriter(this.#fonts[run.font]))
  }

  /** Index of the segment at the left edge of meanings. */
  #besideAt({ segments, size }: Line, meaning: number): number {
    return segments.findIndex(({ x0 }) => Math.abs(x0 - meaning) < SAME_EDGE * size)
  }

  /** The first line of the definitions that share these edges: those above it may have their meanings next to them. */
  startOf(at: number, floor: number, edges: Edges): number {
    let start = at
    for (let above = at - 1; above >= floor; above--) {
      const kind = this.#kindAt(above, edges)
      if (kind === undefined || (kind === "term" && !this.#isApart(above))) break
      if (kind !== "meaning") start = above
    }
    return start
  }

  /** The definitions from a line on. */
  from(start: number, edges: Edges): Definitions {
    const definitions: Array<{ terms: Array<ReadonlyArray<Segment>>; meaning: Array<Segment> }> = []
    let to = start
    for (let at = start; at < this.#lines.length; at++) {
      const line = this.#lines[at]
      const kind = this.#kindAt(at, edges)
      if (line === undefined || kind === undefined) break
      const last = definitions.at(-1)
      if (kind === "meaning") {
        append(last?.meaning ?? [], line.segments)
        to = at + 1
        continue
      }
      const beside = kind === "beside" ? this.#besideAt(line, edges.meaning) : line.segments.length
      const term = line.segments.slice(0, beside)
      // Terms below each other have one meaning.
      if (last !== undefined && last.meaning.length === 0) last.terms.push(term)
      else definitions.push({ terms: [term], meaning: [] })
      append(definitions.at(-1)?.meaning ?? [], line.segments.slice(beside))
      if (kind === "beside") to = at + 1
    }
    return { from: start, to, definitions: definitions.filter(({ meaning }) => meaning.length > 0) }
  }
}

/** The definitions among a column's lines, which end at `right`. Linear. */
export const definitionsIn = (
  lines: ReadonlyArray<Line>,
  right: number,
  fonts: ReadonlyArray<FontFace>
): ReadonlyArray<Definitions> => {
  const reader = new Reader(lines, right, fonts)
  const found: Array<Definitions> = []
  let floor = 0
  for (let at = 0; at < lines.length; at++) {
    const edges = reader.edgesAt(at)
    if (edges === undefined) continue
    const one = reader.from(reader.startOf(at, floor, edges), edges)
    if (one.definitions.length >= MIN_DEFINITIONS || reader.hasKind(at)) found.push(one)
    floor = one.to
    at = Math.max(at, one.to - 1)
  }
  return found
}
