/** Words of a mail: plain, emphasised, or a link; untrusted values are cleaned before they get here. */
export type Words =
  | string
  | { readonly strong: string }
  /** Without a `url` that may be shown, only the text is written. */
  | { readonly link: string; readonly url: string | undefined }

/** One cell of a table. */
export type Cell = Words

/** One row: its header, then its data. */
export type Row = readonly [Cell, ...ReadonlyArray<Cell>]

/** A part of a mail's body: the shared pieces that every mail is made of. */
export type Block =
  | { readonly piece: "paragraph"; readonly words: ReadonlyArray<Words> }
  | { readonly piece: "heading"; readonly text: string }
  /** What a person wrote, with its lines. */
  | { readonly piece: "quote"; readonly text: string }
  | { readonly piece: "button"; readonly text: string; readonly url: string | undefined }
  | { readonly piece: "list"; readonly items: ReadonlyArray<ReadonlyArray<Words>> }
  /** Each row begins with its header; columns of figures are set to the right. */
  | {
      readonly piece: "table"
      readonly caption: string
      /** `own`: the product's own words, which do not break within. */
      readonly columns: ReadonlyArray<{
        readonly name: string
        readonly figures: boolean
        readonly own?: true
      }>
      readonly rows: ReadonlyArray<Row>
      /** The sum, below a separate line. */
      readonly total?: readonly [string, ...ReadonlyArray<string>]
    }

/** The content of one mail, without style. Both HTML and plain text are made from it, so that they say the same. */
export interface MailContent {
  readonly subject: string
  /** The one first-level heading. */
  readonly title: string
  /** The line that an inbox shows after the subject. */
  readonly preview: string
  readonly blocks: ReadonlyArray<Block>
  readonly footer: ReadonlyArray<ReadonlyArray<Words>>
}

/** Limits of untrusted values in one mail. */
export interface Limits {
  /** Characters of a value on one line. */
  readonly line: number
  /** Characters of a text of several lines. */
  readonly text: number
  /** Entries of a list or rows of a table. */
  readonly items: number
}
