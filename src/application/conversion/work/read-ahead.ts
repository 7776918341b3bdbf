import { Effect, Fiber, Pull, Scope, Semaphore, Stream } from "effect"

import type { PdfError, PageRange } from "../../../reader/model/pdf-document.ts"

/** How the pages of a range are read. */
interface ReadAhead<A extends {}> {
  readonly range: PageRange
  /** In the order of the pages. */
  readonly read: (range: PageRange) => Stream.Stream<A, PdfError>
  /** Reads one page, alone. */
  readonly alone: (index: number) => Effect.Effect<A, PdfError>
  readonly sizeOf: (item: A) => number
  /** Most that is kept for a second call, as `sizeOf` counts. */
  readonly maxKept: number
}

/** A reader that reads ahead. */
interface ReadingAhead<A extends {}> {
  readonly of: (index: number) => Effect.Effect<A, PdfError>
  /** The page's value, if it is still kept. */
  readonly kept: (index: number) => A | undefined
  /** Removes the page's value, and returns it. */
  readonly drop: (index: number) => A | undefined
}

/** The values of a range that are kept for a second call, up to a total size; the newest one always. */
const makeKept = <A extends {}>({ maxKept, range, sizeOf }: ReadAhead<A>) => {
  const values = new Map<number, A>()
  let size = 0
  const kept = {
    /** The first page that is not read yet. */
    reached: range.first,
    get: (index: number) => values.get(index),
    drop: (index: number) => {
      const found = values.get(index)
      if (found === undefined) return undefined
      values.delete(index)
      size -= sizeOf(found)
      return found
    },
    add: (items: ReadonlyArray<A>) => {
      for (const item of items) {
        values.set(kept.reached, item)
        size += sizeOf(item)
        kept.reached += 1
      }
      for (const oldest of values.keys()) {
        if (size <= maxKept || oldest === kept.reached - 1) break
        kept.drop(oldest)
      }
    }
  }
  return kept
}

/**
 * Reads a range in one stream, up to the requested page and one batch further: single reads have an overhead, and this way the
 * reader works while its caller does. A page that is no longer kept is read again alone; so is one that broke the stream, which
 * continues after it.
 */
export const makeReadAhead = Effect.fnUntraced(function* <A extends {}>(
  options: ReadAhead<A>
): Effect.fn.Return<ReadingAhead<A>, never, Scope.Scope> {
  const { alone, range, read } = options
  const scope = yield* Effect.scope
  const one = yield* Semaphore.make(1)
  const kept = makeKept(options)
  let underWay: Fiber.Fiber<void> | undefined

  let opened: Pull.Pull<ReadonlyArray<A>, PdfError> | undefined
  const pull = Effect.gen(function* () {
    opened ??= yield* Stream.toPull(read({ first: kept.reached, end: range.end })).pipe(
      Effect.provideService(Scope.Scope, scope)
    )
    return yield* opened
  })
  const readBatch = pull.pipe(
    Effect.map(kept.add),
    Pull.catchDone(() => Effect.sync(() => void (kept.reached = range.end))),
    Effect.catch(() =>
      Effect.sync(() => {
        kept.reached += 1
        opened = undefined
      })
    )
  )
  /** An interrupted caller leaves the batch to the next one. */
  const advance = Effect.gen(function* () {
    underWay ??= yield* Effect.forkIn(readBatch, scope)
    yield* Fiber.join(underWay)
    underWay = kept.reached < range.end ? yield* Effect.forkIn(readBatch, scope) : undefined
  })
  const isAhead = (index: number) => index >= kept.reached && kept.reached < range.end
  const readUpTo = (index: number) =>
    one.withPermit(
      Effect.gen(function* () {
        while (kept.get(index) === undefined && isAhead(index)) yield* advance
      })
    )

  return {
    of: (index) =>
      Effect.suspend(() => {
        const found = kept.get(index)
        if (found !== undefined) return Effect.succeed(found)
        return Effect.flatMap(readUpTo(index), () => {
          const came = kept.get(index)
          return came === undefined ? alone(index) : Effect.succeed(came)
        })
      }),
    kept: kept.get,
    drop: kept.drop
  }
})
