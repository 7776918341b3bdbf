/** Blocks are gathered until they are this long. */
const PART_LENGTH = 400_000

const TAG = /<(\/?)[a-z][a-z0-9]*(?:\s[^<>]*?)?(\/?)>/g

/** Cuts well-formed HTML between blocks of its top level, into parts of whole blocks; undefined where one is longer than `most`. */
export const splitBlocks = (html: string, most: number): ReadonlyArray<string> | undefined => {
  const parts: Array<string> = []
  let from = 0
  let depth = 0
  for (const { 0: tag, 1: closing, 2: void_, index } of html.matchAll(TAG)) {
    if (void_ !== "/") depth += closing === "/" ? -1 : 1
    const end = index + tag.length
    if (depth === 0 && end - from >= PART_LENGTH) {
      parts.push(html.slice(from, end))
      from = end
    }
  }
  if (from < html.length) parts.push(html.slice(from))
  return parts.some(({ length }) => length > most) ? undefined : parts
}
