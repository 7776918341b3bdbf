import { assert, describe, it } from "@effect/vitest"
import * as Base64 from "effect/encoding/Base64"
import * as fc from "fast-check"

import { recordLine, base64Length, writeBase64 } from "../../../src/domain/batch/record.ts"
import type { ContentBlock, ConverseRequest } from "../../../src/domain/conversion/cascade/converse.ts"

const decoder = new TextDecoder("utf-8", { fatal: true })
const text = fc.string({ unit: "grapheme" }).map((one) => one.toWellFormed())
const bytes = fc.uint8Array({ maxLength: 200 })

const block: fc.Arbitrary<ContentBlock> = fc.oneof(
  fc.record({ text }),
  fc
    .record({ format: fc.constantFrom("png" as const, "jpeg" as const), source: fc.record({ bytes }) })
    .map((image) => ({ image })),
  fc.record({ name: text, source: fc.record({ bytes }) }).map(({ name, source }) => ({
    document: { format: "pdf" as const, name, source, citations: { enabled: true as const } }
  }))
)

const request: fc.Arbitrary<ConverseRequest> = fc.record({
  modelId: text,
  system: fc.array(fc.record({ text }), { maxLength: 2 }),
  messages: fc.array(
    fc.record({
      role: fc.constantFrom("user" as const, "assistant" as const),
      content: fc.array(block, { maxLength: 3 })
    }),
    { maxLength: 3 }
  ),
  inferenceConfig: fc.record({ maxTokens: fc.nat(), temperature: fc.constantFrom(0, 0.5, 1) })
})

/** The same, by way of strings. */
const plainLine = (recordId: string, { inferenceConfig, messages, system }: ConverseRequest): string => {
  const encoded = (_: string, value: unknown) => (value instanceof Uint8Array ? Base64.encode(value) : value)
  const blocks = (content: ReadonlyArray<ContentBlock>) =>
    content.map((one) => {
      if (!("document" in one)) return one
      const { citations, format, name, source } = one.document
      return { document: { format, name, source, citations } }
    })
  const modelInput = {
    system,
    messages: messages.map(({ content, role }) => ({ role, content: blocks(content) })),
    inferenceConfig
  }
  return `${JSON.stringify({ recordId, modelInput }, encoded)}\n`
}

describe("a line of a shard", () => {
  it("is the record's JSON, with bytes as base64, whatever the call holds", () => {
    fc.assert(
      fc.property(text, request, (recordId, call) => {
        assert.strictEqual(decoder.decode(recordLine(recordId, call)), plainLine(recordId, call))
      }),
      { numRuns: 200 }
    )
  })

  it("bytes are written as base64 where they belong, and nowhere else", () => {
    fc.assert(
      fc.property(bytes, fc.nat(5), (given, at) => {
        const target = new Uint8Array(at + base64Length(given.length) + 3)
        writeBase64(given, target, at)
        const end = target.length - 3
        assert.strictEqual(decoder.decode(target.subarray(at, end)), Base64.encode(given))
        assert.isTrue([...target.subarray(0, at), ...target.subarray(end)].every((byte) => byte === 0))
      })
    )
  })
})
