import type { Block, Cell, Item } from "./blocks.ts"
import { longestRun, markdownLine } from "./markdown-line.ts"
import { indented, numberOf } from "./plain-text.ts"

/** Most columns of a table that spans fill up; wider ones keep the cells that they have. */
const MAX_COLUMNS = 200

const cellText = ({ lines }: Cell): string =>
  lines
    .map((line) => markdownLine(line, "cell"))
    .filter((one) => one !== "")
    .join("<br>")

/** The cells of a table in their columns: Markdown knows no spans, so what a cell spans is empty. */
const grid = (rows: ReadonlyArray<ReadonlyArray<Cell>>): ReadonlyArray<ReadonlyArray<string>> => {
  /** For each column, how many rows a cell above still spans. */
  const open: Array<number> = []
  return rows.map((row) => {
    const cells: Array<string> = []
    const fill = () => {
      while ((open[cells.length] ?? 0) > 0) {
        open[cells.length]! -= 1
        cells.push("")
      }
    }
    for (const cell of row) {
      fill()
      const fits = cells.length + cell.colspan <= MAX_COLUMNS
      const columns = fits ? cell.colspan : 1
      for (let at = 0; at < columns; at++) {
        if (fits) open[cells.length] = cell.rowspan - 1
        cells.push(at === 0 ? cellText(cell) : "")
      }
    }
    fill()
    return cells
  })
}

const rowText = (cells: ReadonlyArray<string>, columns: number): string =>
  `| ${Array.from({ length: columns }, (_, at) => cells[at] ?? "").join(" | ")} |`

/** A table as GitHub's Markdown has it: with one row of headings, which is empty where the table has none. */
const tableText = (rows: ReadonlyArray<ReadonlyArray<Cell>>): string => {
  const cells = grid(rows)
  const columns = cells.reduce((most, row) => Math.max(most, row.length), 1)
  const headed =
    rows[0]?.some(({ header }) => header) === true &&
    rows[0].every(({ header, lines }) => header || lines.length === 0)
  const body = headed ? cells.slice(1) : cells
  return [
    rowText(headed ? (cells[0] ?? []) : [], columns),
    rowText(
      Array.from({ length: columns }, () => "---"),
      columns
    ),
    ...body.map((row) => rowText(row, columns))
  ].join("\n")
}

const codeText = (code: string): string => {
  const fence = "`".repeat(Math.max(3, longestRun(code) + 1))
  return `${fence}\n${code.replace(/\n$/, "")}\n${fence}`
}

/** Whether a list may follow a line of words at once; another kind would be read as part of the line. */
const mayFollow = ({ items = [], kind, ordered, start }: Block): boolean =>
  kind === "list" && (ordered !== true || start === 1) && items[0]?.blocks[0]?.kind === "paragraph"

const itemText = ({ blocks, terms = [] }: Item, marker: string): string => {
  const head = terms.map((term) => markdownLine(term)).filter((one) => one !== "")
  const [first, ...rest] = blocks
  const inside =
    first === undefined
      ? ""
      : rest.length === 1 && first.kind === "paragraph" && mayFollow(rest[0]!)
        ? `${blockText(first)}\n${blockText(rest[0]!)}`
        : markdownOf(blocks)
  return indented([...head, inside].filter((one) => one !== "").join("\n\n"), marker)
}

const listText = (block: Block): string => {
  const { items = [], ordered } = block
  const isLoose = items.some(({ blocks, terms }) => blocks.length > 1 || terms !== undefined)
  return items
    .map((item, at) => itemText(item, ordered === true ? `${numberOf(block, at)}. ` : "- "))
    .join(isLoose ? "\n\n" : "\n")
}

const quoted = (text: string): string =>
  text
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n")

const blockText = (block: Block): string => {
  const { blocks = [], caption = [], code = "", line = [], picture, rows = [] } = block
  const below = [markdownOf(blocks), markdownLine(caption)]
  switch (block.kind) {
    case "heading":
      return `${"#".repeat(block.level ?? 1)} ${markdownLine(line, "one-line")}`
    case "list":
    case "definitions":
      return listText(block)
    case "table":
      return [markdownLine(caption), tableText(rows)].filter((one) => one !== "").join("\n\n")
    case "code":
      return codeText(code)
    case "quote":
      return quoted(markdownOf(blocks))
    case "rule":
      return "***"
    case "picture":
      return [picture === undefined ? "" : markdownLine([{ is: "picture", ...picture }]), ...below]
        .filter((one) => one !== "")
        .join("\n\n")
    default:
      return [markdownLine(line), ...below].filter((one) => one !== "").join("\n\n")
  }
}

/** Blocks as Markdown (CommonMark, and GitHub's tables), with an empty line between them. */
const markdownOf = (blocks: ReadonlyArray<Block>): string => {
  const parts: Array<string> = []
  let last: Block | undefined
  for (const block of blocks) {
    const text = blockText(block)
    if (text === "") continue
    // Two lists that follow one another would be one.
    if (isList(last) && isList(block)) parts.push("<!-- -->")
    parts.push(text)
    last = block
  }
  return parts.join("\n\n")
}

const isList = (block: Block | undefined): boolean => block?.kind === "list" || block?.kind === "definitions"

/** The top level of a document as Markdown: a comment where a page begins; and the data of pictures that are used more than once. */
export const markdownPiece = (
  blocks: ReadonlyArray<Block>,
  pageBefore: number | null,
  drawings: ReadonlyArray<{ readonly id: string; readonly source: string }>
): string => {
  const parts: Array<string> = []
  let page = pageBefore
  let held: Array<Block> = []
  const close = () => {
    const text = markdownOf(held)
    if (text !== "") parts.push(text)
    held = []
  }
  for (const block of blocks) {
    if (block.page !== page) {
      close()
      page = block.page
      if (page !== null) parts.push(`<!-- page ${page} -->`)
    }
    held.push(block)
  }
  close()
  return [...parts, ...drawings.map(({ id, source }) => `[${id}]: ${source}`)].join("\n\n")
}
