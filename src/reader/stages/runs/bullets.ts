import { middleY } from "../../model/geometry.ts"
import type { PageContent, TextRun, Box } from "../../model/page-content.ts"
import { isPath } from "./strokes.ts"

/** Sides of a bullet, points. */
const SMALLEST = 1.5

const LARGEST = 8

/** Distance of the words behind a bullet, in points. */
const NEAREST = 2

const FURTHEST = 26

/** Height of the slots in which lines are looked up, points. */
const SLOT = 8

/** More small shapes are a diagram's dots. */
const MOST = 300

/**
 * Recognises bullets that are drawn as shapes, as browsers print them: a small disc or square just before a line. Returns
 * letters.
 */
export const drawnBullets = (page: PageContent, runs: ReadonlyArray<TextRun>): ReadonlyArray<TextRun> => {
  const shapes = page.drawings.filter(isPath).filter(({ box }) => {
    const [width, height] = [box.x1 - box.x0, box.y1 - box.y0]
    return width >= SMALLEST && width <= LARGEST && Math.abs(width - height) < 0.2 * width + 0.3
  })
  if (shapes.length === 0 || shapes.length > MOST) return []
  const slotOf = (box: Box): number => Math.floor(middleY(box) / SLOT)
  const slots = Map.groupBy(runs, (run) => slotOf(run.box))
  return shapes.flatMap(({ box }): ReadonlyArray<TextRun> => {
    const [y, slot] = [middleY(box), slotOf(box)]
    const level = [slot - 1, slot, slot + 1]
      .flatMap((near) => slots.get(near) ?? [])
      .filter(({ box: line }) => line.y0 < y && y < line.y1)
    const words = level.find(({ box: line }) => line.x0 - box.x1 > NEAREST && line.x0 - box.x1 < FURTHEST)
    if (words === undefined || level.some(({ box: line }) => line.x0 < box.x0 && line.x1 > box.x0 - FURTHEST))
      return []
    const at = { x0: box.x0, y0: words.box.y0, x1: box.x1, y1: words.box.y1 }
    return [{ ...words, text: "•", box: at, edges: [box.x0, box.x1], hyphenated: false, mcid: undefined }]
  })
}

/** White space after a bullet, in font sizes: more than after a word. */
const AFTER_BULLET = 0.6

/**
 * Replaces the letter `o` of another face by a bullet: word processors set the bullets of inner lists so. Each is a
 * separate run before its words in the stream, with white space between.
 */
export const letterBullets = (runs: ReadonlyArray<TextRun>): ReadonlyArray<TextRun> =>
  runs.map((run, at) => {
    if (run.text.trim() !== "o") return run
    const [before, words] = [runs[at - 1], runs[at + 1]]
    const begins = before === undefined || before.baseline !== run.baseline || before.box.x0 > run.box.x1
    const apart = words !== undefined && words.box.x0 - run.box.x1 > AFTER_BULLET * words.size
    return begins && apart && words.baseline === run.baseline && words.font !== run.font
      ? { ...run, text: "◦" }
      : run
  })
