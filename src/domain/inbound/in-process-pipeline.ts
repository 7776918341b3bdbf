import { Effect, Layer, Schema, Stream } from "effect"

import { HtmlAssembly, type PageFragment } from "../../ports/conversion/html-assembly.ts"
import { type OpenPages, PageSources } from "../../ports/conversion/page-sources.ts"
import { Pdf, type PdfError } from "../../ports/conversion/pdf.ts"
import { VisionModel } from "../../ports/conversion/vision-model.ts"
import { ConvertPipeline, PipelineError } from "../../ports/inbound/convert-pipeline.ts"
import { MailObjects, type ObjectStoreError } from "../../ports/object-store.ts"
import { convertPage } from "../conversion/cascade/cascade.ts"
import { notice, type PageLine } from "../conversion/chunk-result.ts"
import type { ConversionOptions } from "../conversion/job.ts"
import { LegibilityTally, NOTHING_READABLE } from "../conversion/legibility.ts"
import type { PageContent } from "../conversion/page-content.ts"
import { classifyPage } from "./page-class.ts"

/** Pages that are laid out together, and are in memory at once. */
const PAGES_AT_ONCE = 20

/** Always the layout tier: a mail cannot say how its file is to be converted. */
const OPTIONS: ConversionOptions = { highFidelity: false }

/** A page between the two passes: a line of JSON that this file wrote. */
const decodeLine = Schema.decodeUnknownEffect(
  Schema.fromJsonString(Schema.Struct({ index: Schema.Int, label: Schema.String, html: Schema.String }))
)

const encoder = new TextEncoder()

const failureOf = (error: PdfError | ObjectStoreError): PipelineError => {
  if (error._tag === "PdfError") {
    const passing = error.reason === "timeout" || error.reason === "crashed"
    return new PipelineError({
      reason: passing ? "crashed" : "document",
      message: error.message,
      cause: error.cause
    })
  }
  return new PipelineError({
    reason: "unavailable",
    message: "The document could not be converted: its file store does not answer.",
    cause: error
  })
}

/** The readable pages so far, by class. */
interface Counted {
  standard: number
  complex: number
  readonly tally: LegibilityTally
}

const emptyPage: Pick<PageContent, "runs" | "fields" | "width"> = { runs: [], fields: [], width: 0 }

const make = Effect.gen(function* () {
  const pdf = yield* Pdf
  const sources = yield* PageSources
  const objects = yield* MailObjects
  const assembly = yield* HtmlAssembly
  const model = yield* VisionModel

  const onePage = (pages: OpenPages, index: number) =>
    pages.page(index).pipe(
      Effect.flatMap((page) => convertPage(page, { options: OPTIONS, modelId: "", mayDegrade: true })),
      Effect.map(({ html, label, page, tier }): PageLine => ({ html, label, page, tier })),
      Effect.catchTag("PdfError", (error) =>
        Effect.as(Effect.logWarning(`page ${index + 1} could not be read: ${error.message}`), notice(index))
      ),
      // The layout tier calls no model.
      Effect.catchTag("VisionModelError", Effect.die),
      Effect.provideService(VisionModel, model),
      Effect.provideService(HtmlAssembly, assembly)
    )

  /** Converts one group of pages, and counts the class of each. */
  const group = Effect.fnUntraced(function* (
    sourceKey: string,
    first: number,
    end: number,
    counted: Counted
  ) {
    const path = yield* objects.localPath(sourceKey)
    const document = yield* pdf.open(path)
    const pages = yield* sources.open(sourceKey, { first, end })
    const contents = new Map<number, PageContent>()
    yield* document.pages({ first, end }).pipe(
      Stream.runForEach((content) => Effect.sync(() => void contents.set(content.index, content))),
      // A page that cannot be read gets a notice in its place.
      Effect.ignore
    )
    const fonts = yield* document.fonts
    const fragments: Array<PageFragment> = []
    for (let index = first; index < end; index++) {
      const line = yield* onePage(pages, index)
      counted.tally.add(line)
      if (line.tier !== "unreadable")
        counted[classifyPage(line.html, contents.get(index) ?? emptyPage, fonts)] += 1
      fragments.push({ index, label: line.label, html: line.html })
    }
    return fragments
  }, Effect.scoped)

  const pagesKey = (resultKey: string) => `${resultKey}.pages.jsonl`

  return ConvertPipeline.of({
    countPages: (sourceKey) =>
      Effect.map(Effect.mapError(sources.facts(sourceKey), failureOf), ({ pageCount }) => pageCount),
    convert: ({ name, resultKey, sourceKey }) =>
      Effect.gen(function* () {
        const facts = yield* sources.facts(sourceKey)
        const counted: Counted = { standard: 0, complex: 0, tally: new LegibilityTally() }
        const starts = Array.from(
          { length: Math.ceil(facts.pageCount / PAGES_AT_ONCE) },
          (_, at) => at * PAGES_AT_ONCE
        )
        const lines = Stream.fromIterable(starts).pipe(
          Stream.mapEffect((first) =>
            group(sourceKey, first, Math.min(first + PAGES_AT_ONCE, facts.pageCount), counted)
          ),
          Stream.map((fragments) =>
            encoder.encode(fragments.map((fragment) => `${JSON.stringify(fragment)}\n`).join(""))
          )
        )
        yield* objects.put(pagesKey(resultKey), lines, { contentType: "application/x-ndjson" })
        const { legibility } = counted.tally
        if (legibility.unreadablePages.length === facts.pageCount) {
          yield* objects.remove([pagesKey(resultKey)])
          return yield* new PipelineError({ reason: "document", message: NOTHING_READABLE })
        }
        const pages = objects.get(pagesKey(resultKey)).pipe(
          Stream.decodeText(),
          Stream.splitLines,
          Stream.filter((line) => line !== ""),
          Stream.mapEffect((line) => Effect.orDie(decodeLine(line)))
        )
        const bytes = yield* objects.put(
          resultKey,
          Stream.map(assembly.assemble({ facts, name, pages }), (part) => encoder.encode(part)),
          { contentType: "text/html; charset=utf-8" }
        )
        yield* objects.remove([pagesKey(resultKey)])
        return { bytes, standardPages: counted.standard, complexPages: counted.complex, ...legibility }
      }).pipe(Effect.mapError((error) => (error._tag === "PipelineError" ? error : failureOf(error))))
  })
})

/** The pipeline in this process: page by page through the cascade, assembled into one accessible file. */
export const layer: Layer.Layer<
  ConvertPipeline,
  never,
  Pdf | PageSources | MailObjects | HtmlAssembly | VisionModel
> = Layer.effect(ConvertPipeline, make)
