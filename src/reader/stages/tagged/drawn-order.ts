import { addTo } from "../../model/lists.ts"
import type { TextRun } from "../../model/page-content.ts"
import { SAME_LINE } from "../lines/line.ts"
import { hasFromRight } from "../lines/script-direction.ts"
import { isRaised } from "../runs/raised-marks.ts"

/** Greatest gap or overlap of neighbouring runs within a sentence, in font sizes. */
const NEXT = 0.5
const OVERLAP = 0.15
/** More runs of one line are compared with none: they stay as they are tagged. */
const MOST_COMPARED = 200

/** The runs of one line, in the order of their tags. */
interface Row {
  readonly runs: Array<TextRun>
  /** Some is left of what is tagged before it. */
  moved: boolean
}

const isLevel = (a: TextRun, b: TextRun): boolean =>
  isRaised(a, b) || Math.abs(a.baseline - b.baseline) <= SAME_LINE * Math.max(a.size, b.size)

/** Whether each run is right behind the one before it, from left to right, and over none. */
const areNext = (sorted: ReadonlyArray<TextRun>): boolean =>
  sorted.every(({ box, size }, at) => {
    const before = sorted[at - 1]
    if (before === undefined) return true
    const gap = box.x0 - before.box.x1
    return gap < NEXT * size && gap > -OVERLAP * size
  })

const fromLeft = (runs: ReadonlyArray<TextRun>): ReadonlyArray<TextRun> =>
  runs.toSorted((a, b) => a.box.x0 - b.box.x0)

/** Whether a run belongs to a line that others were tagged after. */
const fitsIn = ({ runs }: Row, run: TextRun): boolean => {
  const [first] = runs
  return (
    first !== undefined &&
    runs.length < MOST_COMPARED &&
    isLevel(first, run) &&
    areNext(fromLeft([...runs, run]))
  )
}

const isOrdinary = ({ angle, text }: TextRun): boolean => angle === 0 && !hasFromRight(text)

/**
 * The runs of one element as their lines show them: programs tag the parts of a date or a word in any order, and a reader sees
 * only their places. What is not right beside the rest of its line stays where it is tagged, as the columns of a page do.
 */
export const inDrawnOrder = (runs: ReadonlyArray<TextRun>): ReadonlyArray<TextRun> => {
  if (runs.length < 2 || !runs.every(isOrdinary)) return runs
  const rows: Array<Row> = []
  const byPlace = new Map<number, Array<Row>>()
  for (const run of runs) {
    const last = rows.at(-1)
    const before = last?.runs.at(-1)
    if (last !== undefined && before !== undefined && isLevel(before, run)) {
      last.moved ||= run.box.x0 < before.box.x0
      last.runs.push(run)
      continue
    }
    const place = Math.round(run.baseline)
    const row = [place, place - 1, place + 1]
      .flatMap((at) => byPlace.get(at) ?? [])
      .find((one) => fitsIn(one, run))
    if (row === undefined) {
      const begun: Row = { runs: [run], moved: false }
      rows.push(begun)
      addTo(byPlace, place, begun)
    } else {
      row.runs.push(run)
      row.moved = true
    }
  }
  if (!rows.some(({ moved }) => moved)) return runs
  return rows.flatMap(({ moved, runs: of }) => {
    const sorted = moved ? fromLeft(of) : of
    return areNext(sorted) ? sorted : of
  })
}
