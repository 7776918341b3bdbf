import { isDirective } from "./comments.ts"
import { isCode, type Line } from "./line.ts"

const COMMENT_ALONE = /^(?:\/\/|\/\*|\*\/)/
const CONTROL = /^(?:\}\s*)?(?:if|for|while|switch|catch|else if)\s?\(|^(?:\}\s*)?(?:else|try|do)\s?\{?$/
/** What ends a statement or a block, and what prose has not: brackets at a name, operators, names in two parts. */
const ENDS = /[;{}]$/
const OPERATES = /^[{}]|[\p{L}\p{N}_\])>]\(|\s[-+*/|&]?=\s|[=!<>]=|->|::|<<|\p{L}_\p{L}|\p{Ll}\p{Lu}/u

/** A line without the comment behind its statement. */
const statementOf = (text: string): string => {
  const comment = text.indexOf(text.endsWith("*/") ? "/*" : "//")
  return comment < 0 ? text : text.slice(0, comment).trimEnd()
}

/** Whether a line says that it is code of a language with braces and semicolons, whatever face it is set in. */
const isSigned = (line: Line): boolean => {
  const text = line.text.trim()
  if (isCode(line)) return false
  if (COMMENT_ALONE.test(text) || isDirective(text) || CONTROL.test(text)) return true
  const statement = statementOf(text)
  return ENDS.test(statement) && OPERATES.test(statement)
}

/** Lines that say so which make a listing, and their share of it; most lines in a row that do not. */
const MIN_SIGNED = 3
const SHARE = 0.6
const MOST_BETWEEN = 2
/** White space from line to line of a listing, a blank one between, in font sizes. */
const STEP = 3
const ENDS_SENTENCE = /[.:?!]$/

/** True when a line may continue the listing above it, though nothing marks it as code. */
const mayGoOn = (line: Line, above: Line): boolean =>
  line.baseline - above.baseline < STEP * line.size && Math.abs(line.size - above.size) < 0.1 * line.size

/**
 * Lines of which those are code that make a listing set in a face of a text, as word processors' authors set theirs: most say so by
 * their signs. Linear.
 */
export const withSignedCode = (lines: ReadonlyArray<Line>): ReadonlyArray<Line> => {
  const signed = lines.map(isSigned)
  if (signed.filter(Boolean).length < MIN_SIGNED) return lines
  const code = new Set<Line>()
  let [from, to, count] = [0, -1, 0]
  const close = () => {
    if (count >= MIN_SIGNED && count >= SHARE * (to - from + 1))
      for (const line of lines.slice(from, to + 1)) code.add(line)
    count = 0
  }
  for (const [at, line] of lines.entries()) {
    const above = lines[at - 1]
    const goesOn = above !== undefined && mayGoOn(line, above)
    const isProse = signed[at] !== true && ENDS_SENTENCE.test(line.text.trim())
    if (count > 0 && (!goesOn || isProse || at - to > MOST_BETWEEN + 1)) close()
    if (signed[at] !== true) continue
    if (count === 0) from = at
    to = at
    count += 1
  }
  close()
  return lines.map((line) => (code.has(line) ? { ...line, monospace: 1 } : line))
}

/** Paragraphs, given by their lines, that are such code. */
export const signedIn = (
  paragraphs: ReadonlyArray<ReadonlyArray<Line>>
): ReadonlySet<ReadonlyArray<Line>> => {
  const lines = paragraphs.flat()
  const read = withSignedCode(lines)
  const code = new Set(lines.filter((line, at) => read[at] !== line))
  return new Set(paragraphs.filter((own) => own.length > 0 && own.every((line) => code.has(line))))
}
