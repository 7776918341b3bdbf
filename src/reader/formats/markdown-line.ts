import { greatest } from "../model/lists.ts"
import type { Inline, Mark, PictureUse } from "./inline.ts"

/** Where a line is written: a table's cell and a heading have one line each. */
type Place = "block" | "one-line" | "cell"

/** Signs that mean something anywhere. */
const SPECIAL = /[\\`*[\]<>~|]|_(?![\p{L}\p{N}])|(?<![\p{L}\p{N}])_|&(?=#?\w)/gu

/** A text as Markdown that shows it unchanged (CommonMark, section 2.4). */
const escaped = (text: string): string => text.replaceAll(SPECIAL, "\\$&")

/** Signs that begin a block at the start of a line: heading, list, rule, underline of a heading or of a table's columns. */
const lineStart = (line: string): string =>
  line.replace(/^(?:([#+=:-])|(\d{1,9})([.)]))/, (_, sign?: string, number?: string, point?: string) =>
    sign === undefined ? `${number}\\${point}` : `\\${sign}`
  )

/** An address between parentheses. */
const address = (href: string): string =>
  href.replaceAll(
    /[\s()<>\\|"`*_[\]]|\p{Cc}/gu,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`
  )

/** Signs of the longest run of backticks. */
export const longestRun = (text: string): number =>
  Math.max(0, greatest([...text.matchAll(/`+/g)].map(([run]) => run.length)))

/** A code span: between more backticks than are in it. */
const codeSpan = (text: string, place: Place): string => {
  if (text === "") return ""
  const fence = "`".repeat(longestRun(text) + 1)
  const padding = text.startsWith("`") || text.endsWith("`") ? " " : ""
  // A table takes its cells apart before it looks for code.
  const inside = place === "cell" ? text.replaceAll("|", "\\|") : text
  return fence + padding + inside + padding + fence
}

const BREAK = "<br>"

const DELIMITERS = { strong: "**", emphasis: "*", deleted: "~~" } as const

/** A part of a line as it is written; `mark`: it may be put between these delimiters. */
interface Segment {
  readonly text: string
  readonly mark?: string | undefined
}

const firstSign = (text: string): string | undefined => Array.from(text.slice(0, 2))[0]
const lastSign = (text: string): string | undefined => Array.from(text.slice(-2)).at(-1)

const isWord = (sign: string | undefined): boolean => sign !== undefined && !/[\s\p{P}\p{S}]/u.test(sign)
const isSpace = (sign: string | undefined): boolean => sign === undefined || /\s/.test(sign)

/** Words between delimiters, where these begin and end them (CommonMark, section 6.2); else the words alone. */
const marked = (before: string, text: string, after: Segment, delimiter: string): string => {
  const [first, last] = [firstSign(text), lastSign(text)]
  const [previous, next] = [lastSign(before), firstSign(after.text)]
  const opens = isWord(first) || (!isSpace(first) && !isWord(previous))
  const closes = isWord(last) || (!isSpace(last) && !isWord(next))
  // Runs of delimiters that touch are one run.
  const touches = [previous, next, first, last, after.mark?.[0]].includes(delimiter[0])
  return opens && closes && !touches ? delimiter + text + delimiter : text
}

const joined = (all: ReadonlyArray<Segment>): string => {
  const segments = all.filter(({ text }) => text !== "")
  let line = ""
  for (const [at, { mark, text }] of segments.entries()) {
    // A picture is a link with `!` before it.
    if (text.startsWith("[") && line.endsWith("!")) line = `${line.slice(0, -1)}\\!`
    // Two runs of backticks that touch are one.
    if (text.trimStart().startsWith("`") && line.endsWith("`")) line += "<!-- -->"
    if (mark === undefined) line += text
    else {
      const inside = text.trim()
      const start = text.slice(0, text.length - text.trimStart().length)
      const end = inside === "" ? "" : text.slice(text.trimEnd().length)
      const next = segments[at + 1]
      // The next words' own delimiters may be left out.
      const after = { text: end + (next?.text ?? ""), mark: end === "" ? next?.mark : undefined }
      line += start
      line += (inside === "" ? "" : marked(line, inside, after, mark)) + end
    }
  }
  return line
}

const pictureOf = ({ alt, source }: PictureUse): string => {
  const words = escaped(alt)
  if (source?.startsWith("data:") === true) return `![${words}](${source})`
  if (source?.startsWith("#") === true) return `![${words}][${source.slice(1)}]`
  return alt === "" ? "" : `![${words}]()`
}

/** What may not be nested: links, and marks within marks. */
interface Around {
  readonly place: Place
  readonly linked: boolean
  readonly marked: boolean
}

const markSegment = (mark: Mark, children: ReadonlyArray<Inline>, around: Around): Segment => {
  if (mark === "sub" || mark === "sup")
    return { text: `<${mark}>${joined(segmentsOf(children, around))}</${mark}>` }
  const text = joined(segmentsOf(children, { ...around, marked: true }))
  return around.marked ? { text } : { text, mark: DELIMITERS[mark] }
}

const segmentsOf = (line: ReadonlyArray<Inline>, around: Around): ReadonlyArray<Segment> =>
  merged(line).map((part): Segment => {
    switch (part.is) {
      case "text":
      case "formula":
      case "field":
        return { text: escaped(part.text) }
      case "code":
        return { text: codeSpan(part.text, around.place) }
      case "break":
        return { text: around.place === "block" && !around.marked && !around.linked ? "\\\n" : BREAK }
      case "mark":
        return markSegment(part.mark, part.children, around)
      case "link": {
        const text = joined(segmentsOf(part.children, { ...around, linked: true }))
        // Markdown has no anchors to lead to.
        const leads = !around.linked && !part.href.startsWith("#") && text.trim() !== ""
        return { text: leads ? `[${text.trim()}](${address(part.href)})` : text }
      }
      case "picture":
        return { text: pictureOf(part) }
    }
  })

/** Texts that follow one another as one, so that escapes see all of a word. */
const merged = (line: ReadonlyArray<Inline>): ReadonlyArray<Inline> => {
  const parts: Array<Inline> = []
  for (const part of line) {
    const last = parts.at(-1)
    if ((part.is === "text" || part.is === "code") && last?.is === part.is)
      parts[parts.length - 1] = { is: part.is, text: last.text + part.text }
    else parts.push(part)
  }
  return parts
}

/** What ends a line, and needs no writing at the ends of a block. */
const ENDS = ["\\\n", BREAK, " ", "\n", "\u00a0"]

const withoutEnds = (text: string): string => {
  let from = 0
  let to = text.length
  for (let end = ENDS.find((one) => text.startsWith(one, from)); end !== undefined;) {
    from += end.length
    end = ENDS.find((one) => text.startsWith(one, from))
  }
  for (let end = ENDS.find((one) => text.endsWith(one, to)); end !== undefined && to > from;) {
    to -= end.length
    end = ENDS.find((one) => text.endsWith(one, to))
  }
  return text.slice(from, Math.max(from, to))
}

/** A line as Markdown. */
export const markdownLine = (line: ReadonlyArray<Inline>, place: Place = "block"): string => {
  const all = joined(segmentsOf(line, { place, linked: false, marked: false }))
  const text = withoutEnds(all.replaceAll(/ +/g, " "))
  if (place === "cell") return text
  const started = text
    .split("\n")
    .map((one) => lineStart(one.startsWith(" ") ? one.slice(1) : one))
    .join("\n")
  // A heading ends before its last number signs.
  return place === "one-line"
    ? started.replace(/ #+$/, (signs) => ` ${signs.slice(1).replaceAll("#", "\\#")}`)
    : started
}
