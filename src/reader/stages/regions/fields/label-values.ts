import { asList, asParagraph } from "../../../model/block.ts"
import { hull, touches } from "../../../model/geometry.ts"
import { greatest, least } from "../../../model/lists.ts"
import type { PageContent } from "../../../model/page-content.ts"
import type { Placed } from "../../../model/placed.ts"
import { type InlineContext, spansOf } from "../../lines/inline.ts"
import { type Line, linesOf } from "../../lines/line.ts"
import { type Segment, segmentText } from "../../lines/segment.ts"
import { THIN } from "../../runs/strokes.ts"

/** Part of a page from its top down that has the head of a letter. */
const HEAD = 0.45
/** Part of a page's width from which on the labels are: an address is at their left. */
const RIGHT = 0.5
/** Fewest labels below one another, and the longest label and value, characters. */
const FEWEST = 2
const LONGEST_LABEL = 30
const LONGEST_VALUE = 40
/** Widest step between them, in font sizes; least white before them, where the address is. */
const STEP = 2.2
const WHITE = 4
/** How far off the edge of their column words are, points. */
const ALIGNED = 1.5
/** Most lines of the address beside them, and its longest line. */
const MOST_LINES = 12

/** A label, the value behind it, and the words before both on their line. */
interface Pair {
  readonly label: Segment
  readonly value: Segment
  readonly before: Segment | undefined
  readonly text: string
}

const pairOf = ({ segments, size }: Line): Pair | undefined => {
  const [label, value] = segments.slice(-2)
  if (label === undefined || value === undefined || segments.length > 3) return undefined
  const before = segments.length === 3 ? segments[0] : undefined
  const [text, said] = [segmentText(label).trim(), segmentText(value).trim()]
  const isLabel = text.length <= LONGEST_LABEL && /\p{L}/u.test(text) && !/\d/.test(text)
  const isApart = before === undefined || label.x0 - before.x1 >= WHITE * size
  return isLabel && isApart && said.length <= LONGEST_VALUE ? { label, value, before, text } : undefined
}

const areNear = (numbers: ReadonlyArray<number>): boolean => greatest(numbers) - least(numbers) < 2 * ALIGNED

/** Whether labels begin below one another, and their values begin or end so. */
const areAligned = (pairs: ReadonlyArray<Pair>): boolean =>
  areNear(pairs.map(({ label }) => label.x0)) &&
  (areNear(pairs.map(({ value }) => value.x1)) || areNear(pairs.map(({ value }) => value.x0)))

const endsInColon = ({ text }: Pair): boolean => /[:：]$/u.test(text)

/** Whether pairs are labels with their values, and no rows of a table with its first cell at the left. */
const areLabels = (pairs: ReadonlyArray<Pair>, beside: ReadonlyArray<Segment>): boolean => {
  const texts = new Set(pairs.map(({ text }) => text))
  const said = pairs.filter((pair) => endsInColon(pair) || /\d/.test(segmentText(pair.value)))
  const areRows = pairs.every(({ before }) => before !== undefined) && beside.length === pairs.length
  return (
    texts.size === pairs.length &&
    2 * said.length >= pairs.length &&
    beside.length > 0 &&
    beside.length <= MOST_LINES &&
    (!areRows || pairs.every(endsInColon))
  )
}

/** The pairs that go on from a line, one right below the other. */
const pairsFrom = (lines: ReadonlyArray<Line>, from: number): ReadonlyArray<Pair> => {
  const pairs: Array<Pair> = []
  let last = lines[from]?.baseline ?? 0
  for (const line of lines.slice(from)) {
    const pair = pairOf(line)
    if (line.baseline - last > STEP * line.size) break
    if (pair === undefined || !areAligned([...pairs, pair])) {
      // A line of the address may be between two of them.
      if (pairs.length > 0 && line.x1 < (pairs[0]?.label.x0 ?? 0)) continue
      break
    }
    pairs.push(pair)
    last = line.baseline
  }
  return pairs
}

/**
 * Labels with their values at the right of an address, as invoices have them. They would make rows with the lines of the address
 * at their height by chance, and two of them one cell.
 */
export const labelValues = (
  { drawings, height, width }: PageContent,
  segments: ReadonlyArray<Segment>,
  inline: InlineContext
): { readonly placed: ReadonlyArray<Placed>; readonly taken: ReadonlySet<Segment> } => {
  const lines = linesOf(
    segments.filter(({ baseline }) => baseline < HEAD * height),
    inline.fonts
  )
  const placed: Array<Placed> = []
  const taken = new Set<Segment>()
  for (let at = 0; at < lines.length; at++) {
    const pairs = pairsFrom(lines, at)
    if (pairs.length < FEWEST) continue
    const own = pairs.flatMap(({ label, value }) => [label, value])
    const box = hull(own)
    const size = greatest(own.map((one) => one.size))
    const beside = segments.filter(
      (one) =>
        one.x1 < box.x0 - WHITE * size &&
        one.baseline > box.y0 - STEP * size &&
        one.baseline < box.y1 + STEP * size
    )
    const isHeaded = lines[at - 1]?.segments.some(
      ({ baseline, x0 }) => Math.abs(x0 - box.x0) < ALIGNED && box.y0 - baseline < STEP * size
    )
    const isRuled = drawings.some(
      ({ box: of, kind }) => kind === "path" && of.y1 - of.y0 < THIN && touches(of, box, size)
    )
    at += pairs.length - 1
    if (isHeaded === true || isRuled || box.x0 < RIGHT * width || !areLabels(pairs, beside)) continue
    const spans = (of: Segment) => spansOf(linesOf([of], inline.fonts), { ...inline, ignoreBold: true })
    const items = pairs.map(({ label, value }) => ({
      term: spans(label),
      blocks: [asParagraph({ spans: spans(value) })]
    }))
    // They are read behind the address: its lines would else be cut.
    const below = greatest([...beside, ...own].map(({ y1 }) => y1))
    placed.push({ block: asList(items), x0: box.x0, y0: below, x1: box.x1, y1: below })
    for (const one of own) taken.add(one)
  }
  return { placed, taken }
}
