import type { DocumentFacts, FontFace } from "../../reader/model/page-content.ts"
import type { PdfFailure } from "../../reader/model/pdf-document.ts"
import type { AtHand, Trap } from "../../reader/sources/pdf/traps.ts"
import type { Operation } from "./operations.ts"

/** A batch of pages to be worked on. It says all that a fresh thread needs, since the one before may have crashed. */
export interface Request {
  readonly document: number
  readonly path: string
  /** Faces known so far; their indexes stay valid. */
  readonly fonts: ReadonlyArray<FontFace>
  /** Every trap so far: what trapped is done in another way. */
  readonly traps: ReadonlyArray<Trap>
  /** Undefined: only open. */
  readonly operation: Operation | undefined
  readonly first: number
  readonly end: number
  /** As `Arguments` has it for the operation. */
  readonly argument: unknown
}

/** What the main thread sends. */
export type ToWorker =
  | { readonly kind: "request"; readonly request: Request }
  | { readonly kind: "close"; readonly document: number }

/** What a thread answers: any number of items, each the next page's, then one of the others. */
export type FromWorker =
  /** Sent once, when the libraries are loaded. */
  | { readonly kind: "ready" }
  | {
      readonly kind: "item"
      readonly item: unknown
      /** Faces that were not sent before. */
      readonly newFonts: ReadonlyArray<FontFace>
    }
  | {
      readonly kind: "done"
      /** The next page of the range; its end where nothing is left. */
      readonly next: number
      readonly facts: DocumentFacts
      /** Memory of the libraries, which never shrinks. */
      readonly bytes: number
    }
  | {
      readonly kind: "failed"
      readonly reason: PdfFailure
      readonly page: number | undefined
      /** What a library threw, where it did: a trap. */
      readonly cause?: string
      /** What it was doing then, not always with a page that was asked for. */
      readonly atHand?: AtHand | undefined
    }
  /** The file could not be read at all: not the document's fault. */
  | { readonly kind: "fault"; readonly message: string }

/** An answer, and the processor time that the thread has used so far, microseconds. */
export type Timed = FromWorker & { readonly cpuMicros: number }

/** A thread's limits. */
export interface WorkerData {
  /** Limit on an answer's pages. */
  readonly batchPages: number
  /** Limit on an answer's bytes. */
  readonly batchBytes: number
  /** Memory that each library may take. */
  readonly libraryBytes: number
}
