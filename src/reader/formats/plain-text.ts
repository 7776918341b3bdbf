import type { Block, Cell, Item } from "./blocks.ts"
import { plainText } from "./inline.ts"

/** Lines with the first one behind a marker and the others below it. */
export const indented = (text: string, marker: string): string =>
  text
    .split("\n")
    .map((line, at) => ((at === 0 ? marker : " ".repeat(marker.length)) + line).trimEnd())
    .join("\n")

/** The number of an item; HTML and Markdown know no negative ones. */
export const numberOf = ({ start = 1 }: Block, at: number): number =>
  start < 0 || start + at > 999_999_999 ? at + 1 : start + at

const cellText = ({ lines }: Cell): string =>
  lines.map((line) => plainText(line).replaceAll(/\s+/g, " ")).join(" ")

const itemText = ({ blocks, terms = [] }: Item, marker: string): string =>
  [...terms.map(plainText), indented(textsOf(blocks), marker)].filter((one) => one.trim() !== "").join("\n")

const parts = (block: Block): ReadonlyArray<string> => {
  const { blocks = [], caption = [], code, items = [], line = [], ordered, picture, rows = [] } = block
  return [
    plainText(line),
    code ?? "",
    block.kind === "rule" ? "----" : "",
    picture === undefined || picture.alt === "" ? "" : `[${picture.alt}]`,
    block.kind === "table" ? plainText(caption) : "",
    rows.map((row) => row.map(cellText).join("\t")).join("\n"),
    items
      .map((item, at) =>
        itemText(
          item,
          item.terms === undefined ? (ordered === true ? `${numberOf(block, at)}. ` : "- ") : "  "
        )
      )
      .join("\n"),
    textsOf(blocks),
    block.kind === "table" ? "" : plainText(caption)
  ]
}

/** Blocks as plain text, with an empty line between them. */
export const textsOf = (blocks: ReadonlyArray<Block>): string =>
  blocks
    .map((block) =>
      parts(block)
        .filter((one) => one.trim() !== "")
        .join("\n")
    )
    .filter((one) => one !== "")
    .join("\n\n")
