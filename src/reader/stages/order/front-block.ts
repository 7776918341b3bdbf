import { acrossOf } from "../../model/geometry.ts"
import { median } from "../../model/lists.ts"
import { type Atom, crossesGutter } from "./gutters.ts"

/** White space below it, in sizes of running text. */
const ROOM = 1.7
/** Most lines of it on each side, and their greatest mean length, in characters: names and addresses. */
const MOST_LINES = 10
const LENGTH = 34
/** Most lines above the columns, those of the title among them. */
const MOST_FRONT = 40
/** Fewest lines of the columns below, on each side. */
const FEWEST_BELOW = 6
/** How far a line begins off its column's edge that is set in the middle, in font sizes. */
const OFF = 1

type Side = "left" | "right"
const sideOf = (atom: Atom, gutter: number): Side => (atom.x1 <= gutter ? "left" : "right")

/** Whether lines at one side are names and addresses: short, and set off the edge at which the lines below begin. */
const areNames = (lines: ReadonlyArray<Atom>, below: ReadonlyArray<Atom>): boolean => {
  if (lines.length === 0 || lines.length > MOST_LINES || below.length < FEWEST_BELOW) return false
  if (lines.some(({ segment }) => segment === undefined)) return false
  const letters = lines.reduce((sum, { characters }) => sum + characters, 0)
  const edge = median(below.map(({ x0 }) => x0)) ?? 0
  const off = lines.filter(({ segment, x0 }) => Math.abs(x0 - edge) > OFF * (segment?.size ?? 0))
  return letters <= LENGTH * lines.length && 2 * off.length > lines.length
}

/**
 * Authors side by side above two columns, with their title: they are read before both columns, or the second author would open the second
 * column. `at`: the gutter between the columns.
 */
export const frontBlock = (
  atoms: ReadonlyArray<Atom>,
  at: number,
  bodySize: number
): readonly [ReadonlyArray<Atom>, ReadonlyArray<Atom>] | undefined => {
  const sorted = atoms.toSorted((a, b) => a.y0 - b.y0)
  const { x0, x1 } = acrossOf(atoms)
  let bottom = sorted[0]?.y1 ?? 0
  for (const [index, atom] of sorted.slice(0, MOST_FRONT).entries()) {
    if (atom.y0 - bottom > ROOM * bodySize) {
      const [front, rest] = [sorted.slice(0, index), sorted.slice(index)]
      const split = (of: ReadonlyArray<Atom>) =>
        Map.groupBy(
          of.filter((one) => !crossesGutter(one, at)),
          (one) => sideOf(one, at)
        )
      const [above, below] = [split(front), split(rest)]
      const isFront = (["left", "right"] as const).every((side) =>
        areNames(above.get(side) ?? [], below.get(side) ?? [])
      )
      if (isFront && at > x0 && at < x1) return [front, rest]
    }
    bottom = Math.max(bottom, atom.y1)
  }
  return undefined
}
