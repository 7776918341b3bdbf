import { Effect } from "effect"

import type { PdfError } from "../../ports/pdf.ts"
import { type CallPlace, type VisionAnswer, VisionModel, VisionModelError } from "../../ports/vision-model.ts"
import {
  type ContentBlock,
  type ConverseMessage,
  type ConverseRequest,
  DOCUMENT_NAME,
  MAX_DOCUMENT_BYTES,
  MAX_IMAGE_BYTES
} from "./converse.ts"
import type { PageSource } from "./page-source.ts"
import { pagePrompt, SYSTEM_PROMPT } from "./prompts.ts"

/** Most tokens of a page's HTML. */
const MAX_TOKENS = 16_000

/** The same page gives the same HTML, as far as the model can. */
const TEMPERATURE = 0

/** A call with these messages; the system prompt is the same for all of them, so that the provider may keep it. */
export const visionRequest = (
  modelId: string,
  messages: ReadonlyArray<ConverseMessage>,
  maxTokens = MAX_TOKENS
): ConverseRequest => ({
  modelId,
  system: [{ text: SYSTEM_PROMPT }, { cachePoint: { type: "default" } }],
  messages,
  inferenceConfig: { maxTokens, temperature: TEMPERATURE }
})

const tooLarge = (what: string, page: number) =>
  new VisionModelError({
    reason: "refused",
    message: `Page ${page + 1} is too large for the model as ${what}`
  })

/** A page as the model gets it: the PDF itself. */
export const documentBlock = (page: PageSource): Effect.Effect<ContentBlock, PdfError | VisionModelError> =>
  Effect.flatMap(page.pdf, (bytes) =>
    bytes.length > MAX_DOCUMENT_BYTES
      ? Effect.fail(tooLarge("a document", page.index))
      : Effect.succeed({
          document: { format: "pdf", name: DOCUMENT_NAME, source: { bytes }, citations: { enabled: true } }
        })
  )

/** A page as a picture of it. */
export const imageBlock = (page: PageSource): Effect.Effect<ContentBlock, PdfError | VisionModelError> =>
  Effect.flatMap(page.image, (bytes) =>
    bytes.length > MAX_IMAGE_BYTES
      ? Effect.fail(tooLarge("a picture", page.index))
      : Effect.succeed({ image: { format: "png", source: { bytes } } })
  )

/** One call; `maxTokens` where the answer is more than a page. */
export const ask = Effect.fnUntraced(function* (
  modelId: string,
  messages: ReadonlyArray<ConverseMessage>,
  place: CallPlace,
  maxTokens?: number
) {
  const model = yield* VisionModel
  return yield* model.converse(visionRequest(modelId, messages, maxTokens), place)
})

/**
 * The cascade's hi-fi single pass: one call, with the page's PDF (document 3: the one call that the batch lane makes ahead of
 * time, by running this very function on a transport that records instead of calling).
 */
export const convertPageWithVision = (
  page: PageSource,
  modelId: string
): Effect.Effect<VisionAnswer, PdfError | VisionModelError, VisionModel> =>
  Effect.gen(function* () {
    const document = yield* documentBlock(page)
    return yield* ask(modelId, [{ role: "user", content: [document, { text: pagePrompt() }] }], {
      tier: "hifi-single-pass",
      page: page.index
    })
  })
