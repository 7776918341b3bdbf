import type { Line } from "./line.ts"
import { segmentText } from "./segment.ts"

/** The kind of thing that a prototype declares, at its line's end: `[Function]`, `[User Option]`; `(operation)` beside parameters. */
const KIND = /^\[\p{L}[\p{L} -]{2,40}\]$/u
const KIND_BESIDE_PARAMETERS = /^\(\p{Ll}[\p{L} -]{2,40}\)$/u
/** White space before it, in font sizes. */
const KIND_APART = 2

/** Whether words are such a kind in square brackets. */
export const isKind = (words: string): boolean => KIND.test(words.trim())

/** Whether a line is a prototype that says at its end what it declares. */
export const isPrototype = ({ segments, size, text }: Line): boolean => {
  const [before, last] = [segments.at(-2), segments.at(-1)]
  if (before === undefined || last === undefined || last.x0 - before.x1 < KIND_APART * size) return false
  const kind = segmentText(last).trim()
  return (
    isKind(kind) || (KIND_BESIDE_PARAMETERS.test(kind) && text.indexOf("(") < text.length - kind.length - 1)
  )
}
