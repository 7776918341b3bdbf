import type { TokenUsage } from "../cascade/cost.ts"
import { isUsable } from "../cascade/model-call.ts"

/** Which page a batch record is for: chunk and page, both from 0, the page in the document. */
export interface RecordPlace {
  readonly chunkIndex: number
  readonly page: number
}

/** `c<chunkIndex>-p<page>` (BATCH-11). */
export const recordId = ({ chunkIndex, page }: RecordPlace): string => `c${chunkIndex}-p${page}`

/** A record that the batch service returned. */
export interface ReturnedRecord {
  readonly recordId: string
  /** Billed, used or not. */
  readonly usage: TokenUsage
  /** Undefined where the service reports an error. */
  readonly answer: { readonly text: string; readonly stopReason: string | undefined } | undefined
}

/** The record without an answer that cannot be used: its page is converted on demand (BATCH-21). */
export const accepted = (record: ReturnedRecord): ReturnedRecord =>
  record.answer === undefined || isUsable(record.answer) ? record : { ...record, answer: undefined }
