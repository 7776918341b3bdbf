import { Effect, Layer, Option, Stream } from "effect"

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

const sourceOf = (document: PdfDocument, page: LayoutPage): PageSource => ({
  index: page.index,
  label: page.label,
  text: page.text,
  layoutHtml: page.html,
  isBlank: document.isBlank(page.index),
  pdf: Effect.map(only(document.split(pageAlone(page.index))), ({ bytes }) => bytes),
  image: Effect.map(document.render(page.index, PICTURE_DPI), ({ bytes }) => bytes)
})

/** Lays the range out together; where a page of it cannot be read, the others are laid out one by one. */
const open = Effect.fnUntraced(function* (document: PdfDocument, range: PageRange) {
  const together = yield* Effect.option(Stream.runCollect(document.layout(range)))
  const known = new Map(Option.getOrElse(together, () => []).map((page) => [page.index, page]))
  const page = (index: number): Effect.Effect<PageSource, PdfError> =>
    Effect.suspend(() => {
      const found = known.get(index)
      const laidOut = found === undefined ? only(document.layout(pageAlone(index))) : Effect.succeed(found)
      return Effect.map(laidOut, (one) => sourceOf(document, one))
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
