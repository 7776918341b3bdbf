import { Schema } from "effect"

/** Which converter takes the pages: the smart cascade, the layout tier alone, or a model that converts whole chunks. */
export const Parser = Schema.Literals(["auto", "layout", "harness"])
export type Parser = typeof Parser.Type

/** What a caller may ask of a conversion. */
export const ConversionOptions = Schema.Struct({
  /** Hi-fi single pass by the vision model; else the layout tier. */
  highFidelity: Schema.optionalKey(Schema.Boolean),
  parser: Schema.optionalKey(Parser),
  /** Formulas of each chunk read by whole-chunk math OCR. */
  mathOcr: Schema.optionalKey(Schema.Boolean)
}).annotate({ identifier: "ConversionOptions" })
export type ConversionOptions = typeof ConversionOptions.Type

/** A job's options: what was asked for, and what Postlane itself noted (underscored; never taken from outside). */
export const JobOptions = Schema.Struct({
  ...ConversionOptions.fields,
  /** The bulk opt-in to the batch lane. */
  _batchLane: Schema.optionalKey(Schema.Boolean),
  /** Batch results are there to be reused. */
  _batchPrimed: Schema.optionalKey(Schema.Boolean),
  /** What the batch job cost, USD. */
  _batchCostUsd: Schema.optionalKey(Schema.Finite),
  /** The flyer job that this free reflow stands for. */
  _compedFlyerJobId: Schema.optionalKey(Schema.String)
})
export type JobOptions = typeof JobOptions.Type

/** Whether a conversion goes through the cascade page by page, and so may call the hi-fi model once a page. */
export const usesCascade = ({ highFidelity, mathOcr, parser }: ConversionOptions): boolean =>
  highFidelity === true && (parser === undefined || parser === "auto") && mathOcr !== true
