import { Schema } from "effect"

/**
 * Where a batch keeps its objects. Parts are `[A-Za-z0-9._-]`, as Bedrock takes them in an `s3Uri`. Each preparing has a
 * folder of its own, so that two never write into one; only results have one place for the job.
 */

/** Everything of a job's batch. */
export const batchPrefix = (jobId: string): string => `batch/${jobId}/`

/** What one preparing uploads. */
export const preparedPrefix = (jobId: string, lease: string): string => `${batchPrefix(jobId)}${lease}/`

/** The folder that the batch service reads: shards and nothing else. */
export const inputPrefix = (prepared: string): string => `${prepared}input/`

/** The folder that it writes to. */
export const outputPrefix = (prepared: string): string => `${prepared}output/`

/** The preparing that an input folder belongs to; undefined where it is none of ours. */
export const preparedOf = (input: string): string | undefined =>
  input.endsWith("/input/") ? input.slice(0, -"input/".length) : undefined

export const manifestKey = (prepared: string): string => `${prepared}manifest.jsonl`

export const shardKey = (prepared: string, shard: number): string =>
  `${inputPrefix(prepared)}shard-${String(shard).padStart(4, "0")}.jsonl`

/** Results of one chunk (document 3: one file per chunk). */
export const resultsKey = (jobId: string, chunkIndex: number): string =>
  `${batchPrefix(jobId)}results/chunk-${chunkIndex}.json`

/** Answers of a chunk that one collect has to put aside until the others come. */
export const heldKey = (jobId: string, attempt: number, chunkIndex: number): string =>
  `${batchPrefix(jobId)}held-${attempt}/chunk-${chunkIndex}.json`

/** A batch job's name, and the token that makes creating it again harmless: the same for a job whoever creates it. */
export const batchJobName = (jobId: string): string => `postlane-${jobId}`

/** One record that was submitted: what its answer may be used for. A line of JSON. */
export const ManifestEntry = Schema.Struct({
  recordId: Schema.String,
  chunkIndex: Schema.Natural,
  page: Schema.Natural,
  promptHash: Schema.String,
  model: Schema.String
})
export type ManifestEntry = typeof ManifestEntry.Type

export const decodeManifestLine = Schema.decodeUnknownEffect(ManifestEntry)
