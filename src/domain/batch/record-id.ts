/** Which page a batch record stands for: chunk and page, both from 0, the page in the document. */
export interface RecordPlace {
  readonly chunkIndex: number
  readonly page: number
}

const RECORD_ID = /^c(0|[1-9]\d{0,8})-p(0|[1-9]\d{0,8})$/

/** `c<chunkIndex>-p<page>` (document 3, "Driver" 2). */
export const recordId = ({ chunkIndex, page }: RecordPlace): string => `c${chunkIndex}-p${page}`

/** Reads a record id back; undefined for any other text. */
export const placeOf = (id: string): RecordPlace | undefined => {
  const match = RECORD_ID.exec(id)
  return match === null ? undefined : { chunkIndex: Number(match[1]), page: Number(match[2]) }
}
