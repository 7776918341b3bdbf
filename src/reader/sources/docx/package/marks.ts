import { randomBytes } from "node:crypto"

import type { Label } from "./numbering.ts"

/**
 * Meaning of a mark: the beginning of a caption or row header, an end of a note's own mark, a place in a paragraph or table that runs from the right, the HTML of a
 * formula, form field, chart, or of a part in another format, or an item's number (counted, or written as words).
 */
export type Meaning =
  | { readonly kind: "caption" | "rowHead" | "noteMark" | "paragraphFromRight" | "tableFromRight" }
  | { readonly kind: "formula" | "field" | "drawn" | "chunk"; readonly html: string }
  | {
      readonly kind: "item"
      readonly label: Extract<Label, { readonly kind: "item" }>
      /** What defines its list: two lists may stand one behind the other. */
      readonly definition: string
    }
  | { readonly kind: "words"; readonly text: string }

const DIGITS = 8

/**
 * Placeholder words for content that mammoth cannot represent, until it has written its HTML. Each document gets random
 * ones, so that it cannot contain them.
 */
export class Marks<A> {
  readonly #secret = randomBytes(16).toString("hex")
  readonly #meant: Array<A> = []

  /** Letters and digits, always as many, so that words may follow right behind. */
  add(meaning: A): string {
    this.#meant.push(meaning)
    return `${this.#secret}${String(this.#meant.length - 1).padStart(DIGITS, "0")}`
  }

  /** A pattern for a mark, as a source of regular expressions: its one group is what `meaningOf` takes. */
  get pattern(): string {
    return `${this.#secret}(\\d{${DIGITS}})`
  }

  meaningOf(digits: string | undefined): A | undefined {
    return digits === undefined ? undefined : this.#meant[Number(digits)]
  }
}
