import { Effect, Stream } from "effect"

import { CHUNK_PAGES } from "../../../domain/conversion/job.ts"
import {
  type Legibility,
  LegibilityTally,
  NOTHING_READABLE,
  notice,
  type PageLine,
  type Recognition
} from "../../../domain/conversion/page-line.ts"
import { append } from "../../../domain/lists.ts"
import { HtmlAssembly } from "../../../ports/conversion/html-assembly.ts"
import { type OpenPages, PageSources } from "../../../ports/conversion/page-sources.ts"
import { FileObjects, type ObjectStoreError } from "../../../ports/object-store.ts"
import type { ExplainedBlock } from "../../../reader/model/explained.ts"
import type { LayoutOptions } from "../../../reader/model/layout-page.ts"
import type { LeftOut } from "../../../reader/model/left-out.ts"
import { PdfError, type PageRange } from "../../../reader/model/pdf-document.ts"
import { pagesOf } from "./assembling.ts"

/** A PDF that is converted directly, without a job: by the layout tier. */
export interface DirectConversion {
  readonly objectKey: string
  /** Name of the uploaded file. */
  readonly name: string
  /** All pages if absent; clipped to the document's length. */
  readonly range: PageRange | undefined
  readonly options?: LayoutOptions
  /** Called after each page. */
  readonly onPage: (progress: { readonly done: number; readonly total: number }) => Effect.Effect<void>
}

/** The outcome. */
export interface ConvertedDirectly extends Legibility, Recognition {
  readonly pages: number
  /** Pages, from 1, that are pictures and were not recognised: the result shows them without their words. */
  readonly unreadPictures: ReadonlyArray<number>
  /** What it holds that is not converted. */
  readonly leftOut?: LeftOut | undefined
  /** Why each block is what it is, page by page, where the options ask for it. */
  readonly explained?: ReadonlyArray<ExplainedBlock>
  /** The whole file, part by part. */
  readonly html: Stream.Stream<string, ObjectStoreError>
}

const encoder = new TextEncoder()

/** Where the chunk that begins with a page is kept. */
const keyOf = (first: number): string => `chunks/${first}.jsonl`

const lineOf = Effect.fnUntraced(function* (pages: OpenPages, index: number) {
  const page = yield* pages.page(index)
  // First, since it often shows that the page is not blank.
  const layout = yield* page.layout
  const isBlank = yield* page.isBlank
  const { doubts, explained = [], html, isScan, label, tier } = isBlank ? layout : yield* page.recognised
  const line: PageLine = {
    page: index,
    label,
    tier: isBlank ? "blank" : tier,
    html: isBlank ? "" : html,
    doubts: isBlank ? undefined : doubts
  }
  return { line, isPicture: !isBlank && isScan === true, explained: isBlank ? [] : explained }
})

/** The requested pages; fails where the document has none of them. */
const rangeOf = (range: PageRange | undefined, pageCount: number) => {
  const first = range?.first ?? 0
  if (first < pageCount) return Effect.succeed({ first, end: Math.min(range?.end ?? pageCount, pageCount) })
  return Effect.fail(
    new PdfError({
      reason: "empty",
      message: `It has ${pageCount} ${pageCount === 1 ? "page" : "pages"} only: there is no page ${first + 1}`
    })
  )
}

/**
 * Converts chunk by chunk, as workers do, so that memory does not grow with the document; finished chunks are kept in the object
 * store, and surveyed while the next ones are read.
 */
export const convertDirectly = Effect.fnUntraced(function* ({
  name,
  objectKey,
  onPage,
  options,
  range: wanted
}: DirectConversion) {
  const sources = yield* PageSources
  const objects = yield* FileObjects
  const { assemble, survey: surveyOf } = yield* HtmlAssembly
  const facts = yield* sources.facts(objectKey)
  const range = yield* rangeOf(wanted, facts.pageCount)
  const total = range.end - range.first
  const tally = new LegibilityTally()
  const unreadPictures: Array<number> = []
  const explained: Array<ExplainedBlock> = []
  let done = 0

  const page = (pages: OpenPages, index: number) =>
    lineOf(pages, index).pipe(
      Effect.catchTag("PdfError", () =>
        Effect.succeed({ line: notice(index), isPicture: false, explained: [] })
      ),
      Effect.map(({ explained: blocks, isPicture, line }) => {
        append(explained, blocks)
        if (isPicture) unreadPictures.push(index + 1)
        return line
      }),
      Effect.tap(() => onPage({ done: ++done, total }))
    )

  const chunk = Effect.fnUntraced(function* (first: number) {
    const end = Math.min(first + CHUNK_PAGES, range.end)
    const pages = yield* sources.open(objectKey, { first, end }, options)
    const lines = Stream.range(first, end - 1).pipe(
      Stream.mapEffect((index) => page(pages, index)),
      Stream.map((line) => encoder.encode(`${JSON.stringify(line)}\n`))
    )
    const key = keyOf(first)
    yield* objects.put(key, lines, { contentType: "application/x-ndjson" })
    return key
  }, Effect.scoped)

  const starts = Array.from(
    { length: Math.ceil(total / CHUNK_PAGES) },
    (_, at) => range.first + at * CHUNK_PAGES
  )
  const survey = yield* surveyOf(
    Stream.fromIterable(starts).pipe(
      // The next chunk is read while this one is kept and surveyed.
      Stream.mapEffect(chunk, { concurrency: 2 }),
      Stream.flatMap((key) => pagesOf(objects, key, tally))
    ),
    facts
  )
  const { legibility, recognition } = tally
  if (legibility.unreadablePages.length === total)
    return yield* new PdfError({ reason: "broken", message: NOTHING_READABLE })
  const pages = Stream.flatMap(Stream.fromIterable(starts), (first) => pagesOf(objects, keyOf(first), tally))
  const result: ConvertedDirectly = {
    pages: total,
    ...legibility,
    ...recognition,
    unreadPictures: unreadPictures.toSorted((a, b) => a - b),
    leftOut: facts.leftOut,
    ...(options?.explains === true && { explained: explained.toSorted((a, b) => a.page - b.page) }),
    html: assemble({ facts, name, notes: tally.notes, pages, survey })
  }
  return result
})
