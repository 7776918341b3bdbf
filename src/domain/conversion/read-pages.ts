import { Effect, Layer, Option, type Scope, Semaphore, Stream } from "effect"

import { FileObjects } from "../../ports/object-store.ts"
import { type OpenPages, PageSources } from "../../ports/page-sources.ts"
import { Pdf, type PdfDocument, type PdfError, type PageRange } from "../../ports/pdf.ts"
import type { LayoutPage } from "./layout/layout-pages.ts"
import type { PageSource } from "./page-source.ts"

/** Resolution of the picture that a model looks at: text of 6 points can be read. */
const PICTURE_DPI = 144

/** The only element of a stream that has one. */
const only = <A, E>(stream: Stream.Stream<A, E>): Effect.Effect<A, E> =>
  Effect.flatMap(
    Stream.runHead(stream),
    Option.match({
      onNone: () => Effect.die(new Error("a page that was asked for did not come")),
      onSome: Effect.succeed
    })
  )

const pageAlone = (index: number): PageRange => ({ first: index, end: index + 1 })

/** Split pages that are kept for a second call, bytes. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024

/**
 * Split pages of a range. Splitting a long document has a cost of its own, so the range is split in one go, as far as it is
 * asked for; a page that is not kept any more is split again alone.
 */
const makeSplitPages = Effect.fnUntraced(function* (
  document: PdfDocument,
  range: PageRange
): Effect.fn.Return<(index: number) => Effect.Effect<Uint8Array, PdfError>, never, Scope.Scope> {
  const pull = yield* Stream.toPull(document.split(range))
  const one = yield* Semaphore.make(1)
  const kept = new Map<number, Uint8Array>()
  let keptBytes = 0
  let reached = range.first
  const keep = (index: number, bytes: Uint8Array) => {
    kept.set(index, bytes)
    keptBytes += bytes.length
    for (const [oldest, { length }] of kept) {
      if (keptBytes <= MAX_KEPT_BYTES || oldest === index) break
      kept.delete(oldest)
      keptBytes -= length
    }
  }
  const alone = (index: number) => Effect.map(only(document.split(pageAlone(index))), ({ bytes }) => bytes)
  // A page that breaks the stream off, or its end, is no answer yet: each page is asked for alone then.
  const advance = pull.pipe(
    Effect.map((pages) => {
      for (const { bytes, index } of pages) {
        keep(index, bytes)
        reached = index + 1
      }
    }),
    Effect.catch(() => Effect.sync(() => void (reached = range.end)))
  )
  return (index) =>
    one
      .withPermit(
        Effect.gen(function* () {
          while (!kept.has(index) && index >= reached && reached < range.end) yield* advance
          return kept.get(index)
        })
      )
      .pipe(Effect.flatMap((bytes) => (bytes === undefined ? alone(index) : Effect.succeed(bytes))))
})

const sourceOf = (
  document: PdfDocument,
  page: LayoutPage,
  pdf: (index: number) => Effect.Effect<Uint8Array, PdfError>
): PageSource => ({
  index: page.index,
  label: page.label,
  text: page.text,
  layoutHtml: page.html,
  isBlank: document.isBlank(page.index),
  pdf: pdf(page.index),
  image: Effect.map(document.render(page.index, PICTURE_DPI), ({ bytes }) => bytes)
})

/** Lays the range out together; where a page of it cannot be read, the others are laid out one by one. */
const open = Effect.fnUntraced(function* (document: PdfDocument, range: PageRange) {
  const together = yield* Effect.option(Stream.runCollect(document.layout(range)))
  const known = new Map(Option.getOrElse(together, () => []).map((page) => [page.index, page]))
  const split = yield* makeSplitPages(document, range)
  const page = (index: number): Effect.Effect<PageSource, PdfError> =>
    Effect.suspend(() => {
      const found = known.get(index)
      const laidOut = found === undefined ? only(document.layout(pageAlone(index))) : Effect.succeed(found)
      return Effect.map(laidOut, (one) => sourceOf(document, one, split))
    })
  const pages: OpenPages = { page }
  return pages
})

/** Pages of stored PDFs, read through the ports of the surroundings. */
export const layer: Layer.Layer<PageSources, never, Pdf | FileObjects> = Layer.effect(
  PageSources,
  Effect.gen(function* () {
    const pdf = yield* Pdf
    const objects = yield* FileObjects
    return PageSources.of({
      facts: (objectKey) =>
        objects.localPath(objectKey).pipe(
          Effect.flatMap(pdf.open),
          Effect.map(({ facts }) => facts),
          Effect.scoped
        ),
      open: (objectKey, range) =>
        objects.localPath(objectKey).pipe(
          Effect.flatMap(pdf.open),
          Effect.flatMap((document) => open(document, range))
        )
    })
  })
)
