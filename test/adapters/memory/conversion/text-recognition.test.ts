import { Effect } from "effect"

import { layerScripted } from "../../../../src/adapters/memory/conversion/text-recognition.ts"
import type { GreyPicture, RecognisedText } from "../../../../src/reader/model/recognised-text.ts"
import { paper, textRecognitionContract } from "../../../contracts/conversion/text-recognition.ts"

/** Reads a picture whose first pixel is grey as one line. */
const script = ({ bytes, height, width }: GreyPicture): RecognisedText => ({
  turn: 0,
  skew: 0,
  width,
  height,
  lines:
    bytes[0] !== 128
      ? []
      : [
          {
            baseline: 30,
            height: 25,
            words: [
              { text: "typed", confidence: 95, box: { x0: 10, y0: 12, x1: 60, y1: 35 } },
              { text: "words", confidence: 91, box: { x0: 70, y0: 12, x1: 130, y1: 35 } }
            ]
          }
        ]
})

textRecognitionContract(
  "scripted",
  layerScripted((picture) => Effect.succeed(script(picture))),
  Effect.succeed({ picture: paper(200, 60, 128), words: ["typed words"] })
)
