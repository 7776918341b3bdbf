import { Schema } from "effect"

import type { Legibility } from "../conversion/legibility.ts"

/** Paths of the conversion pipeline where it answers requests; each takes a POST whose body is the PDF. */
export const PIPELINE_PATHS = {
  /** Answers how many pages it has, as {@link PageCount}. */
  pages: "/internal/convert-email/pages",
  /** Answers its HTML, with what it came to in {@link PIPELINE_HEADERS}. */
  convert: "/internal/convert-email/convert"
} as const

/** Headers of a conversion: of the request the file's name, of the answer what the HTML cannot say by itself. */
export const PIPELINE_HEADERS = {
  /** Percent-encoded UTF-8. */
  fileName: "x-file-name",
  standardPages: "x-standard-pages",
  complexPages: "x-complex-pages",
  /** Numbers with commas between them; absent: every page could be read. */
  unreadablePages: "x-unreadable-pages",
  /** 0 where there is no word of text in it; absent counts as 1. */
  hasText: "x-has-text",
  /** Of the HTML: a stream that ends early is known by it. */
  bytes: "x-result-bytes"
} as const

/** Most page numbers that a header names: it is the count that is charged by, not they. */
const MAX_NAMED = 1000

/** What the headers say that the result lacks. */
export const legibilityHeaders = ({ hasText, unreadablePages }: Legibility): Record<string, string> => ({
  ...(unreadablePages.length === 0
    ? {}
    : { [PIPELINE_HEADERS.unreadablePages]: unreadablePages.slice(0, MAX_NAMED).join(",") }),
  [PIPELINE_HEADERS.hasText]: hasText ? "1" : "0"
})

/** The same, read; what is no page number is left out. */
export const legibilityOf = (headers: Headers): Legibility => ({
  unreadablePages: (headers.get(PIPELINE_HEADERS.unreadablePages) ?? "")
    .split(",", MAX_NAMED)
    .map(Number)
    .filter((page) => Number.isInteger(page) && page > 0),
  hasText: headers.get(PIPELINE_HEADERS.hasText) !== "0"
})

/** What counting pages answers. */
export const PageCount = Schema.Struct({ pages: Schema.Int.check(Schema.isGreaterThan(0)) })

/** The file name that a header holds; a plain one for what is no name. */
export const fileNameOf = (header: string | null | undefined): string => {
  try {
    return decodeURIComponent(header ?? "") || "document.pdf"
  } catch {
    return "document.pdf"
  }
}
