/**
 * A call of a vision model, in the shape of Bedrock's Converse API: what the on-demand client sends, what the batch lane records,
 * and what its results are matched by. Bytes are raw here; the adapters encode them.
 */
export interface ConverseRequest {
  readonly modelId: string
  readonly system: ReadonlyArray<SystemBlock>
  readonly messages: ReadonlyArray<ConverseMessage>
  readonly inferenceConfig: { readonly maxTokens: number; readonly temperature: number }
}

/** A cache point marks what the provider may keep between calls; batch records carry none. */
type SystemBlock = { readonly text: string } | { readonly cachePoint: { readonly type: "default" } }

export interface ConverseMessage {
  readonly role: "user" | "assistant"
  readonly content: ReadonlyArray<ContentBlock>
}

export type ContentBlock =
  | { readonly text: string }
  | {
      /** Only with citations does the model see the page and not just its text. */
      readonly document: {
        readonly format: "pdf"
        readonly name: string
        readonly source: { readonly bytes: Uint8Array }
        readonly citations: { readonly enabled: true }
      }
    }
  | { readonly image: { readonly format: "png" | "jpeg"; readonly source: { readonly bytes: Uint8Array } } }

/** Largest document block, bytes before base64 (Bedrock user guide, Converse, "document"). */
export const MAX_DOCUMENT_BYTES = 4_500_000

/** Largest image block, bytes before base64 (Bedrock user guide, Converse, "image"). */
export const MAX_IMAGE_BYTES = 3_750_000

/** A neutral constant: the name is part of the prompt, and a file's own name is untrusted. */
export const DOCUMENT_NAME = "page"

/** Stop reasons of an answer that was cut off or withheld (BATCH-21). */
const UNUSABLE_STOPS: ReadonlySet<string> = new Set([
  "guardrail_intervened",
  "content_filtered",
  "max_tokens",
  "model_context_window_exceeded",
  "malformed_model_output"
])

/** Whether an answer can be used: it has text, and was neither cut off nor withheld. */
export const isUsable = (answer: {
  readonly text: string
  readonly stopReason: string | undefined
}): boolean =>
  answer.text.trim() !== "" && (answer.stopReason === undefined || !UNUSABLE_STOPS.has(answer.stopReason))
