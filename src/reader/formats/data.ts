import type { ResultBlock, ResultCell, ResultItem } from "../model/result-block.ts"
import type { Block, Cell, Item } from "./blocks.ts"
import { type Inline, partsOf, plainText } from "./inline.ts"

/** Words and what is in them; lists without entries are left out. */
const said = (line: ReadonlyArray<Inline>) => {
  const parts = partsOf(line)
  const links = parts.flatMap((part) =>
    part.is === "link" ? [{ text: plainText(part.children), href: part.href }] : []
  )
  const pictures = parts.flatMap((part) =>
    part.is === "picture" ? [{ alt: part.alt, picture: part.index }] : []
  )
  const formulas = parts.flatMap((part) => (part.is === "formula" ? [part.mathml] : []))
  const fields = parts.flatMap((part) => (part.is === "field" ? [part.field] : []))
  return {
    text: plainText(line),
    ...(links.length === 0 ? {} : { links }),
    ...(pictures.length === 0 ? {} : { pictures }),
    ...(formulas.length === 0 ? {} : { formulas }),
    ...(fields.length === 0 ? {} : { fields })
  }
}

const cellOf = ({ colspan, header, lines, rowspan }: Cell): ResultCell => {
  const line = lines.flatMap((one, at): ReadonlyArray<Inline> => (at === 0 ? one : [{ is: "break" }, ...one]))
  return {
    ...said(line),
    header,
    ...(colspan === 1 ? {} : { colspan }),
    ...(rowspan === 1 ? {} : { rowspan })
  }
}

const itemOf = ({ blocks, terms }: Item): ResultItem => ({
  ...(terms === undefined ? {} : { term: terms.map(plainText).join("\n") }),
  blocks: blocks.map(dataOf)
})

/** A block as data. */
export const dataOf = (block: Block): ResultBlock => {
  const { blocks, caption, code, items, kind, line, ordered, page, picture, rows, start } = block
  return {
    kind,
    page,
    ...(block.id === undefined ? {} : { id: block.id }),
    ...(block.level === undefined ? {} : { level: block.level }),
    ...(line === undefined ? {} : said(line)),
    ...(code === undefined ? {} : { text: code }),
    ...(picture === undefined ? {} : { pictures: [{ alt: picture.alt, picture: picture.index }] }),
    ...(ordered === undefined ? {} : { ordered }),
    ...(start === undefined ? {} : { start }),
    ...(items === undefined ? {} : { items: items.map(itemOf) }),
    ...(rows === undefined ? {} : { rows: rows.map((row) => row.map(cellOf)) }),
    ...(caption === undefined ? {} : { caption: plainText(caption) }),
    ...(blocks === undefined ? {} : { blocks: blocks.map(dataOf) })
  }
}
