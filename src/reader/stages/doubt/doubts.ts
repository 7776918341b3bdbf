import { type Block, textOfSpans } from "../../model/block.ts"
import type { Doubt } from "../../model/doubt.ts"
import { centreIn } from "../../model/geometry.ts"
import type { Box, Drawing } from "../../model/page-content.ts"
import type { PageAnalysis } from "../lines/analysis.ts"
import { isTypewriter, lengthOf } from "../lines/segment.ts"
import { upwardMoves } from "../tagged/suspects.ts"
import { hasCovered, isPale } from "./covered-words.ts"
import { isInOtherOrder } from "./order-doubts.ts"
import { hasCellsLeftOver } from "./table-doubts.ts"

/** A page that was read. */
interface ReadPage {
  readonly analysis: PageAnalysis
  readonly blocks: ReadonlyArray<Block>
  /** Its tags were read, and not its geometry. */
  readonly byTags: boolean
  /** The whole page is a table of contents, which may be written in any order. */
  readonly isContents: boolean
}

/** A rule by which a page is doubted. */
interface DoubtRule {
  readonly id: Doubt
  readonly why: string
  readonly holds: (page: ReadPage) => boolean
}

/** The places of figures. */
const figuresIn = (blocks: ReadonlyArray<Block>): ReadonlyArray<Box> =>
  blocks.flatMap((block) => (block.kind === "figure" ? (block.region ?? []) : []))

/** Fewest lines that are above the one tagged before them, and their part of all. */
const FEWEST_UP = 3
const PART_UP = 0.12
/** Whether tags go up again and again within a column: a reader goes down. */
const goesUp = ({ analysis, blocks, byTags }: ReadPage): boolean => {
  if (!byTags) return false
  const { moves, up } = upwardMoves(analysis, figuresIn(blocks))
  return up >= FEWEST_UP && up > PART_UP * moves
}

/** Fewest letters in the colour of the paper that count. */
const FEWEST_UNSEEN = 3
/** Runs that are compared with what is drawn. */
const MOST_COMPARED = 200

const isGround = (drawing: Drawing): boolean =>
  drawing.kind === "image" || (drawing.filled && !isPale(drawing.color))

/** Whether words are written in white, and nothing is drawn where they are. */
const hasUnseen = ({ analysis: { page } }: ReadPage): boolean => {
  const pale = page.runs.filter(
    ({ artifact, color, invisible, text }) => !invisible && !artifact && isPale(color) && /\p{L}/u.test(text)
  )
  if (pale.length === 0 || pale.length > MOST_COMPARED) return false
  const grounds = page.drawings.filter(isGround)
  const unseen = pale.filter((run) => !grounds.some(({ box }) => centreIn(run.box, box, 1)))
  return lengthOf(unseen) >= FEWEST_UNSEEN
}

/** Degrees off a quarter from which on text is at an odd angle, and the fewest letters that are more than a stamp. */
const ODD = 15
const FEWEST_ODD = 40

/** Whether the page has text at odd angles that is no label of a figure, and no name of a column. */
const hasOdd = ({ analysis: { page }, blocks }: ReadPage): boolean => {
  const odd = page.runs.filter(
    ({ angle, artifact, invisible }) =>
      !artifact && !invisible && Math.abs(angle - 90 * Math.round(angle / 90)) > ODD
  )
  if (lengthOf(odd) < FEWEST_ODD) return false
  const figures = figuresIn(blocks)
  const heads = new Set(
    blocks.flatMap((block) =>
      block.kind === "table"
        ? block.rows.flatMap((row) =>
            row.flatMap(({ blocks: of }) =>
              of.flatMap((one) => (one.kind === "paragraph" ? textOfSpans(one.spans).trim() : []))
            )
          )
        : []
    )
  )
  const loose = odd.filter(
    ({ box, text }) => !heads.has(text.trim()) && !figures.some((figure) => centreIn(box, figure))
  )
  return lengthOf(loose) >= FEWEST_ODD
}

/** Fewest signs without a letter, and their part of all. */
const FEWEST_UNSURE = 3
const PART_UNSURE = 0.01
/** The part of all that is a look without its letter where a writing is lost: a text about such signs has a few. */
const PART_LETTERLESS = 0.05
/** Signs without a known letter, in words: the replacement character, codes that each font uses for others, control characters. */
const UNKNOWN =
  /(?<=[\p{L}\ufffd\p{Co}])(?:[\ufffd\p{Co}]|(?!\s)\p{Cc})|(?:[\ufffd\p{Co}]|(?!\s)\p{Cc})(?=\p{L})/gu

/** Signs that choose the look of the letter before them, which is not there. */
const LETTERLESS = /(?<![^\s\ufe00-\ufe0f])[\ufe00-\ufe0f]/gu

/** Words with figures or brackets among their letters: those of a writing that was recognised as another one. Programs have such names, too. */
const SOILED = /\p{L}\d+\p{L}|\p{L}[{}~\\[\]]+[\p{L}\d]/u
const FEWEST_WORDS = 20
const PART_SOILED = 0.35

const isSoiled = ({ fonts, readable: { main } }: PageAnalysis): boolean => {
  const words = main
    .filter(({ font }) => !isTypewriter(fonts[font]))
    .flatMap(({ text }) => text.split(/\s+/).filter((word) => /\p{L}{2}/u.test(word)))
  const soiled = words.filter((word) => SOILED.test(word))
  return words.length >= FEWEST_WORDS && soiled.length > PART_SOILED * words.length
}

const hasUnsureLetters = ({ analysis }: ReadPage): boolean => {
  const { main } = analysis.readable
  const length = lengthOf(main)
  const isMore = (signs: RegExp, part: number): boolean => {
    const found = main.reduce((sum, { text }) => sum + (text.match(signs)?.length ?? 0), 0)
    return found >= FEWEST_UNSURE && found > part * length
  }
  return isMore(UNKNOWN, PART_UNSURE) || isMore(LETTERLESS, PART_LETTERLESS) || isSoiled(analysis)
}

/** The rules, by the reason that each gives. */
export const DOUBT_RULES: ReadonlyArray<DoubtRule> = [
  {
    id: "tags_disagree",
    why: "tags that go up and down a column are in no order that a reader has",
    holds: goesUp
  },
  {
    id: "order_unsure",
    why: "where words were written in another order than they are read in, one of both is not that of a reader",
    holds: ({ analysis, blocks, byTags, isContents }) =>
      !byTags && !isContents && isInOtherOrder(blocks, analysis.page.runs)
  },
  {
    id: "cells_left_over",
    why: "values without a row or a name of their own are in the wrong place",
    holds: ({ analysis, blocks }) => hasCellsLeftOver(blocks, analysis.page.drawings)
  },
  {
    id: "words_torn",
    why: "a line that fills its narrow cell may end within a word, or not",
    holds: ({ blocks }) => blocks.some((block) => block.kind === "table" && block.unsure === true)
  },
  {
    id: "unseen_text",
    why: "text in the colour of the paper is for machines, or lost its ground; what is blacked out or written over was to go",
    holds: (page) => hasUnseen(page) || hasCovered(page.analysis.page)
  },
  {
    id: "odd_angles",
    why: "lines at odd angles are read behind the text, wherever they belong",
    holds: hasOdd
  },
  { id: "letters_unsure", why: "a sign without a letter is a gap in a word", holds: hasUnsureLetters }
]

/** Where the evidence of a page disagrees. */
export const doubtsOf = (page: ReadPage): ReadonlyArray<Doubt> =>
  DOUBT_RULES.flatMap(({ holds, id }) => (holds(page) ? [id] : []))
