import { type Effect, Layer } from "effect"

import { type RecognitionError, TextRecognition } from "../../../ports/conversion/text-recognition.ts"
import type { GreyPicture, RecognisedText, RecognitionHints } from "../../../reader/model/recognised-text.ts"

/** What is read from a picture, or why nothing is. */
export type RecognitionScript = (
  picture: GreyPicture,
  hints: RecognitionHints
) => Effect.Effect<RecognisedText, RecognitionError>

/** Pictures read by a script, as many at once, and of a document, as it says. */
export const layerScripted = (
  script: RecognitionScript,
  atOnce = 1,
  maxPages = Infinity
): Layer.Layer<never> => Layer.succeed(TextRecognition, { atOnce, maxPages, read: script })
