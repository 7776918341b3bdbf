import { Schema } from "effect"

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
  html: Schema.String
})
export type PageLine = typeof PageLine.Type

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
}

/** Collects over pages; a page that is added twice counts once. */
export class LegibilityTally {
  readonly #unreadable = new Set<number>()
  readonly #recognised = new Set<number>()
  readonly #poor = new Set<number>()
  #hasText = false

  add({ html, page, tier }: Pick<PageLine, "html" | "page" | "tier">): void {
    if (tier === "unreadable") this.#unreadable.add(page + 1)
    else this.#hasText ||= hasWords(html)
    if (tier === "recognised" || tier === "poorly-recognised") this.#recognised.add(page + 1)
    if (tier === "poorly-recognised") this.#poor.add(page + 1)
  }

  get recognition(): Recognition {
    return {
      recognisedPages: this.#recognised.size,
      poorlyReadPages: [...this.#poor].sort((a, b) => a - b)
    }
  }

  get legibility(): Legibility {
    return { unreadablePages: [...this.#unreadable].sort((a, b) => a - b), hasText: this.#hasText }
  }
}
