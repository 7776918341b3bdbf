import { Schema } from "effect"

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
  /** Of the HTML: a stream that ends early is known by it. */
  bytes: "x-result-bytes"
} as const

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
