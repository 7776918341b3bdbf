import type { Block, Footnote, Span } from "../../model/block.ts"
import { isCode, type Line } from "../lines/line.ts"
import type { Group } from "../lines/paragraphs.ts"
import { isNoteMark } from "../runs/raised-marks.ts"

/** Largest size of notes and other small print, as a share of the text's size. */
export const SMALLER = 0.94
/** Share of a page's height above which there are no footnotes. */
export const LOWER_PART = 0.4
const PLAIN_MARK = /^(\d{1,3}|[*∗†‡§¶]{1,3})[.)]?\s+\S/

/** A footnote's group: its mark, and how many characters of its text the mark occupies. */
interface NoteGroup {
  readonly mark: string
  readonly length: number
}

/** The mark that a line begins with, where it looks like a footnote's: before code, a number that is not raised is a listing's. */
export const noteMark = (line: Line, bodySize: number, code = false): NoteGroup | undefined => {
  if (line.size > SMALLER * bodySize) return undefined
  const first = line.segments[0]?.pieces[0]
  if (first === undefined) return undefined
  if (first.raise === "sup" && isNoteMark(first.text))
    return { mark: first.text.trim(), length: first.text.length }
  const plainly = code ? null : PLAIN_MARK.exec(line.text)
  return plainly === null ? undefined : { mark: plainly[1] ?? "", length: line.text.search(/\s/) }
}

/**
 * Index of a column's first footnote: the first marked group of those at its end that are all smaller than the text;
 * the number of groups where there is no footnote.
 */
export const footnotesFrom = (groups: ReadonlyArray<Group>, bodySize: number, lowerPart: number): number => {
  let from = groups.length
  while (from > 0) {
    const line = groups[from - 1]?.lines[0]
    if (line === undefined || line.size > SMALLER * bodySize || line.baseline < lowerPart) break
    from -= 1
  }
  while (from < groups.length) {
    const group = groups[from]
    const line = group?.lines[0]
    if (line !== undefined && noteMark(line, bodySize, group?.code) !== undefined) break
    from += 1
  }
  // A numbered listing may begin with a line that is not code; addresses behind raised marks are notes.
  const lines = groups.slice(from).flatMap((group) => group.lines)
  const isRaised = lines[0]?.segments[0]?.pieces[0]?.raise === "sup"
  return !isRaised && lines.filter(isCode).length > lines.length / 2 ? groups.length : from
}

const marked = (span: Span, marks: ReadonlySet<string>): Span => {
  if (span.kind === "link") {
    const [only] = span.spans
    return span.target.kind === "page" &&
      span.spans.length === 1 &&
      only !== undefined &&
      only.raise === "sup" &&
      marks.has(only.text.trim())
      ? { kind: "noteref", mark: only.text.trim() }
      : span
  }
  if (span.kind !== "text" || span.raise !== "sup" || !marks.has(span.text.trim())) return span
  return { kind: "noteref", mark: span.text.trim() }
}

const inBlock = (block: Block, marks: ReadonlySet<string>): Block => {
  const spans = (all: ReadonlyArray<Span>) => all.map((span) => marked(span, marks))
  switch (block.kind) {
    case "heading":
    case "paragraph":
      return { ...block, spans: spans(block.spans) }
    case "list":
      return {
        ...block,
        items: block.items.map(({ blocks, term }) => ({
          term: term === undefined ? undefined : spans(term),
          blocks: blocks.map((one) => inBlock(one, marks))
        }))
      }
    case "table":
      return {
        ...block,
        caption: spans(block.caption),
        rows: block.rows.map((row) =>
          row.map((cell) => ({ ...cell, blocks: cell.blocks.map((one) => inBlock(one, marks)) }))
        )
      }
    case "aside":
    case "contents":
    case "quote":
      return { ...block, blocks: block.blocks.map((one) => inBlock(one, marks)) }
    case "figure":
      return { ...block, caption: spans(block.caption) }
    case "code":
    case "field":
    case "fields":
    case "footnote":
    case "formula":
      return block
  }
}

/** Turns raised marks into references to the page's notes. */
export const withNoteReferences = (blocks: ReadonlyArray<Block>): ReadonlyArray<Block> => {
  const marks = new Set(
    blocks.filter((block): block is Footnote => block.kind === "footnote").map(({ mark }) => mark)
  )
  return marks.size === 0 ? blocks : blocks.map((block) => inBlock(block, marks))
}
