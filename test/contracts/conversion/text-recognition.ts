/**
 * `TextRecognition`: typed text is read by lines, with places and certainty, the same each time; where there is none, none is
 * found.
 *
 * Adapters: memory, tesseract. Rules: DOC-23.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, type Layer } from "effect"

import { TextRecognition } from "../../../src/ports/conversion/text-recognition.ts"
import type { GreyPicture } from "../../../src/reader/model/recognised-text.ts"
import { legibleOf, showsText, withoutSpecks } from "../../../src/reader/recognition/recognised-text.ts"

/** A picture of one grey. */
export const paper = (width: number, height: number, level = 255): GreyPicture => ({
  width,
  height,
  dpi: 200,
  bytes: new Uint8Array(width * height).fill(level)
})

/** Every pixel black or white by chance, the same each time. */
export const noise = (width: number, height: number): GreyPicture => {
  let state = 1
  const bytes = Uint8Array.from({ length: width * height }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return state & 0x10000 ? 255 : 0
  })
  return { width, height, dpi: 200, bytes }
}

const copyOf = (picture: GreyPicture): GreyPicture => ({ ...picture, bytes: picture.bytes.slice() })

/** What every recogniser does. `typed` is a picture of typed text, `words` some that are on it. */
export const textRecognitionContract = (
  name: string,
  recognition: Layer.Layer<never>,
  typed: Effect.Effect<{ readonly picture: GreyPicture; readonly words: ReadonlyArray<string> }>
) =>
  describe(`TextRecognition: ${name}`, () => {
    const test = (title: string, use: Effect.Effect<void, unknown>) =>
      it.live(title, () => use.pipe(Effect.provide(recognition)))

    test(
      "reads typed text, a line at a time, with places and certainty, the same each time",
      Effect.gen(function* () {
        const { atOnce, read } = yield* TextRecognition
        assert.isAbove(atOnce, 0)
        const { picture, words } = yield* typed
        const text = yield* read(copyOf(picture), { lang: "en" })
        assert.deepStrictEqual(yield* read(copyOf(picture), { lang: "en" }), text)
        const found = text.lines.map((line) => line.words.map((word) => word.text).join(" "))
        for (const word of words) assert.include(found.join(" "), word)
        assert.deepStrictEqual([text.turn, text.width, text.height], [0, picture.width, picture.height])
        assert.isTrue(showsText(text))
        assert.strictEqual(legibleOf(withoutSpecks(text)), "good")
        for (const { baseline, height, words: ofLine } of text.lines) {
          assert.isAbove(height, 0)
          for (const { box, confidence } of ofLine) {
            assert.isTrue(box.x0 >= 0 && box.x0 < box.x1 && box.x1 <= picture.width)
            assert.isTrue(box.y0 >= 0 && box.y0 < box.y1 && box.y1 <= picture.height)
            assert.isTrue(baseline > box.y0 - height && baseline < box.y1 + height)
            assert.isTrue(confidence >= 0 && confidence <= 100)
          }
        }
      })
    )

    test(
      "finds nothing on paper, ink and noise, and on strips that hold no line",
      Effect.gen(function* () {
        const { read } = yield* TextRecognition
        for (const picture of [
          paper(400, 300),
          paper(400, 300, 0),
          noise(400, 300),
          paper(1, 3_000),
          paper(3_000, 1, 0),
          paper(1, 1)
        ])
          assert.deepStrictEqual((yield* read(picture, { lang: undefined })).lines, [])
      })
    )

    test(
      "one that is interrupted leaves the others alone",
      Effect.gen(function* () {
        const { read } = yield* TextRecognition
        const { picture } = yield* typed
        const fiber = yield* Effect.forkChild(read(copyOf(picture), { lang: undefined }), {
          startImmediately: true
        })
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual((yield* read(paper(40, 30), { lang: undefined })).lines, [])
      })
    )
  })
