import { Schema } from "effect"

import { Doubt, type DoubtfulPages, doubtfulPages, doubtTexts } from "../../reader/model/doubt.ts"
import type { Making } from "./making.ts"

/**
 * Why a page has no model's answer though one was wanted: the model or the account `refused`, or did not answer (`unavailable`); the
 * page is too large for a call (`unfit`); its answers were cut off, withheld or empty (`unusable`).
 */
const NoModel = Schema.Literals(["refused", "unavailable", "unfit", "unusable"])
export type NoModel = typeof NoModel.Type

/** One page of a chunk's result: a line of JSON in its object. */
export const PageLine = Schema.Struct({
  /** From 0, in the document. */
  page: Schema.Int,
  /** As the document labels it. */
  label: Schema.String,
  tier: Schema.Literals([
    "blank",
    "layout",
    "table-of-contents",
    "recognised",
    "poorly-recognised",
    "hifi-single-pass",
    "coverage-retry",
    "agentic",
    "math-ocr",
    "harness",
    "unreadable"
  ]),
  /** A clean fragment. */
  html: Schema.String,
  /** Absent where a model converted the page, or none was wanted. */
  noModel: Schema.optional(NoModel),
  /** Which model converted the page, where one did. */
  model: Schema.optional(Schema.String),
  /** Where the page's evidence disagrees; absent: nowhere, or a model converted the page. */
  doubts: Schema.optional(Schema.Array(Doubt))
})
export type PageLine = typeof PageLine.Type

const MODEL_TIERS: ReadonlySet<PageLine["tier"]> = new Set([
  "hifi-single-pass",
  "coverage-retry",
  "agentic",
  "math-ocr",
  "harness"
])

/** Whether a model converted the page. */
export const isModelTier = (tier: PageLine["tier"]): boolean => MODEL_TIERS.has(tier)

/** The notice in place of a page that cannot be read. */
export const notice = (index: number): PageLine => ({
  page: index,
  label: String(index + 1),
  tier: "unreadable",
  html: `<p role="note">Page ${index + 1} could not be read.</p>`
})

/** What can be read of a result: the charge depends on it, and the result says so. */
export interface Legibility {
  /** Pages from 1 that could not be read, in order; each has a notice in its place. */
  readonly unreadablePages: ReadonlyArray<number>
  /** Whether it contains any text. */
  readonly hasText: boolean
}

/** What its owner reads where no page could be read: there is no result, and nothing is charged. */
export const NOTHING_READABLE =
  "No page of this document could be read. Print it to PDF anew, then send it again."

const TEXT = /(?:^|>)([^<>]+)/g
const ENTITY = /&(?:[a-z]{1,8}|#x?[0-9a-f]{1,6});/gi

/** Whether a fragment has any text, pictures' alternative texts left out. Stops at the first. */
export const hasWords = (html: string): boolean => {
  for (const [, text = ""] of html.matchAll(TEXT))
    if (/[\p{L}\p{N}]/u.test(text.replaceAll(ENTITY, " "))) return true
  return false
}

/** What of a result was read from pictures. */
export interface Recognition {
  /** How many pages. */
  readonly recognisedPages: number
  /** Pages from 1 that were not read well, in order. */
  readonly poorlyReadPages: ReadonlyArray<number>
  /** Doubtful pages, by reason. */
  readonly doubtfulPages: ReadonlyArray<DoubtfulPages>
}

/** What models did of a result for which one was asked. */
interface Fidelity {
  /** Pages from 1 that no model converted though one was wanted, in order. */
  readonly noModelPages: ReadonlyArray<number>
  /** Whether a model was wanted, and converted none of the pages. */
  readonly noneByModel: boolean
}

/** Most page numbers that are written out. */
const MOST_NUMBERS = 20

/** What a result says of pages that no model converted. */
export const withoutModelText = (pages: ReadonlyArray<number>): string => {
  const more = pages.length - MOST_NUMBERS
  const numbers = `${pages.slice(0, MOST_NUMBERS).join(", ")}${more > 0 ? ` and ${more} more` : ""}`
  return `High fidelity was not available for ${pages.length === 1 ? "1 page" : `${pages.length} pages`}, converted without it: ${numbers}.`
}

/** What its owner reads where high fidelity was asked for and no page got it: there is no result, and nothing is charged. */
export const NO_MODEL =
  "High fidelity was not available for any page, so nothing was converted or charged. Try again later, or convert it without high fidelity."

/** Collects over pages; a page that is added twice counts once. */
export class LegibilityTally {
  readonly #unreadable = new Set<number>()
  readonly #recognised = new Set<number>()
  readonly #poor = new Set<number>()
  readonly #noModel = new Set<number>()
  readonly #doubts = new Map<number, ReadonlyArray<Doubt>>()
  readonly #tiers = new Map<number, PageLine["tier"]>()
  readonly #models = new Set<string>()
  #byModel = false
  #hasText = false

  add({
    doubts = [],
    html,
    model,
    noModel,
    page,
    tier
  }: Pick<PageLine, "doubts" | "html" | "model" | "noModel" | "page" | "tier">): void {
    if (doubts.length > 0) this.#doubts.set(page, doubts)
    this.#tiers.set(page, tier)
    if (model !== undefined) this.#models.add(model)
    if (noModel !== undefined) this.#noModel.add(page + 1)
    this.#byModel ||= isModelTier(tier)
    if (tier === "unreadable") this.#unreadable.add(page + 1)
    else this.#hasText ||= hasWords(html)
    if (tier === "recognised" || tier === "poorly-recognised") this.#recognised.add(page + 1)
    if (tier === "poorly-recognised") this.#poor.add(page + 1)
  }

  /** How many pages came about in which way, and the models that wrote some. */
  get making(): Pick<Making, "models" | "tiers"> {
    const tiers: Partial<Record<PageLine["tier"], number>> = {}
    for (const tier of this.#tiers.values()) tiers[tier] = (tiers[tier] ?? 0) + 1
    return { tiers, models: [...this.#models].sort() }
  }

  get fidelity(): Fidelity {
    return {
      noModelPages: [...this.#noModel].sort((a, b) => a - b),
      noneByModel: this.#noModel.size > 0 && !this.#byModel
    }
  }

  get recognition(): Recognition {
    return {
      recognisedPages: this.#recognised.size,
      poorlyReadPages: [...this.#poor].sort((a, b) => a - b),
      doubtfulPages: doubtfulPages(this.#doubts)
    }
  }

  /** What the result says above its pages. */
  get notes(): ReadonlyArray<string> {
    const { noModelPages } = this.fidelity
    const withoutModel = noModelPages.length === 0 ? [] : [withoutModelText(noModelPages)]
    return [...withoutModel, ...doubtTexts(doubtfulPages(this.#doubts))]
  }

  get legibility(): Legibility {
    return { unreadablePages: [...this.#unreadable].sort((a, b) => a - b), hasText: this.#hasText }
  }
}
