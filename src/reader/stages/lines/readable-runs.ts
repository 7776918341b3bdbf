import type { PageContent, TextRun } from "../../model/page-content.ts"
import { quarterOf, uprightRun } from "../runs/turned.ts"
import { lengthOf } from "./segment.ts"

/** Two drawings of one text this near are one in simulated bold, in font sizes. */
const TWICE = 0.2

const isBlankText = (text: string): boolean => !/\S/.test(text)

/** Drops the duplicates of simulated bold. */
const withoutTwins = (runs: ReadonlyArray<TextRun>): ReadonlyArray<TextRun> => {
  const seen = new Map<string, TextRun>()
  return runs.filter((run) => {
    const key = `${Math.round(run.baseline)}:${run.text}`
    const twin = seen.get(key)
    seen.set(key, run)
    return (
      twin === undefined ||
      Math.abs(twin.box.x0 - run.box.x0) > TWICE * run.size ||
      Math.abs(twin.baseline - run.baseline) > TWICE * run.size
    )
  })
}

/** Meanings of a letter in a circle, where TeX draws the two separately. */
const CIRCLED: ReadonlyMap<string, string> = new Map([
  ["c", "©"],
  ["C", "©"],
  ["r", "®"],
  ["R", "®"],
  ["p", "℗"],
  ["P", "℗"]
])

/** Makes one sign of a circle and the letter that is drawn into it. */
const withCircled = (runs: ReadonlyArray<TextRun>): ReadonlyArray<TextRun> =>
  runs.flatMap((run, at) => {
    const signOf = (circle: TextRun | undefined, letter: TextRun | undefined): string | undefined =>
      circle !== undefined &&
      letter !== undefined &&
      /^\s*[○◯]\s*$/u.test(circle.text) &&
      letter.box.x0 > circle.box.x0 &&
      letter.box.x1 < circle.box.x1 &&
      Math.abs(letter.baseline - circle.baseline) < circle.size
        ? CIRCLED.get(letter.text.trim())
        : undefined
    if (signOf(runs[at - 1], run) !== undefined) return []
    const sign = signOf(run, runs[at + 1])
    return [sign === undefined ? run : { ...run, text: sign, edges: [] }]
  })

/** Runs that are written in one direction. */
export interface TurnedRuns {
  /** By how much the page is to be turned to read them, clockwise degrees. */
  readonly turn: number
  /** The runs, turned to be horizontal. */
  readonly runs: ReadonlyArray<TextRun>
  /** Unchanged runs of the page. */
  readonly asShown: ReadonlyArray<TextRun>
}

/** Runs of a page that a reader is meant to see, by the direction in which they are written. */
export interface ReadableRuns {
  /** In the direction of most of the page's text, made horizontal. */
  readonly main: ReadonlyArray<TextRun>
  /** Written in another direction, each direction made horizontal in turn. */
  readonly turned: ReadonlyArray<TurnedRuns>
  /** By how much the page was turned, clockwise degrees. */
  readonly turn: number
}

/** Leaves out artifacts, and search-only text unless the page has no other. */
export const readableRuns = (page: PageContent): ReadableRuns => {
  const all = page.runs.filter((run) => !run.artifact && run.size > 0.5 && !isBlankText(run.text))
  const seen = all.filter(({ invisible }) => !invisible)
  const runs = lengthOf(seen) * 4 >= lengthOf(all) ? seen : all
  const turns = Map.groupBy(withCircled(withoutTwins(runs)), ({ angle }) => quarterOf(angle))
  const sorted = [...turns].sort(([, a], [, b]) => lengthOf(b) - lengthOf(a))
  const [first, ...rest] = sorted.map(([turn, asShown]): TurnedRuns => ({
    turn,
    runs: turn === 0 ? asShown : asShown.map((run) => uprightRun(run, turn)),
    asShown
  }))
  return { main: first?.runs ?? [], turned: rest, turn: first?.turn ?? 0 }
}
