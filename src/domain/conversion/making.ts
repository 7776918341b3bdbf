import { Schema } from "effect"

import { ConversionOptions } from "./job.ts"

/** What a result was made with. */
export const Making = Schema.Struct({
  /** What was asked for. */
  options: ConversionOptions,
  tiers: Schema.Record(Schema.String, Schema.Int).annotate({
    description:
      "How many pages were converted in which way, as each page's `tier` has it; empty for a Word document."
  }),
  models: Schema.Array(Schema.String).annotate({
    description: "The models that wrote pages of it; empty where none did."
  })
})
export type Making = typeof Making.Type

/** {@link Making}, and when the result was done (ISO 8601). */
export const Made = Schema.Struct({ at: Schema.String, ...Making.fields }).annotate({
  identifier: "ResultMaking",
  description: "What the result was made with, and when."
})
export type Made = typeof Made.Type
