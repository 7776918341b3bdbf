import type { ContentBlock, ConverseMessage, ConverseRequest } from "../conversion/converse.ts"
import { base64Length, writeBase64 } from "./write-base64.ts"

/** A part of a line: JSON, or bytes that stand there as base64. */
type Part = string | Uint8Array

const partsOf = (block: ContentBlock): ReadonlyArray<Part> => {
  if ("text" in block) return [JSON.stringify({ text: block.text })]
  if ("image" in block) {
    const { format, source } = block.image
    return [`{"image":{"format":${JSON.stringify(format)},"source":{"bytes":"`, source.bytes, `"}}}`]
  }
  const { citations, format, name, source } = block.document
  return [
    `{"document":{"format":${JSON.stringify(format)},"name":${JSON.stringify(name)},"source":{"bytes":"`,
    source.bytes,
    `"},"citations":${JSON.stringify(citations)}}}`
  ]
}

const between = (lists: ReadonlyArray<ReadonlyArray<Part>>): ReadonlyArray<Part> =>
  lists.flatMap((parts, at) => (at === 0 ? parts : [",", ...parts]))

const messageParts = ({ content, role }: ConverseMessage): ReadonlyArray<Part> => [
  `{"role":${JSON.stringify(role)},"content":[`,
  ...between(content.map(partsOf)),
  "]}"
]

const encoder = new TextEncoder()

const writeLine = (
  recordId: string,
  request: ConverseRequest,
  room: (bytes: number) => Uint8Array
): Uint8Array => {
  const parts = [
    `{"recordId":${JSON.stringify(recordId)},"modelInput":{"system":${JSON.stringify(request.system)},"messages":[`,
    ...between(request.messages.map(messageParts)),
    `],"inferenceConfig":${JSON.stringify(request.inferenceConfig)}}}\n`
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
 * One line of a shard: the record's id, and the body of a Converse call without the model, bytes as base64 (Bedrock, batch
 * inference data). The bytes are nearly all of it: they go into the line as they are encoded, and through no string.
 */
export const recordLine = (recordId: string, request: ConverseRequest): Uint8Array =>
  writeLine(recordId, request, (bytes) => new Uint8Array(bytes))

/** The same for many records: a line is written where the one before stood, and is good until the next. */
export const makeRecordLines = (): typeof recordLine => {
  let place = new Uint8Array(0)
  return (recordId, request) =>
    writeLine(recordId, request, (bytes) => {
      if (place.length < bytes) place = new Uint8Array(Math.max(bytes, place.length * 2))
      return place.subarray(0, bytes)
    })
}
