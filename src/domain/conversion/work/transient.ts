import { Effect } from "effect"

import type { PdfError } from "../../../ports/conversion/pdf.ts"

/** Retries of one read: what fails every time is the page's own fault. */
const RETRIES = 2

/** Retries of all reads of an opened document: one that hangs on every page must not hold its worker for hours. */
const RETRIES_IN_ALL = 6

/** Whether the same read may succeed another time: its reader crashed, or was too slow on a busy machine. */
export const isTransient = ({ reason }: PdfError): boolean => reason === "timeout" || reason === "crashed"

/** Retries the transient failures of reading one document, within one budget. */
export const makeRetries = () => {
  let left = RETRIES_IN_ALL
  return <A, R>(reading: Effect.Effect<A, PdfError, R>): Effect.Effect<A, PdfError, R> =>
    Effect.retry(reading, { times: RETRIES, while: (error) => isTransient(error) && left-- > 0 })
}
