import { Context, Data, type Effect } from "effect"

import type { BatchStatus } from "../../domain/batch/row.ts"

/**
 * A failed call of the batch service. `unavailable`: no answer, or its rate limit; worth a retry. `full`: there are as many batch
 * jobs as the account may have; it is taken when one has ended.
 * `refused`: this request or this account; a retry gives the same. `missing`: there is no such job.
 */
export class BatchServiceError extends Data.TaggedError("BatchServiceError")<{
  readonly reason: "unavailable" | "full" | "refused" | "missing"
  readonly message: string
  readonly cause?: unknown
}> {}

/** A batch job to create. Prefixes are folders of `BatchObjects`, with a slash at their end. */
export interface NewBatchJob {
  /**
   * Unique; also the token that makes a repeated create return the same job (BATCH-13). `[A-Za-z0-9-]`, 63 characters at
   * most.
   */
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
  /** The service's message, on a failure. */
  readonly message: string | undefined
  /** The folder that it reads; differs from the requested one where another process created the job first. */
  readonly inputPrefix: string
  /** Where its output is: a file `….jsonl.out` for each input file. */
  readonly outputPrefix: string
  /** Records that it has processed; undefined where the service does not report it. */
  readonly processed: number | undefined
}

/** Runs model calls in bulk at half price; takes hours. */
export class BatchService extends Context.Service<
  BatchService,
  {
    /** Returns the job's ARN. An existing job of this name is returned unchanged. */
    readonly create: (job: NewBatchJob) => Effect.Effect<string, BatchServiceError>
    readonly get: (arn: string) => Effect.Effect<BatchJob, BatchServiceError>
    /** The ARN of the job of exactly this name, if there is one. */
    readonly findByName: (name: string) => Effect.Effect<string | undefined, BatchServiceError>
    /** Requests a stop, which may take a while; a job that has ended counts as stopped. */
    readonly stop: (arn: string) => Effect.Effect<void, BatchServiceError>
  }
>()("postlane/ports/BatchService") {}
