import { type Block, NO_SEAM } from "../../model/block.ts"
import { centreIn, liesIn } from "../../model/geometry.ts"
import type { FormField, TextRun } from "../../model/page-content.ts"
import type { Placed } from "../../model/placed.ts"
import { contentsIn } from "../blocks/contents.ts"
import type { FlowContext } from "../blocks/flow.ts"
import { spansOf } from "../lines/inline.ts"
import type { Line } from "../lines/line.ts"
import { readableRuns } from "../lines/readable-runs.ts"
import type { Segment } from "../lines/segment.ts"
import { isRunningAside } from "../profile/running-lines.ts"
import { fieldsOf } from "../regions/fields/fields.ts"
import { labelValues } from "../regions/fields/label-values.ts"
import { drawnFigures } from "../regions/figures/drawn-figures.ts"
import { figuresOf } from "../regions/figures/pictures.ts"
import { marginNotes } from "../regions/margins/margin-notes.ts"
import { leaderTables } from "../regions/tables/aligned/leader-tables.ts"
import { tableOf } from "../regions/tables/cells/table-of.ts"
import { turnedHeads } from "../regions/tables/cells/turned-heads.ts"
import type { PageFacts } from "./page-context.ts"
import { tablesOn, without } from "./page-tables.ts"
import { turnedText } from "./turned-text.ts"

/** Regions that detectors have claimed, and what they left. */
export interface Claims {
  /** Segments that no region has. */
  readonly free: ReadonlyArray<Segment>
  readonly placed: ReadonlyArray<Placed>
  /** Segments of the page's text: `free` before figures and tables took theirs. */
  readonly text: ReadonlyArray<Segment>
  /** Form fields that no table has. */
  readonly fields: ReadonlyArray<FormField>
  /** Turned runs that are labels of drawn figures. */
  readonly labels: ReadonlySet<TextRun>
  /** Regions that another one holds. */
  readonly held?: ReadonlySet<Placed>
  /** Blocks to be read after the text. */
  readonly aside: ReadonlyArray<Block>
}

/** A kind of region. */
interface Detector {
  readonly id: string
  readonly why: string
  /** Returns the parts of the claims that it changes; it adds its own regions in `placed`. */
  readonly detect: (claims: Claims, facts: PageFacts) => Partial<Claims>
}

/** Makes a block of a note in the margin, right before the line of text at its height. */
const placedNote = (lines: ReadonlyArray<Line>, edge: number, { inline }: FlowContext): Placed => {
  const spans = spansOf(lines, inline)
  const { baseline = 0, size = 0 } = lines[0] ?? {}
  return {
    // Like small print, it may come between the halves of a paragraph.
    block: { kind: "paragraph", spans, seam: { ...NO_SEAM, small: true }, lang: undefined },
    x0: edge,
    x1: edge + 1,
    y0: baseline - size,
    y1: baseline
  }
}

/** Segments of lists of what the document has. */
const listedOn = ({ analysis, flow }: PageFacts): ReadonlySet<Segment> =>
  new Set(
    contentsIn(analysis.rows, flow.titled).flatMap(({ from, to }) =>
      analysis.rows.slice(from, to).flatMap(({ segments }) => segments)
    )
  )

/** The detectors, in the order in which they look: each sees what those before it left. */
export const DETECTORS: ReadonlyArray<Detector> = [
  {
    id: "margin-notes",
    why: "notes beside the text would cut its lines",
    detect: ({ free }, { flow, fonts }) => {
      const { edge, notes, text } = marginNotes(free, fonts)
      return { free: text, text, placed: notes.map((note) => placedNote(note, edge, flow)) }
    }
  },
  {
    id: "drawn-figures",
    why: "labels of a drawing are neither text nor cells of a table",
    detect: ({ free }, { isCode, page, profile }) => {
      const { placed, taken, turned } = drawnFigures(page, free, profile.bodySize, isCode)
      return { free: without(free, taken), placed, labels: turned }
    }
  },
  {
    id: "pictures",
    why: "a picture has a place among the text; one in a drawn figure is a part of it",
    detect: ({ placed }, { analysis, page }) => ({
      placed: figuresOf(page, analysis.segments.length > 3).filter(
        (picture) => !placed.some(({ block, ...box }) => block.kind === "figure" && liesIn(picture, box, 2))
      )
    })
  },
  {
    id: "label-values",
    why: "labels at the right of a letter's address make no rows with its lines",
    detect: ({ free }, { flow, page }) => {
      const { placed, taken } = labelValues(page, free, flow.inline)
      return { free: without(free, taken), placed }
    }
  },
  {
    id: "turned-heads",
    why: "names that are written upwards over columns of a table are its head, and no stamp",
    detect: ({ free, labels }, { analysis }) => {
      const turned = analysis.readable.turned.flatMap(({ asShown }) => asShown)
      const { heads, runs } = turnedHeads(
        turned.filter((run) => !labels.has(run)),
        free
      )
      if (runs.size === 0) return {}
      const inStream = [...free, ...heads].toSorted((a, b) => a.order - b.order)
      return { free: inStream, labels: new Set([...labels, ...runs]) }
    }
  },
  {
    id: "leader-tables",
    why: "names that lead to several figures by dots are rows, and no entries of a list",
    detect: ({ free }, { flow }) => {
      const found = flow.contents ? [] : leaderTables(free, flow.inline)
      const placed = found.map(({ headRows, rows, x0, x1, y0, y1 }): Placed => ({
        block: tableOf(rows, flow.inline, headRows === 0 ? undefined : headRows),
        x0,
        x1,
        y0,
        y1
      }))
      return { free: without(free, new Set(found.flatMap(({ segments }) => segments))), placed }
    }
  },
  {
    id: "tables",
    why: "cells are read row by row, not as lines of columns",
    detect: ({ free, placed: before }, facts) => {
      const pictures = before.filter(({ block }) => block.kind === "figure" && block.image !== undefined)
      const { inCells, placed, rest, unplaced } = tablesOn(
        facts.page,
        free,
        listedOn(facts),
        facts.flow,
        pictures
      )
      return { free: rest, placed, fields: unplaced, held: inCells }
    }
  },
  {
    id: "fields",
    why: "a field of a form has the printed words beside it as its label",
    detect: ({ fields, free }, { analysis }) => {
      const { placed, taken } = fieldsOf(fields, analysis.rows, new Set(free))
      return { free: without(free, taken), placed }
    }
  },
  {
    id: "turned-text",
    why: "text in another direction is no part of the upright lines",
    detect: ({ labels, text }, { analysis, flow, page, profile }) => {
      const { turned } =
        labels.size === 0
          ? analysis.readable
          : readableRuns({ ...page, runs: page.runs.filter((run) => !labels.has(run)) })
      return turnedText(
        page,
        turned.filter(({ runs }) => !isRunningAside(profile, runs)),
        text,
        flow
      )
    }
  }
]

/** The place of a region, rounded to points. */
const evidenceOf = ({ x0, x1, y0, y1 }: Placed) => ({
  x0: Math.round(x0),
  y0: Math.round(y0),
  x1: Math.round(x1),
  y1: Math.round(y1)
})

/** The first place in the stream of words that a detector took for a region. */
const orderOf = (one: Placed, taken: ReadonlyArray<Segment>): number | undefined =>
  taken.find((segment) => centreIn(segment, one))?.order

/** Claims the page's regions: all that is not running lines is free before. */
export const claimRegions = (facts: PageFacts): Claims => {
  const running = new Set([...facts.running].flatMap(({ segments }) => segments))
  const free = without(facts.analysis.segments, running)
  const nothing: Claims = { free, text: free, placed: [], fields: [], labels: new Set(), aside: [] }
  let claims = nothing
  for (const { detect, id } of DETECTORS) {
    const found = detect(claims, facts)
    const kept = new Set(found.free)
    const taken = found.free === undefined ? [] : claims.free.filter((segment) => !kept.has(segment))
    const placed = (found.placed ?? []).map((one) => ({
      ...one,
      order: orderOf(one, taken),
      block: { ...one.block, reason: { stage: "regions", rule: id, evidence: evidenceOf(one) } }
    }))
    const left = claims.placed.filter((one) => found.held?.has(one) !== true)
    claims = Object.assign({}, claims, found, { placed: left.concat(placed) })
  }
  return claims
}
