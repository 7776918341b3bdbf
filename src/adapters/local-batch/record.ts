import { Result, Schema } from "effect"
import * as Base64 from "effect/encoding/Base64"

import type { ContentBlock, ConverseRequest } from "../../domain/conversion/cascade/converse.ts"

const TextBlock = Schema.Struct({ text: Schema.String })
const Bytes = Schema.Struct({ bytes: Schema.String })
const DocumentBlock = Schema.Struct({
  document: Schema.Struct({ format: Schema.Literal("pdf"), name: Schema.String, source: Bytes })
})
const ImageBlock = Schema.Struct({
  image: Schema.Struct({ format: Schema.Literal("png"), source: Bytes })
})

/** A line of a shard, as the batch service takes it. */
const Record = Schema.Struct({
  recordId: Schema.String,
  modelInput: Schema.Struct({
    system: Schema.Array(TextBlock),
    messages: Schema.Array(
      Schema.Struct({
        role: Schema.Literals(["user", "assistant"]),
        content: Schema.Array(Schema.Union([TextBlock, DocumentBlock, ImageBlock]))
      })
    ),
    inferenceConfig: Schema.Struct({ maxTokens: Schema.Int, temperature: Schema.Finite })
  })
})
export type Record = typeof Record.Type

const NONE = new Uint8Array(0)

const bytesOf = (base64: string): Uint8Array => Result.getOrElse(Base64.decode(base64), () => NONE)

const blockOf = (block: Record["modelInput"]["messages"][number]["content"][number]): ContentBlock => {
  if ("text" in block) return block
  if ("image" in block) {
    return { image: { format: "png", source: { bytes: bytesOf(block.image.source.bytes) } } }
  }
  const { name, source } = block.document
  return {
    document: { format: "pdf", name, source: { bytes: bytesOf(source.bytes) }, citations: { enabled: true } }
  }
}

export const decodeRecord = Schema.decodeUnknownOption(Schema.fromJsonString(Record))

/** A record as a call of the model. */
export const requestOf = (modelId: string, { modelInput }: Record): ConverseRequest => ({
  modelId,
  system: modelInput.system,
  messages: modelInput.messages.map(({ content, role }) => ({ role, content: content.map(blockOf) })),
  inferenceConfig: modelInput.inferenceConfig
})
