import * as Base64 from "effect/encoding/Base64"

import type { ContentBlock, ConverseRequest } from "../conversion/converse.ts"

const wireBlock = (block: ContentBlock) => {
  if ("text" in block) return { text: block.text }
  if ("image" in block) {
    return {
      image: { format: block.image.format, source: { bytes: Base64.encode(block.image.source.bytes) } }
    }
  }
  const { citations, format, name, source } = block.document
  return { document: { format, name, source: { bytes: Base64.encode(source.bytes) }, citations } }
}

/** The body of a Converse call as a batch record holds it: without the model, bytes as base64 (Bedrock, batch inference data). */
export const modelInput = (request: ConverseRequest) => ({
  system: request.system,
  messages: request.messages.map(({ content, role }) => ({ role, content: content.map(wireBlock) })),
  inferenceConfig: request.inferenceConfig
})

const encoder = new TextEncoder()

/** One line of a shard. */
export const recordLine = (recordId: string, request: ConverseRequest): Uint8Array =>
  encoder.encode(`${JSON.stringify({ recordId, modelInput: modelInput(request) })}\n`)
