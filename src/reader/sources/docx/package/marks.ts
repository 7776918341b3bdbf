import { randomBytes } from "node:crypto"

import type { Label } from "./numbering.ts"

/** What a mark stands for: the beginning of a caption or of a row's name, the HTML of a formula or of what a chart shows, an item's number, or one that is written as words. */
export type Meaning =
  | { readonly kind: "caption" | "rowHead" }
  | { readonly kind: "formula" | "drawn"; readonly html: string }
  | { readonly kind: "item"; readonly label: Extract<Label, { readonly kind: "item" }> }
  | { readonly kind: "words"; readonly text: string }

const DIGITS = 8

/**
 * Words that stand in a document for what mammoth has no words for, until it has written its HTML. No document can hold them: they
 * are drawn anew for each.
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
