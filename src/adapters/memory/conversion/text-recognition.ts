import { type Effect, Layer } from "effect"

import type { GreyPicture, RecognisedText } from "../../../domain/conversion/recognition/recognised-text.ts"
import {
  type RecognitionError,
  type RecognitionHints,
  TextRecognition
} from "../../../ports/conversion/text-recognition.ts"

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
