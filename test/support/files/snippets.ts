import { readFileSync } from "node:fs"

/** A fenced block of a page: its language, what else its fence says, its text, and where it stands. */
export interface Snippet {
  readonly language: string
  readonly info: string
  readonly text: string
  readonly line: number
}

/** Every fenced block of a Markdown page, in order. */
export const snippetsOf = (page: URL): ReadonlyArray<Snippet> => {
  const found: Array<Snippet> = []
  let open: { language: string; info: string; line: number; lines: Array<string> } | undefined
  for (const [at, line] of readFileSync(page, "utf8").split("\n").entries()) {
    const fence = /^```(\w*) ?(.*)$/.exec(line)
    if (open === undefined && fence !== null) {
      open = { language: fence[1] ?? "", info: fence[2] ?? "", line: at + 1, lines: [] }
    } else if (open !== undefined && line === "```") {
      found.push({ language: open.language, info: open.info, line: open.line, text: open.lines.join("\n") })
      open = undefined
    } else {
      open?.lines.push(line)
    }
  }
  return found
}

/** The code that a snippet leaves: of a diff the new side. */
export const codeOf = ({ language, text }: Snippet): string =>
  language === "diff"
    ? text
        .split("\n")
        .filter((line) => !line.startsWith("-"))
        .map((line) => line.slice(1))
        .join("\n")
    : text
