import { type LinkTarget, plain, type Span, type TextSpan } from "../../model/block.ts"
import { middleY } from "../../model/geometry.ts"
import { addTo } from "../../model/lists.ts"
import type { FontFace, PageLink, TextRun } from "../../model/page-content.ts"
import { type Hyphens, keepsHyphen } from "./hyphens.ts"
import { type Line, linesOf } from "./line.ts"
import { apart, segmentsAsRead, isUnspaced } from "./script-direction.ts"
import { isBold, isTypewritten, type Piece, type Segment, spaced } from "./segment.ts"

/** Height of the slots in which links are looked up, points. */
const SLOT = 12
/** A link over more slots is not a link on words. */
const MAX_SLOTS = 100

/** Finds the link at a position. */
export class LinkIndex {
  readonly #slots = new Map<number, Array<PageLink>>()

  constructor(links: ReadonlyArray<PageLink>) {
    for (const link of links) {
      const from = Math.floor(link.box.y0 / SLOT)
      const to = Math.min(from + MAX_SLOTS, Math.floor(link.box.y1 / SLOT))
      for (let slot = from; slot <= to; slot++) addTo(this.#slots, slot, link)
    }
  }

  get isEmpty(): boolean {
    return this.#slots.size === 0
  }

  /** Links that touch a stretch of a line. */
  over(x0: number, x1: number, y: number): ReadonlyArray<PageLink> {
    const near = this.#slots.get(Math.floor(y / SLOT))
    if (near === undefined) return []
    return near.filter(({ box }) => box.y0 <= y && y <= box.y1 && box.x0 < x1 && box.x1 > x0)
  }
}

/** Words, and names of programs with their underscores. */
export const WORDS = /[\p{L}\p{N}_]+/gu

/** What words a document has, as far as its pages are at hand: all of them in small letters, and as they are written those that do not begin a line. */
export interface KnownWords {
  readonly all: ReadonlySet<string>
  readonly inside: ReadonlySet<string>
}

export const NO_WORDS: KnownWords = { all: new Set(), inside: new Set() }

/** The context for reading the words of a page. */
export interface InlineContext {
  readonly fonts: ReadonlyArray<FontFace>
  readonly links: LinkIndex
  /** Bold means nothing here: a heading, or a page that is bold throughout. */
  readonly ignoreBold: boolean
  readonly hyphens: Hyphens
  readonly words?: () => KnownWords
  /** The languages of runs that are tagged as being in one. */
  readonly languages?: ReadonlyMap<TextRun, string>
}

/** Letters that a font draws as one. */
const LIGATURES = /[\ufb00-\ufb06]/g
const unligated = (text: string): string => text.replaceAll(LIGATURES, (letters) => letters.normalize("NFKC"))

/** Dot leaders before a page's number: a screen reader would read them all. Alone in their face, they are no emphasis. */
const LEADERS = /(?<!\s)\s*(?:\.\s?){5,}\.\s*/g
const unled = (span: TextSpan): TextSpan => {
  if (!span.text.includes("....") && !span.text.includes(". . .")) return span
  const text = span.text.replaceAll(LEADERS, " … ")
  return { ...span, text, italic: span.italic && text.trim() !== "…" }
}

/** A stretch with one style and one link. */
interface Stretch {
  readonly span: TextSpan
  readonly target: LinkTarget | undefined
}

const sameTarget = (a: LinkTarget | undefined, b: LinkTarget | undefined): boolean =>
  a === b ||
  (a !== undefined &&
    b !== undefined &&
    (a.kind === "uri"
      ? b.kind === "uri" && a.uri === b.uri
      : a.kind === "page"
        ? b.kind === "page" && a.page === b.page && a.y === b.y
        : b.kind === "named" && a.name === b.name))

const sameStyle = (a: TextSpan, b: TextSpan): boolean =>
  a.bold === b.bold &&
  a.italic === b.italic &&
  a.code === b.code &&
  a.raise === b.raise &&
  a.lang === b.lang &&
  a.struck === b.struck &&
  a.expansion === b.expansion

interface Part {
  text: string
  readonly target: LinkTarget | undefined
  readonly struck: boolean
}

/** Cuts a piece where links, and words that are struck out, begin and end. */
const linked = (piece: Piece, links: LinkIndex): ReadonlyArray<Readonly<Part>> => {
  const { box, edges, struck = [] } = piece.run
  const over = links.isEmpty ? [] : links.over(piece.x0, piece.x1, middleY(box))
  if (over.length === 0 && struck.length === 0)
    return [{ text: piece.text, target: undefined, struck: false }]
  const parts: Array<Part> = []
  for (let at = 0; at < piece.text.length; at++) {
    const middle = ((edges[at] ?? piece.x0) + (edges[at + 1] ?? piece.x1)) / 2
    const target = over.find((link) => link.box.x0 <= middle && middle <= link.box.x1)?.target
    const last = parts.at(-1)
    const unit = piece.text.charAt(at)
    const isStruck = struck.some(({ x0, x1 }) => x0 <= middle && middle <= x1)
    const isSame = last !== undefined && last.struck === isStruck && sameTarget(last.target, target)
    if (last !== undefined && (isSame || /[\udc00-\udfff]/.test(unit))) last.text += unit
    else parts.push({ text: unit, target, struck: isStruck })
  }
  return parts
}

/** Collects stretches, merging neighbours of one style. */
class Stretches {
  readonly all: Array<Stretch> = []

  add({ span, target }: Stretch): void {
    const last = this.all.at(-1)
    if (last !== undefined && sameTarget(last.target, target) && sameStyle(last.span, span))
      this.all[this.all.length - 1] = { target, span: { ...last.span, text: last.span.text + span.text } }
    else this.all.push({ span, target })
  }

  /** Adds a space; outside of a link or a passage in a language that ends, and of a raised mark. */
  space({ span, target }: Stretch): void {
    const last = this.all.at(-1)
    if (last === undefined || last.span.text.endsWith(" ")) return
    const sameLink = sameTarget(last.target, target)
    if (
      (last.target !== undefined && !sameLink) ||
      (last.span.lang !== undefined && last.span.lang !== span.lang) ||
      last.span.raise !== undefined
    )
      this.all.push({ target: sameLink ? target : undefined, span: plain(" ") })
    else this.all[this.all.length - 1] = { ...last, span: { ...last.span, text: `${last.span.text} ` } }
  }

  /** The last word's hyphen, which is in no run. */
  hyphen(): void {
    const last = this.all.at(-1)
    if (last !== undefined) this.add({ ...last, span: { ...last.span, text: "-" } })
  }

  /** A line ends: a space, unless the script sets none, or the line ends inside of a word. */
  newLine(next: Stretch): void {
    const last = this.all.at(-1)
    const before = last?.span.text.trimEnd() ?? ""
    const isInside = ENDS_INSIDE.test(before) && STARTS_INSIDE.test(next.span.text)
    if (last === undefined || !(isInside || isUnspaced(before, next.span.text))) this.space(next)
    else this.all[this.all.length - 1] = { ...last, span: { ...last.span, text: before } }
  }

  spans(): ReadonlyArray<Span> {
    const spans: Array<Span> = []
    for (let at = 0; at < this.all.length; at++) {
      const stretch = this.all[at]
      if (stretch === undefined) break
      if (stretch.target === undefined) {
        spans.push(unled(stretch.span))
        continue
      }
      const inside = [unled(stretch.span)]
      while (sameTarget(this.all[at + 1]?.target, stretch.target)) {
        at += 1
        const next = this.all[at]
        if (next !== undefined) inside.push(unled(next.span))
      }
      spans.push({ kind: "link", target: stretch.target, spans: inside })
    }
    return spans
  }
}

/** A dash right behind a word or a number, and the beginning of an address: the next line goes on with the word. */
const ENDS_INSIDE = /[\p{L}\p{N}][–—]$|:\/\/$|[\p{L}\p{N}]@$/u
const STARTS_INSIDE = /^[\p{L}\p{N}]/u

/** What is emphasised by a slant; signs alone are as upright as any other. */
const SLANTS = /[\p{L}\p{N}]/u

/** The first characters of a paragraph, which are its marker and not its words. */
const skipped = (lines: ReadonlyArray<Line>, skip: number): number => {
  const text = lines[0]?.text ?? ""
  let end = Math.min(skip, text.length)
  while (text.charAt(end) === " ") end += 1
  return end
}

/** The words of segments, line by line. */
export const spansIn = (segments: ReadonlyArray<Segment>, context: InlineContext): ReadonlyArray<Span> =>
  spansOf(linesOf(segments, context.fonts), context)

/**
 * The words of lines, one after the other. A divided word is joined; styles and links are kept. `skip` leaves out the first
 * characters of the first line's text (a list item's marker).
 */
export const spansOf = (
  lines: ReadonlyArray<Line>,
  context: InlineContext,
  skip = 0
): ReadonlyArray<Span> => {
  const stretches = new Stretches()
  // Characters of the line's text that are still to be left out; spaces between pieces count as in `text`.
  let left = skip > 0 ? skipped(lines, skip) : 0
  let cut = true
  for (const [at, line] of lines.entries()) {
    let before: Piece | undefined
    let last: Segment | undefined
    for (const segment of segmentsAsRead(line)) {
      let seam = last === undefined ? undefined : apart(last, segment, line.rightToLeft)
      last = segment
      for (const piece of segment.pieces) {
        const gap = before !== undefined && (seam ?? spaced(before, piece))
        if (gap && left > 0) left -= 1
        const face = context.fonts[piece.run.font]
        let wants = before === undefined ? !cut : gap
        for (const { struck, target, text } of linked(piece, context.links)) {
          const dropped = Math.min(left, text.length)
          left -= dropped
          const rest = unligated(text.slice(dropped))
          if (rest === "") continue
          const span: TextSpan = {
            kind: "text",
            text: rest,
            bold: !context.ignoreBold && isBold(face),
            italic: face?.italic === true && SLANTS.test(rest),
            code: isTypewritten(face, rest),
            raise: piece.raise,
            lang: context.languages?.get(piece.run),
            ...(struck ? { struck: true } : {}),
            ...(piece.run.expansion === undefined ? {} : { expansion: piece.run.expansion })
          }
          if (wants && before === undefined) stretches.newLine({ span, target })
          else if (wants) stretches.space({ span, target })
          wants = false
          stretches.add({ span, target })
        }
        before = piece
        seam = undefined
      }
    }
    cut = line.hyphenated
    const broken = line.segments.at(-1)?.broken === true
    if (cut && !broken && keepsHyphen(context.hyphens, line.text, lines[at + 1]?.text ?? ""))
      stretches.hyphen()
  }
  return stretches.spans()
}
