import type { Box, Drawing } from "../../../model/page-content.ts"
import type { Pdfium } from "../engine/pdfium.ts"
import { coveredTexts } from "./covered-text.ts"
import { IDENTITY, type Matrix, mapBox, mapX, mapY, multiply, roundBox, scaleOf } from "./geometry.ts"
import type { Layers } from "./layers.ts"
import { type Mark, markOf, markWithin, OFF, UNMARKED } from "./marks.ts"

// FPDF_PAGEOBJ_…
const TEXT = 1
const PATH = 2
const IMAGE = 3
const FORM = 5
// FPDF_SEGMENT_…
const BEZIER_TO = 1
const MOVE_TO = 2
// FPDF_IMAGEOBJ_METADATA
const BITS_PER_PIXEL = 16

/** Forms within forms; deeper ones are a loop or malice. */
const MAX_DEPTH = 12
/** Limit on objects of a page that are examined; maps have some 100,000. */
const MAX_OBJECTS = 500_000
/** Limit on returned drawings. A page with more is a picture, and its single strokes mean nothing. */
const MAX_DRAWINGS = 20_000
/** Groups that are returned. */
const MAX_GROUPS = 1_000
/** A path with more pieces than this is a curve: its outline is returned, not its pieces. */
const MAX_SEGMENTS = 2_000

/** The page's paths and images, and the marks that text inside marked form XObjects inherits (by text object). */
export interface PageObjects {
  readonly drawings: ReadonlyArray<Drawing>
  /** The extents of form XObjects. */
  readonly groups: ReadonlyArray<Box>
  readonly inherited: ReadonlyMap<number, Mark>
  /** Image objects in the order of `Drawing.index`. */
  readonly images: ReadonlyArray<number>
  /** Indexes of drawings that are shown turned, slanted or mirrored. */
  readonly turned: ReadonlySet<number>
}

const matrixOf = ({ call, memory }: Pdfium, object: number): Matrix => {
  const { scratch } = memory
  if (call.FPDFPageObj_GetMatrix(object, scratch) === 0) return IDENTITY
  const [a, b, c, d, e, f] = [0, 4, 8, 12, 16, 20].map((offset) => memory.float(scratch + offset))
  return { a: a ?? 1, b: b ?? 0, c: c ?? 0, d: d ?? 1, e: e ?? 0, f: f ?? 0 }
}

export const colorFrom = ({ memory }: Pdfium, given: number): number => {
  const { scratch } = memory
  return given === 0
    ? 0
    : (memory.int(scratch) << 16) | (memory.int(scratch + 4) << 8) | memory.int(scratch + 8)
}

const boundsOf = ({ call, memory }: Pdfium, object: number, matrix: Matrix) => {
  const { scratch } = memory
  if (call.FPDFPageObj_GetBounds(object, scratch, scratch + 4, scratch + 8, scratch + 12) === 0)
    return undefined
  return mapBox(
    matrix,
    memory.float(scratch),
    memory.float(scratch + 4),
    memory.float(scratch + 8),
    memory.float(scratch + 12)
  )
}

/** A stretch of a path that leaves both directions of the page's sides by more than this, points, is slanted. */
const SLANTED = 0.05

/**
 * One rectangle for each subpath: a table's rules are often one path. `curved`: the subpath has a curve or a slanted
 * line.
 */
const subpaths = (pdfium: Pdfium, path: number, matrix: Matrix, width: number) => {
  const { call, memory } = pdfium
  const { scratch } = memory
  const whole = multiply(matrixOf(pdfium, path), matrix)
  const reach = (width * scaleOf(whole)) / 2
  const boxes: Array<{ readonly box: Box; readonly curved: boolean }> = []
  let box: Box | undefined
  let points = 0
  let curved = false
  let [beforeX, beforeY] = [0, 0]
  const close = () => {
    if (box === undefined || points < 2) return
    const { x0, x1, y0, y1 } = box
    boxes.push({ box: { x0: x0 - reach, y0: y0 - reach, x1: x1 + reach, y1: y1 + reach }, curved })
  }
  const count = call.FPDFPath_CountSegments(path)
  for (let at = 0; at < count; at++) {
    const segment = call.FPDFPath_GetPathSegment(path, at)
    if (segment === 0 || call.FPDFPathSegment_GetPoint(segment, scratch, scratch + 4) === 0) continue
    const [px, py] = [memory.float(scratch), memory.float(scratch + 4)]
    const [x, y] = [mapX(whole, px, py), mapY(whole, px, py)]
    const type = call.FPDFPathSegment_GetType(segment)
    if (box === undefined || type === MOVE_TO) {
      close()
      box = { x0: x, y0: y, x1: x, y1: y }
      points = 1
      curved = false
    } else {
      const slanted = Math.abs(x - beforeX) > SLANTED && Math.abs(y - beforeY) > SLANTED
      curved ||= slanted || type === BEZIER_TO
      box = {
        x0: Math.min(box.x0, x),
        y0: Math.min(box.y0, y),
        x1: Math.max(box.x1, x),
        y1: Math.max(box.y1, y)
      }
      points++
    }
    beforeX = x
    beforeY = y
  }
  close()
  return boxes
}

/** What a walk has found, and how many objects it may still look at. */
interface Walk {
  readonly pdfium: Pdfium
  readonly layers: Layers
  /** Forms and images that are off by their `OC` entry. */
  readonly hidden: ReadonlySet<number>
  readonly page: number
  readonly drawings: Array<Drawing>
  readonly groups: Array<Box>
  readonly images: Array<number>
  readonly turned: Set<number>
  readonly inherited: Map<number, Mark>
  left: number
}

const isFinite = (box: Drawing["box"]) => Number.isFinite(box.x0 + box.y0 + box.x1 + box.y1)

const addPath = ({ drawings, pdfium }: Walk, object: number, at: Matrix, mark: Mark) => {
  const { call, memory } = pdfium
  const { scratch } = memory
  if (call.FPDFPath_GetDrawMode(object, scratch, scratch + 4) === 0) return
  const filled = memory.int(scratch) !== 0
  const stroked = memory.int(scratch + 4) !== 0
  // A path that is neither only clips.
  if (!filled && !stroked) return
  const given = filled
    ? call.FPDFPageObj_GetFillColor(object, scratch, scratch + 4, scratch + 8, scratch + 12)
    : call.FPDFPageObj_GetStrokeColor(object, scratch, scratch + 4, scratch + 8, scratch + 12)
  const color = colorFrom(pdfium, given)
  const width = stroked && call.FPDFPageObj_GetStrokeWidth(object, scratch) !== 0 ? memory.float(scratch) : 0
  const bounds = boundsOf(pdfium, object, at)
  const boxes =
    call.FPDFPath_CountSegments(object) <= MAX_SEGMENTS
      ? subpaths(pdfium, object, at, width)
      : bounds === undefined
        ? []
        : [{ box: bounds, curved: true }]
  for (const { box, curved } of boxes) {
    if (drawings.length >= MAX_DRAWINGS) return
    if (isFinite(box))
      drawings.push({ kind: "path", box: roundBox(box), stroked, filled, curved, color, ...mark })
  }
}

/** Slant of a picture's sides that is invisible, as a share of their length. */
const LEVEL = 0.02

/** An image is a square that reaches to the right and, since a page's y goes down, to smaller y. */
const isUpright = ({ a, b, c, d }: Matrix): boolean =>
  a > 0 && d < 0 && Math.abs(b) <= LEVEL * a && Math.abs(c) <= LEVEL * -d

/** Whether an image is one dot that colour is put on through a mask: so programs that make PDFs of DVI draw rules. */
const isDot = ({ page, pdfium: { call, memory } }: Walk, image: number): boolean => {
  const { scratch } = memory
  const isOne =
    call.FPDFImageObj_GetImagePixelSize(image, scratch, scratch + 4) !== 0 &&
    memory.uint(scratch) === 1 &&
    memory.uint(scratch + 4) === 1
  return (
    isOne &&
    call.FPDFImageObj_GetImageMetadata(image, page, scratch) !== 0 &&
    memory.int(scratch + BITS_PER_PIXEL) === 1
  )
}

const addRectangle = ({ drawings, pdfium }: Walk, object: number, at: Matrix, mark: Mark) => {
  const { call, memory } = pdfium
  const { scratch } = memory
  const box = boundsOf(pdfium, object, at)
  if (box === undefined || drawings.length >= MAX_DRAWINGS || !isFinite(box)) return
  const given = call.FPDFPageObj_GetFillColor(object, scratch, scratch + 4, scratch + 8, scratch + 12)
  const color = colorFrom(pdfium, given)
  drawings.push({
    kind: "path",
    box: roundBox(box),
    stroked: false,
    filled: true,
    curved: false,
    color,
    ...mark
  })
}

const addImage = (walk: Walk, object: number, at: Matrix, mark: Mark) => {
  if (isDot(walk, object)) return addRectangle(walk, object, at, mark)
  const { drawings, images, pdfium, turned } = walk
  const index = images.push(object) - 1
  if (!isUpright(multiply(matrixOf(pdfium, object), at))) turned.add(index)
  const box = boundsOf(pdfium, object, at)
  if (box !== undefined && drawings.length < MAX_DRAWINGS && isFinite(box)) {
    drawings.push({ kind: "image", box: roundBox(box), index, ...mark })
  }
}

const addGroup = ({ groups, pdfium }: Walk, object: number, at: Matrix, { artifact }: Mark) => {
  const box = boundsOf(pdfium, object, at)
  if (box !== undefined && !artifact && groups.length < MAX_GROUPS && isFinite(box))
    groups.push(roundBox(box))
}

const visit = (walk: Walk, object: number, at: Matrix, outer: Mark, depth: number): void => {
  if (object === 0 || walk.left-- <= 0) return
  const { call } = walk.pdfium
  const type = call.FPDFPageObj_GetType(object)
  if (type === TEXT) {
    if (outer !== UNMARKED) walk.inherited.set(object, outer)
    return
  }
  const own = walk.hidden.has(object) ? OFF : markOf(walk.pdfium, object, walk.layers)
  const mark = markWithin(own, outer)
  if (mark === OFF && type !== FORM) return
  if (type === PATH) addPath(walk, object, at, mark)
  else if (type === IMAGE) addImage(walk, object, at, mark)
  else if (type === FORM && depth < MAX_DEPTH) {
    if (mark !== OFF) addGroup(walk, object, at, mark)
    const inner = multiply(matrixOf(walk.pdfium, object), at)
    const count = call.FPDFFormObj_CountObjects(object)
    for (let child = 0; child < count && walk.left > 0; child++)
      visit(walk, call.FPDFFormObj_GetObject(object, child), inner, mark, depth + 1)
  }
}

/**
 * Walks through the page's objects, form XObjects included, in the order in which they are painted. `forText`: covered
 * texts are marked as off.
 */
export const readObjects = (
  pdfium: Pdfium,
  {
    hidden,
    layers,
    matrix,
    page,
    ...sides
  }: {
    readonly page: number
    readonly width: number
    readonly height: number
    readonly matrix: Matrix
    readonly layers: Layers
    readonly hidden: () => ReadonlySet<number>
  },
  forText = false
): PageObjects => {
  const { call } = pdfium
  const walk: Walk = {
    pdfium,
    layers,
    hidden: hidden(),
    page,
    drawings: [],
    groups: [],
    images: [],
    turned: new Set(),
    inherited: new Map(),
    left: MAX_OBJECTS
  }
  const count = call.FPDFPage_CountObjects(page)
  for (let at = 0; at < count && walk.left > 0; at++) {
    visit(walk, call.FPDFPage_GetObject(page, at), matrix, UNMARKED, 0)
  }
  if (forText)
    for (const text of coveredTexts(pdfium, { page, matrix, ...sides })) walk.inherited.set(text, OFF)
  return walk
}
