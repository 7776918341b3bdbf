import { Option, Schema } from "effect"

import { isUsable } from "../conversion/converse.ts"
import { NO_TOKENS, type TokenUsage } from "../conversion/cost.ts"
import { membersOf, parsed } from "./members.ts"

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

const answerOf = (modelOutput: unknown): ReturnedRecord["answer"] => {
  const decoded = decodeAnswer(modelOutput)
  if (Option.isNone(decoded)) return undefined
  const { output, stopReason } = decoded.value
  const answer = { text: textOf(output.message.content), stopReason: stopReason ?? undefined }
  return isUsable(answer) ? answer : undefined
}

/**
 * Reads a line of a batch job's output; undefined for one that is no record (cut off, not JSON, without an id). The input that it
 * repeats is passed over.
 */
export const readOutputLine = (line: Uint8Array): ReturnedRecord | undefined => {
  const members = membersOf(line)
  const valueOf = (name: string): unknown => {
    const json = members?.get(name)
    return json === undefined ? null : parsed(json)
  }
  const [recordId, error, modelOutput] = ["recordId", "error", "modelOutput"].map(valueOf)
  if (typeof recordId !== "string" || error === undefined || modelOutput === undefined) return undefined
  return {
    recordId,
    usage: usageOf(modelOutput),
    answer: error === null ? answerOf(modelOutput) : undefined
  }
}
