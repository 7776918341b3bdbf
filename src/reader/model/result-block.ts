import { Schema } from "effect"

/** Formats of a result besides the HTML document that is stored: what the document holds, without page, style and table of contents. */
export const ResultFormat = Schema.Literals(["html", "fragment", "markdown", "text", "json"])
export type ResultFormat = typeof ResultFormat.Type

/** Whether pictures are part of the result. */
export const ResultPictures = Schema.Literals(["inline", "none"])
export type ResultPictures = typeof ResultPictures.Type

/** Kinds of blocks, in the order of the documentation. */
const BlockKind = Schema.Literals([
  "heading",
  "paragraph",
  "list",
  "definitions",
  "table",
  "picture",
  "figure",
  "formula",
  "code",
  "quote",
  "note",
  "footnote",
  "contents",
  "group",
  "rule"
])
export type BlockKind = typeof BlockKind.Type

const ResultLink = Schema.Struct({
  text: Schema.String,
  href: Schema.String.annotate({ description: "An address, or `#` and the `id` of a block." })
}).annotate({ identifier: "ResultLink" })

const ResultField = Schema.Struct({
  type: Schema.String.annotate({ description: "`checkbox`, `radio`, `text`, `select`, …" }),
  name: Schema.String,
  value: Schema.String,
  checked: Schema.Boolean
}).annotate({ identifier: "ResultField" })

const PictureUse = Schema.Struct({
  alt: Schema.String,
  picture: Schema.NullOr(Schema.Int).annotate({ description: "Its index in `pictures`." })
}).annotate({ identifier: "ResultPictureUse" })

/** Words of a block and what is in them. */
const words = {
  text: Schema.optionalKey(
    Schema.String.annotate({
      description: "As in the format `text`; a picture in it is its description in brackets."
    })
  ),
  links: Schema.optionalKey(Schema.Array(ResultLink)),
  pictures: Schema.optionalKey(Schema.Array(PictureUse)),
  formulas: Schema.optionalKey(
    Schema.Array(Schema.String).annotate({ description: "MathML, in the order of the text." })
  ),
  fields: Schema.optionalKey(Schema.Array(ResultField))
}

const ResultCell = Schema.Struct({
  ...words,
  header: Schema.Boolean,
  colspan: Schema.optionalKey(Schema.Int),
  rowspan: Schema.optionalKey(Schema.Int)
}).annotate({ identifier: "ResultCell" })
export type ResultCell = typeof ResultCell.Type

/** A block of a document. Members that say nothing are left out. */
export interface ResultBlock {
  readonly kind: BlockKind
  readonly page: number | null
  readonly id?: string
  readonly level?: number
  readonly text?: string
  readonly links?: ReadonlyArray<typeof ResultLink.Type>
  readonly pictures?: ReadonlyArray<typeof PictureUse.Type>
  readonly formulas?: ReadonlyArray<string>
  readonly fields?: ReadonlyArray<typeof ResultField.Type>
  readonly ordered?: boolean
  readonly start?: number
  readonly items?: ReadonlyArray<ResultItem>
  readonly rows?: ReadonlyArray<ReadonlyArray<ResultCell>>
  readonly caption?: string
  readonly blocks?: ReadonlyArray<ResultBlock>
}

/** An item of a list, or terms with their definition. */
export interface ResultItem {
  readonly term?: string
  readonly blocks: ReadonlyArray<ResultBlock>
}

const ResultItem = Schema.Struct({
  term: Schema.optionalKey(Schema.String.annotate({ description: "Of `definitions`." })),
  blocks: Schema.Array(Schema.suspend((): Schema.Codec<ResultBlock> => ResultBlock))
}).annotate({ identifier: "ResultItem" })

const ResultBlock: Schema.Codec<ResultBlock> = Schema.Struct({
  kind: BlockKind,
  page: Schema.NullOr(Schema.Int).annotate({
    description: "From 1, where the block begins; null where the document has no pages."
  }),
  id: Schema.optionalKey(Schema.String),
  level: Schema.optionalKey(Schema.Int.annotate({ description: "Of a heading, 1 to 6." })),
  ...words,
  ordered: Schema.optionalKey(Schema.Boolean),
  start: Schema.optionalKey(Schema.Int.annotate({ description: "The first number of an ordered list." })),
  items: Schema.optionalKey(Schema.Array(ResultItem)),
  rows: Schema.optionalKey(Schema.Array(Schema.Array(ResultCell))),
  caption: Schema.optionalKey(Schema.String),
  blocks: Schema.optionalKey(Schema.Array(Schema.suspend((): Schema.Codec<ResultBlock> => ResultBlock)))
}).annotate({ identifier: "ResultBlock" })

/** A result as data: the format `json`. */
export const ResultDocument = Schema.Struct({
  title: Schema.String,
  lang: Schema.String.annotate({ description: "A language tag (BCP 47)." }),
  pictures: Schema.Array(
    Schema.Struct({
      index: Schema.Int,
      mediaType: Schema.String,
      bytes: Schema.Int,
      width: Schema.NullOr(Schema.Int),
      height: Schema.NullOr(Schema.Int),
      data: Schema.optionalKey(Schema.String.annotate({ description: "Base64; with `pictures=inline`." }))
    }).annotate({ identifier: "ResultPicture" })
  ),
  blocks: Schema.Array(ResultBlock)
}).annotate({ identifier: "ResultDocument" })
export type ResultDocument = typeof ResultDocument.Type
