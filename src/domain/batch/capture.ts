import { Effect } from "effect"
import { Digest, sha256 } from "effect/crypto/Digest"

import { type VisionModel, VisionModelError } from "../../ports/conversion/vision-model.ts"
import type { ConverseRequest, ContentBlock } from "../conversion/cascade/converse.ts"

/** Without cache points: batch records do not support them. */
export const withoutCachePoints = (request: ConverseRequest): ConverseRequest => ({
  ...request,
  system: request.system.filter((block) => "text" in block)
})

/** A transport that records the call it is asked to make. */
interface Capture {
  /** A model that records the hi-fi single pass and never answers: every call fails, that one as `captured`. */
  readonly model: VisionModel["Service"]
  /** Takes the newest recorded call; a second read returns nothing. */
  readonly take: () => ConverseRequest | undefined
}

/** Makes a capturing model; pages that are captured concurrently need one each. */
export const makeCapture = (): Capture => {
  let captured: ConverseRequest | undefined
  return {
    model: {
      converse: (request, place) =>
        Effect.suspend(() => {
          if (place.tier !== "hifi-single-pass") {
            return Effect.fail(
              new VisionModelError({
                reason: "refused",
                message: `the batch lane takes no ${place.tier} call`
              })
            )
          }
          captured = withoutCachePoints(request)
          return Effect.fail(
            new VisionModelError({ reason: "captured", message: "recorded for the batch lane" })
          )
        })
    },
    take: () => {
      const taken = captured
      captured = undefined
      return taken
    }
  }
}

/** What a block is, without the page's bytes: the PDF library stamps those with the time. */
const shapeOf = (block: ContentBlock): ReadonlyArray<string | boolean> => {
  if ("text" in block) return ["text", block.text]
  if ("image" in block) return ["image", block.image.format]
  return ["document", block.document.format, block.document.name, block.document.citations.enabled]
}

/**
 * What a batch result is matched by, as one unambiguous text: system prompt, texts and kinds of content, token limit and
 * temperature. Left out are page bytes (the record id pins the page), cache points and the model (compared separately).
 */
export const promptText = (request: ConverseRequest): string =>
  JSON.stringify([
    request.system.flatMap((block) => ("text" in block ? [block.text] : [])),
    request.messages.map(({ content, role }) => [role, content.map(shapeOf)]),
    request.inferenceConfig.maxTokens,
    request.inferenceConfig.temperature
  ])

/** SHA-256 of a {@link promptText}, hex (BATCH-20). */
export const hashOf = (text: string): Effect.Effect<string, never, Digest> =>
  Effect.flatMap(Digest, (digest) => digest.digestHex(sha256, new TextEncoder().encode(text)))

/** What a batch result is matched by. */
export const promptHash = (request: ConverseRequest): Effect.Effect<string, never, Digest> =>
  hashOf(promptText(request))
