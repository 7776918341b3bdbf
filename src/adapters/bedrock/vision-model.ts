import {
  BedrockRuntimeClient,
  type BedrockRuntimeClientConfig,
  type ContentBlock as WireBlock,
  ConverseCommand
} from "@aws-sdk/client-bedrock-runtime"
import { NodeHttpHandler } from "@smithy/node-http-handler"
import { Effect, type Scope } from "effect"

import type { ContentBlock, ConverseRequest } from "../../domain/conversion/cascade/converse.ts"
import { withDeadline } from "../../domain/deadline.ts"
import { failureText } from "../../domain/mail/failover.ts"
import { VisionModelError, type VisionAnswer, type VisionModel } from "../../ports/conversion/vision-model.ts"

export interface BedrockOptions {
  readonly region: string
  /** `BEDROCK_RUNTIME_ENDPOINT`. */
  readonly endpoint?: string | undefined
  readonly credentials: NonNullable<BedrockRuntimeClientConfig["credentials"]>
  /** A dense page takes a minute or two. */
  readonly timeLimitMs?: number | undefined
}

const TIME_LIMIT_MS = 5 * 60_000

/** Calls under way at once on this machine; how many the account may make is found out by the pacing. */
const MAX_SOCKETS = 64

/** Names of the vendor's errors (Bedrock Runtime, Converse) that are worth a retry, and those that mean throttling. */
const THROTTLED = new Set(["ThrottlingException", "ModelNotReadyException", "TooManyRequestsException"])
const UNAVAILABLE = new Set([
  "InternalServerException",
  "ServiceUnavailableException",
  "ModelTimeoutException",
  "ModelErrorException",
  "ServiceQuotaExceededException",
  "CredentialsProviderError"
])

const statusOf = (cause: Error): number | undefined => {
  const metadata: unknown = "$metadata" in cause ? cause.$metadata : undefined
  if (typeof metadata !== "object" || metadata === null || !("httpStatusCode" in metadata)) return undefined
  return typeof metadata.httpStatusCode === "number" ? metadata.httpStatusCode : undefined
}

/** Classifies an SDK error. No answer at all is worth a retry: a call has no effect but its cost. */
export const classifyBedrockError = (cause: unknown): VisionModelError["reason"] => {
  if (!(cause instanceof Error)) return "unavailable"
  if (THROTTLED.has(cause.name)) return "throttled"
  if (UNAVAILABLE.has(cause.name)) return "unavailable"
  const status = statusOf(cause)
  if (status === 429) return "throttled"
  return status !== undefined && status >= 400 && status < 500 && status !== 408 ? "refused" : "unavailable"
}

const wireBlock = (block: ContentBlock): WireBlock => {
  if ("text" in block) return { text: block.text }
  if ("image" in block)
    return { image: { format: block.image.format, source: { bytes: block.image.source.bytes } } }
  const { citations, format, name, source } = block.document
  return { document: { format, name, source: { bytes: source.bytes }, citations } }
}

/** Texts of an answer; with citations they come in blocks of their own. */
const textOf = (blocks: ReadonlyArray<WireBlock>): string =>
  blocks
    .map((block) =>
      block.citationsContent === undefined
        ? (block.text ?? "")
        : (block.citationsContent.content ?? []).map(({ text }) => text ?? "").join("")
    )
    .join("")

const commandOf = (request: ConverseRequest) =>
  new ConverseCommand({
    modelId: request.modelId,
    system: request.system.map((block) =>
      "text" in block ? { text: block.text } : { cachePoint: block.cachePoint }
    ),
    messages: request.messages.map(({ content, role }) => ({ role, content: content.map(wireBlock) })),
    inferenceConfig: { ...request.inferenceConfig }
  })

/** Tokens that are billed: what was read from or written to the provider's cache counts as input. */
const usageOf = (usage: {
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly cacheReadInputTokens?: number | undefined
  readonly cacheWriteInputTokens?: number | undefined
}) => ({
  inputTokens:
    (usage.inputTokens ?? 0) + (usage.cacheReadInputTokens ?? 0) + (usage.cacheWriteInputTokens ?? 0),
  outputTokens: usage.outputTokens ?? 0
})

/**
 * The hi-fi model on Bedrock Runtime, one call a request: the SDK's own retries are off, the pacing decides about another. An
 * interruption aborts the request; whether it was billed is not known then.
 */
export const makeBedrockVision = Effect.fnUntraced(function* (
  options: BedrockOptions
): Effect.fn.Return<VisionModel["Service"], never, Scope.Scope> {
  const client = yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new BedrockRuntimeClient({
          region: options.region,
          credentials: options.credentials,
          ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
          // Else a bearer token in the environment would silently take the place of the credentials.
          authSchemePreference: ["aws.auth#sigv4"],
          maxAttempts: 1,
          requestHandler: new NodeHttpHandler({
            httpAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
            httpsAgent: { keepAlive: true, maxSockets: MAX_SOCKETS }
          })
        })
    ),
    (open) => Effect.sync(() => open.destroy())
  )
  const limit = options.timeLimitMs ?? TIME_LIMIT_MS
  const noAnswer = (message: string, cause?: unknown) =>
    new VisionModelError({ reason: "unavailable", message, cause })

  return {
    converse: (request) =>
      withDeadline(
        Effect.tryPromise({
          try: (abortSignal) => client.send(commandOf(request), { abortSignal }),
          catch: (cause) =>
            new VisionModelError({
              reason: classifyBedrockError(cause),
              message: failureText(
                cause instanceof Error ? `${cause.name}: ${cause.message}` : "no answer",
                []
              ),
              cause
            })
        }),
        {
          duration: limit,
          onTimeout: () => Effect.fail(noAnswer(`the model did not answer within ${limit / 1000} s`))
        }
      ).pipe(
        Effect.flatMap(({ output, stopReason, usage }) =>
          output?.message === undefined
            ? Effect.fail(noAnswer("the model's answer held no message"))
            : Effect.succeed<VisionAnswer>({
                text: textOf(output.message.content ?? []),
                stopReason,
                usage: usageOf(usage ?? {}),
                fromBatch: false
              })
        )
      )
  }
})
