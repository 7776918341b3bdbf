import { Option, Schema } from "effect"

import { DoubtfulPages } from "../../reader/model/doubt.ts"
import { leavesOut, LeftOut } from "../../reader/model/left-out.ts"
import type { Legibility, Recognition } from "../conversion/page-line.ts"

/** Paths of the conversion pipeline's HTTP service; each takes a POST with the PDF as its body. */
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
  /** The same of pages that were read from their pictures, but not well. */
  poorlyReadPages: "x-poorly-read-pages",
  /** {@link DoubtfulPages} as percent-encoded JSON; absent: none. */
  doubtfulPages: "x-doubtful-pages",
  /** 0 where the result has no text at all; absent counts as 1. */
  hasText: "x-has-text",
  /** {@link LeftOut} as percent-encoded JSON; absent: nothing was. */
  leftOut: "x-left-out",
  /** Of the HTML: this detects a stream that ends early. */
  bytes: "x-result-bytes"
} as const

/** Most page numbers that a header lists: the charge depends on the count, not on them. */
const MAX_NAMED = 1000

/** Most characters of the header that names files: all headers together may have some 16,000. */
const MAX_LEFT_OUT = 2000

/** What a result lacks, and what of it was not read well. */
type Shortcomings = Legibility &
  Partial<Pick<Recognition, "doubtfulPages" | "poorlyReadPages">> & { readonly leftOut?: LeftOut }

const pagesHeader = (name: string, pages: ReadonlyArray<number>): Record<string, string> =>
  pages.length === 0 ? {} : { [name]: pages.slice(0, MAX_NAMED).join(",") }

/** With as many names as fit. */
const leftOutHeader = (leftOut: LeftOut): string => {
  const header = encodeURIComponent(JSON.stringify(leftOut))
  return header.length <= MAX_LEFT_OUT
    ? header
    : leftOutHeader({ ...leftOut, files: leftOut.files.slice(0, -1) })
}

/** Most pages of each reason that a header names. */
const MOST_DOUBTFUL = 40

const doubtsHeader = (doubtful: ReadonlyArray<DoubtfulPages>): Record<string, string> => {
  if (doubtful.length === 0) return {}
  const named = doubtful.map(({ pages, reason }) => ({ reason, pages: pages.slice(0, MOST_DOUBTFUL) }))
  return { [PIPELINE_HEADERS.doubtfulPages]: encodeURIComponent(JSON.stringify(named)) }
}

const decodeDoubts = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Array(DoubtfulPages)))
const decodeLeftOut = Schema.decodeUnknownOption(Schema.fromJsonString(LeftOut))

/** What the result lacks, according to the headers. */
export const legibilityHeaders = (lacks: Shortcomings): Record<string, string> => ({
  ...pagesHeader(PIPELINE_HEADERS.unreadablePages, lacks.unreadablePages),
  ...pagesHeader(PIPELINE_HEADERS.poorlyReadPages, lacks.poorlyReadPages ?? []),
  ...doubtsHeader(lacks.doubtfulPages ?? []),
  ...(leavesOut(lacks.leftOut) ? { [PIPELINE_HEADERS.leftOut]: leftOutHeader(lacks.leftOut) } : {}),
  [PIPELINE_HEADERS.hasText]: lacks.hasText ? "1" : "0"
})

/** What is percent-encoded in a header; empty where it is invalid. */
const decoded = (header: string | null | undefined): string => {
  try {
    return decodeURIComponent(header ?? "")
  } catch {
    return ""
  }
}

/** The numbers of a header; what is not a page number is left out. */
const pagesIn = (header: string | null): ReadonlyArray<number> =>
  (header ?? "")
    .split(",", MAX_NAMED)
    .map(Number)
    .filter((page) => Number.isInteger(page) && page > 0)

/** The headers, parsed. */
export const legibilityOf = (headers: Headers): Shortcomings => {
  const poorlyReadPages = pagesIn(headers.get(PIPELINE_HEADERS.poorlyReadPages))
  const doubts = decodeDoubts(decoded(headers.get(PIPELINE_HEADERS.doubtfulPages)))
  const doubtfulPages = Option.getOrElse(doubts, (): ReadonlyArray<DoubtfulPages> => [])
  const leftOut = Option.getOrUndefined(decodeLeftOut(decoded(headers.get(PIPELINE_HEADERS.leftOut))))
  return {
    unreadablePages: pagesIn(headers.get(PIPELINE_HEADERS.unreadablePages)),
    ...(poorlyReadPages.length === 0 ? {} : { poorlyReadPages }),
    ...(doubtfulPages.length === 0 ? {} : { doubtfulPages }),
    ...(leftOut === undefined ? {} : { leftOut }),
    hasText: headers.get(PIPELINE_HEADERS.hasText) !== "0"
  }
}

/** Answer of the page count. */
export const PageCount = Schema.Struct({ pages: Schema.Int.check(Schema.isGreaterThan(0)) })

/** The file name in a header; a default where it is invalid. */
export const fileNameOf = (header: string | null | undefined): string => decoded(header) || "document.pdf"
