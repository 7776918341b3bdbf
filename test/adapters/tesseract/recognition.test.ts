import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { layerTesseract } from "../../../src/adapters/tesseract/recognition.ts"
import { TextRecognition } from "../../../src/ports/conversion/text-recognition.ts"
import { textRecognitionContract } from "../../contracts/conversion/text-recognition.ts"
import { throughScanner } from "../../support/files/scanned-pages.ts"
import { TYPED_WORDS, typedPicture } from "../../support/files/typed-picture.ts"

const one = layerTesseract({ threads: 1, languages: ["eng"] })

textRecognitionContract("tesseract", one, typedPicture)

describe("tesseract", () => {
  it.live("DOC-23: a page that lies on its side and slants is turned and straightened", () =>
    Effect.gen(function* () {
      const { picture } = yield* typedPicture
      const { read } = yield* TextRecognition
      const scan = throughScanner(picture, { skew: 2, noise: 10, paper: 225, turn: 90 })
      const text = yield* read(scan, { lang: "en" })
      const words = text.lines.map((line) => line.words.map((word) => word.text).join(" ")).join(" ")
      for (const word of TYPED_WORDS) assert.include(words, word)
      assert.strictEqual(text.turn, 270)
      assert.closeTo(text.skew, (2 * Math.PI) / 180, 0.01)
      assert.deepStrictEqual([text.width, text.height], [picture.width, picture.height])
      // The heading's letters are half as high again.
      const [heading, ...rest] = text.lines
      for (const line of rest) assert.isAbove(heading?.height ?? 0, line.height * 1.25)
    }).pipe(Effect.provide(one))
  )

  it.live("DOC-23: a page that takes too long fails alone", () =>
    Effect.gen(function* () {
      const { picture } = yield* typedPicture
      const { read } = yield* TextRecognition
      assert.strictEqual((yield* Effect.flip(read(picture, { lang: undefined }))).reason, "timeout")
    }).pipe(Effect.provide(layerTesseract({ threads: 1, languages: ["eng"], pageTimeoutMs: 1 })))
  )

  it.live("languages without data are left out; without any nothing is read", () =>
    Effect.gen(function* () {
      const { atOnce } = yield* TextRecognition
      assert.strictEqual(atOnce, 0)
    }).pipe(Effect.provide(layerTesseract({ threads: 2, languages: ["qqq"] })))
  )
})
