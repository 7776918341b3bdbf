import type { Box } from "../page-content.ts"

/** A page, or a part of one, in levels of grey: a byte a pixel, 0 is black, rows from the top. */
export interface GreyPicture {
  readonly width: number
  readonly height: number
  /** Pixels an inch. */
  readonly dpi: number
  readonly bytes: Uint8Array
}

/** Quarter turns, clockwise degrees. */
export type Turn = 0 | 90 | 180 | 270

/** A word. Its box is in pixels of the picture, turned upright and straightened. */
interface RecognisedWord {
  readonly text: string
  /** How certain the recognition is, 0 to 100. */
  readonly confidence: number
  readonly box: Box
}

/** Words on one baseline, in the order of reading. */
export interface RecognisedLine {
  /** The y of the baseline, pixels. */
  readonly baseline: number
  /** From its descenders to its ascenders, pixels. */
  readonly height: number
  readonly words: ReadonlyArray<RecognisedWord>
}

/** What was read from a picture. */
export interface RecognisedText {
  /** By how much the picture had to be turned to stand upright. */
  readonly turn: Turn
  /** By how much its lines still slanted downwards to the right, radians; they are straight here. */
  readonly skew: number
  /** Of the upright picture. */
  readonly width: number
  readonly height: number
  readonly lines: ReadonlyArray<RecognisedLine>
}

/** How well a page was read. `nothing`: what was found is not text. */
export type Legible = "good" | "poor" | "nothing"

/** Mean confidence below which a page says that it was not read well. */
const GOOD = 60
/** Mean confidence below which what was found is not shown as text: noise gives 10 to 30, handwriting 31 to 58. */
const POOR = 30
/** A mark without any letter or digit is a speck or a rule unless it is as certain as this. */
const CERTAIN_MARK = 75
/** A word that is less certain is a speck. */
const LEAST = 12

const isWord = ({ confidence, text }: RecognisedWord): boolean =>
  /[\p{L}\p{N}]/u.test(text) ? confidence >= LEAST : confidence >= CERTAIN_MARK

/** Without specks and rules that were taken for words. */
export const withoutSpecks = (text: RecognisedText): RecognisedText => ({
  ...text,
  lines: text.lines.flatMap((line) => {
    const words = line.words.filter(isWord)
    return words.length === 0 ? [] : [{ ...line, words }]
  })
})

/** Mean confidence of the text's characters, 0 to 100; 0 where there are none. */
const confidenceOf = ({ lines }: RecognisedText): number => {
  let sum = 0
  let characters = 0
  for (const { words } of lines)
    for (const { confidence, text } of words) {
      sum += confidence * text.length
      characters += text.length
    }
  return characters === 0 ? 0 : sum / characters
}

/** A picture with fewer words, none of them certain, shows no text: a photograph. */
const FEW = 10

/** Whether anything on it looks like text. */
export const showsText = ({ lines }: RecognisedText): boolean => {
  const words = lines.flatMap((line) => line.words)
  return words.length >= FEW || words.some(({ confidence, text }) => confidence >= GOOD && text.length > 2)
}

/** How well it was read. */
export const legibleOf = (text: RecognisedText): Legible => {
  const confidence = confidenceOf(text)
  if (confidence < POOR) return "nothing"
  return confidence < GOOD ? "poor" : "good"
}
