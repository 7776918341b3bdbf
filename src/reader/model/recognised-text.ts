import type { Box } from "./page-content.ts"

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
  /** Turn that brought the picture upright. */
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

/** What is known of a picture before it is read. */
export interface RecognitionHints {
  /** The language of its document, BCP 47, where the document states it. */
  readonly lang: string | undefined
}

/** A word. Its box is in pixels of the picture, turned upright and straightened. */
export interface RecognisedWord {
  readonly text: string
  /** How certain the recognition is, 0 to 100. */
  readonly confidence: number
  readonly box: Box
}
