import { Schema } from "effect"

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
