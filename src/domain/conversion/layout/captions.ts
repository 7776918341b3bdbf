import { type Block, textOfSpans } from "./block.ts"
import { CAPTION, isTableCaption } from "./markers.ts"

/** Longest caption, characters; what is longer is a paragraph that begins with "Table 3 shows". */
const MAX_CAPTION = 700

const captionOf = (block: Block | undefined): { readonly table: boolean } | undefined => {
  if (block?.kind !== "paragraph") return undefined
  const text = textOfSpans(block.spans)
  const match = CAPTION.exec(text)
  if (match === null || match.groups?.["number"] === undefined || text.length > MAX_CAPTION) return undefined
  // "Table 3 shows …" is prose: a caption goes on with a mark, a capital letter, or not at all.
  const rest = text.slice(match[0].length)
  const marked = /[.:–-]\s*$/.test(match[0])
  if (!marked && rest !== "" && !/^[\p{Lu}\p{N}(“"]/u.test(rest)) return undefined
  return { table: isTableCaption(text) }
}

const isBare = (block: Block | undefined): boolean =>
  (block?.kind === "table" || block?.kind === "figure") && block.caption.length === 0

/** Gives tables and figures the captions that stand above or below them. */
export const withCaptions = (blocks: ReadonlyArray<Block>): ReadonlyArray<Block> => {
  const done: Array<Block> = []
  const skip = new Set<number>()
  const take = (at: number, block: Block): Block => {
    if (block.kind !== "table" && block.kind !== "figure") return block
    const fits = (other: number): boolean => {
      const caption = skip.has(other) ? undefined : captionOf(blocks[other])
      return caption !== undefined && (block.kind === "figure" ? !caption.table : caption.table)
    }
    // A table's caption stands above it as a rule, a figure's below.
    const places = block.kind === "table" ? [at - 1, at + 1] : [at + 1, at - 1]
    const place = places.find(
      (other) =>
        fits(other) &&
        !(
          other > at &&
          isBare(blocks[other + 1]) &&
          blocks[other + 1]?.kind === block.kind &&
          block.kind === "table"
        )
    )
    const caption = place === undefined ? undefined : blocks[place]
    if (place === undefined || caption?.kind !== "paragraph") return block
    skip.add(place)
    if (place < at) done.pop()
    return { ...block, caption: caption.spans }
  }
  for (const [at, block] of blocks.entries()) {
    if (skip.has(at)) continue
    done.push(take(at, block))
  }
  return done
}
