import type { PageContent } from "../../page-content.ts"
import { CAPTION, isTableCaption } from "../lines/markers.ts"
import type { Placed } from "../reading-order.ts"
import { type Block, textOfSpans } from "./block.ts"

/** Smaller ones are decoration, points. */
const MIN_SIDE = 18
const MIN_AREA = 900
/** A picture that covers more of a page with text is its background, or the scan that the text was read from. */
const BACKGROUND = 0.8
/** More pictures on a page are tiles of one. */
const MAX_FIGURES = 40

/** The page's pictures, without those that carry no information. `hasText`: words were read on the page. */
export const figuresOf = (page: PageContent, hasText: boolean): ReadonlyArray<Placed> => {
  const placed: Array<Placed> = []
  for (const drawing of page.drawings) {
    if (drawing.kind !== "image" || drawing.artifact) continue
    const x0 = Math.max(0, drawing.box.x0)
    const y0 = Math.max(0, drawing.box.y0)
    const x1 = Math.min(page.width, drawing.box.x1)
    const y1 = Math.min(page.height, drawing.box.y1)
    const [width, height] = [x1 - x0, y1 - y0]
    if (width < MIN_SIDE || height < MIN_SIDE || width * height < MIN_AREA) continue
    if (hasText && width * height > BACKGROUND * page.width * page.height) continue
    placed.push({
      block: {
        kind: "figure",
        image: drawing.index,
        region: undefined,
        alt: undefined,
        labels: [],
        caption: []
      },
      x0,
      y0,
      x1,
      y1
    })
  }
  return placed.length > MAX_FIGURES ? [] : placed
}

/** Longest caption, characters; what is longer is a paragraph that begins with "Table 3 shows". */
const MAX_CAPTION = 700

const captionOf = (block: Block | undefined): { readonly table: boolean } | undefined => {
  if (block?.kind !== "paragraph") return undefined
  const text = textOfSpans(block.spans)
  const match = CAPTION.exec(text)
  if (match === null || match.groups?.["number"] === undefined || text.length > MAX_CAPTION) return undefined
  // "Table 3 shows …" is prose: a caption continues with a mark, a capital letter, or not at all.
  const rest = text.slice(match[0].length)
  const marked = /[.:–-]\s*$/.test(match[0])
  if (!marked && rest !== "" && !/^[\p{Lu}\p{N}(“"]/u.test(rest)) return undefined
  return { table: isTableCaption(text) }
}

const isBare = (block: Block | undefined): boolean =>
  (block?.kind === "table" || block?.kind === "figure") && block.caption.length === 0

/** Attaches to tables and figures the captions above or below them. */
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
