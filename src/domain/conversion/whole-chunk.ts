import { Effect, Result } from "effect"

import { HtmlAssembly } from "../../ports/html-assembly.ts"
import type { OpenPages } from "../../ports/page-sources.ts"
import type { PdfError } from "../../ports/pdf.ts"
import type { VisionModel, VisionModelError } from "../../ports/vision-model.ts"
import type { CascadeSettings } from "./cascade.ts"
import type { PageLine } from "./chunk-result.ts"
import { isUsable } from "./converse.ts"
import { coverageOf, MIN_COVERAGE } from "./coverage.ts"
import type { LayoutPage } from "./layout/layout-pages.ts"
import type { ConversionOptions } from "./options.ts"
import { chunkPrompt } from "./prompts.ts"
import { ask, imageBlock } from "./vision.ts"

/** Pictures that were made for one call at once. */
const PICTURES_AT_ONCE = 2

/** Most tokens of a chunk's HTML: what the model can answer at once. */
const MAX_TOKENS = 60_000

/** Whether a chunk goes to the model as a whole: the harness model, or math OCR of all its pages. */
export const isWholeChunk = ({ mathOcr, parser }: ConversionOptions): boolean =>
  parser === "harness" || (mathOcr === true && parser !== "layout")

/** The sections of an answer, one a page; undefined where there are not as many as pages. */
export const sectionsOf = (answer: string, pages: number): ReadonlyArray<string> | undefined => {
  const sections = answer.split(/<section(?:\s[^<>]*)?>/i).slice(1)
  if (sections.length !== pages) return undefined
  return sections.map((section) => section.split(/<\/section\s*>/i)[0] ?? "")
}

const layoutLine = ({ html, index, label }: LayoutPage): PageLine => ({
  page: index,
  label,
  tier: "layout",
  html
})

/**
 * Converts several pages in one call, which sees them as pictures (document 3: "single calls and run to the end"). A page whose
 * part of the answer is missing, or lacks much of its text layer, is the layout tier's; so are all where the model refuses, or
 * does not answer and the layout tier may stand in.
 */
export const convertWhole = (
  pages: OpenPages,
  indexes: ReadonlyArray<number>,
  { mayDegrade, modelId, options }: CascadeSettings
): Effect.Effect<ReadonlyArray<PageLine>, PdfError | VisionModelError, VisionModel | HtmlAssembly> =>
  Effect.gen(function* () {
    const { clean } = yield* HtmlAssembly
    const sources = yield* Effect.forEach(indexes, pages.page)
    const layouts = yield* Effect.forEach(sources, ({ layout }) => layout)
    const tier = options.parser === "harness" ? "harness" : "math-ocr"
    const answered = yield* Effect.result(
      Effect.gen(function* () {
        const pictures = yield* Effect.forEach(sources, imageBlock, { concurrency: PICTURES_AT_ONCE })
        return yield* ask(
          modelId,
          [{ role: "user", content: [...pictures, { text: chunkPrompt(sources.length) }] }],
          { tier, page: indexes[0] ?? 0 },
          MAX_TOKENS
        )
      })
    )
    if (Result.isFailure(answered)) {
      const { failure } = answered
      if (failure._tag === "PdfError") return yield* failure
      if (failure.reason !== "refused" && !mayDegrade) return yield* failure
      yield* Effect.logWarning(`the model did not convert ${sources.length} pages: ${failure.message}`)
      return layouts.map(layoutLine)
    }
    const { success: answer } = answered
    const sections = isUsable(answer) ? sectionsOf(answer.text, sources.length) : undefined
    return yield* Effect.forEach(layouts, (page, n) =>
      Effect.gen(function* () {
        const html = (yield* clean(sections?.[n] ?? "")).trim()
        if (html === "" || coverageOf(page.text, html).share < MIN_COVERAGE) return layoutLine(page)
        return { page: page.index, label: page.label, tier, html } as const
      })
    )
  })
