/** The numbers of a module's faults, and its path below `src`. */
export interface Place {
  readonly first: number
  /** Above the last one. */
  readonly end: number
  readonly module: string
}

/** In the place of a fault's number: the test cannot be run again and again. */
export const UNFIT = -1

/** In the place of a test: with the fault it is no program. */
export const NO_PROGRAM = "no program"

const linesOf = (lines: string): ReadonlyArray<readonly [number: number, test: string]> =>
  lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => [Number(line.split(" ", 1)[0]), line.slice(line.indexOf(" ") + 1)])

/** The faults that were noticed and the tests that did, by the lines of a file: a number and a name each. */
export const noticedIn = (lines: string): Map<number, string> =>
  new Map(linesOf(lines).filter(([fault]) => fault !== UNFIT))

/** The tests that said nothing. */
export const unfitIn = (lines: string): ReadonlyArray<string> =>
  linesOf(lines).flatMap(([fault, test]) => (fault === UNFIT ? [test] : []))
