import type { FormField, PageContent } from "../../page-content.ts"
import type { Line } from "../lines/line.ts"
import type { Placed } from "../reading-order.ts"

/** With more fields on a page, only their printed lines are kept. */
const MAX_FIELDS = 400
/** Largest distance of a field's words from it, points. */
const NEAR = 160

const middle = (a: number, b: number): number => (a + b) / 2

/** The printed words next to a field that name it: after a check box, before or above any other. */
const printedLabel = ({ box, kind }: FormField, rows: ReadonlyArray<Line>): string | undefined => {
  const y = middle(box.y0, box.y1)
  let best: { readonly text: string; readonly away: number } | undefined
  const offer = (text: string, away: number) => {
    const words = text
      .replaceAll(/[_.…]{2,}/g, " ")
      .replace(/(?<![:\s])[:\s]+$/, "")
      .trim()
    if (words !== "" && away <= NEAR && (best === undefined || away < best.away)) best = { text: words, away }
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
      const text = segment.pieces.map((piece) => piece.text).join(" ")
      const level = Math.abs(middle(segment.y0, segment.y1) - y) < 0.8 * segment.size
      const ticked = kind === "checkbox" || kind === "radio"
      if (level && segment.x0 >= box.x1 - 2 && ticked) offer(text, segment.x0 - box.x1)
      if (level && segment.x1 <= box.x0 + 2) offer(text, box.x0 - segment.x1 + (ticked ? 20 : 0))
      if (!ticked && segment.baseline <= box.y0 + 2 && segment.x0 < box.x1 && segment.x1 > box.x0 - 4)
        offer(text, 30 + box.y0 - segment.baseline)
    }
  }
  return best?.text
}

const words = (name: string): string =>
  name
    .replaceAll(/\[\d+\]|#subform|topmostSubform/g, " ")
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll(/[._]+/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim()

/** The page's form fields, each with a label: its own description, the printed words next to it, or its name. */
export const fieldsOf = (page: PageContent, rows: ReadonlyArray<Line>): ReadonlyArray<Placed> =>
  page.fields.slice(0, MAX_FIELDS).map((field) => ({
    block: {
      kind: "field",
      control: field.kind,
      label: field.label?.trim() || printedLabel(field, rows) || words(field.name) || field.kind,
      value: field.value,
      checked: field.checked,
      options: field.options
    },
    ...field.box
  }))
