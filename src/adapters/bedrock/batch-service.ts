import {
  BedrockClient,
  type BedrockClientConfig,
  CreateModelInvocationJobCommand,
  GetModelInvocationJobCommand,
  ListModelInvocationJobsCommand,
  StopModelInvocationJobCommand
} from "@aws-sdk/client-bedrock"
import { Effect, Option, Schema, type Scope } from "effect"

import { withDeadline } from "../../application/deadline.ts"
import { BatchStatus } from "../../domain/batch/row.ts"
import { failureText } from "../../domain/mail/failover.ts"
import {
  type BatchJob,
  type BatchService,
  BatchServiceError,
  type NewBatchJob
} from "../../ports/batch/batch-service.ts"
import { withBoundedAnswers } from "../aws/bounded-answers.ts"
import { classifyBedrockError } from "./vision-model.ts"

export interface BedrockBatchOptions {
  readonly region: string
  /** `BEDROCK_ENDPOINT`. */
  readonly endpoint?: string | undefined
  readonly credentials: NonNullable<BedrockClientConfig["credentials"]>
  /** `BATCH_CONVERSION_S3_BUCKET`, the bucket of `BatchObjects`. */
  readonly bucket: string
  /** `BATCH_CONVERSION_ROLE_ARN`. */
  readonly roleArn: string
  readonly timeLimitMs?: number | undefined
}

/** Attempts of the SDK on throttling, 5xx and connection errors; every call here may be made twice. */
const MAX_ATTEMPTS = 3

const TIME_LIMIT_MS = 30_000

/** Jobs of one list; names are unique, so that one page holds all that begin alike. */
const LISTED = 100

const decodeStatus = Schema.decodeUnknownOption(BatchStatus)

const isNamed = (cause: unknown, name: string): boolean => cause instanceof Error && cause.name === name

const failure = (cause: unknown): BatchServiceError => {
  const message = failureText(cause instanceof Error ? `${cause.name}: ${cause.message}` : "no answer", [])
  if (isNamed(cause, "ResourceNotFoundException")) {
    return new BatchServiceError({ reason: "missing", message, cause })
  }
  if (isNamed(cause, "ServiceQuotaExceededException")) {
    return new BatchServiceError({ reason: "full", message, cause })
  }
  const reason = classifyBedrockError(cause) === "refused" ? "refused" : "unavailable"
  return new BatchServiceError({ reason, message, cause })
}

/** The id of a job, as in its output's path: the part of the ARN after the last slash. */
const idOf = (arn: string): string => arn.slice(arn.lastIndexOf("/") + 1)

const connect = ({ credentials, endpoint, region }: BedrockBatchOptions) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      withBoundedAnswers(
        new BedrockClient({
          region,
          credentials,
          ignoreConfiguredEndpointUrls: true,
          ...(endpoint === undefined ? {} : { endpoint }),
          // Else a bearer token in the environment would silently take the place of the credentials.
          authSchemePreference: ["aws.auth#sigv4"],
          maxAttempts: MAX_ATTEMPTS,
          retryMode: "standard"
        })
      )
    ),
    (open) => Effect.sync(() => open.destroy())
  )

/** One call of the client, within its time limit. */
const makeCall =
  (client: BedrockClient, limit: number) =>
  <A>(run: (client: BedrockClient, options: { readonly abortSignal: AbortSignal }) => Promise<A>) =>
    withDeadline(Effect.tryPromise({ try: (abortSignal) => run(client, { abortSignal }), catch: failure }), {
      duration: limit,
      onTimeout: () =>
        Effect.fail(
          new BatchServiceError({
            reason: "unavailable",
            message: `the batch service did not answer within ${limit / 1000} s`
          })
        )
    })
type Call = ReturnType<typeof makeCall>

const findByName = Effect.fnUntraced(function* (call: Call, name: string) {
  let nextToken: string | undefined
  do {
    const page = yield* call((client, options) =>
      client.send(
        new ListModelInvocationJobsCommand({ nameContains: name, maxResults: LISTED, nextToken }),
        options
      )
    )
    // The filter takes any part of a name.
    const found = page.invocationJobSummaries?.find(({ jobName }) => jobName === name)
    if (found?.jobArn !== undefined) return found.jobArn
    nextToken = page.nextToken
  } while (nextToken !== undefined)
  return undefined
})

/** Whether the SDK asked more than once: an earlier attempt, without an answer, may have done what this one was refused. */
const isRepeated = (cause: unknown): boolean => {
  const metadata: unknown = cause instanceof Error && "$metadata" in cause ? cause.$metadata : undefined
  if (typeof metadata !== "object" || metadata === null || !("attempts" in metadata)) return false
  return typeof metadata.attempts === "number" && metadata.attempts > 1
}

const create = Effect.fnUntraced(function* (
  call: Call,
  job: NewBatchJob,
  { bucket, roleArn }: BedrockBatchOptions
) {
  const command = new CreateModelInvocationJobCommand({
    jobName: job.name,
    clientRequestToken: job.name,
    roleArn,
    modelId: job.model,
    modelInvocationType: "Converse",
    timeoutDurationInHours: job.timeoutHours,
    inputDataConfig: {
      s3InputDataConfig: { s3Uri: `s3://${bucket}/${job.inputPrefix}`, s3InputFormat: "JSONL" }
    },
    outputDataConfig: { s3OutputDataConfig: { s3Uri: `s3://${bucket}/${job.outputPrefix}` } }
  })
  const created = yield* Effect.result(call((client, options) => client.send(command, options)))
  if (created._tag === "Failure") {
    const { failure: error } = created
    const isTaken = isNamed(error.cause, "ConflictException")
    if (!isTaken && !(error.reason === "refused" && isRepeated(error.cause))) return yield* error
    const unsure = ({ cause, message }: BatchServiceError) =>
      new BatchServiceError({ reason: "unavailable", message, cause })
    const existing = yield* Effect.mapError(findByName(call, job.name), unsure)
    // A job of that name is there, though it is not listed yet.
    return existing ?? (yield* isTaken ? unsure(error) : error)
  }
  return (
    created.success.jobArn ??
    (yield* new BatchServiceError({ reason: "unavailable", message: "the answer named no job" }))
  )
})

/** The folder of the bucket that a URI names, with a slash at its end; empty for any other URI. */
const prefixOf = (bucket: string, s3Uri: string | undefined): string => {
  const root = `s3://${bucket}/`
  const key = s3Uri?.startsWith(root) === true ? s3Uri.slice(root.length) : ""
  return key === "" || key.endsWith("/") ? key : `${key}/`
}

const get = Effect.fnUntraced(function* (call: Call, arn: string, bucket: string) {
  const found = yield* call((client, options) =>
    client.send(new GetModelInvocationJobCommand({ jobIdentifier: arn }), options)
  )
  const status = decodeStatus(found.status)
  if (Option.isNone(status)) {
    return yield* new BatchServiceError({
      reason: "unavailable",
      message: `the batch service reported an unknown status: ${String(found.status).slice(0, 40)}`
    })
  }
  const output = prefixOf(bucket, found.outputDataConfig?.s3OutputDataConfig?.s3Uri)
  const job: BatchJob = {
    arn,
    name: found.jobName ?? "",
    status: status.value,
    message: found.message === undefined ? undefined : failureText(found.message, []),
    inputPrefix: prefixOf(bucket, found.inputDataConfig?.s3InputDataConfig?.s3Uri),
    outputPrefix: `${output}${idOf(arn)}/`,
    processed: found.processedRecordCount
  }
  return job
})

const stop = (call: Call, arn: string) =>
  Effect.asVoid(
    call((client, options) => client.send(new StopModelInvocationJobCommand({ jobIdentifier: arn }), options))
  ).pipe(
    // It has ended.
    Effect.catchIf(
      ({ cause }) => isNamed(cause, "ConflictException"),
      () => Effect.void
    )
  )

/**
 * Batch inference of Bedrock (`CreateModelInvocationJob`, type `Converse`). A job's name is also its client token, so that it is
 * created once; where the service refuses the name as taken, the job of that name is returned.
 */
export const makeBedrockBatch = (
  options: BedrockBatchOptions
): Effect.Effect<BatchService["Service"], never, Scope.Scope> =>
  Effect.map(connect(options), (client) => {
    const call = makeCall(client, options.timeLimitMs ?? TIME_LIMIT_MS)
    return {
      create: (job) => create(call, job, options),
      get: (arn) => get(call, arn, options.bucket),
      findByName: (name) => findByName(call, name),
      stop: (arn) => stop(call, arn)
    }
  })
