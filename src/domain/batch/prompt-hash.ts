import { Effect } from "effect"
import { Digest, sha256 } from "effect/crypto/Digest"

import type { ContentBlock, ConverseRequest } from "../conversion/converse.ts"

/** What a block is, without the page's bytes, which the PDF library stamps with the time. */
const shapeOf = (block: ContentBlock): ReadonlyArray<string | boolean> => {
  if ("text" in block) return ["text", block.text]
  if ("image" in block) return ["image", block.image.format]
  return ["document", block.document.format, block.document.name, block.document.citations.enabled]
}

/**
 * What a batch result is matched by, as one unambiguous text: system prompt, texts and kinds of content, token limit and
 * temperature. Left out are page bytes (the record id pins the page), cache points and the model (matched by itself).
 */
export const promptText = (request: ConverseRequest): string =>
  JSON.stringify([
    request.system.flatMap((block) => ("text" in block ? [block.text] : [])),
    request.messages.map(({ content, role }) => [role, content.map(shapeOf)]),
    request.inferenceConfig.maxTokens,
    request.inferenceConfig.temperature
  ])

/** SHA-256 of a {@link promptText}, hex (document 3, "Chunk processing with results"). */
export const hashOf = (text: string): Effect.Effect<string, never, Digest> =>
  Effect.flatMap(Digest, (digest) => digest.digestHex(sha256, new TextEncoder().encode(text)))

/** What a batch result is matched by. */
export const promptHash = (request: ConverseRequest): Effect.Effect<string, never, Digest> =>
  hashOf(promptText(request))
