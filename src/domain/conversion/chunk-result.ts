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

/** The notice in place of a page that cannot be read. */
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

/** Key of a chunk's result; the lease is part of it, so that a worker that lost it overwrites nothing. */
export const chunkResultKey = (jobId: string, chunkIndex: number, lease: string): string =>
  `${jobPrefix(jobId)}chunks/${chunkIndex}-${lease}.jsonl`

/** Key of a job's result. */
export const resultKey = (jobId: string, lease: string): string => `${jobPrefix(jobId)}result-${lease}.html`

/** Key of a Word document's or a picture's result: with its file's objects, since there is no job row. */
export const inlineResultKey = (fileId: string, lease: string): string =>
  `${filePrefix(fileId)}result-${lease}.html`

/** Key of an uploaded file. */
export const fileKey = (fileId: string): string => `${filePrefix(fileId)}source`

/** Key of a flyer job's result: with its file's objects, unique to the attempt. */
export const flyerResultKey = (fileId: string, lease: string): string =>
  `${filePrefix(fileId)}flyer-${lease}.html`
