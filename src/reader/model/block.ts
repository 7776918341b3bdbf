/** The content of a page: the layout tier's result before it is HTML. */

import type { Reason } from "./explained.ts"
import type { HtmlElement } from "./html-tree.ts"
import type { Box } from "./page-content.ts"

/** A stretch of text in one style. */
export interface TextSpan {
  readonly kind: "text"
  readonly text: string
  readonly bold: boolean
  readonly italic: boolean
  readonly code: boolean
  readonly raise: "sup" | "sub" | undefined
  /** BCP 47, where it differs from the surrounding text's. */
  readonly lang: string | undefined
  /** Struck out: not valid any more. */
  readonly struck?: true
  /** What it is short for. */
  readonly expansion?: string
}

/** Target of a link: an address, or a page of the document (from 0) with a position `y` or a name on it. */
export type LinkTarget =
  | { readonly kind: "uri"; readonly uri: string }
  | { readonly kind: "page"; readonly page: number; readonly y?: number | undefined; readonly name?: string }
  /** A named thing (`section 2.1`) on a page that is laid out together with others. */
  | { readonly kind: "named"; readonly name: string }

/** Text that leads elsewhere. */
export interface LinkSpan {
  readonly kind: "link"
  readonly target: LinkTarget
  readonly spans: ReadonlyArray<TextSpan>
}

/** The mark of a footnote of the same page. */
interface NoteReference {
  readonly kind: "noteref"
  /** The printed mark: `3`, `*`. */
  readonly mark: string
}

/** The end of a line that was ended on purpose: in an address, in verse. */
export const BREAK = { kind: "break" } as const

export type Span = TextSpan | LinkSpan | NoteReference | typeof BREAK

/** What is known of a block's edges, so that what a page or chunk border cut can be joined again. */
export interface Seam {
  /** The structure element that it represents; the same on every page that the element touches. */
  readonly element: number | undefined
  /** Its last line is full and ends no sentence: it may continue on the next page. */
  readonly open: boolean
  /** Its last word is cut by a hyphen that does not belong to it. */
  readonly hyphenated: boolean
  /** Set smaller than running text: a notice at a column's foot, after which the text continues. */
  readonly small: boolean
}

export const NO_SEAM: Seam = { element: undefined, open: false, hyphenated: false, small: false }

/** What a link may lead to. */
interface Placed {
  /** Top of the block on its page, in points; undefined where unknown. */
  readonly top?: number | undefined
  /** The detector or rule that made it; does not change the result. */
  readonly reason?: Reason | undefined
}

export interface Heading extends Placed {
  readonly kind: "heading"
  /** 0 is what is tagged as the document's title, 1 what may be; normalised in assembly. */
  readonly level: number
  /** Size of its type, in points, for a block from a page. */
  readonly size?: number | undefined
  readonly spans: ReadonlyArray<Span>
}

export interface Paragraph extends Placed {
  readonly kind: "paragraph"
  readonly spans: ReadonlyArray<Span>
  readonly seam: Seam
  readonly lang: string | undefined
}

/** Words as a paragraph that no page's border cut, such as those of a heading that turns out to be none. */
export const asParagraph = ({ spans }: { readonly spans: ReadonlyArray<Span> }): Paragraph => ({
  kind: "paragraph",
  spans,
  seam: NO_SEAM,
  lang: undefined
})

export interface ListItem {
  /** What the item explains: either all items of a list have one, or none. */
  readonly term?: ReadonlyArray<Span> | undefined
  readonly blocks: ReadonlyArray<Block>
}

export interface List extends Placed {
  readonly kind: "list"
  readonly ordered: boolean
  /** Number of the first item, where it is not 1. */
  readonly start: number | undefined
  /** How an ordered list is numbered (`a`, `A`, `i`, `I`), where not in figures. */
  readonly style: "a" | "A" | "i" | "I" | undefined
  readonly items: ReadonlyArray<ListItem>
  readonly seam: Seam
}

/** Items as a list that no page's border cut, with bullets unless it is said otherwise. */
export const asList = (items: ReadonlyArray<ListItem>, more: Partial<List> = {}): List => ({
  kind: "list",
  ordered: false,
  start: undefined,
  style: undefined,
  items,
  seam: NO_SEAM,
  ...more
})

export interface Cell {
  readonly blocks: ReadonlyArray<Block>
  readonly header: "column" | "row" | undefined
  readonly colSpan: number
  readonly rowSpan: number
}

/** A note below a table. */
export interface TableNote {
  /** Its id on the page. */
  readonly id: string
  readonly mark: string
  /** Its words, behind its mark. */
  readonly spans: ReadonlyArray<Span>
}

export interface Table extends Placed {
  readonly kind: "table"
  readonly caption: ReadonlyArray<Span>
  readonly rows: ReadonlyArray<ReadonlyArray<Cell>>
  /** How many of the first rows are its head. */
  readonly headRows: number
  readonly notes?: ReadonlyArray<TableNote>
  /** Two lines of narrow cells may be one word, or two, more than once. */
  readonly unsure?: true
  /** Open where the head is recognised by its words alone: it may be a row of the table that ends on the page before. */
  readonly seam: Seam
}

export interface Figure extends Placed {
  readonly kind: "figure"
  /** The page's n-th image; undefined where the figure is drawn. */
  readonly image: number | undefined
  /** What is to be shown of the page where the figure is drawn. */
  readonly region: Box | undefined
  /** The document's own description; never made up. */
  readonly alt: string | undefined
  /** The words that a drawn figure holds, line by line. */
  readonly labels: ReadonlyArray<string>
  readonly caption: ReadonlyArray<Span>
  /** Beginning of its caption, where that was found next to the drawing. */
  readonly captionStart?: string | undefined
}

export interface Code extends Placed {
  readonly kind: "code"
  readonly text: string
}

export interface Footnote extends Placed {
  readonly kind: "footnote"
  readonly mark: string
  readonly blocks: ReadonlyArray<Block>
}

export interface Field extends Placed {
  readonly kind: "field"
  readonly control: "text" | "checkbox" | "radio" | "choice" | "signature" | "button"
  readonly label: string
  readonly value: string
  readonly checked: boolean
  readonly options: ReadonlyArray<string>
  /** Selected options. */
  readonly chosen: ReadonlyArray<string>
  readonly required: boolean
  readonly readOnly: boolean
  readonly multiline: boolean
  readonly maxLength: number | undefined
  /** True when its label is text on the page: it is read out with the field, and not shown again. */
  readonly spoken: boolean
}

/** Fields that answer one question. */
interface FieldGroup extends Placed {
  readonly kind: "fields"
  readonly legend: string
  readonly fields: ReadonlyArray<Field>
}

interface Quote extends Placed {
  readonly kind: "quote"
  readonly blocks: ReadonlyArray<Block>
}

/** Content outside of the text flow: a stamp in the margin, a notice at the page's foot. */
interface Aside extends Placed {
  readonly kind: "aside"
  readonly blocks: ReadonlyArray<Block>
}

/** A printed table of contents, or another list of what the document has: a reader may skip it. */
interface Contents extends Placed {
  readonly kind: "contents"
  readonly blocks: ReadonlyArray<Block>
}

/** A displayed formula. */
export interface Formula extends Placed {
  readonly kind: "formula"
  /** Its signs, line by line. */
  readonly text: string
  /** Its printed number. */
  readonly label: string | undefined
  /** MathML, where it could be derived from the geometry. */
  readonly math: HtmlElement | undefined
  /** The area to show as a picture where there is no MathML. */
  readonly region: Box | undefined
}

export type Block =
  | Heading
  | Paragraph
  | List
  | Table
  | Figure
  | Code
  | Footnote
  | Field
  | FieldGroup
  | Quote
  | Aside
  | Contents
  | Formula

const spanText = (span: Span): string => {
  switch (span.kind) {
    case "text":
      return span.text
    case "link":
      return span.spans.map(({ text }) => text).join("")
    case "noteref":
      return span.mark
    case "break":
      return "\n"
  }
}

/** The words of spans, styles left out. */
export const textOfSpans = (spans: ReadonlyArray<Span>): string => spans.map(spanText).join("")

/** A span without any style. */
export const plain = (text: string): TextSpan => ({
  kind: "text",
  text,
  bold: false,
  italic: false,
  code: false,
  raise: undefined,
  lang: undefined
})

/** Joins lines of words into one. */
export const onOneLine = (lines: ReadonlyArray<ReadonlyArray<Span>>): ReadonlyArray<Span> =>
  lines.flatMap((line, at) => (at > 0 ? [plain(" "), ...line] : line))
