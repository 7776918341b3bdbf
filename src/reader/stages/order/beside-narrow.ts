import { acrossOf, hull } from "../../model/geometry.ts"
import { greatest, median } from "../../model/lists.ts"
import { segmentText } from "../lines/segment.ts"
import type { Atom } from "./gutters.ts"

/** Fewest lines of a narrow group, and of the prose next to it. */
const LINES = 3
/** Least mean length of the lines of prose, in characters. */
const PROSE_LENGTH = 28
/** Greatest width of something narrow, as a part of the prose's. */
const NARROW = 0.85
/** Least room between the two, in font sizes. */
const ROOM = 0.8
/** How near two baselines are that are one row, in font sizes, and the part of such lines from which on they are rows of a table. */
const SAME_ROW = 0.15
const ROWS = 0.5
/** Greatest step between the lines of a group, in font sizes: lines further apart belong to the words next to them. */
const STEP = 2.5
/** Step from which on the prose has ended a paragraph, as a factor of the usual one. */
const WIDER = 1.25
/** Groups that are tried. */
const MOST_TRIED = 8

/** A narrow group next to prose, and the whole paragraphs that are read before and after it. */
interface BesideNarrow {
  readonly narrow: ReadonlyArray<Atom>
  readonly before: ReadonlyArray<Atom>
  readonly after: ReadonlyArray<Atom>
}

const sizeOf = ({ segment, y0, y1 }: Atom): number => segment?.size ?? y1 - y0

/** Lines that are drawn one after the other from the top down, in one place: a column, a box, a legend. */
const groupsOf = (atoms: ReadonlyArray<Atom>): ReadonlyArray<ReadonlyArray<Atom>> => {
  const groups: Array<Array<Atom>> = []
  let before: Atom | undefined
  for (const atom of atoms) {
    const goesOn =
      before !== undefined &&
      atom.baseline > before.baseline - 0.5 * sizeOf(before) &&
      atom.baseline < before.baseline + STEP * sizeOf(atom) &&
      atom.x0 < before.x1 + ROOM * sizeOf(atom) &&
      atom.x1 > before.x0 - ROOM * sizeOf(atom)
    if (goesOn) groups.at(-1)?.push(atom)
    else groups.push([atom])
    before = atom
  }
  return groups
}

const hasLetters = ({ segment }: Atom): boolean =>
  segment !== undefined && /\p{L}{2}/u.test(segmentText(segment))

/** Whether lines are those of running text: long, each by itself, in one column. */
const areProse = (lines: ReadonlyArray<Atom>): boolean => {
  if (lines.length < LINES || lines.some(({ code, segment }) => code || segment === undefined)) return false
  const letters = lines.reduce((sum, { characters }) => sum + characters, 0)
  if (letters < PROSE_LENGTH * lines.length) return false
  return lines.every((line, at) => {
    const above = lines[at - 1]
    return above === undefined || line.baseline - above.baseline > 0.5 * sizeOf(line)
  })
}

/** The lines at the side of a group, from top to bottom; undefined where they are no prose, or rows with it. */
const proseBeside = (
  group: ReadonlyArray<Atom>,
  others: ReadonlyArray<Atom>
): ReadonlyArray<Atom> | undefined => {
  const box = hull(group)
  const beside = others
    .filter(({ y0, y1 }) => y1 > box.y0 + 1 && y0 < box.y1 - 1)
    .sort((a, b) => a.baseline - b.baseline)
  const room = ROOM * greatest(group.map(sizeOf))
  const isLeft = beside.every(({ x1 }) => x1 < box.x0 - room)
  const isRight = beside.every(({ x0 }) => x0 > box.x1 + room)
  if (!(isLeft || isRight) || !areProse(beside)) return undefined
  const across = acrossOf(beside)
  if (box.x1 - box.x0 > NARROW * (across.x1 - across.x0)) return undefined
  // Numbers at the side are those of the words' own rows.
  if (2 * group.filter(hasLetters).length < group.length) return undefined
  const rows = group.filter(({ baseline, ...atom }) =>
    beside.some((line) => Math.abs(line.baseline - baseline) < SAME_ROW * sizeOf({ ...atom, baseline }))
  )
  return rows.length > ROWS * group.length ? undefined : beside
}

/** The y below which the paragraph has ended that the last of the lines belongs to. */
const endOf = (beside: ReadonlyArray<Atom>, others: ReadonlyArray<Atom>): number => {
  const last = beside.at(-1)
  if (last === undefined) return Infinity
  const steps = beside.map(({ baseline }, at) => baseline - (beside[at - 1]?.baseline ?? -Infinity))
  const usual = median(steps.filter(Number.isFinite)) ?? Infinity
  const below = others
    .filter(({ baseline }) => baseline > last.baseline)
    .sort((a, b) => a.baseline - b.baseline)
  let end = last.baseline
  for (const { baseline } of below) {
    if (baseline - end > WIDER * usual) return end
    end = baseline
  }
  return Infinity
}

/**
 * Finds a legend, a box or a caption next to prose. They are no two columns, since one begins or ends in the middle of the other, and no
 * rows, since their lines are at different heights. `atoms`: in the order of the content stream.
 */
export const besideNarrow = (atoms: ReadonlyArray<Atom>): BesideNarrow | undefined => {
  const groups = groupsOf(atoms).filter((group) => group.length >= LINES && group.length < atoms.length)
  for (const narrow of groups.slice(0, MOST_TRIED)) {
    const own = new Set(narrow)
    const others = atoms.filter((atom) => !own.has(atom))
    const beside = proseBeside(narrow, others)
    if (beside === undefined) continue
    const end = endOf(beside, others)
    return {
      narrow,
      before: others.filter(({ baseline }) => baseline <= end),
      after: others.filter(({ baseline }) => baseline > end)
    }
  }
  return undefined
}
