import { Schema } from "effect"

import type { LeftOut } from "../../reader/model/left-out.ts"
import type { CustomerId, FileId, JobId } from "../ids.ts"
import type { JobStatus } from "./job.ts"
import type { Made } from "./making.ts"

/** What a file is, by its content. */
interface KindFacts {
  /** What its files' names end with, without the dot. */
  readonly endings: ReadonlyArray<string>
  readonly mediaType: string
  /** In a list of what can be uploaded. */
  readonly short: string
  /** As a heading of one file. */
  readonly name: string
}

/** The kinds that are converted, with all that is known of each. */
export const FILE_KINDS = {
  pdf: { endings: ["pdf"], mediaType: "application/pdf", short: "PDF", name: "PDF" },
  docx: {
    endings: ["docx"],
    mediaType: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    short: "Word (DOCX)",
    name: "Word document"
  },
  png: { endings: ["png"], mediaType: "image/png", short: "PNG", name: "Picture" },
  jpeg: { endings: ["jpg", "jpeg"], mediaType: "image/jpeg", short: "JPEG", name: "Picture" }
} as const satisfies Readonly<Record<string, KindFacts>>

export type FileKind = keyof typeof FILE_KINDS

/** Its codec. */
export const FileKind = Schema.Literals(Object.keys(FILE_KINDS) as ReadonlyArray<FileKind>)

const KINDS: ReadonlyArray<KindFacts> = FileKind.literals.map((kind) => FILE_KINDS[kind])

/** The endings of all kinds. */
const FILE_ENDINGS: ReadonlyArray<string> = KINDS.flatMap(({ endings }) => endings)

/** What a page's field for files takes. */
export const ACCEPTED_FILES: string = [
  ...FILE_ENDINGS.map((ending) => `.${ending}`),
  ...KINDS.map(({ mediaType }) => mediaType)
].join(",")

/** The kinds in words: "PDF, … or JPEG". */
export const KINDS_IN_WORDS: string = new Intl.ListFormat("en-GB", { type: "disjunction" }).format(
  KINDS.map(({ short }) => short)
)

/** A file's name with the ending of its result. */
export const resultNameOf = (name: string): string => {
  const dot = name.lastIndexOf(".")
  const ended = dot !== -1 && FILE_ENDINGS.includes(name.slice(dot + 1).toLowerCase())
  return `${ended ? name.slice(0, dot) : name}.html`
}

/** Statuses of a file; `processing` is the inline path (DOCX, images). */
export const FileStatus = Schema.Literals([
  "uploaded",
  "processing",
  "chunked_processing",
  "completed",
  "failed"
])

export type FileStatus = typeof FileStatus.Type

/** A file as its owner sees it. Times are ISO 8601. */
export interface StoredFile {
  readonly id: FileId
  readonly customerId: CustomerId
  readonly name: string
  readonly kind: FileKind
  readonly sizeBytes: number
  readonly pages: number
  readonly status: FileStatus
  readonly phase: string | null
  /** Its job is `waiting_batch`. Computed from the job. */
  readonly batchWaiting: boolean
  readonly jobId: JobId | null
  /** Status of the job `jobId`; null without a job (yet). */
  readonly jobStatus: JobStatus | null
  /** When that job ended; null while it is under way, and without a job. */
  readonly jobEndedAt: string | null
  /** Number of completed chunks of that job; 0 without a job. */
  readonly chunksDone: number
  /** Pages. */
  readonly progress: { readonly done: number; readonly total: number }
  readonly error: string | null
  readonly createdAt: string
  readonly objectKey: string
  /** The newest paid result, whatever has become of later conversions (DOC-15). */
  readonly resultKey: string | null
  /** Of the result: pages from 1 that could not be read, and whether it contains any text; null: not known. */
  readonly unreadablePages: ReadonlyArray<number>
  readonly hasText: boolean | null
  /** Pages from 1 that no model converted though high fidelity was asked for. */
  readonly noModelPages: ReadonlyArray<number>
  /** What the result was made with, and when (ISO 8601); null without a result or a record of it. */
  readonly made: Made | null
  /** Parts of a PDF that no conversion reads; null when it was not examined or is not a PDF. */
  readonly leftOut: LeftOut | null
  /** The owner's own name for it; several files may have the same. */
  readonly reference: string | null
}
