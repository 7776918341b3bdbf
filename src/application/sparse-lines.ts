import { Clock, Effect } from "effect"

/** One line a minute for each key: what happens a thousand times has the same cause. */
const LINE_EVERY = 60_000_000_000n

interface Line {
  readonly at: bigint
  /** How often it happened since then without a line. */
  readonly unlogged: number
}

/**
 * Log lines that are written once a minute, whatever happens meanwhile; the next one says how often it did (`sinceLastLine`).
 */
export const makeSparseLines = () => {
  const lines = new Map<string, Line>()
  return Effect.fnUntraced(function* (
    key: string,
    line: Effect.Effect<void>,
    facts: Readonly<Record<string, unknown>>
  ) {
    const now = yield* Clock.monotonicTimeNanos
    const last = lines.get(key)
    if (last !== undefined && now - last.at < LINE_EVERY) {
      lines.set(key, { at: last.at, unlogged: last.unlogged + 1 })
      return
    }
    lines.set(key, { at: now, unlogged: 0 })
    yield* Effect.annotateLogs(line, {
      ...facts,
      ...(last === undefined ? {} : { sinceLastLine: last.unlogged })
    })
  })
}
