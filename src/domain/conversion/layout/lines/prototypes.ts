import type { Line } from "./line.ts"
import { segmentText } from "./segment.ts"

/** The kind of thing that a prototype declares, at its line's end: `[Function]`, `[user option]`; `(operation)` beside parameters. */
const KIND = /^\[(?:\p{Lu}[\p{L} -]{2,40}|\p{Ll}[\p{Ll}-]{1,20} [\p{L} -]{2,40})\]$/u
const KIND_BESIDE_PARAMETERS = /^\(\p{Ll}[\p{L} -]{2,40}\)$/u
/** White space before it, in font sizes. */
const KIND_APART = 2

/** Whether words are such a kind in square brackets. */
export const isKind = (words: string): boolean => KIND.test(words.trim())

/** Parameters, right behind the name that they belong to. */
const PARAMETERS = /[\p{L}\p{N}_]\(/u

/** Whether a line is a prototype that says at its end what it declares. */
export const isPrototype = ({ segments, size, text }: Line): boolean => {
  const [before, last] = [segments.at(-2), segments.at(-1)]
  if (before === undefined || last === undefined || last.x0 - before.x1 < KIND_APART * size) return false
  const kind = segmentText(last).trim()
  // Units below the names of columns stand in brackets, too.
  return isKind(kind) || (KIND_BESIDE_PARAMETERS.test(kind) && PARAMETERS.test(text))
}
