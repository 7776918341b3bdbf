import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { Effect, Layer, Stream } from "effect"

import type { ModelCall } from "../../domain/cascade/model-call.ts"
import { Pdf } from "../../ports/conversion/pdf.ts"
import { type VisionAnswer, VisionModel, VisionModelError } from "../../ports/conversion/vision-model.ts"

/** Characters that count as a token, about as models count. */
const TOKEN_CHARACTERS = 4

/** Tokens that a page costs a vision model to look at. */
const PAGE_TOKENS = 1500

const tokensOf = (text: string): number => Math.ceil(text.length / TOKEN_CHARACTERS)

const contentOf = ({ messages }: ModelCall) => messages.flatMap(({ content }) => content)

const documentOf = (call: ModelCall): Uint8Array | undefined =>
  contentOf(call).flatMap((content) => ("pdf" in content ? [content.pdf] : []))[0]

const textOf = (call: ModelCall): string =>
  [call.system, ...contentOf(call).flatMap((content) => ("text" in content ? [content.text] : []))].join("\n")

const refused = (message: string) => new VisionModelError({ reason: "refused", message })

const temporaryFile = (bytes: Uint8Array) =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        const folder = await mkdtemp(join(tmpdir(), "postlane-page-"))
        const path = join(folder, "page.pdf")
        await writeFile(path, bytes, { mode: 0o600 })
        return { folder, path }
      },
      catch: (cause) =>
        new VisionModelError({
          reason: "unavailable",
          message: "a temporary file could not be written",
          cause
        })
    }),
    ({ folder }) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  )

/**
 * Replaces the hi-fi model in an installation without one: answers a call that holds a page with the layout tier's HTML, the same for the
 * same bytes, and counts tokens as a model would. It refuses unreadable pages, and calls with a picture only.
 */
export const layer: Layer.Layer<VisionModel, never, Pdf> = Layer.effect(
  VisionModel,
  Effect.gen(function* () {
    const pdf = yield* Pdf
    return VisionModel.of({
      converse: Effect.fnUntraced(
        function* (call) {
          const bytes = documentOf(call)
          if (bytes === undefined) return yield* refused("the local model reads documents, not pictures")
          const { path } = yield* temporaryFile(bytes)
          const document = yield* pdf.open(path)
          const pages = yield* Stream.runCollect(document.layout({ first: 0, end: document.facts.pageCount }))
          const text = pages.map(({ html }) => html.replaceAll(/ data-[a-z]+="[^"]*"/g, "")).join("\n")
          const answer: VisionAnswer = {
            text,
            stopReason: "end_turn",
            usage: {
              inputTokens: PAGE_TOKENS * pages.length + tokensOf(textOf(call)),
              outputTokens: tokensOf(text)
            },
            fromBatch: false
          }
          return answer
        },
        Effect.scoped,
        Effect.catchTag("PdfError", ({ message }) => Effect.fail(refused(message)))
      )
    })
  })
)
