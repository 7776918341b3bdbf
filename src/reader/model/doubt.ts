import { Schema } from "effect"

/** Where the evidence of a page disagrees, so that its result may be wrong though it looks well. */
export const Doubt = Schema.Literals([
  "tags_disagree",
  "order_unsure",
  "cells_left_over",
  "words_torn",
  "unseen_text",
  "odd_angles",
  "letters_unsure"
]).annotate({
  identifier: "Doubt",
  description:
    "Why a page may be wrong: its tags and its look disagree; its words were written in another order than they are read in; cells of a table are left over; a narrow cell may break a word; it has text that nobody sees; text at odd angles; letters that the file does not name."
})
export type Doubt = typeof Doubt.Type

/** What is said of each, after the pages. */
const SAID: Readonly<Record<Doubt, string>> = {
  tags_disagree: "the tags and what is shown disagree about order or tables",
  order_unsure: "the file has the words in another order than they are read in here",
  cells_left_over: "a table has values that fit none of its rows or columns",
  words_torn: "a narrow cell of a table may have one word as two, or two as one",
  unseen_text: "there is hidden text, in the colour of its background or covered by something else",
  odd_angles: "some text is written at an odd angle, and may stand at another place",
  letters_unsure: "the file does not say which letters some signs are"
}

/** Pages, from 1, that one doubt is about. */
export const DoubtfulPages = Schema.Struct({ reason: Doubt, pages: Schema.Array(Schema.Int) }).annotate({
  identifier: "DoubtfulPages",
  description: "Pages, from 1, that need a look, and why."
})
export type DoubtfulPages = typeof DoubtfulPages.Type

/** Most page numbers that are written out. */
const MOST_NUMBERS = 20

const numbered = (pages: ReadonlyArray<number>): string => {
  const more = pages.length - MOST_NUMBERS
  const numbers = pages.slice(0, MOST_NUMBERS).join(", ")
  return `${pages.length === 1 ? "Page" : "Pages"} ${numbers}${more > 0 ? ` and ${more} more` : ""}`
}

/** What a result says of its doubtful pages, a sentence for each reason. */
export const doubtTexts = (doubtful: ReadonlyArray<DoubtfulPages>): ReadonlyArray<string> =>
  doubtful
    .slice(0, Doubt.literals.length)
    .map(
      ({ pages, reason }) =>
        `${numbered(pages)} ${pages.length === 1 ? "needs" : "need"} a look beside the original: ${SAID[reason]}.`
    )

/** Doubts page by page, as the pages of each. */
export const doubtfulPages = (
  found: ReadonlyMap<number, ReadonlyArray<Doubt>>
): ReadonlyArray<DoubtfulPages> =>
  Doubt.literals.flatMap((reason) => {
    const pages = [...found].flatMap(([page, doubts]) => (doubts.includes(reason) ? [page + 1] : []))
    return pages.length === 0 ? [] : [{ reason, pages: pages.sort((a, b) => a - b) }]
  })
