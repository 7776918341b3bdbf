import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"

import { promptHash } from "../../../src/application/batch/capture.ts"
import { visionCall } from "../../../src/application/cascade/vision.ts"
import type { ModelCall } from "../../../src/domain/cascade/model-call.ts"

const hash = (call: ModelCall) => Effect.runPromise(Effect.provide(promptHash(call), NodeCrypto.layer))

const document = (pdf: Uint8Array) => ({ pdf, name: "page" })

const callWith = (text: string, bytes: Uint8Array, parts: Partial<ModelCall> = {}): ModelCall => ({
  ...visionCall("m1", [{ role: "user", content: [document(bytes), { text }] }]),
  ...parts
})

describe("the prompt hash", () => {
  it("does not see page bytes or the model", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.uint8Array(), fc.uint8Array(), async (text, a, b) => {
        const first = await hash(callWith(text, a))
        assert.match(first, /^[\da-f]{64}$/)
        assert.strictEqual(await hash(callWith(text, b)), first)
        assert.strictEqual(await hash(callWith(text, a, { model: "m2" })), first)
      }),
      { numRuns: 30 }
    )
  })

  it("is what stored results are matched by, and never changes for the same prompt", async () => {
    const messages: ModelCall["messages"] = [
      { role: "user", content: [document(new Uint8Array([1])), { text: "Convert this page." }] },
      { role: "assistant", content: [{ text: "draft" }] },
      { role: "user", content: [{ picture: new Uint8Array([1, 2]), format: "png" }, { text: "x" }] }
    ]
    // With the temperature that was always sent before it could be left out.
    const call = visionCall("m1", messages, undefined, 0)
    assert.strictEqual(await hash(call), "085f0b404e9198a94149a80ce9aee154d7158e4dba3fd1770045463e41cf1cfc")
  })

  it("sees every word, the token limit, the temperature, roles and kinds of content", async () => {
    const bytes = new Uint8Array([1])
    const base = callWith("a", bytes)
    const others: ReadonlyArray<ModelCall> = [
      callWith("b", bytes),
      callWith("a", bytes, { system: "other" }),
      callWith("a", bytes, { system: "" }),
      callWith("a", bytes, { maxTokens: base.maxTokens + 1 }),
      callWith("a", bytes, { temperature: 0.1 }),
      callWith("a", bytes, { messages: [{ role: "user", content: [{ text: "a" }] }] }),
      callWith("a", bytes, {
        messages: [{ role: "user", content: [{ text: "a" }, document(bytes)] }]
      }),
      callWith("a", bytes, {
        messages: [{ role: "user", content: [document(bytes), { text: "a" }, { text: "" }] }]
      }),
      callWith("a", bytes, {
        messages: [{ role: "user", content: [{ pdf: bytes, name: "other" }, { text: "a" }] }]
      }),
      callWith("a", bytes, {
        messages: [{ role: "user", content: [{ picture: bytes, format: "png" }, { text: "a" }] }]
      }),
      callWith("a", bytes, {
        messages: [
          { role: "user", content: [document(bytes)] },
          { role: "user", content: [{ text: "a" }] }
        ]
      }),
      callWith("a", bytes, {
        messages: [{ role: "assistant", content: [document(bytes), { text: "a" }] }]
      })
    ]
    const hashes = await Promise.all([base, ...others].map(hash))
    assert.strictEqual(new Set(hashes).size, hashes.length)
  })
})
