import {
  BedrockRuntimeClient,
  type BedrockRuntimeClientConfig,
  ConverseCommand
} from "@aws-sdk/client-bedrock-runtime"
import { NodeHttpHandler } from "@smithy/node-http-handler"
import { Effect, type Scope } from "effect"

import { withDeadline } from "../../application/deadline.ts"
import { bookedTokens, estimatedInput, type ModelCall } from "../../domain/cascade/model-call.ts"
import { failureText } from "../../domain/mail/failover.ts"
import { VisionModelError, type VisionAnswer, type VisionModel } from "../../ports/conversion/vision-model.ts"
import { withBoundedAnswers } from "../aws/bounded-answers.ts"
import { blockOf, textOf, usageOf } from "./converse.ts"

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
  // Credentials that are not valid now: while keys are changed, or a clock is wrong, the request itself is not at fault.
  "CredentialsProviderError",
  "ExpiredToken",
  "ExpiredTokenException",
  "RequestExpired",
  "InvalidSignatureException",
  "UnrecognizedClientException"
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

/** The instructions are the same for every call: the cache point has the provider keep them. */
const commandOf = (call: ModelCall) =>
  new ConverseCommand({
    modelId: call.model,
    system: [{ text: call.system }, { cachePoint: { type: "default" } }],
    messages: call.messages.map(({ content, role }) => ({ role, content: content.map(blockOf) })),
    inferenceConfig: {
      maxTokens: call.maxTokens,
      ...(call.temperature === undefined ? {} : { temperature: call.temperature })
    }
  })

/**
 * The hi-fi model on Bedrock Runtime, one call a request: the SDK's own retries are off, the pacing decides about another. An
 * interruption aborts the request; whether it was billed is not known then.
 */
export const makeBedrockVision = Effect.fnUntraced(function* (
  options: BedrockOptions
): Effect.fn.Return<VisionModel["Service"], never, Scope.Scope> {
  const client = yield* Effect.acquireRelease(
    Effect.sync(() =>
      withBoundedAnswers(
        new BedrockRuntimeClient({
          region: options.region,
          credentials: options.credentials,
          ignoreConfiguredEndpointUrls: true,
          ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
          // Else a bearer token in the environment would silently take the place of the credentials.
          authSchemePreference: ["aws.auth#sigv4"],
          maxAttempts: 1,
          requestHandler: new NodeHttpHandler({
            httpAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
            httpsAgent: { keepAlive: true, maxSockets: MAX_SOCKETS }
          })
        })
      )
    ),
    (open) => Effect.sync(() => open.destroy())
  )
  const limit = options.timeLimitMs ?? TIME_LIMIT_MS
  const noAnswer = (message: string, cause?: unknown) =>
    new VisionModelError({ reason: "unavailable", message, cause })

  return {
    converse: (call) =>
      withDeadline(
        Effect.tryPromise({
          try: (abortSignal) => client.send(commandOf(call), { abortSignal }),
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
          onTimeout: () =>
            Effect.fail(
              new VisionModelError({
                reason: "timeout",
                message: `the model did not answer within ${limit / 1000} s`
              })
            )
        }
      ).pipe(
        Effect.flatMap(({ output, stopReason, usage }) => {
          // With tokens it was billed: an empty answer, whose cost is booked.
          if (output?.message === undefined && usage === undefined)
            return Effect.fail(noAnswer("the model's answer held no message"))
          const text = textOf(output?.message?.content ?? [])
          return Effect.succeed<VisionAnswer>({
            text,
            stopReason,
            usage: bookedTokens(usageOf(usage ?? {}), text, estimatedInput(call).inputTokens),
            fromBatch: false
          })
        })
      )
  }
})
