import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as fc from "fast-check"

import { type CascadeSettings, convertPage } from "../../../src/application/cascade/cascade.ts"
import { HifiTemperature } from "../../../src/application/cascade/vision.ts"
import type { PageSource } from "../../../src/ports/conversion/page-sources.ts"
import { PdfError } from "../../../src/reader/model/pdf-document.ts"
import { pageOf, plainCleaner, type Script, scriptedModel } from "../../domain/conversion/world.ts"

const WORDS = "alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november"
const HALF = WORDS.split(" ").slice(0, 7).join(" ")

const HIFI: CascadeSettings = { options: { highFidelity: true }, modelId: "m", mayDegrade: false }

const run = (script: Script, page: PageSource = pageOf(3, WORDS), settings: CascadeSettings = HIFI) => {
  const { calls, layer, requests } = scriptedModel(script)
  return Effect.map(
    Effect.result(convertPage(page, settings)).pipe(Effect.provide(Layer.merge(layer, plainCleaner))),
    (result) => ({ result, tiers: calls.map(({ tier }) => tier), requests })
  )
}

describe("the cascade", () => {
  it.effect("a blank page calls nothing", () =>
    Effect.gen(function* () {
      const { result, tiers } = yield* run(() => WORDS, pageOf(0, "", { isBlank: Effect.succeed(true) }))
      assert.deepStrictEqual(tiers, [])
      assert.include(result._tag === "Success" ? result.success : {}, { tier: "blank", html: "" })
    })
  )

  it.effect.each([
    {},
    { highFidelity: false },
    { highFidelity: true, parser: "layout" },
    { highFidelity: true, parser: "harness" },
    { highFidelity: true, mathOcr: true }
  ] as const)("%j stays with the layout tier", (options) =>
    Effect.gen(function* () {
      const { result, tiers } = yield* run(() => WORDS, pageOf(0, WORDS), { ...HIFI, options })
      assert.deepStrictEqual(tiers, [])
      assert.include(result._tag === "Success" ? result.success : {}, { tier: "layout", noModel: undefined })
    })
  )

  it.effect("a table of contents has a tier of its own where no model is wanted", () =>
    Effect.gen(function* () {
      const contents = pageOf(0, WORDS, {
        layout: Effect.succeed({
          index: 0,
          label: "1",
          tier: "table-of-contents",
          text: WORDS,
          html: `<p>${WORDS}</p>`
        })
      })
      const plain = yield* run(() => WORDS, contents, { ...HIFI, options: {} })
      assert.deepStrictEqual(plain.tiers, [])
      assert.include(plain.result._tag === "Success" ? plain.result.success : {}, {
        tier: "table-of-contents"
      })
      assert.deepStrictEqual((yield* run(() => `<p>${WORDS}</p>`, contents)).tiers, ["hifi-single-pass"])
    })
  )

  it.effect(
    "DOC-23: a scan is recognised where no model is wanted, or none answered; else the model reads it",
    () =>
      Effect.gen(function* () {
        let recognitions = 0
        const layout = {
          index: 0,
          label: "1",
          tier: "layout",
          text: "",
          html: "<p>picture</p>",
          isScan: true
        } as const
        const scan = pageOf(0, "", {
          layout: Effect.succeed(layout),
          recognised: Effect.sync(() => {
            recognitions += 1
            return { ...layout, tier: "poorly-recognised", html: "<p>read</p>" }
          })
        })
        const found = Effect.fnUntraced(function* (answer: string, options: object) {
          const { result } = yield* run(() => answer, scan, { ...HIFI, mayDegrade: true, options })
          return result._tag === "Success" ? result.success : undefined
        })
        assert.include(yield* found(WORDS, {}), {
          tier: "poorly-recognised",
          html: "<p>read</p>",
          noModel: undefined
        })
        assert.include(yield* found("unavailable", { highFidelity: true }), {
          tier: "poorly-recognised",
          html: "<p>read</p>",
          noModel: "unavailable"
        })
        assert.strictEqual(recognitions, 2)
        assert.include(yield* found(`<p>${WORDS}</p>`, { highFidelity: true }), { tier: "hifi-single-pass" })
        assert.strictEqual(recognitions, 2)
      })
  )

  it.effect("one call, with the page as a document, where the answer covers the text", () =>
    Effect.gen(function* () {
      const { requests, result, tiers } = yield* run(() => `<p>${WORDS}</p><script>x</script>`)
      assert.deepStrictEqual(tiers, ["hifi-single-pass"])
      assert.include(result._tag === "Success" ? result.success : {}, {
        page: 3,
        tier: "hifi-single-pass",
        html: `<p>${WORDS}</p>`,
        fromBatch: false
      })
      assert.strictEqual(requests[0]?.maxTokens, 16_000)
      assert.notProperty(requests[0], "temperature", "newer models refuse any")
      const set = yield* Effect.provideService(
        run(() => `<p>${WORDS}</p>`),
        HifiTemperature,
        0
      )
      assert.strictEqual(set.requests[0]?.temperature, 0)
      const block = requests[0]?.messages[0]?.content[0]
      assert.deepStrictEqual(block !== undefined && "pdf" in block ? block.pdf : null, new Uint8Array([3]))
    })
  )

  it.effect("an answer from the batch is marked as such", () =>
    Effect.gen(function* () {
      const { result } = yield* run(() => ({ text: `<p>${WORDS}</p>`, fromBatch: true }))
      assert.include(result._tag === "Success" ? result.success : {}, {
        html: `<p>${WORDS}</p>`,
        fromBatch: true
      })
    })
  )

  it.effect("words that are missing are asked for again, then mended by looking", () =>
    Effect.gen(function* () {
      const retried = yield* run(({ tier }) => `<p>${tier === "coverage-retry" ? WORDS : HALF}</p>`)
      assert.deepStrictEqual(retried.tiers, ["hifi-single-pass", "coverage-retry"])
      const mended = yield* run(({ tier }) => `<p>${tier === "agentic" ? WORDS : HALF}</p>`)
      assert.deepStrictEqual(mended.tiers, ["hifi-single-pass", "coverage-retry", "agentic"])
      assert.include(mended.result._tag === "Success" ? mended.result.success : {}, { tier: "agentic" })
    })
  )

  it.effect("the loop ends when it stops improving, after four rounds at most, with the best draft", () =>
    Effect.gen(function* () {
      const stuck = yield* run(() => `<p>${HALF}</p>`)
      assert.deepStrictEqual(stuck.tiers, ["hifi-single-pass", "coverage-retry", "agentic"])
      assert.include(stuck.result._tag === "Success" ? stuck.result.success : {}, { html: `<p>${HALF}</p>` })
      let round = 0
      const slow = yield* run(({ tier }) => {
        if (tier !== "agentic") return `<p>alpha</p>`
        round++
        return `<p>${WORDS.split(" ")
          .slice(0, 1 + round)
          .join(" ")}</p>`
      })
      assert.strictEqual(slow.tiers.filter((tier) => tier === "agentic").length, 4)
    })
  )

  it.effect("what is asked again shows page, answer and missing words; what is mended, page and draft", () =>
    Effect.gen(function* () {
      const missing = WORDS.split(" ").slice(7).join(" ")
      const draft = `<p>${HALF}</p>`
      const { requests } = yield* run(() => draft)
      const [, retry, mend] = requests
      const texts = (request: (typeof requests)[number] | undefined, role: "user" | "assistant") =>
        (request?.messages ?? []).flatMap((message) =>
          message.role === role ? message.content.flatMap((block) => ("text" in block ? block.text : [])) : []
        )
      assert.deepStrictEqual(
        retry?.messages.map(({ role }) => role),
        ["user", "assistant", "user"]
      )
      assert.isTrue(retry?.messages[0]?.content.some((block) => "pdf" in block))
      assert.deepStrictEqual(texts(retry, "assistant"), [draft])
      assert.include(texts(retry, "user").at(-1), missing)
      assert.isTrue(mend?.messages[0]?.content.some((block) => "picture" in block))
      assert.include(texts(mend, "user").at(-1), draft)
      assert.include(texts(mend, "user").at(-1), missing)
      // Where there was no answer, the layout tier's is the draft.
      const none = yield* run(({ tier }) => (tier === "agentic" ? `<p>${WORDS}</p>` : "unavailable"))
      assert.deepStrictEqual(none.tiers, ["hifi-single-pass", "agentic"])
      assert.include(texts(none.requests[1], "user").at(-1), `<p>${WORDS}</p>`)
    })
  )

  it.effect("nine words in ten have to be there", () =>
    Effect.gen(function* () {
      const without = (n: number) => `<p>${WORDS.split(" ").slice(n).join(" ")}</p>`
      const enough = yield* run(() => without(1))
      assert.deepStrictEqual(enough.tiers, ["hifi-single-pass"])
      const tooFew = yield* run(({ tier }) => (tier === "coverage-retry" ? `<p>${WORDS}</p>` : without(2)))
      assert.deepStrictEqual(tooFew.tiers, ["hifi-single-pass", "coverage-retry"])
    })
  )

  it.effect("a later answer that covers less takes the place of none before it, and ends the loop", () =>
    Effect.gen(function* () {
      const html = (words: number) => `<p>${WORDS.split(" ").slice(0, words).join(" ")}</p>`
      const answers = (retry: number, ...rounds: ReadonlyArray<number>) => {
        let round = 0
        return run(({ tier }) =>
          html(tier === "hifi-single-pass" ? 7 : tier === "coverage-retry" ? retry : (rounds[round++] ?? 14))
        )
      }
      const worse = yield* answers(3, 4)
      assert.deepStrictEqual(worse.tiers, ["hifi-single-pass", "coverage-retry", "agentic"])
      assert.include(worse.result._tag === "Success" ? worse.result.success : {}, {
        tier: "hifi-single-pass",
        html: html(7)
      })
      const better = yield* answers(8, 9, 2)
      assert.deepStrictEqual(better.tiers, ["hifi-single-pass", "coverage-retry", "agentic", "agentic"])
      assert.include(better.result._tag === "Success" ? better.result.success : {}, {
        tier: "agentic",
        html: html(9)
      })
    })
  )

  it.effect.each([
    "guardrail_intervened",
    "content_filtered",
    "refusal",
    "malformed_tool_use",
    "max_tokens",
    "model_context_window_exceeded",
    "malformed_model_output"
  ])("an answer that stopped for %s is not used: the page goes on to the next tier", (stopReason) =>
    Effect.gen(function* () {
      const { result, tiers } = yield* run(({ tier }) =>
        tier === "hifi-single-pass" ? { text: `<p>${WORDS}</p>`, stopReason } : `<p>${WORDS}</p>`
      )
      assert.deepStrictEqual(tiers, ["hifi-single-pass", "agentic"])
      assert.include(result._tag === "Success" ? result.success : {}, { tier: "agentic" })
    })
  )

  it.effect(
    "a model that does not answer fails the page, but the last attempt falls back to the layout tier",
    () =>
      Effect.gen(function* () {
        const first = yield* run(() => "throttled")
        assert.strictEqual(
          first.result._tag === "Failure" ? first.result.failure._tag : "",
          "VisionModelError"
        )
        const last = yield* run(() => "unavailable", pageOf(0, WORDS), { ...HIFI, mayDegrade: true })
        assert.include(last.result._tag === "Success" ? last.result.success : {}, {
          tier: "layout",
          noModel: "unavailable"
        })
      })
  )

  it.effect(
    "a page that the model refuses is the layout tier's at once; one too large for a document is looked at",
    () =>
      Effect.gen(function* () {
        const refused = yield* run(() => "refused")
        assert.include(refused.result._tag === "Success" ? refused.result.success : {}, {
          tier: "layout",
          noModel: "refused"
        })
        const large = yield* run(
          () => `<p>${WORDS}</p>`,
          pageOf(0, WORDS, { pdf: Effect.succeed(new Uint8Array(4_600_000)) })
        )
        assert.deepStrictEqual(large.tiers, ["agentic"])
        const huge = yield* run(
          () => `<p>${WORDS}</p>`,
          pageOf(0, WORDS, {
            pdf: Effect.succeed(new Uint8Array(4_600_000)),
            image: Effect.succeed(new Uint8Array(3_800_000))
          })
        )
        assert.deepStrictEqual(huge.tiers, [])
        assert.include(huge.result._tag === "Success" ? huge.result.success : {}, {
          tier: "layout",
          noModel: "unfit"
        })
        const cut = yield* run(() => ({ text: "<p>Half", stopReason: "max_tokens" }))
        assert.include(cut.result._tag === "Success" ? cut.result.success : {}, {
          tier: "layout",
          noModel: "unusable"
        })
      })
  )

  it.effect("a recorded call ends the page there", () =>
    Effect.gen(function* () {
      const { result, tiers } = yield* run(() => "captured", pageOf(0, WORDS), { ...HIFI, mayDegrade: true })
      assert.deepStrictEqual(tiers, ["hifi-single-pass"])
      assert.strictEqual(
        result._tag === "Failure" && result.failure._tag === "VisionModelError" ? result.failure.reason : "",
        "captured"
      )
    })
  )

  it.effect("a page that cannot be read fails as such", () =>
    Effect.gen(function* () {
      const broken = Effect.fail(new PdfError({ reason: "broken", message: "broken" }))
      const { result } = yield* run(() => WORDS, pageOf(0, WORDS, { pdf: broken }))
      assert.strictEqual(result._tag === "Failure" ? result.failure._tag : "", "PdfError")
    })
  )

  it.effect("whatever the model does, a page that may degrade is converted, with six calls at most", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(
          fc.infiniteStream(
            fc.oneof(
              fc.constantFrom("throttled", "unavailable", "refused", "", HALF, `<p>${WORDS}</p>`),
              fc.record({
                text: fc.string(),
                stopReason: fc.constantFrom("max_tokens", "end_turn", undefined)
              })
            )
          ),
          async (script) => {
            const { result, tiers } = await Effect.runPromise(
              run(() => script.next().value, pageOf(0, WORDS), { ...HIFI, mayDegrade: true })
            )
            assert.strictEqual(result._tag, "Success")
            assert.isAtMost(tiers.length, 6)
            if (result._tag === "Success") assert.isNotEmpty(result.success.html)
          }
        ),
        { numRuns: 200 }
      )
    )
  )
})
