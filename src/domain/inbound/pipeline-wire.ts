import { Schema } from "effect"

import type { Legibility } from "../conversion/page-line.ts"

/** Paths of the conversion pipeline's HTTP service; each takes a POST whose body is the PDF. */
export const PIPELINE_PATHS = {
  /** Returns the number of pages, as {@link PageCount}. */
  pages: "/internal/convert-email/pages",
  /** Returns the HTML, with its counts in {@link PIPELINE_HEADERS}. */
  convert: "/internal/convert-email/convert"
} as const

/** Headers of a conversion: the file's name in the request; in the response what the HTML itself cannot carry. */
export const PIPELINE_HEADERS = {
  /** Percent-encoded UTF-8. */
  fileName: "x-file-name",
  standardPages: "x-standard-pages",
  complexPages: "x-complex-pages",
  /** Comma-separated numbers; absent: every page could be read. */
  unreadablePages: "x-unreadable-pages",
  /** 0 where the result has no text at all; absent counts as 1. */
  hasText: "x-has-text",
  /** Of the HTML: this detects a stream that ends early. */
  bytes: "x-result-bytes"
} as const

/** Most page numbers that a header lists: the charge depends on the count, not on them. */
const MAX_NAMED = 1000

/** What the result lacks, according to the headers. */
export const legibilityHeaders = ({ hasText, unreadablePages }: Legibility): Record<string, string> => ({
  ...(unreadablePages.length === 0
    ? {}
    : { [PIPELINE_HEADERS.unreadablePages]: unreadablePages.slice(0, MAX_NAMED).join(",") }),
  [PIPELINE_HEADERS.hasText]: hasText ? "1" : "0"
})

/** The numbers, parsed; what is not a page number is left out. */
export const legibilityOf = (headers: Headers): Legibility => ({
  unreadablePages: (headers.get(PIPELINE_HEADERS.unreadablePages) ?? "")
    .split(",", MAX_NAMED)
    .map(Number)
    .filter((page) => Number.isInteger(page) && page > 0),
  hasText: headers.get(PIPELINE_HEADERS.hasText) !== "0"
})

/** Answer of the page count. */
export const PageCount = Schema.Struct({ pages: Schema.Int.check(Schema.isGreaterThan(0)) })

/** The file name in a header; a default where it is invalid. */
export const fileNameOf = (header: string | null | undefined): string => {
  try {
    return decodeURIComponent(header ?? "") || "document.pdf"
  } catch {
    return "document.pdf"
  }
}
