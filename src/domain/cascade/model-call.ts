import type { TokenUsage } from "./cost.ts"

/**
 * A call of a vision model: what is asked on demand, what the batch lane records ahead of time, and what its results are matched
 * by.
 */
export interface ModelCall {
  readonly model: string
  /** The instructions: the same for every call, so that a provider may cache them. */
  readonly system: string
  readonly messages: ReadonlyArray<CallMessage>
  readonly maxTokens: number
  /** Sent only where it is set: newer models answer 400 to any. */
  readonly temperature?: number | undefined
}

export interface CallMessage {
  readonly role: "user" | "assistant"
  readonly content: ReadonlyArray<CallContent>
}

/** Text, a PDF that the model sees as pages and not just as text, or a picture. */
export type CallContent =
  | { readonly text: string }
  | { readonly pdf: Uint8Array; readonly name: string }
  | { readonly picture: Uint8Array; readonly format: "png" | "jpeg" }

/** Largest PDF of a call, bytes (Bedrock user guide, Converse, "document"). */
export const MAX_DOCUMENT_BYTES = 4_500_000

/** Largest picture of a call, bytes (Bedrock user guide, Converse, "image"). */
export const MAX_IMAGE_BYTES = 3_750_000

/** Characters that count as a token, and what a page or a picture of one counts at most, about. */
const TOKEN_CHARACTERS = 4
export const PAGE_TOKENS = 3_000

/** Estimated tokens that a call sends, for a call without an answer: the vendor reports none for it. */
export const estimatedInput = ({ messages, system }: ModelCall): TokenUsage => {
  const tokensOf = (content: CallContent) =>
    "text" in content ? content.text.length / TOKEN_CHARACTERS : PAGE_TOKENS
  const sent = messages.flatMap(({ content }) => content).reduce((sum, one) => sum + tokensOf(one), 0)
  return { inputTokens: Math.ceil(sent + system.length / TOKEN_CHARACTERS), outputTokens: 0 }
}

/** The tokens that an answer is booked by: those that it reports, and an estimate of any that it does not report. */
export const bookedTokens = (
  reported: TokenUsage,
  text: string,
  estimatedInputTokens: number
): TokenUsage => ({
  inputTokens: reported.inputTokens > 0 ? reported.inputTokens : estimatedInputTokens,
  outputTokens: reported.outputTokens > 0 ? reported.outputTokens : Math.ceil(text.length / TOKEN_CHARACTERS)
})

/** A neutral constant: the name is part of the prompt, and a file's own name is untrusted. */
export const DOCUMENT_NAME = "page"

/** Stop reasons of an answer that was cut off or withheld (BATCH-21). */
const UNUSABLE_STOPS: ReadonlySet<string> = new Set([
  "guardrail_intervened",
  "content_filtered",
  "max_tokens",
  "model_context_window_exceeded",
  "malformed_model_output",
  "malformed_tool_use",
  // Its text is an apology, not the page.
  "refusal"
])

/** Whether an answer can be used: it has text, and was neither cut off nor withheld. */
export const isUsable = (answer: {
  readonly text: string
  readonly stopReason: string | undefined
}): boolean =>
  answer.text.trim() !== "" && (answer.stopReason === undefined || !UNUSABLE_STOPS.has(answer.stopReason))
