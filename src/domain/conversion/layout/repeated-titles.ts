import { type Block, NO_SEAM, textOfSpans } from "./block.ts"

/** Blocks that navigation at the head of a page takes up at most. */
const NAVIGATION = 4

const wordsOf = (block: Block | undefined): string =>
  block?.kind === "heading" ? textOfSpans(block.spans).replaceAll(/\s+/g, " ").trim() : ""

/**
 * Manuals that were printed from a browser begin with a bar of navigation, which says the section's title, the chapter's and where
 * to go. Where the larger heading below repeats the bar's first words, what stands before it is no heading.
 */
export const withoutRepeatedTitles = (blocks: ReadonlyArray<Block>): ReadonlyArray<Block> => {
  const navigation = new Set<number>()
  for (const [at, block] of blocks.entries()) {
    if (block.kind !== "heading") continue
    const words = wordsOf(block)
    for (let below = at + 1; below <= at + NAVIGATION && below < blocks.length; below++) {
      const title = blocks[below]
      const repeated = wordsOf(title)
      if (title?.kind !== "heading" || title.level >= block.level || repeated === "") continue
      if (!words.startsWith(repeated)) continue
      for (let between = at; between < below; between++) navigation.add(between)
      break
    }
  }
  if (navigation.size === 0) return blocks
  return blocks.map((block, at): Block =>
    block.kind === "heading" && navigation.has(at)
      ? { kind: "paragraph", spans: block.spans, seam: NO_SEAM, lang: undefined }
      : block
  )
}
