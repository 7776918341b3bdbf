import { Context, Data, type Effect } from "effect"

import type { BatchStatus } from "../../domain/batch/row.ts"

/**
 * The batch service did not do what it was asked for. `unavailable`: no answer, or too much for now (rate, quota of batch jobs);
 * worth another try. `refused`: this request, or this account; the same again gets the same. `missing`: there is no such job.
 */
export class BatchServiceError extends Data.TaggedError("BatchServiceError")<{
  readonly reason: "unavailable" | "refused" | "missing"
  readonly message: string
  readonly cause?: unknown
}> {}

/** A batch job to be made. Prefixes are folders of `BatchObjects`, with a slash at their end. */
export interface NewBatchJob {
  /** Unique; also the token by which creating it again gives the same job. `[A-Za-z0-9-]`, 63 characters at most. */
  readonly name: string
  readonly model: string
  /** Every `.jsonl` below it is read. */
  readonly inputPrefix: string
  readonly outputPrefix: string
  readonly timeoutHours: number
}

/** A batch job as the service knows it. */
export interface BatchJob {
  readonly arn: string
  readonly name: string
  readonly status: BatchStatus
  /** The service's words, on a failure. */
  readonly message: string | undefined
  /** The folder it reads, which may be another than the one that was asked for where somebody else created it before. */
  readonly inputPrefix: string
  /** Where its output is: a file `….jsonl.out` for each input file. */
  readonly outputPrefix: string
  /** Records that it has worked on; undefined where the service does not tell. */
  readonly processed: number | undefined
}

/** Runs model calls in bulk for half the price, in hours. */
export class BatchService extends Context.Service<
  BatchService,
  {
    /** Answers the job's ARN. A job of this name that is there already is taken as it is. */
    readonly create: (job: NewBatchJob) => Effect.Effect<string, BatchServiceError>
    readonly get: (arn: string) => Effect.Effect<BatchJob, BatchServiceError>
    /** The ARN of the job of exactly this name, if there is one. */
    readonly findByName: (name: string) => Effect.Effect<string | undefined, BatchServiceError>
    /** Tells it to stop, which may take a while; one that has ended counts as stopped. */
    readonly stop: (arn: string) => Effect.Effect<void, BatchServiceError>
  }
>()("postlane/ports/BatchService") {}
