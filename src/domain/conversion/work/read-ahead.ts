import { Effect, Fiber, Pull, Scope, Semaphore, Stream } from "effect"

import type { PdfError, PageRange } from "../../../ports/conversion/pdf.ts"

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

/**
 * Reads a range in one stream, up to the requested page and one batch further: single reads have an overhead, and this way the
 * reader works while its caller does. A page that is no longer kept is read again alone; so is one that broke the stream, which
 * continues after it.
 */
export const makeReadAhead = Effect.fnUntraced(function* <A extends {}>({
  alone,
  maxKept,
  range,
  read,
  sizeOf
}: ReadAhead<A>): Effect.fn.Return<ReadingAhead<A>, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const one = yield* Semaphore.make(1)
  const kept = new Map<number, A>()
  let keptSize = 0
  let reached = range.first
  let underWay: Fiber.Fiber<void> | undefined

  let opened: Pull.Pull<ReadonlyArray<A>, PdfError> | undefined
  const pull = Effect.gen(function* () {
    opened ??= yield* Stream.toPull(read({ first: reached, end: range.end })).pipe(
      Effect.provideService(Scope.Scope, scope)
    )
    return yield* opened
  })

  const keep = (items: ReadonlyArray<A>) => {
    for (const item of items) {
      kept.set(reached, item)
      keptSize += sizeOf(item)
      reached += 1
    }
    for (const [oldest, item] of kept) {
      if (keptSize <= maxKept || oldest === reached - 1) break
      kept.delete(oldest)
      keptSize -= sizeOf(item)
    }
  }
  const readBatch = pull.pipe(
    Effect.map(keep),
    Pull.catchDone(() => Effect.sync(() => void (reached = range.end))),
    Effect.catch(() =>
      Effect.sync(() => {
        reached += 1
        opened = undefined
      })
    )
  )
  /** An interrupted caller leaves the batch to the next one. */
  const advance = Effect.gen(function* () {
    underWay ??= yield* Effect.forkIn(readBatch, scope)
    yield* Fiber.join(underWay)
    underWay = reached < range.end ? yield* Effect.forkIn(readBatch, scope) : undefined
  })
  const readUpTo = (index: number) =>
    one.withPermit(
      Effect.gen(function* () {
        while (!kept.has(index) && index >= reached && reached < range.end) yield* advance
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
    kept: (index) => kept.get(index),
    drop: (index) => {
      const found = kept.get(index)
      if (found === undefined) return undefined
      kept.delete(index)
      keptSize -= sizeOf(found)
      return found
    }
  }
})
