import { PdfError, type PdfFailure } from "../../model/pdf-document.ts"

/** What the person who sent the document reads. */
const MESSAGES: Readonly<Record<PdfFailure, string>> = {
  encrypted: "This PDF is protected by a password. Remove the password, then send it again.",
  broken: "This file is damaged or is not a PDF. Export or print it to PDF anew, then send it again.",
  empty: "This PDF has no pages. Check that it is the file that you meant to send.",
  "xfa-only":
    "This PDF is a dynamic form that only Adobe's programs can show. Print it to PDF there, then send the printed file.",
  "too-large-page":
    "A page of this PDF is larger than 200 inches. Print it to PDF on a smaller paper size, then send it again.",
  bomb: "A page of this PDF holds more than can be read. Print it to PDF or split it up, then send it again.",
  "too-many-pages": "This PDF has more pages than can be converted. Split it into smaller files.",
  timeout: "A page of this PDF took too long to read. Print it to PDF anew, then send it again.",
  crashed: "A page of this PDF could not be read. Print it to PDF anew, then send it again."
}

/** The error with the message of its reason; `page` from 0 where one page is at fault. */
export const pdfError = (reason: PdfFailure, page?: number, cause?: unknown): PdfError =>
  new PdfError({
    reason,
    message: MESSAGES[reason],
    ...(page === undefined ? {} : { page }),
    ...(cause === undefined ? {} : { cause })
  })
