import { type Block, type Paragraph, plain, type Span, textOfSpans } from "../../model/block.ts"
import { append } from "../../model/lists.ts"
import { CAPTION } from "../lines/markers.ts"

const BEGINS_LOW = /^[\p{Ll}\p{N}(,;)–—]/u
const BEGINS_HIGH = /^["“„«¿¡]?[\p{Lu}\p{Lo}]/u
/** Characters below which a block is about a line: a name, a title, a cell. */
const RUNNING = 60

/** True when words begin with a small letter, and so continue the text above the cut. */
export const beginsLow = (below: string): boolean => BEGINS_LOW.test(below)

/**
 * True when text with a full last line and an open sentence continues below the cut: in small letters, or as running
 * text.
 */
export const goesOnWith = (above: string, below: string): boolean =>
  beginsLow(below) ||
  (above.length > RUNNING && below.length > RUNNING && BEGINS_HIGH.test(below) && !CAPTION.test(below))

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
  return a.seam.open && goesOnWith(textOfSpans(a.spans), textOfSpans(b.spans).trimStart())
}

const isSmall = (block: Block | undefined): boolean => block?.kind === "paragraph" && block.seam.small

/** True when a block floats: it may come between the halves of a paragraph. */
const floats = (block: Block): boolean =>
  block.kind === "figure" || block.kind === "table" || block.kind === "footnote" || isSmall(block)

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

/** Most notices at the foot of a page. */
const MAX_NOTICES = 4

/**
 * Turns notices into asides: small print (addresses, rights, dates) below a paragraph that continues on the next page.
 */
export const withNotices = (blocks: ReadonlyArray<Block>): ReadonlyArray<Block> => {
  const text = blocks.filter(({ kind }) => kind !== "footnote")
  let from = text.length
  while (from > 0 && text.length - from < MAX_NOTICES && isSmall(text[from - 1])) from -= 1
  const above = text[from - 1]
  if (from === text.length || above?.kind !== "paragraph") return blocks
  if (!above.seam.open && !above.seam.hyphenated) return blocks
  const notices = text.slice(from)
  return [
    ...text.slice(0, from),
    { kind: "aside", blocks: notices },
    ...blocks.filter(({ kind }) => kind === "footnote")
  ]
}
