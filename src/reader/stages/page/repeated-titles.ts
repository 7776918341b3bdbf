import { asParagraph, type Block, textOfSpans } from "../../model/block.ts"
import { isNumbered } from "../lines/section-number.ts"

/** Greatest number of blocks of navigation at the head of a page. */
const NAVIGATION = 4

const wordsOf = (block: Block | undefined): string =>
  block?.kind === "heading" ? textOfSpans(block.spans).replaceAll(/\s+/g, " ").trim() : ""

/**
 * Manuals printed from a browser begin with a navigation bar: the section's title, the chapter's and links. Where the larger
 * heading below repeats the bar's first words, what precedes it is not a heading.
 */
export const withoutRepeatedTitles = (blocks: ReadonlyArray<Block>): ReadonlyArray<Block> => {
  const navigation = new Set<number>()
  for (const [at, block] of blocks.entries()) {
    if (block.kind !== "heading") continue
    const words = wordsOf(block)
    for (let below = at + 1; below <= at + NAVIGATION && below < blocks.length; below++) {
      const title = blocks[below]
      const repeated = wordsOf(title)
      if (title?.kind !== "heading" || title.level > block.level || repeated === "") continue
      if (!words.startsWith(repeated)) continue
      // Numbered ones are of one level by their number.
      if (title.level === block.level && !isNumbered(words)) continue
      for (let between = at; between < below; between++) navigation.add(between)
      break
    }
  }
  if (navigation.size === 0) return blocks
  return blocks.map((block, at): Block =>
    block.kind === "heading" && navigation.has(at) ? asParagraph(block) : block
  )
}
