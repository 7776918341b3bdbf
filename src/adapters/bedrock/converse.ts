import type { TokenUsage } from "../../domain/cascade/cost.ts"
import type { CallContent } from "../../domain/cascade/model-call.ts"

/** A block of content, as the Converse API takes it. Only with citations does the model see the page and not just its text. */
export const blockOf = (content: CallContent) => {
  if ("text" in content) return { text: content.text }
  if ("picture" in content) return { image: { format: content.format, source: { bytes: content.picture } } }
  const { name, pdf } = content
  return { document: { format: "pdf", name, source: { bytes: pdf }, citations: { enabled: true } } } as const
}

/** A block of an answer; with citations the text is in separate blocks (`citationsContent`). */
interface AnswerBlock {
  readonly text?: string | null | undefined
  readonly citationsContent?:
    | { readonly content?: ReadonlyArray<{ readonly text?: string | null | undefined }> | null | undefined }
    | null
    | undefined
}

/** All texts of an answer, in order. */
export const textOf = (blocks: ReadonlyArray<AnswerBlock>): string =>
  blocks
    .map(({ citationsContent, text }) =>
      citationsContent === undefined || citationsContent === null
        ? (text ?? "")
        : (citationsContent.content ?? []).map((cited) => cited.text ?? "").join("")
    )
    .join("")

type Tokens = number | null | undefined

/** Tokens that are billed: what was read from or written to the provider's cache counts as input. */
export const usageOf = (usage: {
  readonly inputTokens?: Tokens
  readonly outputTokens?: Tokens
  readonly cacheReadInputTokens?: Tokens
  readonly cacheWriteInputTokens?: Tokens
}): TokenUsage => ({
  inputTokens:
    (usage.inputTokens ?? 0) + (usage.cacheReadInputTokens ?? 0) + (usage.cacheWriteInputTokens ?? 0),
  outputTokens: usage.outputTokens ?? 0
})
