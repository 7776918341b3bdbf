import { Effect } from "effect"

import { coverageOf, MIN_COVERAGE } from "../../domain/cascade/coverage.ts"
import { isUsable } from "../../domain/cascade/model-call.ts"
import { type ConversionOptions, usesCascade } from "../../domain/conversion/job.ts"
import type { NoModel } from "../../domain/conversion/page-line.ts"
import { HtmlAssembly } from "../../ports/conversion/html-assembly.ts"
import type { PageSource } from "../../ports/conversion/page-sources.ts"
import type { VisionAnswer, VisionModel, VisionModelError } from "../../ports/conversion/vision-model.ts"
import type { Doubt } from "../../reader/model/doubt.ts"
import type { LayoutPage } from "../../reader/model/layout-page.ts"
import type { PdfError } from "../../reader/model/pdf-document.ts"
import {
  agenticPrompt,
  coveragePrompt,
  pagePrompt,
  ask,
  convertPageWithVision,
  documentBlock,
  imageBlock
} from "./vision.ts"

/** Where a page's HTML came from; for an `unreadable` one it is a notice. */
type PageTier =
  | "blank"
  | LayoutPage["tier"]
  | "hifi-single-pass"
  | "coverage-retry"
  | "agentic"
  | "unreadable"

/** A page, converted. */
export interface PageResult {
  /** From 0, in the document. */
  readonly page: number
  readonly label: string
  readonly tier: PageTier
  /** A clean fragment; empty for a blank page. */
  readonly html: string
  /** The single pass was answered from the batch. */
  readonly fromBatch: boolean
  /** Why no model converted it though one was wanted: it is from the layout tier, a scan with the words that were recognised. */
  readonly noModel?: NoModel | undefined
  /** Where the evidence of a page that no model converted disagrees. */
  readonly doubts?: ReadonlyArray<Doubt> | undefined
}

/** Rounds of the agentic tier: look at page and draft, correct, until it stops improving. */
const MAX_ROUNDS = 4

/** What the models have done for a page so far. */
interface Work {
  /** The page's text layer. */
  readonly layout: LayoutPage
  fromBatch: boolean
  /** A call that failed now, but may succeed later. */
  noAnswer: VisionModelError | undefined
  /** A call was not answered in time: no further tier is tried. */
  timedOut: boolean
  /** Why there was no answer that can be used. */
  noModel: NoModel
}

/** How a page is to be converted. */
export interface CascadeSettings {
  readonly options: ConversionOptions
  readonly modelId: string
  /** Whether the layout tier may be used when no model answers now; else the page fails, to be tried again later. */
  readonly mayDegrade: boolean
}

interface Candidate {
  readonly html: string
  readonly tier: PageTier
  readonly share: number
  readonly missing: ReadonlyArray<string>
}

/** An answer as a candidate; undefined where it is unusable, or empty after sanitising. */
const candidateOf = Effect.fnUntraced(function* (tier: PageTier, answer: VisionAnswer, work: Work) {
  if (answer.fromBatch) work.fromBatch = true
  if (!isUsable(answer)) return undefined
  const { clean } = yield* HtmlAssembly
  const html = (yield* clean(answer.text)).trim()
  const { missing, share } = coverageOf(work.layout.text, html)
  const found: Candidate = { html, tier, share, missing }
  return html === "" ? undefined : found
})

const better = (a: Candidate | undefined, b: Candidate | undefined): Candidate | undefined =>
  a === undefined || (b !== undefined && b.share > a.share) ? b : a

/** Asks again, with the words that are missing. */
const coverageRetry = Effect.fnUntraced(function* (
  page: PageSource,
  modelId: string,
  first: Candidate,
  work: Work
) {
  const document = yield* documentBlock(page)
  const answer = yield* ask(
    modelId,
    [
      { role: "user", content: [document, { text: pagePrompt() }] },
      { role: "assistant", content: [{ text: first.html }] },
      { role: "user", content: [{ text: coveragePrompt(first.missing) }] }
    ],
    { tier: "coverage-retry", page: page.index }
  )
  return yield* candidateOf("coverage-retry", answer, work)
})

/** The agentic loop: look at the page and the draft, correct, until it stops improving. */
const agentic = Effect.fnUntraced(function* (
  page: PageSource,
  modelId: string,
  draft: Candidate,
  work: Work
) {
  const picture = yield* imageBlock(page)
  let best = draft
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const answer = yield* ask(
      modelId,
      [{ role: "user", content: [picture, { text: agenticPrompt(best.html, best.missing) }] }],
      { tier: "agentic", page: page.index }
    )
    const mended = yield* candidateOf("agentic", answer, work)
    if (mended === undefined) return best
    // The model has looked, and would change nothing.
    if (mended.html === best.html) return mended
    const improved = mended.share > best.share || (round === 0 && mended.share >= MIN_COVERAGE)
    if (mended.share >= best.share) best = mended
    if (!improved || best.share >= MIN_COVERAGE) return best
  }
  return best
})

const draftOfLayout = ({ html, text }: LayoutPage): Candidate => ({
  html,
  tier: "layout",
  ...coverageOf(text, html)
})

/** A tier without an answer leaves the page to the next one; a call that was recorded, or has to wait, is not a failure of the tier. */
const orNothing = <A, R>(work: Work, tier: Effect.Effect<A, PdfError | VisionModelError, R>) =>
  tier.pipe(
    Effect.catchTag("VisionModelError", (error) => {
      if (error.reason === "captured" || error.reason === "budget") return Effect.fail(error)
      if (passes(error)) work.noAnswer = error
      if (error.reason === "timeout") work.timedOut = true
      // What the model or the account said explains more than that a second call would not have fitted.
      if (error.reason !== "unfit" || work.noModel === "unusable") work.noModel = noModelOf(error)
      return Effect.as(Effect.logDebug(`no answer for a page: ${error.message}`), undefined)
    })
  )

/** Whether a call that failed may succeed later; one that was not answered in time was tried twice, and would not be. */
export const passes = ({ reason }: VisionModelError): boolean =>
  reason === "throttled" || reason === "unavailable"

/** Why a page has no model's answer, by the call that failed. */
export const noModelOf = (error: VisionModelError): NoModel => {
  if (error.reason === "unfit" || error.reason === "refused") return error.reason
  return "unavailable"
}

const hifi = Effect.fnUntraced(function* (page: PageSource, modelId: string, work: Work) {
  const first = yield* orNothing(
    work,
    Effect.flatMap(convertPageWithVision(page, modelId), (answer) =>
      candidateOf("hifi-single-pass", answer, work)
    )
  )
  let best = first
  if (first !== undefined && first.share < MIN_COVERAGE) {
    best = better(first, yield* orNothing(work, coverageRetry(page, modelId, first, work)))
  }
  if (work.timedOut || (best !== undefined && best.share >= MIN_COVERAGE)) return best
  // Quality escalation, or fail-over where there was no answer at all.
  return better(
    best,
    yield* orNothing(work, agentic(page, modelId, best ?? draftOfLayout(work.layout), work))
  )
})

/**
 * The smart cascade for one page (DOC-20): a blank page is empty; where no model is wanted the layout tier, or that for tables of
 * contents; else the hi-fi single pass, asked again and then corrected where it does not cover the text layer. Where no model
 * answered, the layout tier is used if allowed, so that no page goes missing. Only the layout tier has scans recognised (DOC-23).
 */
export const convertPage = (
  page: PageSource,
  { mayDegrade, modelId, options }: CascadeSettings
): Effect.Effect<PageResult, PdfError | VisionModelError, VisionModel | HtmlAssembly> =>
  Effect.gen(function* () {
    const layout = yield* page.layout
    const work: Work = { layout, fromBatch: false, noAnswer: undefined, timedOut: false, noModel: "unusable" }
    const result = (tier: PageTier, html: string, noModel?: NoModel): PageResult => ({
      page: page.index,
      label: layout.label,
      tier,
      html,
      fromBatch: work.fromBatch,
      noModel
    })
    if (yield* page.isBlank) return result("blank", "")
    if (!usesCascade(options)) {
      const { doubts, html, tier } = yield* page.recognised
      return { ...result(tier, html), ...(doubts !== undefined && { doubts }) }
    }
    const best = yield* hifi(page, modelId, work)
    if (best !== undefined && best.tier !== "layout") return result(best.tier, best.html)
    if (work.noAnswer !== undefined && !mayDegrade) return yield* work.noAnswer
    const { doubts, html, tier } = yield* page.recognised
    const own = tier === "table-of-contents" ? "layout" : tier
    return { ...result(own, html, work.noModel), ...(doubts !== undefined && { doubts }) }
  })
