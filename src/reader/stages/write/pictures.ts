import { element, type HtmlNode, isElement } from "../../model/html-tree.ts"
import type { Box } from "../../model/page-content.ts"

/** CSS pixels a point. */
const PIXELS_PER_POINT = 4 / 3

/** What a picture is to show: the page's n-th image, or a part of the page, as its attribute says it. */
export type PicturePlace = number | string

/** The place of one of the page's images; none where the figure has no picture. */
export const imagePicture = (image: number | undefined, alt: string | undefined): HtmlNode =>
  element("img", { "data-image": image?.toString(), alt })

/** By how much a page was turned to be read; `stacked`: the height of a page of which only the lines were turned. */
export interface Turned {
  readonly turn: number
  readonly stacked: number | undefined
}

/** The part of the page that is shown: pictures between vertical lines are upright. */
const asShown = (box: Box, { stacked, turn }: Turned): { readonly box: Box; readonly turn: number } =>
  stacked === undefined
    ? { box, turn }
    : { box: { x0: stacked - box.y1, y0: box.x0, x1: stacked - box.y0, y1: box.x1 }, turn: 0 }

/** The place of a picture of a part of the page. */
export const regionPicture = (region: Box, alt: string | undefined, turned: Turned): HtmlNode => {
  const { box, turn } = asShown(region, turned)
  const { x0, x1, y0, y1 } = box
  const edges = [x0, y0, x1, y1].map((edge) => Math.max(0, Math.round(edge)))
  const width = String(Math.round((x1 - x0) * PIXELS_PER_POINT))
  return element("img", { "data-region": [...edges, ...(turn === 0 ? [] : [turn])].join(" "), alt, width })
}

const placeOf = ({ "data-image": image, "data-region": region }: Readonly<Record<string, string>>) =>
  image === undefined ? region : Number(image)

const gather = (nodes: ReadonlyArray<HtmlNode>, found: Set<PicturePlace>): void => {
  for (const node of nodes) {
    if (!isElement(node)) continue
    const place = node.name === "img" ? placeOf(node.attributes) : undefined
    if (place !== undefined) found.add(place)
    gather(node.children, found)
  }
}

/** The places of a tree, each once: images first. */
export const picturePlaces = (nodes: ReadonlyArray<HtmlNode>): ReadonlyArray<PicturePlace> => {
  const found = new Set<PicturePlace>()
  gather(nodes, found)
  return [...found].sort((a, b) => Number(typeof a === "string") - Number(typeof b === "string"))
}

/** Puts pictures (data URIs) in their places; assembly leaves out the places that stay empty. */
export const withPictures = (
  nodes: ReadonlyArray<HtmlNode>,
  pictures: ReadonlyMap<PicturePlace, string>
): ReadonlyArray<HtmlNode> =>
  nodes.map((node) => {
    if (!isElement(node)) return node
    const source = node.name === "img" ? pictures.get(placeOf(node.attributes) ?? "") : undefined
    if (source === undefined) return { ...node, children: withPictures(node.children, pictures) }
    const { "data-image": _image, "data-region": _region, ...rest } = node.attributes
    return element("img", { src: source, ...rest })
  })
