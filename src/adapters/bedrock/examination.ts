import {
  BedrockClient,
  GetInferenceProfileCommand,
  ListModelInvocationJobsCommand
} from "@aws-sdk/client-bedrock"
import { BedrockRuntimeClient, ConverseCommand } from "@aws-sdk/client-bedrock-runtime"
import { NodeHttpHandler } from "@smithy/node-http-handler"
import { Effect } from "effect"

import type { ModelFacts } from "../../domain/doctor/model.ts"
import { failureText } from "../../domain/mail/failover.ts"
import { withBoundedAnswers } from "../aws/bounded-answers.ts"
import { modelFacts } from "./models.ts"
import type { BedrockOptions } from "./vision-model.ts"

export interface ModelExamination extends Omit<BedrockOptions, "timeLimitMs"> {
  readonly model: string
  readonly temperature: number | undefined
  /** `BEDROCK_ENDPOINT`. */
  readonly controlEndpoint: string | undefined
  readonly usesBatch: boolean
  readonly price: ModelFacts["price"]["used"]
}

type Lack = Extract<ModelFacts["answer"], { readonly _tag: "None" }>["lack"]

const LACKS: ReadonlyMap<string, Lack> = new Map([
  ["AccessDeniedException", "access"],
  ["UnrecognizedClientException", "credentials"],
  ["InvalidSignatureException", "credentials"],
  ["ExpiredTokenException", "credentials"],
  ["CredentialsProviderError", "credentials"],
  ["ResourceNotFoundException", "model"],
  ["ThrottlingException", "throttled"],
  ["TooManyRequestsException", "throttled"],
  ["ServiceQuotaExceededException", "throttled"]
])

/** What a request that is not valid lacks, by the vendor's words. */
const INVALID: ReadonlyArray<readonly [RegExp, Lack]> = [
  [/temperature/i, "temperature"],
  [/on-demand throughput/i, "profile"],
  [/model identifier|end of (?:its )?life|legacy|not supported in this region/i, "model"]
]

/** What a failed call lacks. */
export const lackOf = (cause: unknown): Lack => {
  if (!(cause instanceof Error)) return "unknown"
  const invalid = INVALID.find(([words]) => words.test(cause.message))
  if (cause.name === "ValidationException" && invalid !== undefined) return invalid[1]
  return LACKS.get(cause.name) ?? "unknown"
}

const wordsOf = (cause: unknown): string =>
  failureText(cause instanceof Error ? `${cause.name}: ${cause.message}` : "the SDK threw no error")

/** arn:aws:bedrock:REGION::foundation-model/ID */
const regionOf = (arn: string | undefined): string => arn?.split(":")[3] ?? ""

/** Somebody waits for the report: one more attempt is enough. */
const MAX_ATTEMPTS = 2

const commonOf = ({ credentials, region }: ModelExamination) => ({
  region,
  credentials,
  authSchemePreference: ["aws.auth#sigv4"],
  maxAttempts: MAX_ATTEMPTS
})

/** One word, for less than a hundredth of a cent. */
const askModel = Effect.fnUntraced(function* (options: ModelExamination) {
  const { endpoint, model, temperature } = options
  const runtime = yield* Effect.acquireRelease(
    Effect.sync(() =>
      withBoundedAnswers(
        new BedrockRuntimeClient({
          ignoreConfiguredEndpointUrls: true,
          ...commonOf(options),
          ...(endpoint === undefined ? {} : { endpoint }),
          requestHandler: new NodeHttpHandler()
        })
      )
    ),
    (client) => Effect.sync(() => client.destroy())
  )
  const command = new ConverseCommand({
    modelId: model,
    messages: [{ role: "user", content: [{ text: "Answer with the word yes." }] }],
    inferenceConfig: { maxTokens: 16, ...(temperature === undefined ? {} : { temperature }) }
  })
  return yield* Effect.tryPromise({
    try: (abortSignal) => runtime.send(command, { abortSignal }),
    catch: (cause) => ({ _tag: "None", lack: lackOf(cause), why: wordsOf(cause) }) as const
  }).pipe(
    Effect.as<ModelFacts["answer"]>({ _tag: "Answered" }),
    Effect.catch((none) => Effect.succeed<ModelFacts["answer"]>(none))
  )
})

/** The regions behind a profile; undefined when the model is not a profile, or these credentials may not read it. */
const regionsOf = (control: BedrockClient, model: string): Effect.Effect<ModelFacts["regions"]> =>
  Effect.tryPromise((abortSignal) =>
    control.send(new GetInferenceProfileCommand({ inferenceProfileIdentifier: model }), { abortSignal })
  ).pipe(
    Effect.map(({ models }) => [...new Set((models ?? []).map(({ modelArn }) => regionOf(modelArn)))]),
    Effect.catch(() => Effect.undefined)
  )

const batchOf = (control: BedrockClient): Effect.Effect<ModelFacts["batch"]> => {
  const command = new ListModelInvocationJobsCommand({
    maxResults: 1,
    sortBy: "CreationTime",
    sortOrder: "Descending"
  })
  return Effect.tryPromise({
    try: (abortSignal) => control.send(command, { abortSignal }),
    catch: wordsOf
  }).pipe(
    Effect.map(({ invocationJobSummaries }): ModelFacts["batch"] => {
      const newest = invocationJobSummaries?.[0]
      const failure = newest?.status === "Failed" ? (newest.message ?? "the service says no more") : undefined
      return { _tag: "Seen", failure }
    }),
    Effect.catch((why) => Effect.succeed<ModelFacts["batch"]>({ _tag: "Unreachable", why }))
  )
}

/** Asks the model for one word, and looks at its profile and at the newest batch jobs. Changes nothing. */
export const examineModel = (options: ModelExamination): Effect.Effect<ModelFacts> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { controlEndpoint: endpoint, model, price: used, region, usesBatch } = options
      const control = yield* Effect.acquireRelease(
        Effect.sync(() =>
          withBoundedAnswers(
            new BedrockClient({
              ignoreConfiguredEndpointUrls: true,
              ...commonOf(options),
              ...(endpoint === undefined ? {} : { endpoint })
            })
          )
        ),
        (client) => Effect.sync(() => client.destroy())
      )
      const found = yield* Effect.all(
        {
          answer: askModel(options),
          regions: regionsOf(control, model),
          batch: usesBatch ? batchOf(control) : Effect.undefined
        },
        { concurrency: "unbounded" }
      )
      const { isPriceKnown, price } = modelFacts(model)
      const listed = isPriceKnown ? ([price.inputUsdPerMtok, price.outputUsdPerMtok] as const) : undefined
      return { model, region, ...found, price: { used, listed } }
    })
  )
