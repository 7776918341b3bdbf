import { Effect, Fiber, Layer, Option, Stream } from "effect"

import { type OpenPages, PageSources } from "../../../ports/conversion/page-sources.ts"
import { Pdf, type PdfDocument } from "../../../ports/conversion/pdf.ts"
import { type Recogniser, TextRecognition } from "../../../ports/conversion/text-recognition.ts"
import { FileObjects } from "../../../ports/object-store.ts"
import type { LayoutOptions, LayoutPage } from "../../../reader/model/layout-page.ts"
import type { PdfError, PageRange } from "../../../reader/model/pdf-document.ts"
import { makeRetries } from "./attempt.ts"
import { makeReadAhead } from "./read-ahead.ts"
import { makeRecognised } from "./recognise-pages.ts"

/** Resolution of the picture that a model gets: text of 6 points is legible. */
const PICTURE_DPI = 144

/** The only element of a stream that has exactly one. */
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
const MAX_KEPT_BYTES = 24 * 1024 * 1024

/** Limit on pages remembered as blank or not. Beyond it, the oldest are forgotten. */
const MAX_KEPT_BLANKS = 1_000

type Retrying = ReturnType<typeof makeRetries>

/** The pages of a range are laid out together; where one of them cannot be read, the others one by one. */
const makeLayouts = Effect.fnUntraced(function* (
  document: PdfDocument,
  range: PageRange,
  options: LayoutOptions | undefined,
  retrying: Retrying
) {
  const scope = yield* Effect.scope
  let underWay: Fiber.Fiber<ReadonlyMap<number, LayoutPage>> | undefined
  const found = (index: number) =>
    underWay === undefined ? Effect.undefined : Effect.map(Fiber.join(underWay), (pages) => pages.get(index))
  const together = Effect.option(
    Effect.suspend(() => Stream.runCollect(document.layout(range, options)))
  ).pipe(
    Effect.map(Option.getOrElse((): ReadonlyArray<LayoutPage> => [])),
    Effect.map((pages) => new Map(pages.map((page) => [page.index, page])))
  )
  return {
    of: (index: number): Effect.Effect<LayoutPage, PdfError> =>
      Effect.gen(function* () {
        underWay ??= yield* Effect.forkIn(together, scope)
        return (yield* found(index)) ?? (yield* retrying(only(document.layout(pageAlone(index), options))))
      }),
    /** The page as it was laid out with its range, if anybody has asked for the range's layout. */
    found
  }
})

/** Frees the memory now: buffers outside of the heap would otherwise cause full garbage collections. */
const free = ({ buffer }: Uint8Array): void => {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}

const open = Effect.fnUntraced(function* (
  document: PdfDocument,
  range: PageRange,
  options: LayoutOptions | undefined,
  recogniser: Recogniser
) {
  const retrying = makeRetries()
  const layouts = yield* makeLayouts(document, range, options, retrying)
  const looked = (index: number) => retrying(document.isBlank(index))
  const blanks = yield* makeReadAhead({
    range,
    read: document.blanks,
    alone: looked,
    sizeOf: () => 1,
    maxKept: MAX_KEPT_BLANKS
  })
  const split = yield* makeReadAhead({
    range,
    read: (pages) => document.split(pages, { words: true }),
    alone: (index) => retrying(only(document.split(pageAlone(index), { words: true }))),
    sizeOf: ({ bytes }) => bytes.length,
    maxKept: MAX_KEPT_BYTES
  })
  /** Splitting a page or laying it out often shows it already; only the others are examined alone. */
  const isBlank = (index: number): Effect.Effect<boolean, PdfError> =>
    Effect.gen(function* () {
      const ofSplit = split.kept(index)?.hasWords
      if (ofSplit === true) return false
      const laidOut = yield* layouts.found(index)
      if (laidOut?.isBlank !== undefined) return laidOut.isBlank
      const hasWords = ofSplit ?? laidOut?.hasWords
      if (hasWords === true) return false
      if (hasWords === undefined || blanks.kept(index) !== undefined) return yield* blanks.of(index)
      return yield* looked(index)
    })
  const recognised = yield* makeRecognised({
    document: {
      facts: document.facts,
      scan: (index) => retrying(document.scan(index)),
      layoutRead: (index, scans) => retrying(document.layoutRead(index, scans))
    },
    range,
    layout: layouts.of,
    isBlank,
    recogniser
  })
  const pages: OpenPages = {
    page: (index) =>
      Effect.succeed({
        index,
        isBlank: isBlank(index),
        layout: layouts.of(index),
        recognised: recognised(index),
        pdf: Effect.map(split.of(index), ({ bytes }) => bytes),
        image: Effect.map(retrying(document.render(index, PICTURE_DPI)), ({ bytes }) => bytes)
      }),
    release: (index) =>
      Effect.sync(() => {
        const kept = split.drop(index)
        if (kept !== undefined) free(kept.bytes)
      })
  }
  return pages
})

/** Pages of stored PDFs, read through the ports in context. */
export const layer: Layer.Layer<PageSources, never, Pdf | FileObjects> = Layer.effect(
  PageSources,
  Effect.gen(function* () {
    const pdf = yield* Pdf
    const objects = yield* FileObjects
    const recogniser = yield* TextRecognition
    const opened = (path: string) => makeRetries()(pdf.open(path))
    return PageSources.of({
      facts: (objectKey) =>
        objects.localPath(objectKey).pipe(
          Effect.flatMap(opened),
          Effect.flatMap(({ facts, leftOut }) =>
            Effect.map(leftOut, (found) => ({ ...facts, leftOut: found }))
          ),
          Effect.scoped
        ),
      open: (objectKey, range, options) =>
        objects.localPath(objectKey).pipe(
          Effect.flatMap(opened),
          Effect.flatMap((document) => open(document, range, options, recogniser))
        )
    })
  })
)
