import { Console, Effect } from "effect"

import { Shell } from "../shell.ts"
import { counted } from "../table.ts"

/** Cells of the bar. */
const CELLS = 24

/** Lines of progress without a terminal, not counting the first and the last. */
const LINES = 10

/** The bar as a line, without its end. */
export const barOf = (phase: string, done: number, total: number): string => {
  const full = total === 0 ? 0 : Math.floor((CELLS * done) / total)
  const percent = total === 0 ? 0 : Math.floor((100 * done) / total)
  return `${"█".repeat(full)}${"░".repeat(CELLS - full)} ${String(percent).padStart(3)} %  ${phase}`
}

/** Shows a command's progress: on a terminal one line that changes, elsewhere a few plain ones. Never on stdout. */
interface Progress {
  readonly phase: (words: string) => Effect.Effect<void>
  readonly pages: (words: string, done: number, total: number) => Effect.Effect<void>
  /** Clears the line. */
  readonly clear: Effect.Effect<void>
}

const CLEAR_LINE = "\r\u001b[K"

export const makeProgress = Effect.fnUntraced(function* (options: { readonly quiet: boolean }) {
  const { status } = yield* Shell
  const nothing: Progress = { phase: () => Effect.void, pages: () => Effect.void, clear: Effect.void }
  if (options.quiet) return nothing
  if (status !== undefined) {
    const draw = (line: string) => Effect.sync(() => status(CLEAR_LINE + line))
    const bar: Progress = {
      phase: (words) => draw(words),
      pages: (words, done, total) =>
        draw(barOf(`${words}: ${done} of ${counted(total, "page")}`, done, total)),
      clear: draw("")
    }
    return bar
  }
  let shown = 0
  const lines: Progress = {
    phase: (words) => Console.error(words),
    pages: (words, done, total) => {
      const step = Math.floor((LINES * done) / total)
      if (step === shown) return Effect.void
      shown = step
      return Console.error(`${words}: ${done} of ${counted(total, "page")}`)
    },
    clear: Effect.void
  }
  return lines
})
