import type { Block, Figure } from "../../model/block.ts"
import { centreIn, joined } from "../../model/geometry.ts"
import { addTo } from "../../model/lists.ts"
import type { Box, Drawing, PageContent } from "../../model/page-content.ts"
import { figuresOf } from "../regions/figures/pictures.ts"
import { idsUnder, idsIn } from "./tagged-content.ts"

/** Smallest side of what is shown of a page, points: less is a rule. */
const MIN_SIDE = 12

/** Share of a figure that an image covers which is all of it. */
const WHOLE = 0.85

const areaOf = ({ x0, x1, y0, y1 }: Box): number => Math.max(0, x1 - x0) * Math.max(0, y1 - y0)

/** What a figure shows: its image, where that is all of it; else the part of the page that it is drawn on. */
export const pictureOf = (drawn: ReadonlyArray<Drawing>): Pick<Figure, "image" | "region"> => {
  const [first, ...others] = drawn
  if (first === undefined) return { image: undefined, region: undefined }
  const region = others.reduce((sum: Box, { box }) => joined(sum, box), first.box)
  const images = drawn.flatMap((drawing) => (drawing.kind === "image" ? [drawing] : []))
  const [image] = images
  // A frame around a picture is not worth drawing it.
  const isWhole = image !== undefined && images.length === 1 && areaOf(image.box) > WHOLE * areaOf(region)
  const isSeen = region.x1 - region.x0 >= MIN_SIDE && region.y1 - region.y0 >= MIN_SIDE
  return isWhole || !isSeen ? { image: image?.index, region: undefined } : { image: undefined, region }
}

/** Elements that show their pictures themselves, and artifacts, which show nothing. */
const SHOWN = new Set(["Figure", "Formula", "Artifact"])

/** True when words are on a picture: a background, a part of a diagram or of a slide. */
const isWrittenOn = (picture: Box, { runs }: PageContent): boolean =>
  runs.some(({ artifact, box }) => !artifact && centreIn(box, picture))

/**
 * The pictures of a page that no figure of its structure has: programs tag them inside a paragraph, or not at all.
 * `beside`: by their marked content; `rest`: untagged.
 */
export const picturesBesideFigures = (
  page: PageContent
): { readonly beside: ReadonlyMap<number, ReadonlyArray<Block>>; readonly rest: ReadonlyArray<Block> } => {
  const shown = new Set(idsIn(page.structure, ({ type }) => SHOWN.has(type)))
  const tagged = new Set(idsUnder(page.structure))
  const ids = new Map<number, number>()
  const drawings = page.drawings.filter((drawing) => {
    if (drawing.kind !== "image" || (drawing.mcid !== undefined && shown.has(drawing.mcid))) return false
    if (drawing.mcid !== undefined && tagged.has(drawing.mcid)) ids.set(drawing.index, drawing.mcid)
    return true
  })
  const beside = new Map<number, Array<Block>>()
  const rest: Array<Block> = []
  for (const { block, ...box } of figuresOf({ ...page, drawings }, true)) {
    if (isWrittenOn(box, page)) continue
    const id = block.kind === "figure" && block.image !== undefined ? ids.get(block.image) : undefined
    if (id === undefined) rest.push(block)
    else addTo(beside, id, block)
  }
  return { beside, rest }
}
