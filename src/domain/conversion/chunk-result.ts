import { Schema } from "effect"

/** One page of a chunk's result: a line of JSON in its object. */
export const PageLine = Schema.Struct({
  /** From 0, in the document. */
  page: Schema.Int,
  /** As the document labels it. */
  label: Schema.String,
  tier: Schema.Literals([
    "blank",
    "layout",
    "table-of-contents",
    "hifi-single-pass",
    "coverage-retry",
    "agentic",
    "math-ocr",
    "harness",
    "unreadable"
  ]),
  /** A clean fragment. */
  html: Schema.String
})
export type PageLine = typeof PageLine.Type

/** What stands in the place of a page that cannot be read. */
export const notice = (index: number): PageLine => ({
  page: index,
  label: String(index + 1),
  tier: "unreadable",
  html: `<p role="note">Page ${index + 1} could not be read.</p>`
})

/** All objects of a job. */
export const jobPrefix = (jobId: string): string => `jobs/${jobId}/`

/** All objects of an uploaded file but those of its jobs. */
export const filePrefix = (fileId: string): string => `files/${fileId}/`

/** Where a chunk's result stands; the lease is part of it, so that a worker that lost it overwrites nothing. */
export const chunkResultKey = (jobId: string, chunkIndex: number, lease: string): string =>
  `${jobPrefix(jobId)}chunks/${chunkIndex}-${lease}.jsonl`

/** Where a job's result stands. */
export const resultKey = (jobId: string, lease: string): string => `${jobPrefix(jobId)}result-${lease}.html`

/** Where the result of a Word document or a picture stands: with its file's objects, since no job row leads to it. */
export const inlineResultKey = (fileId: string, lease: string): string =>
  `${filePrefix(fileId)}result-${lease}.html`

/** Where an uploaded file stands. */
export const fileKey = (fileId: string): string => `${filePrefix(fileId)}source`

/** Where a flyer job's result stands: with its file's objects, under a key that no other attempt has. */
export const flyerResultKey = (fileId: string, lease: string): string =>
  `${filePrefix(fileId)}flyer-${lease}.html`
