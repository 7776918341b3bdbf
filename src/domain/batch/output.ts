import { Option, Schema } from "effect"

import { isUsable } from "../conversion/converse.ts"
import { NO_TOKENS, type TokenUsage } from "../conversion/cost.ts"

const Tokens = Schema.optionalKey(Schema.NullOr(Schema.Natural))
const Cited = Schema.Struct({ text: Schema.optionalKey(Schema.NullOr(Schema.String)) })

/** A block of an answer; with citations its texts come in blocks of their own (Bedrock, Converse, `citationsContent`). */
const Block = Schema.Struct({
  text: Schema.optionalKey(Schema.NullOr(Schema.String)),
  citationsContent: Schema.optionalKey(
    Schema.NullOr(Schema.Struct({ content: Schema.optionalKey(Schema.NullOr(Schema.Array(Cited))) }))
  )
})

/** An answer as it may be used. */
const Answer = Schema.Struct({
  output: Schema.Struct({ message: Schema.Struct({ content: Schema.Array(Block) }) }),
  stopReason: Schema.optionalKey(Schema.NullOr(Schema.String))
})

/** Tokens are read apart from the answer: what cannot be used is billed all the same. */
const Billed = Schema.Struct({
  usage: Schema.Struct({
    inputTokens: Tokens,
    outputTokens: Tokens,
    cacheReadInputTokens: Tokens,
    cacheWriteInputTokens: Tokens
  })
})

const Returned = Schema.Struct({
  recordId: Schema.String,
  modelOutput: Schema.optionalKey(Schema.Unknown),
  error: Schema.optionalKey(Schema.Unknown)
})

const decodeReturned = Schema.decodeUnknownOption(Returned)
const decodeAnswer = Schema.decodeUnknownOption(Answer)
const decodeBilled = Schema.decodeUnknownOption(Billed)

/** A record that the batch service returned. */
export interface ReturnedRecord {
  readonly recordId: string
  /** Billed, used or not. */
  readonly usage: TokenUsage
  /** Undefined where there is no answer, or it cannot be used (document 3, "Accepted batch record"). */
  readonly answer: { readonly text: string; readonly stopReason: string | undefined } | undefined
}

const usageOf = (modelOutput: unknown): TokenUsage =>
  Option.match(decodeBilled(modelOutput), {
    onNone: () => NO_TOKENS,
    onSome: ({ usage }) => ({
      inputTokens:
        (usage.inputTokens ?? 0) + (usage.cacheReadInputTokens ?? 0) + (usage.cacheWriteInputTokens ?? 0),
      outputTokens: usage.outputTokens ?? 0
    })
  })

const textOf = (blocks: ReadonlyArray<typeof Block.Type>): string =>
  blocks
    .map(({ citationsContent, text }) =>
      citationsContent === undefined || citationsContent === null
        ? (text ?? "")
        : (citationsContent.content ?? []).map((cited) => cited.text ?? "").join("")
    )
    .join("")

const answerOf = (returned: typeof Returned.Type): ReturnedRecord["answer"] => {
  if (returned.error !== undefined && returned.error !== null) return undefined
  const decoded = decodeAnswer(returned.modelOutput)
  if (Option.isNone(decoded)) return undefined
  const { output, stopReason } = decoded.value
  const answer = { text: textOf(output.message.content), stopReason: stopReason ?? undefined }
  return isUsable(answer) ? answer : undefined
}

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Reads a line of a batch job's output; undefined for one that is no record (cut off, not JSON, without an id). */
export const readOutputLine = (line: string): ReturnedRecord | undefined =>
  Option.match(decodeReturned(parsed(line)), {
    onNone: () => undefined,
    onSome: (returned) => ({
      recordId: returned.recordId,
      usage: usageOf(returned.modelOutput),
      answer: answerOf(returned)
    })
  })
