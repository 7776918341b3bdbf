import { append } from "../../../lists.ts"
import { type Block, type Paragraph, plain, type Span, textOfSpans } from "./block.ts"

const BEGINS_LOW = /^[\p{Ll}\p{N}(,;)–—]/u

/** Joins the halves of a paragraph; a cut word without a gap. */
const joinSpans = (
  a: ReadonlyArray<Span>,
  b: ReadonlyArray<Span>,
  hyphenated: boolean
): ReadonlyArray<Span> => (hyphenated ? [...a, ...b] : [...a, plain(" "), ...b])

/** Whether a paragraph at the top of a column continues the one at the bottom of the column before. */
const goesOn = (a: Paragraph, b: Paragraph): boolean => {
  if (a.seam.element !== undefined || b.seam.element !== undefined) return a.seam.element === b.seam.element
  if (a.seam.hyphenated) return true
  return a.seam.open && BEGINS_LOW.test(textOfSpans(b.spans).trimStart())
}

/** What may stand between the halves of a paragraph: it floats. */
const floats = (block: Block): boolean =>
  block.kind === "figure" ||
  block.kind === "table" ||
  block.kind === "footnote" ||
  (block.kind === "paragraph" && block.seam.small)

/** Joins the blocks of columns: a paragraph cut by a column's end becomes one, what floats in between follows it. */
export const joinColumns = (columns: ReadonlyArray<ReadonlyArray<Block>>): ReadonlyArray<Block> => {
  const all: Array<Block> = []
  for (const column of columns) {
    const [first, ...rest] = column
    let at = all.length - 1
    while (at >= 0 && all.length - at < 6 && floats(all[at] ?? { kind: "code", text: "" })) at -= 1
    const before = all[at]
    if (first?.kind === "paragraph" && before?.kind === "paragraph" && goesOn(before, first)) {
      all[at] = {
        ...before,
        spans: joinSpans(before.spans, first.spans, before.seam.hyphenated),
        seam: first.seam
      }
      append(all, rest)
    } else append(all, column)
  }
  return all
}
