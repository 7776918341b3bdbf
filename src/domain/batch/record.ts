import type { ContentBlock, ConverseMessage, ConverseRequest } from "../conversion/cascade/converse.ts"

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
 * inference data). The bytes are nearly all of the line: they are encoded straight into it, without a string.
 */
export const recordLine = (recordId: string, request: ConverseRequest): Uint8Array =>
  writeLine(recordId, request, (bytes) => new Uint8Array(bytes))

/** The same for many records: the buffer is reused, so a line is valid until the next. */
export const makeRecordLines = (): typeof recordLine => {
  let place = new Uint8Array(0)
  return (recordId, request) =>
    writeLine(recordId, request, (bytes) => {
      if (place.length < bytes) place = new Uint8Array(Math.max(bytes, place.length * 2))
      return place.subarray(0, bytes)
    })
}

/** Which page a batch record is for: chunk and page, both from 0, the page in the document. */
export interface RecordPlace {
  readonly chunkIndex: number
  readonly page: number
}

const RECORD_ID = /^c(0|[1-9]\d{0,8})-p(0|[1-9]\d{0,8})$/

/** `c<chunkIndex>-p<page>` (BATCH-11). */
export const recordId = ({ chunkIndex, page }: RecordPlace): string => `c${chunkIndex}-p${page}`

/** Parses a record id; undefined for any other text. */
export const placeOf = (id: string): RecordPlace | undefined => {
  const match = RECORD_ID.exec(id)
  return match === null ? undefined : { chunkIndex: Number(match[1]), page: Number(match[2]) }
}
