import { centreIn, joined, liesIn, touches, overlapAcross } from "../../../model/geometry.ts"
import { append, greatest } from "../../../model/lists.ts"
import type { Box, PageContent, TextRun } from "../../../model/page-content.ts"
import type { Placed } from "../../../model/placed.ts"
import { type Segment, segmentText } from "../../lines/segment.ts"
import { THIN } from "../../runs/strokes.ts"
import { isCaption, titleOf } from "./caption-lines.ts"
import { chartsOf } from "./charts.ts"
import { framesOf } from "./frames.ts"
import { labelTexts } from "./label-texts.ts"
import { placedFigure } from "./placed-figure.ts"
import { joinRegions, NOTHING, type Region, regionsOf } from "./regions.ts"

/** Figures that are drawn, and the words that belong to them. */
interface DrawnFigures {
  readonly placed: ReadonlyArray<Placed>
  readonly taken: ReadonlySet<Segment>
  /** Words that are written upwards or downwards in them. */
  readonly turned: ReadonlySet<TextRun>
}

/** Lines of a drawing; fewer are rules and frames. */
const MIN_DRAWINGS = 6
const MIN_SIDE = 40
/** Least number of lines of a drawing without a caption. */
const MIN_UNCAPTIONED = 12
/** Least number of curves or slanted lines of a figure. */
const MIN_CURVES = 4
/** Greatest distance of a caption from its figure, in points; the second where only labels are between. */
const NEAR = 36
const NEAR_BY_LABELS = 96
/** Greatest distance between the panels of a figure, in points. */
const PANELS = 84
/** Greatest number of words in a drawing that is only a frame. */
const MOST_FRAMED = 6
/** Labels are short; a figure may hold a few longer ones, and one that was placed as a whole some more. */
const LONG = 55
const MAX_LONG = 3
const MAX_LONG_PLACED = 8
/** Words, rows and the length of the lines between them, by its width, that make a table of a region. */
const MIN_CELLS = 6
const MIN_ROWS = 3
const SPANS = 0.8
/** Without a caption, more straight lines are a table. */
const MOSTLY_RULES = 0.75
/** Greatest distance of a label from its drawing, in points, and its greatest length. */
const BESIDE = 10
const BESIDE_CHART = 20
const LABEL = 40
/** How far they reach beyond it, points: further where a caption says that it is a figure. */
const REACH = 25
const REACH_CAPTIONED = 90
const ROUNDS = 3
/** Least room above a figure's caption, points. */
const CLEAR = 3
/** Most regions of a page on which figures are looked for, and most of its captions. */
const MOST_REGIONS = 200
const MOST_CAPTIONS = 24
/** A page with more pieces of text is a list or a map. */
const MOST_SEGMENTS = 6_000

/** A page's words and regions, to find figures among. */
interface Scene {
  readonly regions: ReadonlyArray<Region>
  readonly segments: ReadonlyArray<Segment>
  /** Segments that are longer than a label. */
  readonly prose: ReadonlyArray<Segment>
  /** The captions under each region. */
  readonly under: ReadonlyMap<Region, ReadonlyArray<Segment>>
  readonly captions: ReadonlyArray<Segment>
  readonly isCode: (segment: Segment) => boolean
}

/** True when a region has its caption at this one's place, or nearer: names of an axis and the like may be between. */
const isAbove = (region: Box, caption: Segment, prose: ReadonlyArray<Segment>): boolean => {
  const gap = caption.y0 - region.y1
  if (!overlapAcross(region, caption) || gap < -4) return false
  if (gap < NEAR) return true
  return (
    gap < NEAR_BY_LABELS &&
    !prose.some(
      (segment) =>
        segment !== caption &&
        segment.y0 > region.y1 - 2 &&
        segment.y1 < caption.y0 + 2 &&
        overlapAcross(segment, region)
    )
  )
}

/** The regions above a caption (or below it), with those that belong to them: panels of one figure. */
const nearCaption = (caption: Segment, scene: Scene): Region | undefined => {
  const { captions, prose, regions, segments, under } = scene
  const above = regions.filter((region) => under.get(region)?.includes(caption) === true)
  const below = (): ReadonlyArray<Region> =>
    regions.filter((region) => {
      const gap = region.y0 - caption.y1
      const drawn = region.placed || (region.curves > 0 && under.get(region)?.length === 0)
      return drawn && overlapAcross(region, caption) && gap > -4 && gap < NEAR
    })
  const parts = above.length > 0 ? [...above] : [...below()]
  let whole = joinRegions(parts)
  for (let round = 0; whole !== undefined && round < ROUNDS; round++) {
    const now: Region = whole
    const more = regions.filter((region) => {
      if (parts.includes(region) || !touches(region, now, PANELS)) return false
      const both = joined(now, region)
      if (both.y0 < caption.y0 && both.y1 > caption.y1) return false
      if (under.get(region)?.some((other) => other !== caption) === true) return false
      if (captions.some((other) => other !== caption && centreIn(other, both))) return false
      return !prose.some((segment) => segment.characters > LONG && centreIn(segment, both))
    })
    if (more.length === 0) break
    append(parts, more)
    whole = joinRegions(parts)
  }
  if (whole === undefined || above.length === 0) return whole
  // Segments between a figure and its caption belong to the figure.
  const { x0, x1, y1 } = whole
  const between = segments.filter(
    (segment) => centreIn(segment, { x0, y0: y1, x1, y1: caption.y0 }) && segment.y1 < caption.y0 + 2
  )
  return {
    ...whole,
    y1: Math.min(
      caption.y0 - CLEAR,
      Math.max(y1, greatest(between.slice(0, MOST_REGIONS).map((one) => one.y1)))
    )
  }
}

/** Whether lines divide a region into rows, with words in them: a table with a figure's caption. */
const isGrid = (region: Region, { page, inside }: Inside): boolean => {
  if (region.curves > 0 || inside.length < MIN_CELLS) return false
  const across = page.drawings.filter(
    ({ box, kind }) =>
      kind === "path" &&
      box.y1 - box.y0 < THIN &&
      box.x1 - box.x0 > SPANS * (region.x1 - region.x0) &&
      liesIn(box, region, 2)
  )
  return across.length >= MIN_ROWS
}

/** What a region is judged by. */
interface Inside {
  readonly page: PageContent
  readonly inside: ReadonlyArray<Segment>
}

/** Whether a region holds a figure, and no table, frame or page. */
const isFigure = (region: Region, captioned: boolean, within: Inside): boolean => {
  const { curves, drawings, pictures, placed, rules, x0, x1, y0, y1 } = region
  const { inside } = within
  if (x1 - x0 < MIN_SIDE || y1 - y0 < MIN_SIDE) return false
  const prose = inside.filter(({ characters }) => characters > LONG)
  const long = prose.length
  if (long > (placed ? MAX_LONG_PLACED : MAX_LONG)) return false
  // A placed group contains its words: text across its edge is written over a watermark.
  if (placed && prose.some((segment) => !liesIn(segment, region, BESIDE))) return false
  if (pictures > 0 && pictures === drawings) return pictures > 1 && (captioned || inside.length === 0)
  if (captioned)
    return placed ? drawings > 0 || inside.length > 0 : drawings >= MIN_DRAWINGS && !isGrid(region, within)
  if (placed) return drawings >= MIN_DRAWINGS && (curves >= MIN_CURVES || rules <= MOSTLY_RULES * drawings)
  return drawings >= MIN_UNCAPTIONED && curves >= MIN_CURVES && rules <= 0.5 * drawings && long === 0
}

/** Adds the short words next to a drawing as its labels: names of axes, ticks. */
const withLabels = (
  box: Box,
  { prose, segments }: Scene,
  captions: ReadonlySet<Segment>,
  bodySize: number,
  { beside, reach }: { readonly reach: number; readonly beside: number }
): { readonly box: Box; readonly labels: ReadonlyArray<Segment> } => {
  const labels = new Set(segments.filter((segment) => centreIn(segment, box, 3) && !captions.has(segment)))
  let whole = [...labels].reduce<Box>(joined, box)
  for (let round = 0; round < ROUNDS; round++) {
    const more = segments.filter(
      (segment) =>
        !labels.has(segment) &&
        !captions.has(segment) &&
        segment.characters <= LABEL &&
        segment.size <= 1.02 * bodySize &&
        touches(segment, whole, beside) &&
        (liesIn(segment, whole, reach) || segment.characters < LABEL / 4) &&
        !prose.some(
          (other) =>
            !labels.has(other) &&
            Math.abs(other.baseline - segment.baseline) < 1.6 * segment.size &&
            touches(other, segment, 2 * bodySize)
        )
    )
    if (more.length === 0) break
    for (const segment of more) labels.add(segment)
    whole = more.reduce<Box>(joined, whole)
  }
  return { box: whole, labels: [...labels] }
}

/** Upward-written words next to a drawing or in it: names and numbers of its axes. */
const turnedLabels = (box: Box, turned: ReadonlyArray<TextRun>): ReadonlyArray<TextRun> => {
  const found = new Set<TextRun>()
  let whole = box
  for (let round = 0; round < ROUNDS; round++) {
    const more = turned.filter(
      (run) =>
        !found.has(run) &&
        touches(run.box, whole, 1.5 * BESIDE) &&
        run.box.y0 > box.y0 - BESIDE &&
        run.box.y1 < box.y1 + BESIDE
    )
    if (more.length === 0) break
    for (const run of more) found.add(run)
    whole = more.reduce<Box>((sum, run) => joined(sum, run.box), whole)
  }
  return [...found]
}

/** Whether one of few drawings may be a figure: a picture, or the side of a frame. */
const mayFrame = ({ box, kind }: PageContent["drawings"][number]): boolean =>
  kind === "image" || box.y1 - box.y0 >= MIN_SIDE

/** True when a page without captions may have figures: placed groups, curves, pictures next to each other. */
const mayStandAlone = ({ drawings, groups }: PageContent): boolean => {
  let [curves, pictures] = [0, 0]
  for (const drawing of drawings) {
    if (drawing.kind === "image") pictures += 1
    else if (drawing.curved) curves += 1
  }
  return groups.length > 0 || curves >= MIN_CURVES || pictures > 1
}

/** True when a frame holds only a few short words, and no listing. */
const isEmpty = (frame: Box, { isCode, regions, segments }: Scene): boolean => {
  const inside = segments.filter((segment) => centreIn(segment, frame, 3))
  const drawn = regions.some((region) => region.drawings >= MIN_DRAWINGS && centreIn(region, frame))
  return (
    !drawn &&
    inside.length <= MOST_FRAMED &&
    inside.every(({ characters }) => characters <= LONG) &&
    (inside.length === 0 || !inside.every(isCode))
  )
}

/** Regions of drawings that are large enough. */
const largeRegions = (page: PageContent): ReadonlyArray<Region> =>
  regionsOf(page).filter((one) => (one.x1 - one.x0) * (one.y1 - one.y0) > MIN_SIDE && one.x1 > one.x0)

/** More turned words on a page are its text. */
const MOST_TURNED = 500

/** No figure is drawn on a page. */
const NO_FIGURES: DrawnFigures = { placed: [], taken: new Set(), turned: new Set() }

/** All that is drawn on a page without words is one figure, but for pictures, which are shown by themselves, and for rules. */
const onWordless = (page: PageContent): DrawnFigures => {
  const whole = joinRegions(regionsOf(page))
  const isDrawing =
    whole !== undefined &&
    whole.pictures === 0 &&
    whole.drawings >= MIN_DRAWINGS &&
    whole.rules <= MOSTLY_RULES * whole.drawings
  return isDrawing ? { ...NO_FIGURES, placed: [placedFigure(whole, page, [])] } : NO_FIGURES
}

/**
 * Figures that are drawn with lines and letters instead of being pictures: regions of drawings next to a figure's caption, and
 * others that can be nothing else. Their labels stay with them, out of the surrounding text. `isCode`: whether a segment is set in
 * typewriter.
 */
export const drawnFigures = (
  page: PageContent,
  segments: ReadonlyArray<Segment>,
  bodySize: number,
  isCode: (segment: Segment) => boolean
): DrawnFigures => {
  const { drawings, groups } = page
  if (segments.length > MOST_SEGMENTS) return NO_FIGURES
  if (segments.length + page.fields.length === 0) return onWordless(page)
  const charts = chartsOf(page, segments)
  const isPlain = groups.length === 0 && drawings.length < MIN_DRAWINGS && !drawings.some(mayFrame)
  if (isPlain && charts.length === 0) return NO_FIGURES
  const captions = segments.filter(isCaption).slice(0, MOST_CAPTIONS)
  if (captions.length === 0 && charts.length === 0 && !mayStandAlone(page)) return NO_FIGURES
  const regions = largeRegions(page)
  const frames = captions.length === 0 ? [] : framesOf(page)
  const found = regions.length + frames.length + charts.length
  if (found === 0 || regions.length > MOST_REGIONS) return NO_FIGURES
  const isCaptionLine = new Set(
    captions.flatMap((caption) => [caption, titleOf(caption, segments) ?? caption])
  )
  const placed: Array<Placed> = []
  const taken = new Set<Segment>()
  const turned = new Set<TextRun>()
  const askew = page.runs.filter(({ angle, artifact, invisible }) => angle !== 0 && !artifact && !invisible)
  const prose = segments.filter(({ characters }) => characters > LABEL)
  const under = new Map(
    regions.map((region) => [region, captions.filter((caption) => isAbove(region, caption, prose))])
  )
  const scene: Scene = { regions, segments, captions, prose, under, isCode }
  const add = (region: Region, caption: Segment | undefined, sure = false): void => {
    if (placed.some((other) => touches(other, region))) return
    const captioned = caption !== undefined
    const inside = segments.filter((segment) => centreIn(segment, region, 3) && !isCaptionLine.has(segment))
    if (!sure && !isFigure(region, captioned, { page, inside })) return
    const reach = captioned || sure ? REACH_CAPTIONED : REACH
    const beside = sure && !captioned ? BESIDE_CHART : BESIDE
    const { box: level, labels } = withLabels(region, scene, isCaptionLine, bodySize, { reach, beside })
    const upwards = turnedLabels(level, askew.length > MOST_TURNED ? [] : askew)
    const box = upwards.reduce<Box>((sum, run) => joined(sum, run.box), level)
    const words = [...labelTexts(labels), ...upwards.map(({ text }) => text.trim())]
    placed.push(
      placedFigure(box, page, words, caption === undefined ? undefined : segmentText(caption).trim())
    )
    for (const segment of labels) taken.add(segment)
    for (const run of upwards) turned.add(run)
  }
  for (const caption of captions) {
    const region = nearCaption(caption, scene)
    if (region !== undefined) add(region, caption)
  }
  for (const caption of captions) {
    const frame = frames.find((one) => isAbove(one, caption, prose) && isEmpty(one, scene))
    if (frame !== undefined) add(frame, caption, true)
  }
  for (const chart of charts) add({ ...chart, ...NOTHING, placed: false }, undefined, true)
  for (const region of regions) add(region, undefined)
  return { placed, taken, turned }
}
