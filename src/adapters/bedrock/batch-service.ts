import {
  BedrockClient,
  type BedrockClientConfig,
  CreateModelInvocationJobCommand,
  GetModelInvocationJobCommand,
  ListModelInvocationJobsCommand,
  StopModelInvocationJobCommand
} from "@aws-sdk/client-bedrock"
import { Effect, Option, Schema, type Scope } from "effect"

import { BatchStatus } from "../../domain/batch/row.ts"
import { withDeadline } from "../../domain/deadline.ts"
import { failureText } from "../../domain/mail/failover.ts"
import { type BatchJob, type BatchService, BatchServiceError } from "../../ports/batch/batch-service.ts"
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
  const reason = classifyBedrockError(cause) === "refused" ? "refused" : "unavailable"
  return new BatchServiceError({ reason, message, cause })
}

/** The id of a job, as it stands in its output's path: what follows the ARN's last slash. */
const idOf = (arn: string): string => arn.slice(arn.lastIndexOf("/") + 1)

/**
 * Batch inference of Bedrock (`CreateModelInvocationJob`, type `Converse`). A job's name is also its client token, so that it is
 * created once; where the service refuses the name as taken, the job of that name is returned.
 */
export const makeBedrockBatch = Effect.fnUntraced(function* (
  options: BedrockBatchOptions
): Effect.fn.Return<BatchService["Service"], never, Scope.Scope> {
  const client = yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new BedrockClient({
          region: options.region,
          credentials: options.credentials,
          ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
          // Else a bearer token in the environment would silently take the place of the credentials.
          authSchemePreference: ["aws.auth#sigv4"],
          maxAttempts: MAX_ATTEMPTS,
          retryMode: "standard"
        })
    ),
    (open) => Effect.sync(() => open.destroy())
  )
  const limit = options.timeLimitMs ?? TIME_LIMIT_MS
  const call = <A>(run: (abortSignal: AbortSignal) => Promise<A>) =>
    withDeadline(Effect.tryPromise({ try: run, catch: failure }), {
      duration: limit,
      onTimeout: () =>
        Effect.fail(
          new BatchServiceError({
            reason: "unavailable",
            message: `the batch service did not answer within ${limit / 1000} s`
          })
        )
    })
  const uri = (prefix: string) => `s3://${options.bucket}/${prefix}`
  const prefixOf = (s3Uri: string | undefined) => {
    const key = s3Uri?.startsWith(uri("")) === true ? s3Uri.slice(uri("").length) : ""
    return key === "" || key.endsWith("/") ? key : `${key}/`
  }

  const findByName: BatchService["Service"]["findByName"] = Effect.fnUntraced(function* (name) {
    let nextToken: string | undefined
    do {
      const page = yield* call((abortSignal) =>
        client.send(
          new ListModelInvocationJobsCommand({ nameContains: name, maxResults: LISTED, nextToken }),
          { abortSignal }
        )
      )
      // The filter takes any part of a name.
      const found = page.invocationJobSummaries?.find(({ jobName }) => jobName === name)
      if (found?.jobArn !== undefined) return found.jobArn
      nextToken = page.nextToken
    } while (nextToken !== undefined)
    return undefined
  })

  return {
    findByName,

    create: Effect.fnUntraced(function* (job) {
      const created = yield* Effect.result(
        call((abortSignal) =>
          client.send(
            new CreateModelInvocationJobCommand({
              jobName: job.name,
              clientRequestToken: job.name,
              roleArn: options.roleArn,
              modelId: job.model,
              modelInvocationType: "Converse",
              timeoutDurationInHours: job.timeoutHours,
              inputDataConfig: {
                s3InputDataConfig: { s3Uri: uri(job.inputPrefix), s3InputFormat: "JSONL" }
              },
              outputDataConfig: { s3OutputDataConfig: { s3Uri: uri(job.outputPrefix) } }
            }),
            { abortSignal }
          )
        )
      )
      if (created._tag === "Failure") {
        const { failure: error } = created
        if (isNamed(error.cause, "ConflictException")) {
          const there = yield* findByName(job.name)
          if (there !== undefined) return there
        }
        return yield* error
      }
      return (
        created.success.jobArn ??
        (yield* new BatchServiceError({ reason: "unavailable", message: "the answer named no job" }))
      )
    }),

    get: Effect.fnUntraced(function* (arn) {
      const found = yield* call((abortSignal) =>
        client.send(new GetModelInvocationJobCommand({ jobIdentifier: arn }), { abortSignal })
      )
      const status = decodeStatus(found.status)
      if (Option.isNone(status)) {
        return yield* new BatchServiceError({
          reason: "unavailable",
          message: `the batch service told an unknown status: ${String(found.status).slice(0, 40)}`
        })
      }
      const output = prefixOf(found.outputDataConfig?.s3OutputDataConfig?.s3Uri)
      const job: BatchJob = {
        arn,
        name: found.jobName ?? "",
        status: status.value,
        message: found.message === undefined ? undefined : failureText(found.message, []),
        inputPrefix: prefixOf(found.inputDataConfig?.s3InputDataConfig?.s3Uri),
        outputPrefix: `${output}${idOf(arn)}/`,
        processed: found.processedRecordCount
      }
      return job
    }),

    stop: (arn) =>
      Effect.asVoid(
        call((abortSignal) =>
          client.send(new StopModelInvocationJobCommand({ jobIdentifier: arn }), { abortSignal })
        )
      ).pipe(
        // It has ended.
        Effect.catchIf(
          ({ cause }) => isNamed(cause, "ConflictException"),
          () => Effect.void
        )
      )
  }
})
