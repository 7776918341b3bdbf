import { Schema } from "effect"

import type { JobId, LeaseId } from "../ids.ts"

/**
 * Where a batch keeps its objects. Parts are `[A-Za-z0-9._-]`, as Bedrock takes them in an `s3Uri`. Each prepare has a folder of
 * its own, so that two never write to the same one; only results have one place for the job.
 */

/** All objects of a job's batch. */
export const batchPrefix = (jobId: JobId): string => `batch/${jobId}/`

/** What one prepare uploads. */
export const preparedPrefix = (jobId: JobId, lease: LeaseId): string => `${batchPrefix(jobId)}${lease}/`

/** The folder that the batch service reads: only shards. */
export const inputPrefix = (prepared: string): string => `${prepared}input/`

/** The folder that the batch service writes to. */
export const outputPrefix = (prepared: string): string => `${prepared}output/`

/** The prepare that an input folder belongs to; undefined for a folder that is not ours. */
export const preparedOf = (input: string): string | undefined =>
  input.endsWith("/input/") ? input.slice(0, -"input/".length) : undefined

export const manifestKey = (prepared: string): string => `${prepared}manifest.jsonl`

export const shardKey = (prepared: string, shard: number): string =>
  `${inputPrefix(prepared)}shard-${String(shard).padStart(4, "0")}.jsonl`

/** Results of one chunk (BATCH-20). */
export const resultsKey = (jobId: JobId, chunkIndex: number): string =>
  `${batchPrefix(jobId)}results/chunk-${chunkIndex}.json`

/** Answers of a group of chunks that one collect sets aside until the rest arrive. */
export const heldKey = (jobId: JobId, attempt: number, group: number, part: number): string =>
  `${batchPrefix(jobId)}held-${attempt}/group-${group}-${part}.json`

/** A batch job's name, and its idempotency token: both follow from the job's id, whichever process creates it (BATCH-13). */
export const batchJobName = (jobId: JobId): string => `postlane-${jobId}`

/** One submitted record: what its answer may be used for. A line of JSON. */
export const ManifestEntry = Schema.Struct({
  recordId: Schema.String,
  chunkIndex: Schema.Natural,
  page: Schema.Natural,
  promptHash: Schema.String,
  model: Schema.String
})
export type ManifestEntry = typeof ManifestEntry.Type

export const decodeManifestLine = Schema.decodeUnknownEffect(Schema.fromJsonString(ManifestEntry))
