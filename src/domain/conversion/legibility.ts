import type { PageLine } from "./chunk-result.ts"

/** What can be read of a result: it is charged by this, and says so. */
export interface Legibility {
  /** Pages from 1, in order; each has a note in its place. */
  readonly unreadablePages: ReadonlyArray<number>
  /** Whether there is a word of text in it. */
  readonly hasText: boolean
}

/** What its owner reads where no page could be read: there is no result, and nothing is charged. */
export const NOTHING_READABLE =
  "No page of this document could be read. Print it to PDF anew, then send it again."

const TEXT = /(?:^|>)([^<>]+)/g
const ENTITY = /&(?:[a-z]{1,8}|#x?[0-9a-f]{1,6});/gi

/** Whether a fragment says a word, to somebody who does not see its pictures. Ends at the first. */
export const hasWords = (html: string): boolean => {
  for (const [, text = ""] of html.matchAll(TEXT))
    if (/[\p{L}\p{N}]/u.test(text.replaceAll(ENTITY, " "))) return true
  return false
}

/** Gathers over pages; the same page twice counts once. */
export class LegibilityTally {
  readonly #unreadable = new Set<number>()
  #hasText = false

  add({ html, page, tier }: Pick<PageLine, "html" | "page" | "tier">): void {
    if (tier === "unreadable") this.#unreadable.add(page + 1)
    else this.#hasText ||= hasWords(html)
  }

  get legibility(): Legibility {
    return { unreadablePages: [...this.#unreadable].sort((a, b) => a - b), hasText: this.#hasText }
  }
}
