import { Effect, Layer, Schema, Semaphore, Stream } from "effect"

import type { ConversionOptions } from "../../domain/conversion/job.ts"
import {
  LegibilityTally,
  NOTHING_READABLE,
  notice,
  type PageLine
} from "../../domain/conversion/page-line.ts"
import { classifyPage } from "../../domain/inbound/page-class.ts"
import { HtmlAssembly, type PageFragment } from "../../ports/conversion/html-assembly.ts"
import { type OpenPages, PageSources } from "../../ports/conversion/page-sources.ts"
import { Pdf } from "../../ports/conversion/pdf.ts"
import type { VisionModel } from "../../ports/conversion/vision-model.ts"
import { ConvertPipeline, PipelineError } from "../../ports/inbound/convert-pipeline.ts"
import { MailObjects, type ObjectStoreError } from "../../ports/object-store.ts"
import { leavesOut } from "../../reader/model/left-out.ts"
import type { PageContent } from "../../reader/model/page-content.ts"
import type { PdfError } from "../../reader/model/pdf-document.ts"
import { convertPage } from "../cascade/cascade.ts"

/** Pages that are laid out together, and are in memory at once. */
const PAGES_AT_ONCE = 20

/**
 * Groups that are converted at once. They take turns in the order that they ask: a mail asks for its next group when it has the last
 * one, so that a document of a thousand pages holds up another mail by one group (H3).
 */
const GROUPS_AT_ONCE = 2

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

const onePage = (pages: OpenPages, index: number) =>
  pages.page(index).pipe(
    Effect.flatMap((page) => convertPage(page, { options: OPTIONS, modelId: "", mayDegrade: true })),
    Effect.map(({ doubts, html, label, page, tier }): PageLine => ({ doubts, html, label, page, tier })),
    Effect.catchTag("PdfError", (error) =>
      Effect.as(Effect.logWarning(`page ${index + 1} could not be read: ${error.message}`), notice(index))
    ),
    // The layout tier calls no model.
    Effect.catchTag("VisionModelError", Effect.die)
  )

/** Converts one group of pages, and counts the class of each. */
const convertGroup = Effect.fnUntraced(function* (
  sourceKey: string,
  first: number,
  end: number,
  counted: Counted
) {
  const objects = yield* MailObjects
  const pdf = yield* Pdf
  const sources = yield* PageSources
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

/** Converts all pages, group by group, and parks them as lines; all that is needed for assembly is known then. */
const convertPages = Effect.fnUntraced(function* (
  sourceKey: string,
  pagesKey: string,
  pageCount: number,
  turns: Semaphore.Semaphore
) {
  const objects = yield* MailObjects
  const counted: Counted = { standard: 0, complex: 0, tally: new LegibilityTally() }
  const starts = Array.from({ length: Math.ceil(pageCount / PAGES_AT_ONCE) }, (_, at) => at * PAGES_AT_ONCE)
  const lines = Stream.fromIterable(starts).pipe(
    Stream.mapEffect((first) =>
      turns.withPermit(convertGroup(sourceKey, first, Math.min(first + PAGES_AT_ONCE, pageCount), counted))
    ),
    Stream.map((fragments) =>
      encoder.encode(fragments.map((fragment) => `${JSON.stringify(fragment)}\n`).join(""))
    )
  )
  yield* objects.put(pagesKey, lines, { contentType: "application/x-ndjson" })
  return counted
})

const convert = Effect.fnUntraced(
  function* (
    { name, resultKey, sourceKey }: Parameters<ConvertPipeline["Service"]["convert"]>[0],
    turns: Semaphore.Semaphore
  ) {
    const objects = yield* MailObjects
    const assembly = yield* HtmlAssembly
    const sources = yield* PageSources
    const facts = yield* sources.facts(sourceKey)
    const pagesKey = `${resultKey}.pages.jsonl`
    const { complex, standard, tally } = yield* convertPages(sourceKey, pagesKey, facts.pageCount, turns)
    const { legibility, recognition } = tally
    const { doubtfulPages, poorlyReadPages } = recognition
    if (legibility.unreadablePages.length === facts.pageCount) {
      yield* objects.remove([pagesKey])
      return yield* new PipelineError({ reason: "document", message: NOTHING_READABLE })
    }
    const pages = objects.get(pagesKey).pipe(
      Stream.decodeText(),
      Stream.splitLines,
      Stream.filter((line) => line !== ""),
      Stream.mapEffect((line) => Effect.orDie(decodeLine(line)))
    )
    const bytes = yield* objects.put(
      resultKey,
      Stream.encodeText(assembly.assemble({ facts, name, notes: tally.notes, pages })),
      {
        contentType: "text/html; charset=utf-8"
      }
    )
    yield* objects.remove([pagesKey])
    return {
      bytes,
      standardPages: standard,
      complexPages: complex,
      ...legibility,
      ...(poorlyReadPages.length === 0 ? {} : { poorlyReadPages }),
      ...(doubtfulPages.length === 0 ? {} : { doubtfulPages }),
      ...(leavesOut(facts.leftOut) ? { leftOut: facts.leftOut } : {})
    }
  },
  Effect.mapError((error) => (error._tag === "PipelineError" ? error : failureOf(error)))
)

type Needs = Pdf | PageSources | MailObjects | HtmlAssembly | VisionModel

/** The pipeline in this process: page by page through the cascade, assembled into one accessible file. */
export const layer: Layer.Layer<ConvertPipeline, never, Needs> = Layer.effect(
  ConvertPipeline,
  Effect.gen(function* () {
    const context = yield* Effect.context<Needs>()
    const sources = yield* PageSources
    const turns = yield* Semaphore.make(GROUPS_AT_ONCE)
    return ConvertPipeline.of({
      countPages: (sourceKey) =>
        Effect.map(Effect.mapError(sources.facts(sourceKey), failureOf), ({ pageCount }) => pageCount),
      convert: (request) => Effect.provideContext(convert(request, turns), context)
    })
  })
)
