import type { Box, PageContent } from "../../page-content.ts"
import type { Block } from "../blocks/block.ts"
import { figuresOf } from "../blocks/figures.ts"
import { idsUnder, isStructure, MAX_DEPTH, type StructureNode } from "./tagged-content.ts"

/** Elements that show their pictures themselves, or are none to show. */
const SHOWN = new Set(["Figure", "Formula", "Artifact"])

const shownIn = (nodes: ReadonlyArray<StructureNode>, depth = 0): ReadonlyArray<number> =>
  depth > MAX_DEPTH
    ? []
    : nodes.flatMap((node) =>
        !isStructure(node)
          ? []
          : SHOWN.has(node.type)
            ? idsUnder([node], depth)
            : shownIn(node.children, depth + 1)
      )

/** Whether words stand on a picture: it is what they are written on, a part of a diagram or of a slide. */
const isWrittenOn = (picture: Box, { runs }: PageContent): boolean =>
  runs.some(({ artifact, box }) => {
    const [x, y] = [(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2]
    return !artifact && x > picture.x0 && x < picture.x1 && y > picture.y0 && y < picture.y1
  })

/**
 * The pictures of a page that no figure of its structure has: programs tag them as what stands in a paragraph, or not at all.
 * `beside`: by their marked content; `rest`: those that are in none.
 */
export const picturesBesideFigures = (
  page: PageContent
): { readonly beside: ReadonlyMap<number, ReadonlyArray<Block>>; readonly rest: ReadonlyArray<Block> } => {
  const shown = new Set(shownIn(page.structure))
  const tagged = new Set(idsUnder(page.structure))
  const ids = new Map<number, number>()
  const drawings = page.drawings.filter((drawing) => {
    if (drawing.kind !== "image" || (drawing.mcid !== undefined && shown.has(drawing.mcid))) return false
    if (drawing.mcid !== undefined && tagged.has(drawing.mcid)) ids.set(drawing.index, drawing.mcid)
    return true
  })
  const beside = new Map<number, ReadonlyArray<Block>>()
  const rest: Array<Block> = []
  for (const { block, ...box } of figuresOf({ ...page, drawings }, true)) {
    if (isWrittenOn(box, page)) continue
    const id = block.kind === "figure" && block.image !== undefined ? ids.get(block.image) : undefined
    if (id === undefined) rest.push(block)
    else beside.set(id, [...(beside.get(id) ?? []), block])
  }
  return { beside, rest }
}
