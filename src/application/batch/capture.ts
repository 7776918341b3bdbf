import { Effect } from "effect"
import { Digest, sha256 } from "effect/crypto/Digest"

import type { CallContent, ModelCall } from "../../domain/cascade/model-call.ts"
import { type VisionModel, VisionModelError } from "../../ports/conversion/vision-model.ts"

interface Capture {
  /** A model that records the hi-fi single pass and never answers: every call fails, that one as `captured`. */
  readonly model: VisionModel["Service"]
  /** Takes the newest recorded call; a second read returns nothing. */
  readonly take: () => ModelCall | undefined
}

/** Makes a capturing model; pages that are captured concurrently need one each. */
export const makeCapture = (): Capture => {
  let captured: ModelCall | undefined
  return {
    model: {
      converse: (call, place) =>
        Effect.suspend(() => {
          if (place.tier !== "hifi-single-pass") {
            return Effect.fail(
              new VisionModelError({
                reason: "refused",
                message: `the batch lane takes no ${place.tier} call`
              })
            )
          }
          captured = call
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

/**
 * What a piece of content is, without the page's bytes: the PDF library stamps those with the time. Results that are stored are
 * matched by this, so these words never change.
 */
const shapeOf = (content: CallContent): ReadonlyArray<string | boolean> => {
  if ("text" in content) return ["text", content.text]
  if ("picture" in content) return ["image", content.format]
  return ["document", "pdf", content.name, true]
}

/**
 * What a batch result is matched by, as one unambiguous text: system prompt, texts and kinds of content, token limit and
 * temperature. Left out are page bytes (the record id pins the page) and the model (compared separately).
 */
export const promptText = ({ maxTokens, messages, system, temperature }: ModelCall): string =>
  JSON.stringify([
    [system],
    messages.map(({ content, role }) => [role, content.map(shapeOf)]),
    maxTokens,
    temperature
  ])

/** SHA-256 of a {@link promptText}, hex (BATCH-20). */
export const hashOf = (text: string): Effect.Effect<string, never, Digest> =>
  Effect.flatMap(Digest, (digest) => digest.digestHex(sha256, new TextEncoder().encode(text)))

/** What a batch result is matched by. */
export const promptHash = (call: ModelCall): Effect.Effect<string, never, Digest> => hashOf(promptText(call))
