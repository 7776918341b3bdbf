import type { PageContent } from "../../model/page-content.ts"
import type { Placed } from "../gutters.ts"
import { captionStart } from "../lines/markers.ts"
import { type Block, type Paragraph, plain, type Span, textOfSpans } from "./block.ts"

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
/** The same of a caption whose number ends with a mark. */
const MAX_MARKED = 2000
/** Longest title below a number that stands alone. */
const MAX_TITLE = 200
/** Blocks between a drawing and the caption that was found beside it, at most. */
const APART = 3

interface Caption {
  readonly table: boolean
  /** Its number stands alone, its title in the paragraph below. */
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

/** Whether a paragraph is the title below a number that stands alone. */
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
    // A table's caption stands above it as a rule, a figure's below.
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

/** The caption that was found beside a drawing: words of the drawing may have come between. */
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
