import { mailtoUrl } from "./clean.ts"
import type { Block, MailContent, Words } from "./mail-content.ts"

const word = (part: Words): string => {
  if (typeof part === "string") return part
  if ("strong" in part) return part.strong
  // A mail address shows its own target.
  const isShown = part.url === undefined || part.url === mailtoUrl(part.link)
  return isShown ? part.link : `${part.link} <${part.url}>`
}

const line = (words: ReadonlyArray<Words>): string => words.map(word).join("")

const quoted = (text: string): string =>
  text
    .split("\n")
    .map((one) => (one === "" ? ">" : `> ${one}`))
    .join("\n")

/** A row a line, each value with the name of its column, so that it reads without the grid. */
const table = ({ caption, columns, rows, total }: Block & { readonly piece: "table" }): string => {
  const row = (cells: ReadonlyArray<Words>): string =>
    `- ${word(cells[0] ?? "")}: ${cells
      .slice(1)
      .map((cell, index) => (columns.length > 2 ? `${columns[index + 1]?.name}: ${word(cell)}` : word(cell)))
      .join("; ")}`
  return [caption, ...rows.map(row), ...(total === undefined ? [] : [row(total)])].join("\n")
}

const block = (part: Block): string => {
  switch (part.piece) {
    case "paragraph":
      return line(part.words)
    case "heading":
      return `## ${part.text}`
    case "quote":
      return quoted(part.text)
    case "button":
      return part.url === undefined ? part.text : `${part.text}:\n${part.url}`
    case "list":
      return part.items.map((words) => `- ${line(words)}`).join("\n")
    case "table":
      return table(part)
  }
}

/** The mail as plain text: the same words in the same order, every link with its address. */
export const writeText = ({ blocks, footer, title }: MailContent): string =>
  `${["Postlane", title, ...blocks.map(block), ...(footer.length === 0 ? [] : ["-- ", footer.map(line).join("\n")])].join("\n\n")}\n`
