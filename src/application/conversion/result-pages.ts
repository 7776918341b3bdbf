import { Context, Effect, Layer, Option, Schema, Semaphore, Stream } from "effect"

import type { StoredFile } from "../../domain/conversion/file.ts"
import type { PageLine } from "../../domain/conversion/page-line.ts"
import { previewedJob } from "../../domain/conversion/progress.ts"
import { jobOfResult } from "../../domain/conversion/stored-files.ts"
import { ConversionStore } from "../../ports/conversion/conversion-store.ts"
import { LanguageDetector } from "../../ports/conversion/html-assembly.ts"
import { Pdf } from "../../ports/conversion/pdf.ts"
import { FileObjects, type ObjectStoreError } from "../../ports/object-store.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { languageTag } from "../../reader/html/allowed.ts"
import { type ResultCheck, ResultChecker } from "../../reader/html/result-check.ts"
import { pageDocument } from "../../reader/html/shell.ts"
import { Doubt } from "../../reader/model/doubt.ts"
import type { PdfError, Picture } from "../../reader/model/pdf-document.ts"
import { storedLines } from "./stored-lines.ts"

/** A page of a result, without its text. */
interface OutlinePage {
  /** From 1. */
  readonly page: number
  /** As the document labels it. */
  readonly label: string
  readonly tier: PageLine["tier"]
  /** Why somebody should look at it; null: nothing is known against it. */
  readonly look: Look | null
}

/**
 * Why a page needs a look: it could not be read; it was read from a picture, but not well; the model left words out, and they
 * were mended; a model was asked for and none converted it, so that the layout tier did; or its evidence disagrees (DOC-28).
 */
export const Look = Schema.Literals(["unreadable", "poorly_read", "mended", "no_model", ...Doubt.literals])
export type Look = typeof Look.Type

const lookOf = (tier: PageLine["tier"]): Look | null => {
  switch (tier) {
    case "unreadable":
      return "unreadable"
    case "poorly-recognised":
      return "poorly_read"
    case "coverage-retry":
    case "agentic":
      return "mended"
    default:
      return null
  }
}

/** Pages of a conversion with their reasons to be looked at. */
export const outlineOf = (
  lines: ReadonlyArray<Pick<PageLine, "doubts" | "page" | "label" | "noModel" | "tier">>
): ReadonlyArray<OutlinePage> =>
  lines.map(({ doubts, label, noModel, page, tier }) => ({
    page: page + 1,
    label,
    tier,
    look: noModel === undefined ? (lookOf(tier) ?? doubts?.[0] ?? null) : "no_model"
  }))

/** Most pictures that one process draws at once for people who look at pages. */
const DRAWN_AT_ONCE = 2

/** Resolution of a page's picture: legible next to the result. */
const DPI = 110

type Asked<A> = Effect.Effect<A | undefined, ObjectStoreError | StoreUnavailable>

/** Pages of results, one by one, each with the original page (DOC-24). */
export class ResultPages extends Context.Service<
  ResultPages,
  {
    /** Undefined: there is no result, or none that was made page by page. */
    readonly outline: (file: StoredFile) => Asked<ReadonlyArray<OutlinePage>>
    /** A page of the result as a document; `page` from 1. Undefined: there is no such page. */
    readonly html: (file: StoredFile, page: number) => Asked<string>
    /**
     * A page that is ready of the conversion under way, as a document that says what it is (DOC-46); `page` from 1. Undefined: it is not
     * ready, or no conversion is under way.
     */
    readonly preview: (file: StoredFile, page: number) => Asked<string>
    /** Accessibility check of the newest result, paged or not; undefined without a result. */
    readonly check: (file: StoredFile) => Asked<ResultCheck>
    /** The page of the uploaded PDF as a picture; undefined for other files. */
    readonly picture: (
      file: StoredFile,
      page: number
    ) => Effect.Effect<Picture | undefined, ObjectStoreError | PdfError>
  }
>()("postlane/application/ResultPages") {}

/** The language that a stored result names in its first bytes. */
const LANGUAGE = /<html lang="([A-Za-z0-9-]{1,35})"/

/** Characters within which a stored result names it. */
const HEAD = 1_000

/** The language that a stored result names, in pieces of any size, as stores send them. */
export const languageOf = <E>(result: Stream.Stream<Uint8Array, E>): Effect.Effect<string, E> =>
  result.pipe(
    Stream.decodeText(),
    Stream.scan(
      () => "",
      (head, piece) => head + piece
    ),
    Stream.filter((head) => head.length >= HEAD || LANGUAGE.test(head)),
    Stream.runHead,
    Effect.map((head) => LANGUAGE.exec(Option.getOrElse(head, () => ""))?.[1] ?? "en")
  )

/** What a page says that is shown before the result is there. */
const UNFINISHED =
  "Preview: this document is still being converted. Headings, links and notes of this page may change."

/** Characters of a page that its language is guessed from. */
const SAMPLE = 4_000

/** The language of a page, before that of the whole document is known. */
const languageOfPage = ({ detect }: LanguageDetector["Service"], html: string): Effect.Effect<string> =>
  Effect.map(
    detect(html.replaceAll(/<[^<>]*>/g, " ").slice(0, SAMPLE)),
    (found) => languageTag(found) ?? "en"
  )

/** Reads the chunk of a page (from 1) up to that page. */
const lineOf = Effect.fnUntraced(function* (
  objects: FileObjects["Service"],
  chunks: Effect.Success<ReturnType<ConversionStore["Service"]["chunkResults"]>>,
  page: number
) {
  const index = page - 1
  const chunk = chunks.find(({ firstPage, lastPage }) => firstPage <= index && index <= lastPage)
  if (chunk === undefined) return undefined
  const lines = Stream.filter(storedLines(objects, chunk.key), (line) => line.page === index)
  return Option.getOrUndefined(yield* Stream.runHead(lines))
})

/** Built on the stored results of chunks, which stay as long as their file. */
export const layer: Layer.Layer<ResultPages, never, ConversionStore | FileObjects | LanguageDetector | Pdf> =
  Layer.effect(
    ResultPages,
    Effect.gen(function* () {
      const store = yield* ConversionStore
      const objects = yield* FileObjects
      const pdf = yield* Pdf
      const detector = yield* LanguageDetector
      const drawing = yield* Semaphore.make(DRAWN_AT_ONCE)

      const chunksOf = Effect.fnUntraced(function* ({ resultKey }: StoredFile) {
        const jobId = resultKey === null ? undefined : jobOfResult(resultKey)
        return jobId === undefined ? [] : yield* store.chunkResults(jobId)
      })

      return ResultPages.of({
        outline: Effect.fnUntraced(function* (file) {
          const chunks = yield* chunksOf(file)
          if (chunks.length === 0) return undefined
          const lines = yield* Stream.fromIterable(chunks).pipe(
            Stream.flatMap(({ key }) => storedLines(objects, key)),
            Stream.map(({ doubts, label, noModel, page, tier }) => ({ doubts, label, noModel, page, tier })),
            Stream.runCollect
          )
          return outlineOf([...lines])
        }),
        html: Effect.fnUntraced(function* (file, page) {
          if (file.resultKey === null) return undefined
          const found = yield* lineOf(objects, yield* chunksOf(file), page)
          if (found === undefined) return undefined
          const lang = yield* languageOf(objects.get(file.resultKey))
          return pageDocument({ lang, title: `Page ${page} of ${file.name}`, html: found.html })
        }),
        preview: Effect.fnUntraced(function* (file, page) {
          const jobId = previewedJob(file)
          if (jobId === undefined) return undefined
          const found = yield* lineOf(objects, yield* store.chunkResults(jobId), page)
          if (found === undefined) return undefined
          const lang = yield* languageOfPage(detector, found.html)
          const title = `Page ${page} of ${file.name} (preview)`
          return pageDocument({ lang, title, html: found.html, note: UNFINISHED })
        }),
        check: Effect.fnUntraced(function* ({ name, resultKey }) {
          if (resultKey === null) return undefined
          const checker = new ResultChecker()
          yield* objects.get(resultKey).pipe(
            Stream.decodeText(),
            Stream.runForEach((text) =>
              Effect.andThen(
                Effect.sync(() => checker.add(text)),
                Effect.yieldNow
              )
            )
          )
          return checker.report(name.replace(/\.\w{1,5}$/, ""))
        }),
        picture: Effect.fnUntraced(
          function* (file, page) {
            if (file.kind !== "pdf" || page < 1 || page > file.pages) return undefined
            const path = yield* objects.localPath(file.objectKey)
            const document = yield* pdf.open(path)
            return yield* document.render(page - 1, DPI)
          },
          Effect.scoped,
          drawing.withPermits(1)
        )
      })
    })
  )
