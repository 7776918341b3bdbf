import { Layer, Option, Result, Schema } from "effect"
import * as Base64 from "effect/encoding/Base64"

import type { ReturnedRecord } from "../../domain/batch/record.ts"
import { NO_TOKENS, type TokenUsage } from "../../domain/cascade/cost.ts"
import {
  bookedTokens,
  type CallContent,
  type CallMessage,
  type ModelCall,
  PAGE_TOKENS
} from "../../domain/cascade/model-call.ts"
import { BatchLines, type RecordWriter } from "../../ports/batch/batch-lines.ts"
import { blockOf, textOf, usageOf } from "./converse.ts"
import { membersOf, parsed } from "./json-members.ts"

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
const PADDING = "=".charCodeAt(0)

/** Two characters for each twelve bits: half as many steps as character by character. */
const FIRST = Uint8Array.from({ length: 4096 }, (_, bits) => ALPHABET.charCodeAt(bits >> 6))
const SECOND = Uint8Array.from({ length: 4096 }, (_, bits) => ALPHABET.charCodeAt(bits & 63))

/** Number of base64 characters for that many bytes. */
export const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4

/**
 * Writes bytes as base64 (RFC 4648, padded) straight into `target`, without an intermediate string: page PDFs are nearly all of a
 * batch record. `target` has room for {@link base64Length} from `at` on.
 */
export const writeBase64 = (bytes: Uint8Array, target: Uint8Array, at: number): void => {
  const whole = bytes.length - (bytes.length % 3)
  let to = at
  for (let from = 0; from < whole; from += 3) {
    const bits = ((bytes[from] ?? 0) << 16) | ((bytes[from + 1] ?? 0) << 8) | (bytes[from + 2] ?? 0)
    const [high, low] = [bits >> 12, bits & 4095]
    target[to] = FIRST[high] ?? 0
    target[to + 1] = SECOND[high] ?? 0
    target[to + 2] = FIRST[low] ?? 0
    target[to + 3] = SECOND[low] ?? 0
    to += 4
  }
  const rest = bytes.length - whole
  if (rest === 0) return
  const bits = ((bytes[whole] ?? 0) << 16) | ((bytes[whole + 1] ?? 0) << 8)
  target[to] = FIRST[bits >> 12] ?? 0
  target[to + 1] = SECOND[bits >> 12] ?? 0
  target[to + 2] = rest === 2 ? (FIRST[bits & 4095] ?? 0) : PADDING
  target[to + 3] = PADDING
}

/** A part of a line: JSON, or bytes to be written as base64. */
type Part = string | Uint8Array

/** The JSON of a block, cut open where its bytes go: no string in it can hold unescaped quotes. */
const partsOf = (content: CallContent): ReadonlyArray<Part> => {
  if ("text" in content) return [JSON.stringify(blockOf(content))]
  const bytes = "pdf" in content ? content.pdf : content.picture
  const json = JSON.stringify(blockOf(content), (key, value: unknown) => (key === "bytes" ? "" : value))
  const at = json.indexOf('"bytes":""') + '"bytes":"'.length
  return [json.slice(0, at), bytes, json.slice(at)]
}

const between = (lists: ReadonlyArray<ReadonlyArray<Part>>): ReadonlyArray<Part> =>
  lists.flatMap((parts, at) => (at === 0 ? parts : [",", ...parts]))

const messageParts = ({ content, role }: CallMessage): ReadonlyArray<Part> => [
  `{"role":${JSON.stringify(role)},"content":[`,
  ...between(content.map(partsOf)),
  "]}"
]

const encoder = new TextEncoder()

const writeLine = (recordId: string, call: ModelCall, room: (bytes: number) => Uint8Array): Uint8Array => {
  const system = JSON.stringify([{ text: call.system }])
  const config = JSON.stringify({ maxTokens: call.maxTokens, temperature: call.temperature })
  const parts = [
    `{"recordId":${JSON.stringify(recordId)},"modelInput":{"system":${system},"messages":[`,
    ...between(call.messages.map(messageParts)),
    `],"inferenceConfig":${config}}}\n`
  ].map((part) => (typeof part === "string" ? encoder.encode(part) : { bytes: part }))
  const lengths = parts.map((part) => ("bytes" in part ? base64Length(part.bytes.length) : part.length))
  const line = room(lengths.reduce((sum, length) => sum + length, 0))
  let at = 0
  for (const [n, part] of parts.entries()) {
    if ("bytes" in part) writeBase64(part.bytes, line, at)
    else line.set(part, at)
    at += lengths[n] ?? 0
  }
  return line
}

/**
 * One line of a shard: the record's id, and the body of a Converse call without the model and without cache points, which batch
 * records do not support; bytes as base64 (Bedrock, batch inference data).
 */
export const recordLine: RecordWriter = (recordId, call) =>
  writeLine(recordId, call, (bytes) => new Uint8Array(bytes))

/** The same for many records: the buffer is reused, so a line is valid until the next. */
const makeRecordLines = (): RecordWriter => {
  let place = new Uint8Array(0)
  return (recordId, call) =>
    writeLine(recordId, call, (bytes) => {
      if (place.length < bytes) place = new Uint8Array(Math.max(bytes, place.length * 2))
      return place.subarray(0, bytes)
    })
}

const TextBlock = Schema.Struct({ text: Schema.String })
const Bytes = Schema.Struct({ bytes: Schema.String })
const DocumentBlock = Schema.Struct({
  document: Schema.Struct({ format: Schema.Literal("pdf"), name: Schema.String, source: Bytes })
})
const ImageBlock = Schema.Struct({
  image: Schema.Struct({ format: Schema.Literals(["png", "jpeg"]), source: Bytes })
})
const InputBlock = Schema.Union([TextBlock, DocumentBlock, ImageBlock])

/** A line of a shard, as the batch service takes it. */
const InputRecord = Schema.Struct({
  recordId: Schema.String,
  modelInput: Schema.Struct({
    system: Schema.Array(TextBlock),
    messages: Schema.Array(
      Schema.Struct({ role: Schema.Literals(["user", "assistant"]), content: Schema.Array(InputBlock) })
    ),
    inferenceConfig: Schema.Struct({ maxTokens: Schema.Int, temperature: Schema.optionalKey(Schema.Finite) })
  })
})
export type InputRecord = typeof InputRecord.Type

/** Reads a {@link recordLine}. */
export const decodeRecord = Schema.decodeUnknownOption(Schema.fromJsonString(InputRecord))

const bytesOf = ({ bytes }: typeof Bytes.Type): Uint8Array =>
  Result.getOrElse(Base64.decode(bytes), () => new Uint8Array(0))

const contentOf = (block: typeof InputBlock.Type): CallContent => {
  if ("text" in block) return block
  if ("image" in block) return { picture: bytesOf(block.image.source), format: block.image.format }
  return { pdf: bytesOf(block.document.source), name: block.document.name }
}

/** A record as a call of the model. */
export const callOf = (model: string, { modelInput }: InputRecord): ModelCall => ({
  model,
  system: modelInput.system.map(({ text }) => text).join("\n"),
  messages: modelInput.messages.map(({ content, role }) => ({ role, content: content.map(contentOf) })),
  ...modelInput.inferenceConfig
})

const Text = Schema.optionalKey(Schema.NullOr(Schema.String))
const Cited = Schema.Struct({
  content: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Struct({ text: Text }))))
})
const OutputBlock = Schema.Struct({ text: Text, citationsContent: Schema.optionalKey(Schema.NullOr(Cited)) })

/** An answer that may be used. */
const Answer = Schema.Struct({
  output: Schema.Struct({ message: Schema.Struct({ content: Schema.Array(OutputBlock) }) }),
  stopReason: Text
})

/** Tokens are read apart from the answer: an unusable answer is billed all the same. */
const Given = Schema.optionalKey(Schema.Unknown)
const Billed = Schema.Struct({
  usage: Schema.Struct({
    inputTokens: Given,
    outputTokens: Given,
    cacheReadInputTokens: Given,
    cacheWriteInputTokens: Given
  })
})

/** A number of tokens; anything else counts as not given. */
const countOf = (given: unknown): number => (Schema.is(Schema.Natural)(given) ? given : 0)

const decodeAnswer = Schema.decodeUnknownOption(Answer)
const decodeBilled = Schema.decodeUnknownOption(Billed)

const billedOf = (modelOutput: unknown): TokenUsage =>
  Option.match(decodeBilled(modelOutput), {
    onNone: () => NO_TOKENS,
    onSome: ({ usage }) =>
      usageOf({
        inputTokens: countOf(usage.inputTokens),
        outputTokens: countOf(usage.outputTokens),
        cacheReadInputTokens: countOf(usage.cacheReadInputTokens),
        cacheWriteInputTokens: countOf(usage.cacheWriteInputTokens)
      })
  })

const answerOf = (modelOutput: unknown): ReturnedRecord["answer"] =>
  Option.getOrUndefined(
    Option.map(decodeAnswer(modelOutput), ({ output, stopReason }) => ({
      text: textOf(output.message.content),
      stopReason: stopReason ?? undefined
    }))
  )

/** A line without the byte order mark that programs put at the beginning of a file. */
const withoutMark = (line: Uint8Array): Uint8Array =>
  line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf ? line.subarray(3) : line

/**
 * Reads a line of a batch job's output; undefined for one that is not a record (cut off, not JSON, without an id). The input that
 * the record echoes is skipped.
 */
export const readOutputLine = (line: Uint8Array): ReturnedRecord | undefined => {
  const members = membersOf(withoutMark(line))
  const valueOf = (name: string): unknown => {
    const json = members?.get(name)
    return json === undefined ? null : parsed(json)
  }
  const [recordId, error, modelOutput] = ["recordId", "error", "modelOutput"].map(valueOf)
  if (typeof recordId !== "string" || error === undefined || modelOutput === undefined) return undefined
  const reported = billedOf(modelOutput)
  const answer = answerOf(modelOutput)
  return {
    recordId,
    usage: answer === undefined ? reported : bookedTokens(reported, answer.text, PAGE_TOKENS),
    answer: error === null ? answer : undefined
  }
}

/** The codec of the batch service's files. */
export const layer: Layer.Layer<BatchLines> = Layer.succeed(BatchLines, {
  makeWriter: makeRecordLines,
  read: readOutputLine
})
