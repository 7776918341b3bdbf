import type { FormField, PageContent } from "../../page-content.ts"
import type { Line } from "../lines/line.ts"
import type { Segment } from "../lines/segment.ts"
import type { Placed } from "../reading-order.ts"

/** With more fields on a page, only their printed lines are kept. */
const MAX_FIELDS = 400
/** Largest distance of a field's words from it, points. */
const NEAR = 160

const middle = (a: number, b: number): number => (a + b) / 2

/** Printed words that name a field. */
interface PrintedLabel {
  readonly text: string
  readonly segment: Segment
  /** They stand on the field's own line. */
  readonly level: boolean
  readonly away: number
}

/** The printed words next to a field that name it: after a check box, before or above any other. */
const printedLabel = ({ box, kind }: FormField, rows: ReadonlyArray<Line>): PrintedLabel | undefined => {
  const y = middle(box.y0, box.y1)
  let best: PrintedLabel | undefined
  const offer = (segment: Segment, level: boolean, away: number) => {
    if (away > NEAR || (best !== undefined && away >= best.away)) return
    const text = segment.pieces
      .map((piece) => piece.text)
      .join(" ")
      .replaceAll(/[_.…]{2,}/g, " ")
      .replace(/(?<![:\s])[:\s]+$/, "")
      .trim()
    if (text !== "") best = { text, segment, level, away }
  }
  // Rows are sorted: only those near the field are examined.
  let from = 0
  let to = rows.length
  while (from < to) {
    const at = (from + to) >> 1
    if ((rows[at]?.baseline ?? 0) < box.y0 - 30) from = at + 1
    else to = at
  }
  for (let at = from; at < rows.length; at++) {
    const row = rows[at]
    if (row === undefined || row.y0 > box.y1) break
    for (const segment of row.segments) {
      const level = Math.abs(middle(segment.y0, segment.y1) - y) < 0.8 * segment.size
      const ticked = kind === "checkbox" || kind === "radio"
      if (level && segment.x0 >= box.x1 - 2 && ticked) offer(segment, level, segment.x0 - box.x1)
      if (level && segment.x1 <= box.x0 + 2) offer(segment, level, box.x0 - segment.x1 + (ticked ? 20 : 0))
      if (!ticked && segment.baseline <= box.y0 + 2 && segment.x0 < box.x1 && segment.x1 > box.x0 - 4)
        offer(segment, level, 30 + box.y0 - segment.baseline)
    }
  }
  return best
}

const words = (name: string): string =>
  name
    .replaceAll(/\[\d+\]|#subform|topmostSubform/g, " ")
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll(/[._]+/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim()

/** The page's form fields, and the words beside them that are their labels now. */
interface Fields {
  readonly placed: ReadonlyArray<Placed>
  readonly taken: ReadonlySet<Segment>
}

/**
 * The page's form fields, each with a label: its own description, the printed words next to it, or its name. Words on a field's own
 * line stand with it, once; where several fields share them they stay as text, too.
 */
export const fieldsOf = (
  page: PageContent,
  rows: ReadonlyArray<Line>,
  loose: ReadonlySet<Segment>
): Fields => {
  const labelled = page.fields.slice(0, MAX_FIELDS).map((field) => {
    const described = field.label?.trim()
    return { field, label: described ? { text: described } : printedLabel(field, rows) }
  })
  const uses = new Map<Segment, number>()
  for (const { label } of labelled)
    if (label !== undefined && "segment" in label) uses.set(label.segment, (uses.get(label.segment) ?? 0) + 1)
  const taken = new Set<Segment>()
  const placed = labelled.map(({ field, label }): Placed => {
    const block = {
      kind: "field" as const,
      control: field.kind,
      label: label?.text || words(field.name) || field.kind,
      value: field.value,
      checked: field.checked,
      options: field.options
    }
    const own = label !== undefined && "segment" in label && label.level ? label.segment : undefined
    if (own === undefined || uses.get(own) !== 1 || !loose.has(own)) return { block, ...field.box }
    taken.add(own)
    return {
      block,
      x0: Math.min(field.box.x0, own.x0),
      y0: Math.min(field.box.y0, own.y0),
      x1: Math.max(field.box.x1, own.x1),
      y1: Math.max(field.box.y1, own.y1)
    }
  })
  return { placed, taken }
}
