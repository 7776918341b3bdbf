import { centreIn, middleY } from "../../../model/geometry.ts"
import { firstNotBefore } from "../../../model/lists.ts"
import type { FormField } from "../../../model/page-content.ts"
import type { Line } from "../../lines/line.ts"
import { segmentText, type Segment } from "../../lines/segment.ts"

/** Largest distance of a field's words from it, points. */
const NEAR = 160
/**
 * Greatest distance of words above a field, in points. It is also added to their distance, so that words next to the
 * field are preferred.
 */
const ABOVE = 30
/** Segments near a field that are looked at, and lines of a check box's words. */
const MAX_LOOKED_AT = 1_000
const MAX_LINES = 8
/** A longer label ends a sentence of the text: only its last part names the field. */
const LONG = 60
const MAX_TEXT = 2_000

/** Printed words that name a field. */
export interface PrintedLabel {
  readonly text: string
  /** The label's segments, line by line. */
  readonly segments: ReadonlyArray<Segment>
  /** True when they are on the field's line, or just above its left edge with nothing between. */
  readonly beside: boolean
  /** Words before the label in the same segment: a question that the label answers. */
  readonly question?: string
}

export const isTick = ({ kind }: FormField): boolean => kind === "checkbox" || kind === "radio"

const areLevel = (a: FormField, b: FormField): boolean => {
  const shared = Math.min(a.box.y1, b.box.y1) - Math.max(a.box.y0, b.box.y0)
  return shared > 0.5 * Math.min(a.box.y1 - a.box.y0, b.box.y1 - b.box.y0)
}

/** A label's words, without the line to write on and the colon. */
export const wordsOf = (segments: ReadonlyArray<Segment>): string =>
  segments
    .map((segment) => segmentText(segment))
    .join(" ")
    .replaceAll(/[_.…]{2,}/g, " ")
    .replaceAll(/\s+/g, " ")
    .replace(/(?<![:\s])[:\s]+$/, "")
    .trim()

/** Words near a field, by their position relative to it. */
interface Near {
  readonly inside: ReadonlyArray<Segment>
  readonly left: ReadonlyArray<Segment>
  readonly right: ReadonlyArray<Segment>
  readonly above: ReadonlyArray<Segment>
}

const LETTER = /[\p{L}\p{N}]/u

/** The words near a field. Rows are sorted: only those near it are examined. */
const nearTo = ({ box }: FormField, rows: ReadonlyArray<Line>): Near => {
  const found = { inside: [], left: [], right: [], above: [] } satisfies Record<keyof Near, Array<Segment>>
  const { above, inside, left, right }: Record<keyof Near, Array<Segment>> = found
  const from = firstNotBefore(rows, ({ baseline }) => baseline < box.y0 - ABOVE)
  let examined = 0
  for (let at = from; at < rows.length && examined < MAX_LOOKED_AT; at++) {
    const row = rows[at]
    if (row === undefined || row.y0 > box.y1) break
    for (const segment of row.segments) {
      if (examined++ >= MAX_LOOKED_AT) break
      const y = middleY(segment)
      const level = Math.abs(y - middleY(box)) < 0.8 * segment.size || (y > box.y0 + 2 && y < box.y1 - 2)
      if (centreIn(segment, box)) inside.push(segment)
      else if (level && segment.x0 >= box.x1 - 2) right.push(segment)
      else if (level && segment.x1 <= box.x0 + 2) left.push(segment)
      else if (segment.baseline <= box.y0 + 2 && segment.x0 < box.x1 && segment.x1 > box.x0 - 4)
        above.push(segment)
    }
  }
  return found
}

/** The nearest of these words within reach that have a letter or a digit; `from` gives how far away they are. */
const nearest = (
  segments: ReadonlyArray<Segment>,
  from: (segment: Segment) => number
): { readonly segment: Segment; readonly away: number } | undefined => {
  let best: { readonly segment: Segment; readonly away: number } | undefined
  for (const segment of segments) {
    const away = from(segment)
    if (away <= NEAR && (best === undefined || away < best.away) && LETTER.test(segmentText(segment)))
      best = { segment, away }
  }
  return best
}

/** How far a field's line is its own: up to its neighbours on both sides. */
interface Room {
  readonly from: number
  readonly to: number
}

const roomOf = (field: FormField, fields: ReadonlyArray<FormField>): Room => {
  let from = -Infinity
  let to = Infinity
  for (const other of fields) {
    if (other === field || !areLevel(field, other)) continue
    if (other.box.x1 <= field.box.x0 + 2) from = Math.max(from, other.box.x1)
    if (other.box.x0 >= field.box.x1 - 2) to = Math.min(to, other.box.x0)
  }
  return { from, to }
}

/** Words that begin on the line below and continue those of a check box. */
const wrapped = (
  first: Segment,
  rows: ReadonlyArray<Line>,
  isField: (segment: Segment) => boolean
): ReadonlyArray<Segment> => {
  const all = [first]
  const from = firstNotBefore(rows, ({ baseline }) => baseline <= first.baseline)
  for (let at = from; at < rows.length && all.length < MAX_LINES; at++) {
    const row = rows[at]
    const last = all.at(-1)
    if (row === undefined || last === undefined || row.baseline - last.baseline > 1.45 * first.size) break
    const next = row.segments.slice(0, MAX_LOOKED_AT).find(({ x0 }) => Math.abs(x0 - first.x0) < 2)
    if (next === undefined || row.baseline - last.baseline < 0.8 * first.size) continue
    if (isField(next) || Math.abs(next.size - first.size) > 0.5) break
    all.push(next)
  }
  return all
}

/** The sides on which the check boxes of a line have their words: left only where the last one has none at its right. */
const sideOf = (
  field: FormField,
  ticks: ReadonlyArray<FormField>,
  near: ReadonlyMap<FormField, Near>
): "left" | "right" => {
  let last = field
  for (const other of ticks) if (areLevel(field, other) && other.box.x0 > last.box.x0) last = other
  const words = nearest(near.get(last)?.right ?? [], ({ x0 }) => x0 - last.box.x1)
  return words === undefined ? "left" : "right"
}

/** A segment's label: its last sentence. The words before it are a question, or text before the field. */
const labelIn = (segment: Segment, tick: boolean): Pick<PrintedLabel, "text" | "question"> => {
  const text = wordsOf([segment])
  const cut = text.length > MAX_TEXT ? null : /^(.*[.?!:])\s+(\S.*)$/su.exec(text)
  if (cut === null || (!tick && text.length <= LONG)) return { text }
  return { text: cut[2] ?? text, question: cut[1] ?? "" }
}

/**
 * The printed words that name each field: for a check box, words at the side where its line's boxes have theirs; for a
 * button, the words on it; for any other field, the words before or above it. Words beyond another field are taken only
 * where a field has no nearer ones.
 */
export const printedLabels = (
  fields: ReadonlyArray<FormField>,
  rows: ReadonlyArray<Line>
): ReadonlyMap<FormField, PrintedLabel> => {
  const near = new Map(fields.map((field) => [field, nearTo(field, rows)]))
  const ticks = fields.filter(isTick)
  const labels = new Map<FormField, PrintedLabel>()
  const isBesideField = (segment: Segment): boolean => {
    const y = middleY(segment)
    return ticks.some(({ box }) => box.y0 < y && y < box.y1)
  }
  for (const field of fields) {
    const { box } = field
    const words = near.get(field)
    if (words === undefined) continue
    const room = roomOf(field, fields)
    const right = (segment: Segment): number => segment.x0 - box.x1
    const left = (segment: Segment): number => box.x0 - segment.x1
    const ownRight = words.right.filter(({ x0 }) => x0 < room.to + 2)
    const ownLeft = words.left.filter(({ x1 }) => x1 > room.from - 2)
    if (field.kind === "button") {
      if (words.inside.length > 0)
        labels.set(field, { text: wordsOf(words.inside), segments: words.inside, beside: true })
    } else if (isTick(field)) {
      const onRight = sideOf(field, ticks, near) === "right"
      const own = onRight ? nearest(ownRight, right) : nearest(ownLeft, left)
      const any = own ?? nearest(words.right, right) ?? nearest(words.left, left)
      if (any === undefined) continue
      const segments = onRight ? wrapped(any.segment, rows, isBesideField) : [any.segment]
      const label = segments.length > 1 || onRight ? { text: wordsOf(segments) } : labelIn(any.segment, true)
      labels.set(field, { ...label, segments, beside: true })
    } else {
      const beside = nearest(ownLeft, left)
      const above = nearest(words.above, ({ baseline }) => ABOVE + box.y0 - baseline)
      const best =
        beside !== undefined && beside.away <= (above?.away ?? Infinity)
          ? beside
          : (above ?? nearest(words.left, left))
      if (best === undefined) continue
      const { segment } = best
      const heads =
        best === above &&
        Math.abs(segment.x0 - box.x0) < 8 &&
        box.y0 - segment.baseline < 0.9 * segment.size &&
        segment.x1 < box.x1 + 8
      labels.set(field, {
        ...labelIn(segment, false),
        segments: [segment],
        beside: best === beside || heads
      })
    }
  }
  return labels
}
