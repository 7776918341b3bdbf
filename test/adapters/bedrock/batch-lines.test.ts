import { createHash } from "node:crypto"

import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import * as Base64 from "effect/encoding/Base64"
import * as fc from "fast-check"

import {
  base64Length,
  callOf,
  decodeRecord,
  readOutputLine,
  recordLine,
  writeBase64
} from "../../../src/adapters/bedrock/batch-lines.ts"
import { visionCall } from "../../../src/application/cascade/vision.ts"
import { accepted } from "../../../src/domain/batch/record.ts"
import type { CallContent, ModelCall } from "../../../src/domain/cascade/model-call.ts"
import { answeredRecord } from "../../support/vendors/fake-bedrock-batch.ts"

const decoder = new TextDecoder("utf-8", { fatal: true })
const anyText = fc.string({ unit: "grapheme" }).map((one) => one.toWellFormed())
const bytes = fc.uint8Array({ maxLength: 200 })

const anyContent: fc.Arbitrary<CallContent> = fc.oneof(
  fc.record({ text: anyText }),
  fc.record({ picture: bytes, format: fc.constantFrom("png" as const, "jpeg" as const) }),
  fc.record({ pdf: bytes, name: anyText })
)

const anyCall: fc.Arbitrary<ModelCall> = fc
  .record({
    model: anyText,
    system: anyText,
    messages: fc.array(
      fc.record({
        role: fc.constantFrom("user" as const, "assistant" as const),
        content: fc.array(anyContent, { maxLength: 3 })
      }),
      { maxLength: 3 }
    ),
    maxTokens: fc.nat(),
    temperature: fc.constantFrom(0, 0.5, 1, undefined)
  })
  .map(({ temperature, ...call }) => (temperature === undefined ? call : { ...call, temperature }))

const blockOf = (one: CallContent) => {
  if ("text" in one) return { text: one.text }
  if ("picture" in one) {
    return { image: { format: one.format, source: { bytes: Base64.encode(one.picture) } } }
  }
  const source = { bytes: Base64.encode(one.pdf) }
  return { document: { format: "pdf", name: one.name, source, citations: { enabled: true } } }
}

/** The same, by way of strings. */
const plainLine = (recordId: string, call: ModelCall): string => {
  const modelInput = {
    system: [{ text: call.system }],
    messages: call.messages.map((one) => ({ role: one.role, content: one.content.map(blockOf) })),
    inferenceConfig: { maxTokens: call.maxTokens, temperature: call.temperature }
  }
  return `${JSON.stringify({ recordId, modelInput })}\n`
}

const encoder = new TextEncoder()

describe("a line of a shard", () => {
  it("is the record's JSON, with bytes as base64, whatever the call holds", () => {
    fc.assert(
      fc.property(anyText, anyCall, (recordId, call) => {
        assert.strictEqual(decoder.decode(recordLine(recordId, call)), plainLine(recordId, call))
      }),
      { numRuns: 200 }
    )
  })

  it("is read back as the same call", () => {
    fc.assert(
      fc.property(anyText, anyCall, (recordId, call) => {
        const record = Option.getOrThrow(decodeRecord(decoder.decode(recordLine(recordId, call))))
        assert.deepStrictEqual([record.recordId, callOf(call.model, record)], [recordId, call])
      })
    )
  })

  it("is byte for byte what was uploaded before", () => {
    const messages: ModelCall["messages"] = [
      {
        role: "user",
        content: [{ pdf: encoder.encode("page 0"), name: "page" }, { text: "Convert this page." }]
      },
      { role: "assistant", content: [{ text: "draft" }] },
      { role: "user", content: [{ picture: new Uint8Array([1, 2]), format: "png" }, { text: "x" }] }
    ]
    // With the temperature that was always sent before it could be left out.
    const call = visionCall("m1", messages, undefined, 0)
    assert.strictEqual(
      createHash("sha256").update(recordLine("c0-p0", call)).digest("hex"),
      "121347a59a56cb027f435bf9b7c89eabf13f48430b867fa4275d6a793b864acf"
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

/** What is read of a line. */
const readLine = (text: string) => {
  const record = readOutputLine(encoder.encode(text))
  return record === undefined ? undefined : accepted(record)
}

describe("a line of output", () => {
  it("is read with its texts, plain or cited, and the tokens that are billed", () => {
    const usage = { inputTokens: 1, outputTokens: 2, cacheReadInputTokens: 3, cacheWriteInputTokens: 4 }
    const content = [
      { text: "<p>a" },
      { citationsContent: { content: [{ text: "b" }, { text: "c" }], citations: [] } },
      { text: "</p>" }
    ]
    const line = JSON.stringify(answeredRecord("c0-p0", "", { output: { message: { content } }, usage }))
    assert.deepStrictEqual(readLine(line), {
      recordId: "c0-p0",
      usage: { inputTokens: 8, outputTokens: 2 },
      answer: { text: "<p>abc</p>", stopReason: "end_turn" }
    })
  })

  for (const [what, record] of [
    ["an error", { recordId: "c0-p0", error: { errorCode: 400, errorMessage: "bad" } }],
    ["no text", answeredRecord("c0-p0", "  ")],
    ["a guardrail", answeredRecord("c0-p0", "x", { stopReason: "guardrail_intervened" })],
    ["a filter", answeredRecord("c0-p0", "x", { stopReason: "content_filtered" })],
    ["a cut-off answer", answeredRecord("c0-p0", "x", { stopReason: "max_tokens" })],
    ["content of another shape", answeredRecord("c0-p0", "x", { output: { message: { content: "x" } } })],
    ["no output", { recordId: "c0-p0", modelOutput: null }]
  ] as const) {
    it(`${what}: no answer, but what it cost`, () => {
      const read = readLine(JSON.stringify(record))
      assert.strictEqual(read?.recordId, "c0-p0")
      assert.isUndefined(read?.answer)
      const billed = "modelOutput" in record && record.modelOutput !== null
      assert.deepStrictEqual(read?.usage, { inputTokens: billed ? 10 : 0, outputTokens: billed ? 2 : 0 })
    })
  }

  it("is not free where it does not tell its tokens: what is missing is estimated", () => {
    const text = "words ".repeat(20)
    const booked = (usage: unknown) =>
      readLine(JSON.stringify(answeredRecord("c0-p0", text, { usage })))?.usage
    const [input, output] = [3000, 30]
    for (const usage of [
      undefined,
      null,
      {},
      "x",
      { inputTokens: -5, outputTokens: 1e99 },
      { inputTokens: "7" }
    ])
      assert.deepStrictEqual(booked(usage), { inputTokens: input, outputTokens: output })
    assert.deepStrictEqual(booked({ inputTokens: 0.5, outputTokens: 9 }), {
      inputTokens: input,
      outputTokens: 9
    })
    assert.deepStrictEqual(booked({ inputTokens: 7, outputTokens: 0 }), {
      inputTokens: 7,
      outputTokens: output
    })
  })

  it("is read behind a byte order mark and before a carriage return", () => {
    const line = JSON.stringify(answeredRecord("c0-p0", "x"))
    assert.deepStrictEqual(readLine(`\uFEFF${line}\r`), readLine(line))
    assert.isDefined(readLine(line))
  })

  it("is no record where it is cut off, of another kind, or hostile; nothing throws", () => {
    for (const line of ["", "{", "null", "[]", "1", '{"recordId":1}', '{"modelOutput":{}}']) {
      assert.isUndefined(readLine(line), line)
    }
    fc.assert(
      fc.property(fc.json(), fc.nat(), (json, at) => {
        readLine(json)
        readLine(json.slice(0, at))
      })
    )
  })
})
