import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

import type { CascadeSettings } from "../../../src/application/cascade/cascade.ts"
import { convertWhole, isWholeChunk, sectionsOf } from "../../../src/application/cascade/whole-chunk.ts"
import { pageOf, plainCleaner, type Script, scriptedModel } from "../../domain/conversion/world.ts"

const words = (n: number) => Array.from({ length: 15 }, (_, i) => `word${n}x${i}`).join(" ")

const HARNESS: CascadeSettings = { options: { parser: "harness" }, modelId: "m", mayDegrade: false }

const run = (script: Script, settings: CascadeSettings = HARNESS, blank?: number) => {
  const { calls, layer, requests } = scriptedModel(script)
  const pages = {
    page: (index: number) =>
      Effect.succeed(
        index === blank ? pageOf(index, "", { isBlank: Effect.succeed(true) }) : pageOf(index, words(index))
      )
  }
  return Effect.map(
    Effect.result(convertWhole(pages, [4, 5, 6], settings)).pipe(
      Effect.provide(Layer.merge(layer, plainCleaner))
    ),
    (result) => ({ result, calls, requests })
  )
}

const section = (n: number) => `<section><p>${words(n)}</p></section>`

describe("a whole chunk in one call", () => {
  it("is for the harness model and for math OCR", () => {
    assert.isTrue(isWholeChunk({ parser: "harness" }))
    assert.isTrue(isWholeChunk({ highFidelity: true, mathOcr: true }))
    assert.isFalse(isWholeChunk({ parser: "layout", mathOcr: true }))
    assert.isFalse(isWholeChunk({ highFidelity: true, parser: "auto" }))
  })

  it("takes an answer apart only where it has a section for every page", () => {
    assert.deepStrictEqual(sectionsOf("x<section>a</section> <SECTION id='b'>b</SECTION>", 2), ["a", "b"])
    assert.isUndefined(sectionsOf("<section>a</section>", 2))
    assert.isUndefined(sectionsOf("nothing", 1))
    assert.deepStrictEqual(sectionsOf("<section>cut", 1), ["cut"])
  })

  it.effect("shows every page as a picture, once, and takes the pages in order", () =>
    Effect.gen(function* () {
      const { calls, requests, result } = yield* run(() => [4, 5, 6].map(section).join(""))
      assert.deepStrictEqual(calls, [{ tier: "harness", page: 4 }])
      assert.strictEqual(requests[0]?.messages[0]?.content.filter((block) => "picture" in block).length, 3)
      const lines = result._tag === "Success" ? result.success : []
      assert.deepStrictEqual(
        lines.map(({ html, page, tier }) => [page, tier, html]),
        [4, 5, 6].map((n) => [n, "harness", `<p>${words(n)}</p>`])
      )
    })
  )

  it.effect(
    "a page that the answer leaves out is the layout tier's; so are all of an answer that cannot be taken apart",
    () =>
      Effect.gen(function* () {
        const tiers = ({ result }: Effect.Success<ReturnType<typeof run>>) =>
          result._tag === "Success" ? result.success.map(({ tier }) => tier) : result.failure._tag
        const some = yield* run(() => `${section(4)}<section></section>${section(6)}`, {
          ...HARNESS,
          options: { mathOcr: true }
        })
        assert.deepStrictEqual(tiers(some), ["math-ocr", "layout", "math-ocr"])
        assert.deepStrictEqual(tiers(yield* run(() => section(4))), ["layout", "layout", "layout"])
        assert.deepStrictEqual(tiers(yield* run(() => "refused")), ["layout", "layout", "layout"])
        const reasons = ({ result }: Effect.Success<ReturnType<typeof run>>) =>
          result._tag === "Success" ? result.success.map(({ noModel }) => noModel) : []
        assert.deepStrictEqual(reasons(some), [undefined, "unusable", undefined])
        assert.deepStrictEqual(reasons(yield* run(() => "refused")), ["refused", "refused", "refused"])
        assert.deepStrictEqual(tiers(yield* run(() => "throttled")), "VisionModelError")
        assert.deepStrictEqual(tiers(yield* run(() => "throttled", { ...HARNESS, mayDegrade: true })), [
          "layout",
          "layout",
          "layout"
        ])
      })
  )

  it.effect(
    "twenty pages are asked for in calls that fit: by their number, and by the bytes of their pictures",
    () =>
      Effect.gen(function* () {
        const answerTo = (first: number, count: number) =>
          Array.from({ length: count }, (_, n) => section(first + n)).join("")
        const asked = Effect.fnUntraced(function* (bytes: number, count: number) {
          const sizes: Array<number> = []
          const { layer } = scriptedModel((place, request) => {
            const pictures = request.messages
              .flatMap(({ content }) => content)
              .filter((one) => "picture" in one)
            sizes.push(pictures.length)
            return answerTo(place.page, pictures.length)
          })
          const pages = {
            page: (index: number) =>
              Effect.succeed(pageOf(index, words(index), { image: Effect.succeed(new Uint8Array(bytes)) }))
          }
          const indexes = Array.from({ length: count }, (_, n) => n)
          const lines = yield* convertWhole(pages, indexes, HARNESS).pipe(
            Effect.provide(Layer.merge(layer, plainCleaner))
          )
          assert.deepStrictEqual(
            lines.map(({ html, page, tier }) => [page, tier, html]),
            indexes.map((page) =>
              bytes > 3_750_000
                ? [page, "layout", `<p>${words(page)}</p>`]
                : [page, "harness", `<p>${words(page)}</p>`]
            )
          )
          return sizes
        })
        assert.deepStrictEqual(yield* asked(100, 20), [5, 5, 5, 5])
        assert.deepStrictEqual(yield* asked(3_700_000, 6), [4, 2])
        assert.deepStrictEqual(yield* asked(3_800_000, 2), [])
      })
  )

  it.effect("a blank page is blank, whatever becomes of the answer: nobody has to look at it", () =>
    Effect.gen(function* () {
      for (const answer of [`${section(4)}<section></section>${section(6)}`, "refused"]) {
        const { result } = yield* run(() => answer, HARNESS, 5)
        const [, blank] = result._tag === "Success" ? result.success : []
        assert.deepStrictEqual(blank, { page: 5, label: "6", tier: "blank", html: "" })
      }
    })
  )

  it.effect("a page of which the answer lacks much of the text is the layout tier's", () =>
    Effect.gen(function* () {
      const half = words(5).split(" ").slice(0, 7).join(" ")
      const { result } = yield* run(
        () =>
          `${section(4)}<section><p>${half}</p></section><section><p>${words(6)}</p><script>x</script></section>`
      )
      assert.deepStrictEqual(
        (result._tag === "Success" ? result.success : []).map(({ html, tier }) => [tier, html]),
        [
          ["harness", `<p>${words(4)}</p>`],
          ["layout", `<p>${words(5)}</p>`],
          ["harness", `<p>${words(6)}</p>`]
        ]
      )
    })
  )
})
