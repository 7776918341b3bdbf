import { Context, Data, Effect } from "effect"

import type { GreyPicture, RecognisedText, RecognitionHints } from "../../reader/model/recognised-text.ts"

/**
 * A picture that was not read. `timeout`: it took longer than the limit; `crashed`: reading it crashed the reader, or took more
 * memory than the limit. Other pictures can still be read.
 */
export class RecognitionError extends Data.TaggedError("RecognitionError")<{
  readonly reason: "timeout" | "crashed"
  readonly cause?: unknown
}> {}

/** Reads the text of pictures, on this machine. */
export interface Recogniser {
  /** Pictures that are read at once; 0: none is ever read. */
  readonly atOnce: number
  /** Scans of a document that are read at most: those on its first pages. */
  readonly maxPages: number
  /**
   * The words of a picture, in the order of reading; none for one that shows no text. The same picture gives the same words. The
   * picture's bytes may be gone afterwards. Interrupting it frees what it uses.
   */
  readonly read: (
    picture: GreyPicture,
    hints: RecognitionHints
  ) => Effect.Effect<RecognisedText, RecognitionError>
}

/** The recogniser in use. Without an adapter nothing is read. */
export const TextRecognition = Context.Reference<Recogniser>("postlane/ports/TextRecognition", {
  defaultValue: () => ({
    atOnce: 0,
    maxPages: 0,
    read: () => Effect.fail(new RecognitionError({ reason: "crashed" }))
  })
})
