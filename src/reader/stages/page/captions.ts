import { type Block, type Paragraph, plain, type Span, textOfSpans } from "../../model/block.ts"
import { captionStart } from "../lines/markers.ts"

/** Longest caption, in characters; a longer one is a paragraph that begins with "Table 3 shows". */
const MAX_CAPTION = 700
/** Longest caption with a mark at the end of its number. */
const MAX_MARKED = 2000
/** Longest title below a number that is alone on its line. */
const MAX_TITLE = 200
/** Greatest number of blocks between a drawing and its caption, where that was found next to it. */
const APART = 3

interface Caption {
  readonly table: boolean
  /** True when its number is alone on its line, and its title in the paragraph below. */
  readonly bare: boolean
}

const captionOf = (block: Block | undefined): Caption | undefined => {
  if (block?.kind !== "paragraph") return undefined
  const text = textOfSpans(block.spans)
  const start = captionStart(text)
  if (start === undefined || text.length > (start.marked ? MAX_MARKED : MAX_CAPTION)) return undefined
  return { table: start.table, bare: start.rest === "" && !start.marked }
}

/** Whether a block is the caption of a table or figure. */
export const isCaptionBlock = (block: Block | undefined): boolean => captionOf(block) !== undefined

const isBare = (block: Block | undefined): boolean =>
  (block?.kind === "table" || block?.kind === "figure") && block.caption.length === 0

/** True when a paragraph is the title below a caption's number. */
const isTitle = (block: Block | undefined): block is Paragraph =>
  block?.kind === "paragraph" &&
  captionOf(block) === undefined &&
  textOfSpans(block.spans).length <= MAX_TITLE

/** Attaches to tables and figures the captions above or below them. */
export const withCaptions = (blocks: ReadonlyArray<Block>): ReadonlyArray<Block> => {
  const done: Array<Block | undefined> = []
  const skip = new Set<number>()
  const take = (at: number, block: Block): Block => {
    if (block.kind !== "table" && block.kind !== "figure") return block
    const fits = (other: number): boolean => {
      const caption = skip.has(other) ? undefined : captionOf(blocks[other])
      return caption !== undefined && (block.kind === "figure" ? !caption.table : caption.table)
    }
    const isNext = (other: number): boolean =>
      other > at &&
      isBare(blocks[other + 1]) &&
      blocks[other + 1]?.kind === block.kind &&
      (block.kind === "table" || fits(at - 1))
    const claim = (...places: ReadonlyArray<number>): ReadonlyArray<Span> =>
      places.flatMap((place, nth) => {
        skip.add(place)
        if (place < at) done[place] = undefined
        const caption = blocks[place]
        return caption?.kind === "paragraph" ? [...(nth === 0 ? [] : [plain(" ")]), ...caption.spans] : []
      })
    const found = block.kind === "figure" ? captionBeside(blocks, at, block.captionStart, fits) : undefined
    // A table's caption is usually above it, a figure's below.
    const places = block.kind === "table" ? [at - 1, at + 1] : [at + 1, at - 1]
    const place = found ?? places.find((other) => fits(other) && !isNext(other))
    if (place !== undefined) {
      const title = place + 1
      const titled = captionOf(blocks[place])?.bare === true && title === at - 1 && isTitle(blocks[title])
      return { ...block, caption: titled ? claim(place, title) : claim(place) }
    }
    const titled = isTitle(blocks[at - 1]) && fits(at - 2) && captionOf(blocks[at - 2])?.bare === true
    return titled && !skip.has(at - 1) ? { ...block, caption: claim(at - 2, at - 1) } : block
  }
  for (const [at, block] of blocks.entries()) done.push(skip.has(at) ? undefined : take(at, block))
  return done.flatMap((block) => block ?? [])
}

/** The caption that was found next to a drawing: words of the drawing may have come between. */
const captionBeside = (
  blocks: ReadonlyArray<Block>,
  at: number,
  start: string | undefined,
  fits: (place: number) => boolean
): number | undefined => {
  if (start === undefined) return undefined
  for (let away = 1; away <= APART; away++)
    for (const place of [at + away, at - away]) {
      const block = blocks[place]
      if (block?.kind === "paragraph" && fits(place) && textOfSpans(block.spans).startsWith(start))
        return place
    }
  return undefined
}
