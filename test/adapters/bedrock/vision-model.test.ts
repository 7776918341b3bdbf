import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { type BedrockOptions, makeBedrockVision } from "../../../src/adapters/bedrock/vision-model.ts"
import { visionCall } from "../../../src/application/cascade/vision.ts"
import { bedrockError, fakeBedrock, type Says } from "../../support/vendors/fake-bedrock.ts"
import type { Outcome } from "../../support/vendors/fake-http.ts"

const SECRET = "bedrock-secret-key-0123456789"
const place = { tier: "hifi-single-pass", page: 0 } as const

const bytes = new Uint8Array([37, 80, 68, 70])
const request = visionCall("eu.model-v1:0", [
  { role: "user", content: [{ pdf: bytes, name: "page" }, { text: "Convert this page." }] }
])

const withFake = (says: Says, options: Partial<BedrockOptions> = {}) =>
  Effect.gen(function* () {
    const fake = yield* Effect.acquireRelease(
      Effect.promise(() => fakeBedrock(says).listen()),
      (open) => Effect.promise(() => open.close())
    )
    const model = yield* makeBedrockVision({
      region: "us-east-1",
      endpoint: fake.url,
      credentials: { accessKeyId: "AKIDTEST", secretAccessKey: SECRET },
      ...options
    })
    return { fake, model }
  })

const ROWS: ReadonlyArray<readonly [string, Outcome, string]> = [
  ["throttling", "429", "throttled"],
  ["a model that is not ready", { reply: bedrockError(429, "ModelNotReadyException", "wait") }, "throttled"],
  ["an internal error", "500", "unavailable"],
  ["a busy service", "503", "unavailable"],
  [
    "a model that took too long",
    { reply: bedrockError(408, "ModelTimeoutException", "slow") },
    "unavailable"
  ],
  ["a failing model", { reply: bedrockError(424, "ModelErrorException", "broke") }, "unavailable"],
  ["a full quota", { reply: bedrockError(400, "ServiceQuotaExceededException", "full") }, "unavailable"],
  ["no access", "403", "refused"],
  ["a request that is not valid", { reply: bedrockError(400, "ValidationException", "too long") }, "refused"],
  ["an unknown model", { reply: bedrockError(404, "ResourceNotFoundException", "none") }, "refused"],
  ["a proxy's page", "502-html", "unavailable"],
  ["a page where an answer should be", "html-200", "unavailable"],
  ["an answer without a message", { reply: { status: 200, body: {} } }, "unavailable"],
  ["a reset", "reset", "unavailable"],
  ["half an answer", "truncated-200", "unavailable"],
  ["a closed port", "refused", "unavailable"],
  ["expired credentials", { reply: bedrockError(403, "ExpiredTokenException", "expired") }, "unavailable"],
  [
    "a key that is not known yet",
    { reply: bedrockError(403, "UnrecognizedClientException", "none") },
    "unavailable"
  ],
  [
    "a clock that is wrong",
    { reply: bedrockError(403, "InvalidSignatureException", "Signature expired") },
    "unavailable"
  ]
]

describe("the hi-fi model on Bedrock", () => {
  it.live("an answer that does not tell its tokens is booked by an estimate", () =>
    Effect.gen(function* () {
      const { model } = yield* withFake(() => ({
        output: { message: { role: "assistant", content: [{ text: "words ".repeat(20) }] } },
        stopReason: "end_turn"
      }))
      const { usage } = yield* model.converse(request, place)
      assert.strictEqual(usage.outputTokens, 30)
      assert.isAtLeast(usage.inputTokens, 3000)
    }).pipe(Effect.scoped)
  )

  it.live("an answer without a message that was billed is an empty answer with its cost", () =>
    Effect.gen(function* () {
      const { model } = yield* withFake(() => ({
        stopReason: "content_filtered",
        usage: { inputTokens: 2100, outputTokens: 1, totalTokens: 2101 }
      }))
      const { stopReason, text, usage } = yield* model.converse(request, place)
      assert.deepStrictEqual(
        { stopReason, text, usage },
        { stopReason: "content_filtered", text: "", usage: { inputTokens: 2100, outputTokens: 1 } }
      )
    }).pipe(Effect.scoped)
  )

  it.live("sends the page as a document with citations, and reads plain and cited texts", () =>
    Effect.gen(function* () {
      const { fake, model } = yield* withFake(() => ({
        output: {
          message: {
            role: "assistant",
            content: [
              { text: "<p>a</p>" },
              { citationsContent: { content: [{ text: "<p>b</p>" }], citations: [] } }
            ]
          }
        },
        stopReason: "end_turn",
        usage: {
          inputTokens: 10,
          outputTokens: 4,
          totalTokens: 14,
          cacheReadInputTokens: 7,
          cacheWriteInputTokens: 2
        }
      }))
      assert.deepStrictEqual(yield* model.converse(request, place), {
        text: "<p>a</p><p>b</p>",
        stopReason: "end_turn",
        usage: { inputTokens: 19, outputTokens: 4 },
        fromBatch: false
      })
      assert.strictEqual(fake.requests[0]?.path, "/model/eu.model-v1%3A0/converse")
      const body: unknown = JSON.parse(fake.requests[0]?.body ?? "")
      assert.deepStrictEqual(body, {
        system: [{ text: request.system }, { cachePoint: { type: "default" } }],
        messages: [
          {
            role: "user",
            content: [
              {
                document: {
                  format: "pdf",
                  name: "page",
                  source: { bytes: Buffer.from(bytes).toString("base64") },
                  citations: { enabled: true }
                }
              },
              { text: "Convert this page." }
            ]
          }
        ],
        inferenceConfig: { maxTokens: 16_000 }
      })
      assert.match(String(fake.requests[0]?.headers.authorization), /^AWS4-HMAC-SHA256 Credential=AKIDTEST/)
    }).pipe(Effect.scoped)
  )

  it.live.each(ROWS)("%s", ([, outcome, reason]) =>
    Effect.gen(function* () {
      const { fake, model } = yield* withFake(() => "<p>x</p>")
      yield* Effect.promise(() => fake.always(outcome))
      const error = yield* Effect.flip(model.converse(request, place))
      assert.strictEqual(error.reason, reason)
      assert.notInclude(JSON.stringify([error.message, error]), SECRET)
      assert.isAtMost(fake.received, 1, "the SDK tried again by itself")
    }).pipe(Effect.scoped)
  )

  it.live("a model that never answers is given up", () =>
    Effect.gen(function* () {
      const { fake, model } = yield* withFake(() => "", { timeLimitMs: 300 })
      yield* Effect.promise(() => fake.always("hang"))
      assert.strictEqual((yield* Effect.flip(model.converse(request, place))).reason, "timeout")
    }).pipe(Effect.scoped)
  )
})
