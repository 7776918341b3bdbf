import { Effect, Result } from "effect"

import { coverageOf, MIN_COVERAGE } from "../../domain/cascade/coverage.ts"
import { type CallContent, isUsable } from "../../domain/cascade/model-call.ts"
import type { ConversionOptions } from "../../domain/conversion/job.ts"
import type { NoModel, PageLine } from "../../domain/conversion/page-line.ts"
import { HtmlAssembly } from "../../ports/conversion/html-assembly.ts"
import type { OpenPages, PageSource } from "../../ports/conversion/page-sources.ts"
import type { VisionModel, VisionModelError } from "../../ports/conversion/vision-model.ts"
import { element, serialize } from "../../reader/model/html-tree.ts"
import type { PdfError } from "../../reader/model/pdf-document.ts"
import { type CascadeSettings, noModelOf, passes } from "./cascade.ts"
import { chunkPrompt, ask, imageBlock } from "./vision.ts"

/** Why a picture has no text version. */
type NoText = "not-asked" | "nothing-on-it" | "not-read" | "too-large" | "no-answer"

const NOTES: Readonly<Record<NoText, string>> = {
  "not-asked": "This file is a picture. No text version of it was made: high fidelity was not asked for.",
  "nothing-on-it": "This file is a picture. No text was found on it.",
  "not-read": "This file is a picture. It could not be read here, so no text version was made.",
  "too-large":
    "This file is a picture. It is too large for the model that reads pictures, so no text version was made.",
  "no-answer":
    "This file is a picture. The model that reads pictures gave no answer, so no text version was made."
}

/** The alternative text of a picture that no model read: what it is, never what might be on it. */
const figure = (source: string, alt: string, caption: string) =>
  element("figure", {}, [
    element("img", { src: source, alt, lang: "en" }),
    element("figcaption", { lang: "en" }, [caption])
  ])

/** A picture without a text version. */
export const pictureOnly = (name: string, source: string, why: NoText): string =>
  serialize([figure(source, `Picture of the uploaded file ${name}; no text version was made`, NOTES[why])])

/** What a model read from a picture, sanitised, and the picture itself. */
export const readPicture = (name: string, source: string, html: string): string =>
  html +
  serialize([
    figure(
      source,
      `Picture of the uploaded file ${name}; its text version stands before it`,
      "The picture that was uploaded. The text before it was read from it by a model."
    )
  ])

/** Pictures that are rendered concurrently for one call. */
const PICTURES_AT_ONCE = 2

/** Pages of one call: the model writes as many as these in its time, however dense they are. */
const PAGES_A_CALL = 5

/** Bytes of pictures of one call: as base64 they are a third more, and a request may have 25 MB (Bedrock, Converse). */
const MAX_CALL_BYTES = 15_000_000

/** Most tokens of a page's HTML. */
const MAX_TOKENS_A_PAGE = 12_000

/** Whether a chunk goes to the model as a whole: the harness model, or math OCR of all its pages. */
export const isWholeChunk = ({ mathOcr, parser }: ConversionOptions): boolean =>
  parser === "harness" || (mathOcr === true && parser !== "layout")

/** The sections of an answer, one a page; undefined where their number is not that of the pages. */
export const sectionsOf = (answer: string, pages: number): ReadonlyArray<string> | undefined => {
  const sections = answer.split(/<section(?:\s[^<>]*)?>/i).slice(1)
  if (sections.length !== pages) return undefined
  return sections.map((section) => section.split(/<\/section\s*>/i)[0] ?? "")
}

/** The page without the model: blank, or as the layout tier has it, a scan recognised. */
const ownLine = (page: PageSource, noModel: NoModel): Effect.Effect<PageLine, PdfError> =>
  Effect.gen(function* () {
    if (yield* page.isBlank) {
      const { index, label } = yield* page.layout
      return { page: index, label, tier: "blank", html: "" }
    }
    const { doubts, html, index, label, tier } = yield* page.recognised
    const own = tier === "table-of-contents" ? "layout" : tier
    return { page: index, label, tier: own, html, noModel, ...(doubts !== undefined && { doubts }) }
  })

/** Pages in order with their pictures, as many together as one call takes. */
const groupsOf = (pictures: ReadonlyArray<Pictured>): ReadonlyArray<ReadonlyArray<Pictured>> => {
  const groups: Array<Array<Pictured>> = []
  let bytes = Number.POSITIVE_INFINITY
  for (const one of pictures) {
    const last = groups.at(-1)
    bytes += one.bytes
    if (last === undefined || last.length >= PAGES_A_CALL || bytes > MAX_CALL_BYTES) {
      groups.push([one])
      bytes = one.bytes
    } else {
      last.push(one)
    }
  }
  return groups
}

interface Pictured {
  readonly page: PageSource
  readonly picture: CallContent
  readonly bytes: number
}

/** The pages of one call. */
const convertTogether = Effect.fnUntraced(function* (
  group: ReadonlyArray<Pictured>,
  { mayDegrade, modelId, options }: CascadeSettings
) {
  const { clean } = yield* HtmlAssembly
  const tier = options.parser === "harness" ? "harness" : "math-ocr"
  const answered = yield* Effect.result(
    ask(
      modelId,
      [
        {
          role: "user",
          content: [...group.map(({ picture }) => picture), { text: chunkPrompt(group.length) }]
        }
      ],
      { tier, page: group[0]?.page.index ?? 0 },
      MAX_TOKENS_A_PAGE * group.length
    )
  )
  if (Result.isFailure(answered)) {
    const { failure } = answered
    if (passes(failure) && !mayDegrade) return yield* failure
    yield* Effect.logWarning(`the model did not convert ${group.length} pages: ${failure.message}`)
    return yield* Effect.forEach(group, ({ page }) => ownLine(page, noModelOf(failure)))
  }
  const { success: answer } = answered
  const sections = isUsable(answer) ? sectionsOf(answer.text, group.length) : undefined
  return yield* Effect.forEach(group, ({ page }, n) =>
    Effect.gen(function* () {
      const { label, text } = yield* page.layout
      const html = (yield* clean(sections?.[n] ?? "")).trim()
      if (html === "" || coverageOf(text, html).share < MIN_COVERAGE) return yield* ownLine(page, "unusable")
      return { page: page.index, label, tier, html } as const
    })
  )
})

/** The picture of a page; one too large for any call leaves the page to the layout tier. */
const pictured = (page: PageSource) =>
  imageBlock(page).pipe(
    Effect.map((picture): Pictured | undefined => ({
      page,
      picture,
      bytes: "picture" in picture ? picture.picture.length : 0
    })),
    Effect.catchTag("VisionModelError", () => Effect.undefined)
  )

/**
 * Converts several pages in as few calls as their pictures fit in and the model answers in time; each runs to its end (DOC-41). A
 * page gets the layout tier when its part of the answer is missing or lacks much of its text layer, unless the page is blank. All
 * pages of a call get it when the model refuses, or does not answer and the layout tier may be used.
 */
export const convertWhole = (
  pages: OpenPages,
  indexes: ReadonlyArray<number>,
  settings: CascadeSettings
): Effect.Effect<ReadonlyArray<PageLine>, PdfError | VisionModelError, VisionModel | HtmlAssembly> =>
  Effect.gen(function* () {
    const sources = yield* Effect.forEach(indexes, pages.page)
    // Before any call is paid for: where one page cannot be read, all of them are read one by one.
    yield* Effect.forEach(sources, (page) => page.layout, { discard: true })
    const pictures = yield* Effect.forEach(sources, pictured, { concurrency: PICTURES_AT_ONCE })
    const groups = groupsOf(pictures.flatMap((one) => one ?? []))
    const converted = (yield* Effect.forEach(groups, (group) => convertTogether(group, settings))).flat()
    const byPage = new Map(converted.map((line) => [line.page, line]))
    return yield* Effect.forEach(sources, (page) => {
      const line: PageLine | undefined = byPage.get(page.index)
      return line === undefined ? ownLine(page, "unfit") : Effect.succeed(line)
    })
  })
