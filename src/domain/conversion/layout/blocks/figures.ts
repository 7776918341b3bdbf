import type { PageContent, Box } from "../../page-content.ts"
import { linesOf } from "../lines/line.ts"
import { CAPTION, isTableCaption } from "../lines/markers.ts"
import { type Segment, segmentText } from "../lines/segment.ts"
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

/** A caption that stands under a figure, or over it. */
const FIGURE_CAPTION = /^(figure|fig\.|abbildung|abb\.|figura|scheme|chart)\s*\d/i
/** Grid squares that drawings are clustered by, points; fewer and larger on a wall poster. */
const SQUARE = 12
const MOST_SQUARES = 120
/** Lines of a drawing; fewer are rules and frames. */
const MIN_DRAWINGS = 6
const MIN_DRAWING_SIDE = 40
/** How far a caption may stand from its figure, points. */
const NEAR = 36
/** Labels are short; a figure may hold a few longer ones. */
const LONG = 55
const MAX_LONG = 3
/** A drawing that covers more of the page is its background. */
const DRAWING_BACKGROUND = 0.6

interface Cluster {
  readonly box: Box
  readonly drawings: number
  /** How many of them are straight lines along the page's sides. */
  readonly rules: number
}

/** From this share of straight lines on, it is a table with a figure's caption. */
const MOSTLY_RULES = 0.75
const THIN = 2.5

const isRule = (box: Box | undefined): boolean =>
  box !== undefined && (box.x1 - box.x0 < THIN || box.y1 - box.y0 < THIN)

/** Clusters drawings that touch, by the grid squares that they lie in. */
const clustersOf = ({ drawings, height, width }: PageContent): ReadonlyArray<Cluster> => {
  const square = Math.max(SQUARE, Math.max(width, height) / MOST_SQUARES)
  const columns = Math.ceil(width / square) + 1
  const rows = Math.ceil(height / square) + 1
  const marks = new Map<number, Array<number>>()
  const kept = drawings.filter(({ artifact, box }) => {
    const [w, h] = [box.x1 - box.x0, box.y1 - box.y0]
    const outside = box.x1 < 0 || box.y1 < 0 || box.x0 > width || box.y0 > height
    return !artifact && !outside && w * h < DRAWING_BACKGROUND * width * height && !(h < 2 && w > 0.3 * width)
  })
  for (const [at, { box }] of kept.entries()) {
    const clamp = (value: number, most: number) => Math.min(most - 1, Math.max(0, Math.floor(value / square)))
    for (let row = clamp(box.y0, rows); row <= clamp(box.y1, rows); row++)
      for (let column = clamp(box.x0, columns); column <= clamp(box.x1, columns); column++) {
        const key = row * columns + column
        const same = marks.get(key)
        if (same === undefined) marks.set(key, [at])
        else if (same.length < 4) same.push(at)
      }
  }
  const clusters: Array<Cluster> = []
  const seen = new Set<number>()
  for (const start of marks.keys()) {
    if (seen.has(start)) continue
    seen.add(start)
    const open = [start]
    const members = new Set<number>()
    for (let key = open.pop(); key !== undefined; key = open.pop()) {
      for (const member of marks.get(key) ?? []) members.add(member)
      for (const next of [
        key - 1,
        key + 1,
        key - columns,
        key + columns,
        key - columns - 1,
        key - columns + 1,
        key + columns - 1,
        key + columns + 1
      ])
        if (marks.has(next) && !seen.has(next)) {
          seen.add(next)
          open.push(next)
        }
    }
    let box: Box = { x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity }
    for (const member of members) {
      const one = kept[member]?.box
      if (one === undefined) continue
      box = {
        x0: Math.max(0, Math.min(box.x0, one.x0)),
        y0: Math.max(0, Math.min(box.y0, one.y0)),
        x1: Math.min(width, Math.max(box.x1, one.x1)),
        y1: Math.min(height, Math.max(box.y1, one.y1))
      }
    }
    clusters.push({
      box,
      drawings: members.size,
      rules: [...members].filter((member) => isRule(kept[member]?.box)).length
    })
  }
  return clusters
}

const touches = (a: Box, b: Box): boolean => a.x0 < b.x1 && a.x1 > b.x0 && a.y0 < b.y1 && a.y1 > b.y0

/**
 * Figures that are drawn with lines and letters instead of being pictures: a cluster of drawings next to a figure's caption.
 * Their labels stay with them, out of the surrounding text.
 */
export const drawnFigures = (
  page: PageContent,
  segments: ReadonlyArray<Segment>
): { readonly placed: ReadonlyArray<Placed>; readonly taken: ReadonlySet<Segment> } => {
  const placed: Array<Placed> = []
  const taken = new Set<Segment>()
  if (page.drawings.length < MIN_DRAWINGS) return { placed, taken }
  const captions = segments.filter((segment) => FIGURE_CAPTION.test(segmentText(segment)))
  if (captions.length === 0) return { placed, taken }
  const clusters = clustersOf(page)
  for (const caption of captions) {
    const near = clusters.filter(
      ({ box }) =>
        box.x0 < caption.x1 &&
        box.x1 > caption.x0 &&
        box.y0 < caption.y0 &&
        caption.y0 - box.y1 < NEAR &&
        box.y1 < caption.y1 + 4
    )
    const [first] = near
    if (first === undefined) continue
    const box = near.reduce<Box>(
      (sum, { box: one }) => ({
        x0: Math.min(sum.x0, one.x0),
        y0: Math.min(sum.y0, one.y0),
        x1: Math.max(sum.x1, one.x1),
        y1: Math.max(sum.y1, one.y1)
      }),
      first.box
    )
    const drawings = near.reduce((sum, one) => sum + one.drawings, 0)
    if (near.reduce((sum, { rules }) => sum + rules, 0) > MOSTLY_RULES * drawings) continue
    if (drawings < MIN_DRAWINGS || box.x1 - box.x0 < MIN_DRAWING_SIDE || box.y1 - box.y0 < MIN_DRAWING_SIDE)
      continue
    if (placed.some((other) => touches(other, box))) continue
    const inside = segments.filter(({ x0, x1, y0, y1 }) => {
      const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2]
      return x > box.x0 - 6 && x < box.x1 + 6 && y > box.y0 - 6 && y < Math.min(box.y1 + 6, caption.y0)
    })
    if (inside.filter(({ characters }) => characters > LONG).length > MAX_LONG) continue
    const labels = linesOf(inside, []).map(({ text }) => text)
    placed.push({
      block: { kind: "figure", image: undefined, region: undefined, alt: undefined, labels, caption: [] },
      ...box
    })
    for (const segment of inside) taken.add(segment)
  }
  return { placed, taken }
}
