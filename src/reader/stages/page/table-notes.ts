/** Notes below a table, and the marks in it that refer to them. */
import type { Block, Span, Table, TableNote } from "../../model/block.ts"

const MARK = /^(?:\p{Ll}|\d{1,2}|[*∗†‡§¶#]{1,3})$/u

/** The mark in a span; undefined where it is not a mark. */
const markIn = (span: Span | undefined): string | undefined => {
  const text = span?.kind === "text" && span.raise === "sup" ? span.text.trim() : ""
  return MARK.test(text) ? text : undefined
}

const spansIn = ({ caption, rows }: Table): ReadonlyArray<Span> => [
  ...caption,
  ...rows.flatMap((row) =>
    row.flatMap(({ blocks }) => blocks.flatMap((one) => (one.kind === "paragraph" ? one.spans : [])))
  )
]

/** True when a mark may follow another in notes with unknown marks: the next letter or number, or another sign. */
const comesNext = (before: string | undefined, mark: string): boolean => {
  if (before === undefined) return true
  const [number, last] = [Number(mark), Number(before)]
  if (!Number.isNaN(number) || !Number.isNaN(last)) return number === last + 1
  return /^\p{Ll}$/u.test(before)
    ? mark.codePointAt(0) === (before.codePointAt(0) ?? 0) + 1
    : !/\p{Ll}/u.test(mark) && mark !== before
}

/**
 * The notes of a paragraph, one from each mark to the next; none where it does not begin with one of these marks. `goesOn`: the
 * table may have begun on a page before, where any mark may be.
 */
const notesOf = (
  block: Block | undefined,
  marks: Set<string>,
  goesOn: boolean
): ReadonlyArray<Omit<TableNote, "id">> => {
  const notes: Array<{ readonly mark: string; readonly spans: Array<Span> }> = []
  if (block?.kind !== "paragraph") return notes
  for (const span of block.spans) {
    const mark = markIn(span)
    if (mark !== undefined && (marks.delete(mark) || (goesOn && comesNext(notes.at(-1)?.mark, mark))))
      notes.push({ mark, spans: [span] })
    else if (notes.length === 0) return notes
    else notes.at(-1)?.spans.push(span)
  }
  return notes
}

const withReferences = (table: Table, notes: ReadonlyArray<TableNote>): Table => {
  const known = new Set(notes.map(({ mark }) => mark))
  const referring = (spans: ReadonlyArray<Span>): ReadonlyArray<Span> =>
    spans.map((span) => {
      const mark = markIn(span)
      return mark !== undefined && known.has(mark) ? { kind: "noteref", mark } : span
    })
  return {
    ...table,
    notes,
    caption: referring(table.caption),
    rows: table.rows.map((row) =>
      row.map((cell) => ({
        ...cell,
        blocks: cell.blocks.map((one) =>
          one.kind === "paragraph" ? { ...one, spans: referring(one.spans) } : one
        )
      }))
    )
  }
}

/**
 * Gives tables the notes right below them: paragraphs that begin with a raised mark that the table has, too, or may have on a page
 * before: it is the first thing on its page.
 */
export const withTableNotes = (blocks: ReadonlyArray<Block>): ReadonlyArray<Block> => {
  const done: Array<Block> = []
  let count = 0
  for (let at = 0; at < blocks.length; at++) {
    const block = blocks[at]
    if (block?.kind !== "table") {
      if (block !== undefined) done.push(block)
      continue
    }
    const marks = new Set(spansIn(block).flatMap((span) => markIn(span) ?? []))
    const notes: Array<TableNote> = []
    const goesOn = at === 0
    for (;;) {
      const more = notesOf(blocks[at + 1], marks, goesOn)
      if (more.length === 0) break
      for (const note of more) notes.push({ id: `table-note-${(count += 1)}`, ...note })
      at += 1
    }
    done.push(notes.length === 0 ? block : withReferences(block, notes))
  }
  return done
}
